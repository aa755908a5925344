"""Answers of llama.cpp's server, route ``/completion``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_mapping, as_text, first_of, role_of
from vecuq.answers.parts import Part
from vecuq.answers.readers.envelope import Envelope, finish_of, recognised_in
from vecuq.answers.readers.format import Format
from vecuq.answers.readers.rows import Rows, Spoken, TokenRow, spoken
from vecuq.answers.tokens import LEAST_LOGPROB
from vecuq.errors import TableError

AFTER_SAMPLING = (
    "llama.cpp sent probabilities after its sampling settings (`post_sampling_probs`), not those of the model, so they "
    "were left out."
)
OLDER_SERVER = (
    "An older llama.cpp sent probabilities after temperature and truncation, not those of the model at temperature 1."
)
_ENDS = {"stopped_eos": "eos", "stopped_word": "word", "stopped_limit": "limit"}
_OWN = ("completion_probabilities", "generation_settings", "stop_type", "tokens_predicted", "stopped_eos")


def is_llamacpp(fields: Mapping[str, Any]) -> bool:
    """Whether a reply has a content beside what only this server sends."""
    return isinstance(fields.get("content"), str) and any(name in fields for name in _OWN)


def read_llamacpp(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the answer of one reply; older servers send probabilities, newer ones log-probs."""
    envelope = Envelope.of(fields)
    body = envelope.reply
    if body.get("stop") is False:
        raise TableError('a piece of a streamed answer; ask llama.cpp with "stream": false.')
    role = role_of(body.get("generation_settings"))
    answer = _answer(body, is_greedy=role == "greedy", renormalise=renormalise)
    return envelope.said([answer], role=envelope.role or role)


def _answer(body: Mapping[str, Any], *, is_greedy: bool, renormalise: bool) -> Spoken:
    text, finish = as_text(body.get("content"), "content"), _finish(body)
    steps = as_list(body.get("completion_probabilities") or [], "completion_probabilities")
    first = as_mapping(steps[0], "a token") if steps else {}
    if "prob" in first or "top_probs" in first:
        return spoken(text, finish)._replace(notes=(AFTER_SAMPLING,))
    if "probs" not in first:
        return spoken(text, finish, Rows.of(steps, "completion_probabilities", renormalise=renormalise))
    found = spoken(text, finish, Rows.table(map(_older_row, steps), renormalise=renormalise))
    return found if is_greedy else found._replace(notes=(OLDER_SERVER, *found.notes))


def _finish(body: Mapping[str, Any]) -> str | None:
    older = next((word for name, word in _ENDS.items() if body.get(name) is True), None)
    return finish_of(first_of(body, ("stop_type",)) or older)


def _older_row(step: Any) -> TokenRow:
    """Return a token of an older server, which sends the probabilities of the likeliest, the chosen one among them."""
    fields = as_mapping(step, "a token")
    content = as_text(fields.get("content"), "the content of a token")
    likely = [as_mapping(one, "a probability") for one in as_list(fields.get("probs"), "probs")]
    chosen = next((one for one in likely if one.get("tok_str") == content), None)
    if chosen is None:
        raise TableError("`probs` must have the chosen token at every step; ask llama.cpp with a larger n_probs.")
    return TokenRow(content, _log(chosen.get("prob")), [(one.get("tok_str"), _log(one.get("prob"))) for one in likely])


def _log(probability: Any) -> float:
    if isinstance(probability, bool) or not isinstance(probability, int | float) or not 0 <= probability <= 1.01:
        raise TableError("a probability must be a number between 0 and 1.")
    return min(0.0, max(math.log(probability), LEAST_LOGPROB)) if probability > 0 else LEAST_LOGPROB


LLAMACPP = Format(
    "llamacpp",
    "replies of llama.cpp's server, /completion",
    "`content` beside `completion_probabilities`, `generation_settings`, `stop_type` or `tokens_predicted`",
    recognised_in(is_llamacpp),
    read_llamacpp,
)

"""Answers of Hugging Face ``generate`` or of a text-generation pipeline, dumped to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from vecuq.answers.alignment import own_tokens
from vecuq.answers.fields import as_list, as_name, as_text, first_of, references_of, role_of
from vecuq.answers.padding import Ends, unpadded_length
from vecuq.answers.parts import Part
from vecuq.answers.readers.envelope import Envelope
from vecuq.answers.readers.format import Format
from vecuq.answers.readers.messages import conversation, text_of
from vecuq.answers.readers.rows import Rows, Spoken, spoken
from vecuq.answers.schema import MOST_ANSWERS, Answer
from vecuq.answers.tokens import logprob, spelt
from vecuq.errors import TableError

# A text under these names is generated, whatever stands beside it.
_GENERATED = ("generated_texts", "generated_text")
TEXTS = (*_GENERATED, "output_texts", "output_text", "texts", "text")
# These are too general to stand alone: they count only beside a question, and only if they hold texts.
BESIDE_A_QUESTION = tuple(
    name
    for one in ("prediction", "generation", "completion", "response", "output", "model_output", "model_response")
    for name in (f"{one}s", one)
)
QUESTIONS = ("question", "prompt", "input", "instruction")
_SAMPLED = ("samples", "sampled_responses", "sampled_answers", *(name for name in BESIDE_A_QUESTION if name[-1] == "s"))
FULL_TEXT = "A generated text began with its prompt, as pipelines return it; the prompt was cut off."


class _Column(NamedTuple):
    """What a line may have for every answer: its usual names, and whether it is a list with one entry per token."""

    names: tuple[str, ...]
    per_token: bool = True


_COLUMNS = {
    "logprobs": _Column(
        ("transition_scores", "token_logprobs", "token_log_probs", "output_logprobs", "logprobs", "log_probs")
    ),
    "entropies": _Column(("entropies", "token_entropies")),
    "margins": _Column(("margins", "token_margins")),
    "certainties": _Column(("certainties", "token_certainties")),
    "tokens": _Column(("tokens", "output_tokens", "generated_tokens")),
    "ids": _Column(("token_ids", "output_ids", "output_token_ids", "generated_ids", "sequences")),
    "logprob": _Column(
        ("cumulative_logprobs", "cumulative_logprob", "sequence_logprobs", "sequence_logprob"), per_token=False
    ),
}


_NUMBERS = ("logprobs", "entropies", "margins", "certainties")


def is_huggingface(fields: Mapping[str, Any]) -> bool:
    """Whether a line has generated texts under one of the usual names, or holds such an object under ``response``.

    Not if samples stand beside an answer: which is which is for the user to say, and one of them would be lost here.
    """
    opened = _opened(fields)
    return _given(opened) is not None and not _has_both(opened)


def _has_both(fields: Mapping[str, Any]) -> bool:
    answers = [name for name in (*TEXTS, *BESIDE_A_QUESTION) if isinstance(fields.get(name), str)]
    return bool(answers) and any(isinstance(fields.get(name), list) and fields[name] for name in _SAMPLED)


def _opened(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a line, with those under ``response`` among them."""
    inner = fields.get("response")
    if not isinstance(inner, Mapping) or first_of(inner, TEXTS) is None:
        return fields
    return {**{name: value for name, value in fields.items() if name != "response"}, **inner}


def _given(fields: Mapping[str, Any]) -> Any:
    """Return the texts of a line; None where it has none under a name that can be trusted."""
    found = first_of(fields, TEXTS)
    if found is not None or _question(fields) is None:
        return found
    return next((fields[name] for name in BESIDE_A_QUESTION if _holds_texts(fields.get(name))), None)


def _question(fields: Mapping[str, Any]) -> str | None:
    """Return the question of a line: as text, as messages, or in the request."""
    found = first_of(fields, QUESTIONS)
    return found if isinstance(found, str) else Envelope.of(fields).question


def _holds_texts(value: Any) -> bool:
    listed = value if isinstance(value, list) else [value]
    return bool(listed) and all(isinstance(one, str) for one in listed)


def read_huggingface(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the answers of one line: one text or a list, with lists of per-token numbers beside it.

    Lists may be padded at their ends, as a batch is. Entropies, if given, run over the whole vocabulary unless
    ``entropy_top_k`` says otherwise; ``entropy_renormalised`` says whether the probabilities were renormalised.
    """
    fields = _opened(fields)
    given = _given(fields)
    asked = _question(fields) or _asked_in(given)
    texts = _texts(given)
    own = [_without_prompt(text, asked) for text in texts] if first_of(fields, _GENERATED) is not None else texts
    columns = {name: _column(fields, column, len(own)) for name, column in _COLUMNS.items()}
    rows = [{name: column[place] for name, column in columns.items()} for place in range(len(own))]
    beside = ("generation_config", "generate_kwargs", "request")
    settings = (fields, *(fields.get(name) for name in beside))
    reader = _Rows(Ends.of(*settings), _is_matrix(columns["logprobs"]), *_truncation(fields), renormalise)
    said = [reader.answer(text, row) for text, row in zip(own, rows, strict=True)]
    notes = [note for one in said for note in one.notes]
    return Part(
        answers=tuple(one.answer for one in said),
        role=role_of(*settings),
        id=as_name(first_of(fields, ("id", "question_id", "idx", "index")), "id"),
        question=asked,
        references=references_of(fields),
        notes=tuple(dict.fromkeys(notes if own == texts else [FULL_TEXT, *notes])),
    )


def _without_prompt(text: str, prompt: str | None) -> str:
    """Return what follows the prompt, where a pipeline returned both."""
    rest = text.removeprefix(prompt) if prompt else text
    return rest if rest.strip() else text


def _truncation(fields: Mapping[str, Any]) -> tuple[Any, bool]:
    top_k = fields.get("entropy_top_k")
    return top_k, top_k is not None and fields.get("entropy_renormalised") is True


def _texts(given: Any) -> list[str]:
    """Return the texts; a pipeline wraps each into an object, and a chat ends with the message that was generated."""
    bare = not isinstance(given, list) or _is_chat(given)
    listed = as_list([given] if bare else given, "the list of texts", most=MOST_ANSWERS)
    if not listed:
        raise TableError("the line has no generated texts.")
    found: list[Any] = [one.get("generated_text") if isinstance(one, Mapping) else one for one in listed]
    return [text_of(one[-1].get("content"), "a message") if _is_chat(one) else as_text(one, "a text") for one in found]


def _is_chat(given: Any) -> bool:
    """Whether a text is a whole conversation, the generated message last."""
    return isinstance(given, list) and bool(given) and all(isinstance(one, Mapping) and "role" in one for one in given)


def _asked_in(given: Any) -> str | None:
    """Return the messages before the generated one, of the first conversation."""
    first = given[0] if isinstance(given, list) and given and not _is_chat(given) else given
    chat: Any = first.get("generated_text") if isinstance(first, Mapping) else first
    return conversation(chat[:-1]) if _is_chat(chat) else None


def _column(fields: Mapping[str, Any], column: _Column, n_texts: int) -> list[Any]:
    """Return one entry per text; with a single text, its entry may come without a list around it."""
    found = [fields[name] for name in column.names if fields.get(name) is not None]
    # A number under the name of a list counts the tokens.
    given = next((one for one in found if not (column.per_token and isinstance(one, int | float))), None)
    if given is None:
        return [None] * n_texts
    bare = not isinstance(given, list) or (column.per_token and not _is_nested(given))
    listed = [given] if n_texts == 1 and bare else as_list(given, column.names[0])
    if len(listed) != n_texts:
        raise TableError(f"`{column.names[0]}` must have one entry per text, {n_texts:,}; got {len(listed):,}.")
    return listed


def _is_nested(given: list[Any]) -> bool:
    return bool(given) and all(isinstance(one, list | None) for one in given)


def _is_matrix(rows: list[Any]) -> bool:
    """Whether there are several lists, all of one length: those of a batch, which may be padded."""
    return len(rows) > 1 and all(isinstance(row, list) for row in rows) and len(set(map(len, rows))) == 1


class _Rows(NamedTuple):
    """What all answers of a line share, and how each is read."""

    ends: Ends
    in_matrix: bool
    top_k: Any
    renormalised: bool
    renormalise: bool

    def answer(self, text: str, row: Mapping[str, Any]) -> Spoken:
        """Return one answer; its log-probs may be objects with a token each, as servers write them."""
        objects = _objects(row["logprobs"])
        if objects is not None:
            return spoken(text, None, Rows.of(objects, "logprobs", renormalise=self.renormalise))
        return self._of_lists(text, _flat(row))

    def _of_lists(self, text: str, row: Mapping[str, Any]) -> Spoken:
        numbers = {name: found for name in _NUMBERS if (found := _listed(row, name)) is not None}
        values = numbers.get("logprobs")
        tokens, ids = _tokens_or_ids(row, len(next(iter(numbers.values()), ())))
        length = unpadded_length(values, tokens, ids, self.ends, in_matrix=self.in_matrix)
        tokens, ids = tokens and tokens[:length], ids and ids[:length]
        total = row["logprob"]
        lists = {"tokens": tokens, **{name: tuple(found[:length]) for name, found in numbers.items()}}
        if values is not None:
            lists["logprobs"] = tuple(map(logprob, values[:length]))
        own, notes = own_tokens(text, {**lists, "n_end": self._n_end(ids)}, "stop")
        if tokens and len(own.get("tokens", ())) < len(tokens):
            total = None  # it is that of other tokens too
        has_entropies = own.get("entropies") is not None
        answer = Answer(
            text=text.strip(),
            entropy_top_k=self.top_k if has_entropies else None,
            entropy_renormalised=self.renormalised and has_entropies,
            logprob=None if total is None else logprob(total),
            **own,
        )
        return Spoken(answer, notes)

    def _n_end(self, ids: list[Any] | None) -> int:
        return int(isinstance(ids[-1], int) and ids[-1] in self.ends.eos) if ids else 0


def _objects(logprobs: Any) -> Any:
    """Return the tokens of log-probs that are written as objects; None for plain lists."""
    listed = logprobs.get("content") if isinstance(logprobs, Mapping) else logprobs
    is_rows = isinstance(listed, list) and bool(listed) and all(isinstance(one, Mapping) for one in listed)
    return listed if is_rows else None


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row whose log-probs may be an object with one list per field, as older completions have it."""
    logprobs = row["logprobs"]
    if not isinstance(logprobs, Mapping):
        return dict(row)
    return {**row, "logprobs": logprobs.get("token_logprobs"), "tokens": logprobs.get("tokens", row["tokens"])}


def _listed(row: Mapping[str, Any], name: str) -> list[Any] | None:
    return None if row[name] is None else as_list(row[name], name)


def _tokens_or_ids(row: Mapping[str, Any], length: int) -> tuple[tuple[str, ...] | None, list[Any] | None]:
    """Return tokens as text, and as ids; the ids of a whole sequence begin with those of the prompt."""
    tokens, ids = _listed(row, "tokens"), _listed(row, "ids")
    if tokens is not None and tokens and all(isinstance(one, int) for one in tokens):
        tokens, ids = None, ids or tokens
    ids = ids[-length:] if ids is not None and length else ids
    return None if tokens is None else spelt([as_text(token, "a token") for token in tokens]), ids


HUGGINGFACE = Format(
    "huggingface",
    "Hugging Face `generate` or a pipeline, dumped to JSON",
    "texts under " + ", ".join(f"`{name}`" for name in TEXTS) + "; or a `prediction`, `generation`, `completion`, "
    "`response` or `output` that is text, beside a question",
    is_huggingface,
    read_huggingface,
)

"""Answers of Hugging Face ``generate`` or of a text-generation pipeline, dumped to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecuq.answers.parts import Part, as_list, as_mapping, as_text, as_texts, first_of, role_of
from vecuq.answers.schema import MOST_ANSWERS, Answer
from vecuq.answers.tokens import end_of, logprob
from vecuq.errors import TableError

__all__ = ["is_huggingface", "read_huggingface"]

_TEXTS = ("generated_texts", "generated_text", "texts", "text")
_LOGPROBS = ("transition_scores", "token_logprobs", "logprobs")
_TOTALS = ("cumulative_logprobs", "cumulative_logprob", "sequence_logprobs", "sequence_logprob")


def is_huggingface(fields: Mapping[str, Any]) -> bool:
    """Whether a line has generated texts under one of the usual names."""
    return first_of(fields, _TEXTS) is not None


def read_huggingface(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the answers of one line: one text or a list, with lists of per-token numbers beside it.

    Log-probs may be padded at their ends as ``compute_transition_scores`` pads them, with minus infinity or null.
    Entropies, if given, run over the whole vocabulary unless ``entropy_top_k`` says otherwise.
    """
    texts = _texts(first_of(fields, _TEXTS))
    columns = {name: _column(fields, names, len(texts)) for name, names in _COLUMNS.items()}
    rows = [{name: column[place] for name, column in columns.items()} for place in range(len(texts))]
    top_k = fields.get("entropy_top_k")
    name = first_of(fields, ("id", "question_id", "request_id", "idx", "index"))
    question = first_of(fields, ("question", "prompt", "input"))
    return Part(
        answers=tuple(_answer(text, row, top_k, renormalise) for text, row in zip(texts, rows, strict=True)),
        role=role_of(fields, fields.get("generation_config"), fields.get("generate_kwargs")),
        id=None if name is None else "".join(as_texts(name, "id")),
        question=question if isinstance(question, str) else None,
        references=as_texts(first_of(fields, ("references", "reference", "answers", "answer", "target")), "references"),
    )


_COLUMNS = {"logprobs": _LOGPROBS, "entropies": ("entropies",), "tokens": ("tokens",), "logprob": _TOTALS}


def _texts(told: Any) -> list[str]:
    """Return the texts; a pipeline wraps each into an object of its own."""
    listed = as_list(told if isinstance(told, list) else [told], "the list of texts", most=MOST_ANSWERS)
    if not listed:
        raise TableError("the line has no generated texts.")
    return [
        as_text(as_mapping(one, "an answer").get("generated_text") if isinstance(one, Mapping) else one, "a text")
        for one in listed
    ]


def _column(fields: Mapping[str, Any], names: tuple[str, ...], n_texts: int) -> list[Any]:
    """Return one entry per text; with a single text, a flat list is its entry."""
    told = first_of(fields, names)
    if told is None:
        return [None] * n_texts
    nested = isinstance(told, list) and bool(told) and all(isinstance(one, list | None) for one in told)
    scalar = not isinstance(told, list)
    listed = [told] if n_texts == 1 and (scalar or (not nested and names is not _TOTALS)) else as_list(told, names[0])
    if len(listed) != n_texts:
        raise TableError(f"`{names[0]}` must have one entry per text, {n_texts:,}; got {len(listed):,}.")
    return listed


def _answer(text: str, row: Mapping[str, Any], top_k: Any, renormalise: bool) -> Answer:
    values = None if row["logprobs"] is None else _unpadded(as_list(row["logprobs"], "logprobs"))
    tokens = None if row["tokens"] is None else tuple(as_list(row["tokens"], "tokens"))
    entropies = None if row["entropies"] is None else tuple(as_list(row["entropies"], "entropies"))
    if values is not None:
        # Padding is as long in every list.
        tokens, entropies = (part if part is None else part[: len(values)] for part in (tokens, entropies))
    total = row["logprob"]
    return Answer(
        text=text.strip(),
        tokens=tokens,
        logprobs=None if values is None else tuple(map(logprob, values)),
        entropies=entropies,
        entropy_top_k=top_k if entropies is not None else None,
        entropy_renormalised=renormalise and entropies is not None and top_k is not None,
        logprob=None if total is None else logprob(total),
        n_end=0 if tokens is None else end_of(text, _strings(tokens), "stop"),
    )


def _strings(tokens: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(as_text(token, "a token") for token in tokens)


def _unpadded(values: list[Any]) -> list[Any]:
    """Return log-probs without the padding at their end."""
    last = len(values)
    while last and (values[last - 1] is None or values[last - 1] == float("-inf")):
        last -= 1
    return values[:last]

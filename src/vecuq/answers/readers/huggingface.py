"""Answers of Hugging Face ``generate`` or of a text-generation pipeline, dumped to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from vecuq.answers.alignment import own_tokens
from vecuq.answers.fields import as_list, as_mapping, as_name, as_text, first_of, references_of, role_of
from vecuq.answers.padding import Ends, unpadded_length
from vecuq.answers.parts import Part
from vecuq.answers.readers.format import Format
from vecuq.answers.schema import MOST_ANSWERS, Answer
from vecuq.answers.tokens import logprob, spelt
from vecuq.errors import TableError

TEXTS = ("generated_texts", "generated_text", "texts", "text")


class _Column(NamedTuple):
    """What a line may have for every answer: its usual names, and whether it is a list with one entry per token."""

    names: tuple[str, ...]
    per_token: bool = True


_COLUMNS = {
    "logprobs": _Column(("transition_scores", "token_logprobs", "logprobs")),
    "entropies": _Column(("entropies",)),
    "tokens": _Column(("tokens",)),
    "ids": _Column(("token_ids", "sequences")),
    "logprob": _Column(
        ("cumulative_logprobs", "cumulative_logprob", "sequence_logprobs", "sequence_logprob"), per_token=False
    ),
}


def is_huggingface(fields: Mapping[str, Any]) -> bool:
    """Whether a line has generated texts under one of the usual names."""
    return first_of(fields, TEXTS) is not None


def read_huggingface(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the answers of one line: one text or a list, with lists of per-token numbers beside it.

    Lists may be padded at their ends, as a batch is. Entropies, if given, run over the whole vocabulary unless
    ``entropy_top_k`` says otherwise; ``entropy_renormalised`` says whether the probabilities were renormalised.
    """
    texts = _texts(first_of(fields, TEXTS))
    columns = {name: _column(fields, column, len(texts)) for name, column in _COLUMNS.items()}
    rows = [{name: column[place] for name, column in columns.items()} for place in range(len(texts))]
    settings = (fields, fields.get("generation_config"), fields.get("generate_kwargs"))
    reader = _Rows(Ends.of(*settings), _is_matrix(columns["logprobs"]), *_truncation(fields))
    question = first_of(fields, ("question", "prompt", "input"))
    answers, notes = zip(*(reader.answer(text, row) for text, row in zip(texts, rows, strict=True)), strict=True)
    return Part(
        answers=answers,
        notes=sum(notes, ()),
        role=role_of(*settings),
        id=as_name(first_of(fields, ("id", "question_id", "idx", "index")), "id"),
        question=question if isinstance(question, str) else None,
        references=references_of(fields),
    )


def _truncation(fields: Mapping[str, Any]) -> tuple[Any, bool]:
    top_k = fields.get("entropy_top_k")
    return top_k, top_k is not None and fields.get("entropy_renormalised") is True


def _texts(given: Any) -> list[str]:
    """Return the texts; a pipeline wraps each into an object."""
    listed = as_list(given if isinstance(given, list) else [given], "the list of texts", most=MOST_ANSWERS)
    if not listed:
        raise TableError("the line has no generated texts.")
    return [
        as_text(as_mapping(one, "an answer").get("generated_text") if isinstance(one, Mapping) else one, "a text")
        for one in listed
    ]


def _column(fields: Mapping[str, Any], column: _Column, n_texts: int) -> list[Any]:
    """Return one entry per text; with a single text, its entry may come without a list around it."""
    given = first_of(fields, column.names)
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

    def answer(self, text: str, row: Mapping[str, Any]) -> tuple[Answer, tuple[str, ...]]:
        """Return one answer, with notes."""
        values, entropies = _listed(row, "logprobs"), _listed(row, "entropies")
        tokens, ids = _tokens_or_ids(row, len(values or entropies or ()))
        length = unpadded_length(values, tokens, ids, self.ends, in_matrix=self.in_matrix)
        values, tokens = values and values[:length], tokens and tokens[:length]
        entropies, ids = entropies and entropies[:length], ids and ids[:length]
        lists = {
            "tokens": tokens,
            "logprobs": None if values is None else tuple(map(logprob, values)),
            "entropies": None if entropies is None else tuple(entropies),
        }
        own, notes = own_tokens(text, {**lists, "n_end": self._n_end(ids)}, "stop")
        truncated = {"entropy_top_k": self.top_k, "entropy_renormalised": self.renormalised}
        more = truncated if own.get("entropies") is not None else {}
        total = None if row["logprob"] is None else logprob(row["logprob"])
        return Answer(text=text.strip(), logprob=total, **own, **more), notes

    def _n_end(self, ids: list[Any] | None) -> int:
        return int(isinstance(ids[-1], int) and ids[-1] in self.ends.eos) if ids else 0


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
    "texts under " + ", ".join(f"`{name}`" for name in TEXTS),
    is_huggingface,
    read_huggingface,
)

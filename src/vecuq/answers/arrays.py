"""Answers as arrays: an npz file of texts, log-probs, totals and ids, one row per question."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vecuq._check import one_line, shape_of
from vecuq.answers.fields import first_of
from vecuq.answers.readers.huggingface import TEXTS
from vecuq.errors import TableError

# Arrays are loaded whole, so their unpacked size has a limit.
ARRAYS_BYTES = 256 * 2**20
# What numpy and zipfile raise for a damaged file, or one with a wrong size.
_UNREADABLE = (
    *(OSError, ValueError, EOFError, KeyError, NotImplementedError, RuntimeError, MemoryError),
    *(zipfile.BadZipFile, zlib.error),
)
_LENGTHS = ("lengths", "n_tokens", "num_tokens")
_PER_TOKEN = ("transition_scores", "token_logprobs", "logprobs", "entropies", "tokens", "token_ids", "sequences")
# One entry per question, under the name that a line of JSON has for it.
_PER_QUESTION = {
    "id": ("ids", "id", "question_ids", "question_id"),
    "question": ("questions", "question", "prompts", "prompt"),
    "references": ("references", "reference", "targets", "target"),
    "cumulative_logprob": ("cumulative_logprobs", "cumulative_logprob", "sequence_logprobs", "sequence_logprob"),
    "text": TEXTS,
}
_FOR_ALL = ("do_sample", "temperature", "role", "eos_token_id", "pad_token_id", "entropy_top_k", "entropy_renormalised")


def holds_answers(path: Path) -> bool:
    """Whether an npz file holds texts, and not the logits or probabilities of a classifier; nothing is loaded."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = {name.removesuffix(".npy") for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return False
    return bool(names & set(TEXTS)) and not names & {"logits", "probs"}


def array_entries(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the rows, each with the fields that a line of a Hugging Face dump would have.

    ``texts`` is (questions,), or (questions, samples). Per-token arrays have one axis more, padded at its end, or with
    true ``lengths``; or they are one long row of all tokens, cut by ``lengths``.
    """
    arrays = _loaded(path)
    found = {name: first_of(arrays, names) for name, names in _PER_QUESTION.items()}
    texts = found["text"]
    if texts is None:
        raise TableError(f"{path} has no texts (`texts`); it has {sorted(arrays)}.")
    if texts.ndim not in (1, 2) or texts.dtype.kind not in "US":
        raise TableError(
            f"{path}: `texts` must be (questions,) or (questions, samples) of text; got {shape_of(texts)}."
        )
    columns = {name: _rows(path, name, array, texts.shape) for name, array in found.items() if array is not None}
    lengths = _lengths(path, first_of(arrays, _LENGTHS), texts.shape)
    for name in _PER_TOKEN:
        if name in arrays:
            columns[name] = _per_token(path, name, arrays[name], texts.shape, lengths)
    _blank_zeros(columns, lengths)
    shared = {name: arrays[name].tolist() for name in _FOR_ALL if name in arrays}
    for row in range(len(texts)):
        yield {**shared, **{name: column[row] for name, column in columns.items()}}


def _loaded(path: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > ARRAYS_BYTES:
            raise TableError(
                f"{path} takes {size:,} bytes unpacked; at most {ARRAYS_BYTES:,} bytes of arrays are read. "
                f"Split it, or write JSON lines, which are read one at a time."
            )
        with np.load(path, allow_pickle=False) as arrays:
            return {name: _checked(name, arrays[name]) for name in arrays.files}
    except _UNREADABLE as error:
        if isinstance(error, TableError):
            raise
        why = "arrays of objects are pickles, and refused; save texts with np.array(texts, dtype=str)"
        raise TableError(f"{path} cannot be read ({why if 'pickle' in str(error) else one_line(error)}).") from None


def _checked(name: str, array: Any) -> Any:
    """Return an array, bytes as text; another file in the archive is an error."""
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name} is not an array")
    return np.char.decode(array, "utf-8", "replace") if array.dtype.kind == "S" else array


def _rows(path: Path, name: str, array: Any, shape: tuple[int, ...]) -> list[Any]:
    """Return one entry per question."""
    if not array.ndim or len(array) != shape[0]:
        raise TableError(f"{path}: `{name}` must have one row per question, {shape[0]:,}; got {shape_of(array)}.")
    return list(array.tolist())


def _lengths(path: Path, array: Any, shape: tuple[int, ...]) -> Any:
    if array is not None and (array.shape != shape or array.dtype.kind not in "iu" or (array < 0).any()):
        raise TableError(f"{path}: `lengths` must be whole numbers of shape {shape}, as texts; got {shape_of(array)}.")
    return array


def _per_token(path: Path, name: str, array: Any, shape: tuple[int, ...], lengths: Any) -> list[Any]:
    """Return a list of tokens per answer, in the shape of the texts."""
    if array.ndim == 1 and lengths is not None and len(array) == lengths.sum():
        flat = np.split(array, np.cumsum(lengths.ravel())[:-1])
    elif array.shape[:-1] == shape:
        every = array.reshape(math.prod(shape), array.shape[-1])
        flat = list(every) if lengths is None else [row[:n] for row, n in zip(every, lengths.ravel(), strict=True)]
    else:
        raise TableError(
            f"{path}: `{name}` must be {(*shape, 'tokens')}, or one row of all tokens beside `lengths`; got "
            f"{shape_of(array)}."
        )
    listed = [_without_nan(row) for row in flat]
    return listed if len(shape) == 1 else [listed[k : k + shape[1]] for k in range(0, len(listed), shape[1])]


def _without_nan(row: Any) -> list[Any]:
    return [None if value != value else value for value in row.tolist()]  # noqa: PLR0124 - NaN


def _blank_zeros(columns: dict[str, list[Any]], lengths: Any) -> None:
    """Drop zeros at the end of a row as padding, where neither lengths, tokens nor ids are known."""
    known = lengths is not None or {"tokens", "token_ids", "sequences"} & set(columns)
    for name in () if known else set(_PER_TOKEN[:3]) & set(columns):
        for row in columns[name] if len(columns[name]) > 1 else ():
            while row and row[-1] in (0, None) and not isinstance(row[-1], list):
                row.pop()

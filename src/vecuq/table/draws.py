"""A random number for every row that depends on its id or place alone: the same in any order, on any machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecuq.errors import TableError
from vecuq.table.prints import Hashes, mixed

# One step of Vigna's splitmix64 from row to row. Which rows are held back depends on these hashes: never change them.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_WORD = 8


def place_hashes(n_rows: int, *, first_row: int = 0, part: int = 0, seed: int = 0) -> Hashes:
    """Return one 64-bit hash per row, of its place: the number of its part and of the row in it.

    Examples
    --------
    >>> together = place_hashes(4, seed=7)
    >>> bool((together[2:] == place_hashes(2, first_row=2, seed=7)).all())
    True
    """
    start = _start(seed, part)
    rows = np.arange(first_row, first_row + n_rows, dtype=np.uint64)
    return mixed(start + rows * _STEP)


def id_hashes(ids: Any, *, seed: int = 0) -> Hashes:
    """Return one 64-bit hash per row, of its id: a whole number or a text; equal ids have equal hashes.

    Examples
    --------
    >>> one, other = id_hashes(["a", "b"]), id_hashes(["b", "a"])
    >>> bool((one[::-1] == other).all()), bool(one[0] == one[1])
    (True, False)
    """
    import pyarrow as pa

    try:
        array = ids if isinstance(ids, pa.Array | pa.ChunkedArray) else pa.array(ids, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise TableError("ids must be whole numbers or texts, all of one kind.") from None
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if array.null_count:
        raise TableError(
            f"{array.null_count:,} of {len(array):,} rows have no id. Give every row one, or leave ids out."
        )
    if pa.types.is_integer(array.type):
        words = array.cast(pa.int64(), safe=False).to_numpy(zero_copy_only=False).view(np.uint64)
        return mixed(_start(seed, 0) ^ mixed(words.copy()))
    if pa.types.is_floating(array.type) or pa.types.is_boolean(array.type):
        raise TableError(f"ids must be whole numbers or texts; got {array.type}.")
    try:
        texts = array.cast(pa.large_string()).cast(pa.large_binary())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise TableError(f"ids must be whole numbers or texts; got {array.type}.") from None
    return _text_hashes(texts, seed)


def _start(seed: int, part: int) -> Hashes:
    """Return where the hashes of a part start, (1,)."""
    words = np.array([seed % 2**64], dtype=np.uint64)
    return mixed(mixed(words) ^ np.array([part % 2**64], dtype=np.uint64))


def _text_hashes(texts: Any, seed: int) -> Hashes:
    """Hash texts word by word, eight bytes each, all rows at once; then their lengths."""
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    lengths = np.diff(offsets)
    content = texts.buffers()[2]
    raw = np.frombuffer(content, dtype=np.uint8) if content is not None else np.empty(0, dtype=np.uint8)
    found = np.repeat(_start(seed, 1), len(texts))
    for start in range(0, int(lengths.max(initial=0)), _WORD):
        longer = np.flatnonzero(lengths > start)
        words = _words(raw, offsets[longer] + start, lengths[longer] - start)
        found[longer] = mixed(found[longer] ^ words)
    return mixed(found ^ lengths.astype(np.uint64))


def _words(raw: Any, starts: Any, lengths: Any) -> Hashes:
    """Return up to eight bytes from each start on as one number; bytes beyond the length count as 0."""
    word = np.zeros(len(starts), dtype=np.uint64)
    for byte in range(_WORD):
        inside = np.flatnonzero(lengths > byte)
        word[inside] |= raw[starts[inside] + byte].astype(np.uint64) << np.uint64(8 * byte)
    return word

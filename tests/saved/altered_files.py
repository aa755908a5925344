"""Saved files that were altered and got a new checksum: every array and every header field, in every way we know."""

import copy
import hashlib
import json
from contextlib import suppress

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save

from vecuq._files import read_tensors
from vecuq._files.tensors import FORMAT


def forged(header, arrays):
    """Return the bytes of a file with these parts, whatever they are, and a checksum that matches them."""
    full = {"format": FORMAT, **header}
    digest = hashlib.sha256(json.dumps(full, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name}{arrays[name].dtype.str}{arrays[name].shape}".encode() + arrays[name].tobytes())
    text = json.dumps({**full, "checksum": digest.hexdigest()}, sort_keys=True)
    return bytes(save(arrays, metadata={"vecuq": text}))


def parts_of(saved):
    """Return header and arrays of a file, free to be changed."""
    header, arrays = read_tensors(saved)
    return header, {name: array.copy() for name, array in arrays.items()}


def with_first(value):
    def change(array):
        array = array.astype(float)
        array.flat[: min(1, array.size)] = value
        return array

    return change


ARRAY_CHANGES = {
    "a nan": with_first(np.nan),
    "an infinity": with_first(np.inf),
    "all nan": lambda x: x * np.nan,
    "reversed": lambda x: x[::-1],
    "zeros": np.zeros_like,
    "negative": lambda x: -x,
    "empty": lambda x: x[:0],
    "shorter": lambda x: x[:-1],
    "narrower": lambda x: x[..., :-1],
    "longer": lambda x: np.concatenate([x, x]),
    "doubled": lambda x: np.concatenate([x[:1], x[:1], x[2:]]),
    "one axis more": lambda x: x[None],
    "no axis": lambda x: np.array(x.sum()),
    "float32": lambda x: x.astype(np.float32),
    "float16": lambda x: x.astype(np.float16),
    "whole numbers": lambda x: np.nan_to_num(x, posinf=9, neginf=-9).astype(np.int64),
    "small whole numbers": lambda x: np.nan_to_num(x, posinf=9, neginf=-9).astype(np.int32),
    "complex": lambda x: x.astype(np.complex64),
    "true or false": lambda x: x.astype(bool),
    "huge": lambda x: x * 1e200,
    "a little larger": lambda x: x * 1.01,
    "one more": lambda x: x + 1,
}


def altered_arrays(saved, *, wanted=lambda name: True):
    """Yield the name of an array, what was done to it, and the file with it; the array may be absent, too."""
    header, arrays = parts_of(saved)
    for name, array in arrays.items():
        if not wanted(name):
            continue
        yield name, "absent", forged(header, {other: kept for other, kept in arrays.items() if other != name})
        for what, change in ARRAY_CHANGES.items():
            with np.errstate(all="ignore"):
                changed = np.asarray(change(array), order="C")
            if (changed.dtype, changed.shape) == (array.dtype, array.shape) and changed.tobytes() == array.tobytes():
                continue
            with suppress(SafetensorError):  # of complex numbers, which older versions do not write
                yield name, what, forged(header, {**arrays, name: changed})


FIELD_CHANGES = (
    *(None, True, "x", "y" * 5_000, -1, 0, 7, 0.3, 1e300, 10**30, float("nan"), float("inf")),
    *([], [0], ["x"], {}),
)


def altered_fields(saved, *, wanted=lambda path: True):
    """Yield the path of a header field, what it became, and the file with it; the field may be absent, too."""
    header, arrays = parts_of(saved)
    for path in filter(wanted, _paths(header)):
        without = copy.deepcopy(header)
        del _at(without, path[:-1])[path[-1]]
        yield path, "absent", forged(without, arrays)
        before = _at(header, path)
        more = [before + before[:1], before[::-1], before[1:]] if isinstance(before, list) else []
        more += [before + 1, before * 1.01, -before] if isinstance(before, int | float) else []
        more += [not before] if isinstance(before, bool) else []
        for value in (*FIELD_CHANGES, *more):
            if json.dumps(value) != json.dumps(before):
                changed = copy.deepcopy(header)
                _at(changed, path[:-1])[path[-1]] = value
                yield path, repr(value)[:20], forged(changed, arrays)


def _paths(node, path=()):
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from _paths(value, (*path, key))


def _at(header, path):
    for key in path:
        header = header[key]
    return header

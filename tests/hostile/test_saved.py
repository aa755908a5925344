"""A saved file that was altered is refused in one line, or what it holds works. Most get a new checksum here."""

import hashlib
import json
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from damage import altered, damaged
from hunting import hunt
from hypothesis import strategies as st
from manners import refuse_long
from safetensors import SafetensorError
from safetensors.numpy import load as arrays_in
from safetensors.numpy import save
from saved_kinds import NUMBERS, classifier, numbers_of

import vecuq
from vecuq.errors import VecuqError

KNOWN_CLASSIFIER = cache(classifier)
SAVED = Path(__file__).parents[1] / "golden" / "saved_0_2_0"


def changed(value, place=-1):
    def change(array):
        array = array.astype(float)
        array.reshape(-1)[place:][:1] = value
        return array

    return change


LIES = {
    "NaN": changed(np.nan),
    "infinite": changed(np.inf),
    "huge": changed(1e308),
    "reversed": np.flip,
    "empty": lambda array: array[:0],
    "short": lambda array: array[:-1],
    "another axis": lambda array: array[None],
    "float32": lambda array: array.astype(np.float32),
}


@cache
def content(kind):
    return (SAVED / f"{kind}.vecuq").read_bytes()


def parts_of(saved):
    """Header and arrays of a saved file, free to be changed, by safetensors alone; the checksum is left out."""
    length = int.from_bytes(saved[:8], "little")
    header = json.loads(json.loads(saved[8 : 8 + length])["__metadata__"]["vecuq"])
    del header["checksum"]
    return header, {name: array.copy() for name, array in arrays_in(saved).items()}


def forged(header, arrays):
    """Header and arrays, whatever they are, as a saved file with a right checksum."""
    header = header if isinstance(header, dict) else {"odd": header}
    try:
        digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
        for name in sorted(arrays):
            digest.update(f"{name}{arrays[name].dtype.str}{arrays[name].shape}".encode() + arrays[name].tobytes())
        text = json.dumps({**header, "checksum": digest.hexdigest()}, sort_keys=True)
        return bytes(save(arrays, metadata={"vecuq": text}))
    except (TypeError, ValueError, SafetensorError):  # what nobody can write
        return b""


@st.composite
def lying_files(draw, kind):
    """A file whose header or arrays were changed, with a right checksum; or with wrong bytes."""
    way = draw(st.sampled_from((*["header"] * 3, *["array"] * 4, "name", "bytes")))
    if way == "bytes":
        return way, draw(damaged(content(kind)))
    header, arrays = parts_of(content(kind))
    if way == "header":
        return way, forged(draw(altered(header)), arrays)
    name = draw(st.sampled_from(sorted(arrays)))
    array = arrays.pop(name)
    if way == "name":
        other = draw(st.sampled_from(("", "x", *sorted(arrays))))
        return way, forged(header, arrays if draw(st.booleans()) else {**arrays, other: array})
    with np.errstate(all="ignore"):
        lie = LIES[draw(st.sampled_from(sorted(LIES) if array.ndim else ["NaN", "huge", "another axis", "float32"]))]
        return way, forged(header, {**arrays, name: np.asarray(lie(array), order="C")})


def check(kind, way, saved):
    """Load and use a file; return whether it was accepted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        estimator = {"estimator": KNOWN_CLASSIFIER()} if kind == "estimator_pipeline" else {}
        try:
            loaded = vecuq.load(saved, **estimator)
        except VecuqError as error:
            refuse_long(error)
            return False
        repr(loaded)
        loaded.describe()
        try:
            found = numbers_of(kind, loaded)
        except VecuqError as error:  # such as columns of other names
            refuse_long(error)
            return True
    known = json.loads((SAVED / "numbers.json").read_text())[kind]
    if way == "bytes":
        np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-12)
    assert np.isfinite(found[: len(known)])[np.isfinite(known[: len(found)])].all()
    return True


@pytest.mark.parametrize("kind", NUMBERS)
def test_an_altered_file_is_refused_in_one_line_or_works(kind):
    assert check(kind, "bytes", content(kind))
    assert check(kind, "bytes", forged(*parts_of(content(kind))))
    assert False in hunt(lying_files(kind), lambda lie: check(kind, *lie), 60)
    hunt(damaged(content(kind), most=1, begin=200), lambda saved: check(kind, "bytes", saved), 20)

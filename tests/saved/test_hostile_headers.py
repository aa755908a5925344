"""Bytes made to mislead: lengths that lie, shapes without bytes, JSON that is deep, huge, doubled or without end."""

import json
import struct
import tracemalloc

import numpy as np
import pytest
from altered_files import forged, parts_of

from vecuq import PartialFit, VecUQPipeline, fit_ranker, load
from vecuq._files import saved_header
from vecuq.errors import ModelFileError

ROWS = np.random.default_rng(0).gamma(1.0, size=(80, 2))
EIGHT = b"\0" * 8


def raw(outline, body=b""):
    """Return a safetensors file with this outline, whatever it is."""
    text = outline if isinstance(outline, bytes) else json.dumps(outline).encode()
    return struct.pack("<Q", len(text)) + text + body


def with_header(text):
    return raw({"__metadata__": {"vecuq": text}})


def with_array(dtype, shape, body=EIGHT):
    stated = {"dtype": dtype, "shape": shape, "data_offsets": [0, len(body)]}
    return raw({"__metadata__": {"vecuq": "{}"}, "x": stated}, body)


def ours(**fields):
    return json.dumps({"format": 2, "kind": "model", "library": "0.2", "checksum": "", **fields})


HEADERS = {
    "an infinite format": '{"format": Infinity, "checksum": "a"}',
    "a format beyond the largest float": '{"format": 1e999, "checksum": "a"}',
    "a format that is no number": ours(format="2"),
    "half a format": ours(format=1.5),
    "a format below the first": ours(format=0),
    "a format that is true": ours(format=True),
    "a whole number of 5,000 digits": f'{{"format": {"9" * 5_000}}}',
    "a kind that is a list": ours(kind=[]),
    "a checksum that is a list": ours(checksum=[]),
    "a library that is an object": ours(library={}),
    "NaN": ours(n=float("nan")),
    "a field that comes twice": '{"format": 2, "format": 2, "kind": "model", "library": "0.2", "checksum": ""}',
    "lists in lists in lists": "[" * 100_000,
    "deep under a field": f'{{"format": 2, "a": {"[" * 50_000}{"]" * 50_000}}}',
    "objects in objects": '{"a":' * 50_000,
    "nothing": "",
    "null": "null",
    "a number": "7",
    "half a character": ours(columns=["\ud800"]),
    "a checksum of something else": ours(),
}
FILES = {
    **{f"header: {name}": with_header(text) for name, text in HEADERS.items()},
    **{f"numbers of type {one}": with_array(one, [8]) for one in ("F8_E4M3", "F8_E5M2", "F8_E8M0", "F4", "nonsense")},
    "brain floats": with_array("BF16", [4]),
    "no type": raw({"x": {"shape": [1], "data_offsets": [0, 8]}}, EIGHT),
    "a shape larger than memory": with_array("F64", [2**62]),
    "a shape whose product overflows": with_array("F64", [2**33, 2**33]),
    "no rows of endless columns": with_array("F64", [0, 2**62], b""),
    "a hundred axes": with_array("F64", [1] * 100),
    "a negative size": with_array("F64", [-1]),
    "offsets behind the end": raw({"x": {"dtype": "F64", "shape": [1], "data_offsets": [8, 16]}}, EIGHT),
    "more bytes than stated": with_array("F64", [1], EIGHT) + EIGHT,
    "a length of 2 ** 63": struct.pack("<Q", 2**63) + b"{}",
    "a length of 90 million": struct.pack("<Q", 90_000_000) + b"{}",
    "a length of 3 million": struct.pack("<Q", 3_000_000) + b"{}",
    "an outline that is a list": raw(b"[]"),
    "an outline that is deep": raw(b"[" * 100_000),
    "an outline that comes twice": raw(b'{"__metadata__":{"vecuq":"{}"},"__metadata__":{"vecuq":"{}"}}'),
    "an array that is a number": raw({"x": 7}),
    "metadata that is a list": raw({"__metadata__": []}),
    "a header that is a number": raw(b'{"__metadata__":{"vecuq":7}}'),
    "no text at all": raw(b"\xff" * 50),
}


@pytest.mark.parametrize("name", FILES)
def test_bytes_that_mislead_are_refused_in_one_line_from_memory_and_from_disk(name, tmp_path):
    (tmp_path / "m.vecuq").write_bytes(FILES[name])
    for source in (FILES[name], tmp_path / "m.vecuq"):
        with pytest.raises(ModelFileError) as caught:
            load(source)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 500
    assert isinstance(saved_header(tmp_path / "m.vecuq"), dict)


def test_an_array_without_axes_is_refused():
    header, arrays = parts_of(fit_ranker(ROWS).to_bytes())
    with pytest.raises(ModelFileError, match=r"'calibration' must have the shape \(40 rows\), and has \(\)"):
        load(forged(header, {**arrays, "calibration": np.array(1.0)}))


@pytest.mark.parametrize("tiny", [1e-300, 5e-324])
def test_a_temperature_whose_square_is_zero_is_refused(tiny):
    logits = np.random.default_rng(1).normal(size=(2, 60, 3))
    header, arrays = parts_of(VecUQPipeline(measures=["entropy"]).fit(logits).to_bytes())
    with pytest.raises(ModelFileError):
        load(forged({**header, "temperature": tiny}, arrays))


def test_a_header_larger_than_any_of_ours_is_not_read(tmp_path):
    large = raw({"__metadata__": {"vecuq": "x" * 5_000_000}})
    (tmp_path / "m.vecuq").write_bytes(large)
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="does not begin with the length of a header"):
        load(tmp_path / "m.vecuq")
    assert saved_header(tmp_path / "m.vecuq") == {}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_loading_takes_a_small_multiple_of_the_file(tmp_path):
    saved = fit_ranker(np.random.default_rng(0).gamma(1.0, size=(60_000, 3))).to_bytes()
    (tmp_path / "m.vecuq").write_bytes(saved)
    load(saved)
    tracemalloc.start()
    load(tmp_path / "m.vecuq")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * len(saved)


@pytest.mark.parametrize(
    ("name", "reason"), [("y" * 5_000_000, "too long to be saved"), ("\ud800", "half a character")]
)
def test_what_could_not_be_read_again_is_not_written(name, reason, tmp_path):
    made = PartialFit().update({name: ROWS[:, 0]})
    for save in (made.to_bytes, lambda: made.save(tmp_path / "s.vecuq")):
        with pytest.raises(ModelFileError, match=reason):
            save()
    assert not list(tmp_path.iterdir())

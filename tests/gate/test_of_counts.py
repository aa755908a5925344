"""A gate that vecuq 0.2 fitted to counts decides as it did, and is a gate of rows from then on."""

import json
import warnings
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pytest

from vecuq import load
from vecuq._files import read_tensors, tensor_bytes
from vecuq.errors import CalibrationWarning, ModelFileError

FOLDER = Path(__file__).with_name("of_counts")
KNOWN = json.loads((FOLDER / "numbers.json").read_text())


def altered(change):
    """Return the bytes of the gate with some of its arrays changed."""
    header, arrays = read_tensors(FOLDER / "gate.vecuq")
    arrays = dict(arrays)
    change(arrays)
    own = {name: value for name, value in header.items() if name not in ("kind", "format", "written", "vecuq")}
    return tensor_bytes("gate", own, arrays)


@pytest.mark.parametrize("again", [False, True])
def test_it_says_what_it_said(again):
    gate = load(FOLDER / "gate.vecuq")
    gate = load(gate.to_bytes()) if again else gate
    new = np.array(KNOWN["new"])
    npt.assert_array_equal(gate.accept(new, by=["a", "b"] * 6), KNOWN["accept"])
    npt.assert_array_equal(gate.p_wrong(new), KNOWN["p_wrong"])
    npt.assert_array_equal(gate.coverage_line(), KNOWN["line"])
    assert (gate.table_, gate.orders_) == (KNOWN["table"], KNOWN["orders"])
    assert (gate.coverage_, gate.bound_) == (KNOWN["coverage"], KNOWN["bound"])
    said = str(gate.certificate()).splitlines()
    assert [line for line in said if "labelled rows  " not in line] == [
        line for line in KNOWN["certificate"].splitlines() if "labelled rows  " not in line
    ]


def test_rows_are_compared_with_its_labelled_rows_as_far_as_it_knows_them():
    gate = load(FOLDER / "gate.vecuq")
    rng = np.random.default_rng(8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gate.accept(rng.gamma(1.5, size=(600, 2)), by=["a", "b"] * 300)
    with pytest.warns(CalibrationWarning, match="differ"):
        gate.accept(rng.gamma(2.5, size=(600, 2)), by=["a", "b"] * 300)


@pytest.mark.parametrize(
    "counts",
    [
        lambda times: times - times.max(),
        lambda times: times[:-1],
        lambda times: times.astype(float),
        lambda times: np.roll(times, 1),
        lambda times: np.full_like(times, 2**60),
        lambda times: np.full_like(times, 2**62),
    ],
    ids=["negative", "short", "floats", "moved", "bomb", "beyond 64 bits"],
)
def test_counts_that_make_no_sense_are_refused_before_rows_are_made_of_them(counts):
    with pytest.raises(ModelFileError):
        load(altered(lambda arrays: arrays.update({"labelled.counts": counts(arrays["labelled.counts"])})))

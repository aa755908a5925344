"""tools/bits sees one bit, and a face that is gone."""

import importlib.machinery
import importlib.util
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="module")
def bits():
    loader = importlib.machinery.SourceFileLoader("bits", str(Path(__file__).parents[1] / "tools" / "bits"))
    spec = importlib.util.spec_from_loader("bits", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_one_unit_in_the_last_place_is_another_column(bits):
    scores = np.array([0.1, np.nan, 3.0])
    moved = scores.copy()
    moved[2] = np.nextafter(3.0, 4.0)
    old, new = (bits.numbers({"uncertainty": column, "why": ["a"]}) for column in (scores, moved))
    assert old.keys() == {"uncertainty"}
    assert bits.compared({"Python": old}, {"Python": bits.numbers({"uncertainty": scores.tolist()})}, "") == 0
    assert bits.compared({"Python": old}, {"Python": new}, "") == 1


def test_what_one_side_lacks_is_equal_only_if_it_is_declared(bits, capsys):
    lacks = {"!": "ImportError: no dask"}
    for old, new in (
        ({"dask": {"a": "1"}}, {"dask": lacks}),
        ({"dask": lacks}, {"dask": {"a": "1"}}),
        ({"dask": {}}, {}),
    ):
        assert bits.compared(old, new, "") == 1
        assert bits.compared(old, new, "dask*") == 0
    assert "gone, as declared" in capsys.readouterr().out
    assert bits.compared({"dask": {"a": "1", "b": "2"}}, {"dask": {"a": "1"}}, "") == 1

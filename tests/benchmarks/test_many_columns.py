"""The study of many columns counts what it says: on made-up columns, in seconds."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def benchmarks_can_be_imported():
    sys.path.insert(0, str(ROOT))
    yield
    sys.path.remove(str(ROOT))


def part(name="many_columns"):
    return import_module(f"benchmarks.{name}")


def problem(m=12, n=400, seed=0):
    """Columns that rise with a hidden difficulty, which makes answers wrong."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(3 * n)
    x = hidden[:, None] + rng.gamma(1.0, 0.3, size=(3 * n, m))
    wrong, ood = rng.random(2 * n) < hidden[n:], np.arange(2 * n) >= n
    shifted = x[n:] + 0.3 * ood[:, None]
    return part("wide_problems").Problem("made up", x[:n], {"errors": (x[n:], wrong), "ood": (shifted, ood)})


@pytest.mark.nightly
def test_a_row_of_the_first_table_holds_every_figure():
    found = part().wide_row("made up", [problem()], [problem(4)])
    assert len(found) == len(part().WIDE)
    assert found[:2] == ["made up", "12"]
    assert found[7:9] == ["0 of 2", "0.0 %"]
    errors, ood = map(float, found[3].split(" / "))
    assert errors > 0.75
    assert ood > 0.7


def test_two_levels_have_nearly_the_order_of_one_map():
    ((m, two, cloud, summed),) = part().order_rows([problem()], sizes=(6,))
    assert m == "6"
    assert all(float(one.split(" / ")[0]) > 0.98 for one in (two, cloud, summed))


def test_copies_and_noise_are_added_to_the_columns():
    wide = part("wide_problems").widened(problem(4), copies=3, noise=5)
    assert wide.calibration.shape == (400, 12)
    correlation = np.corrcoef(wide.calibration.T)
    assert correlation[0, 4:7].min() > 0.999
    assert np.abs(correlation[0, 7:]).max() < 0.2
    assert len(next(part().robust_rows([problem(4)]))) == len(part().ROBUST)


def test_a_fall_is_counted():
    rows = problem().calibration
    assert part().fallen(lambda new: new.sum(axis=1), rows) == 0.0
    assert part().fallen(lambda new: -new.sum(axis=1), rows) == 1.0


def test_score_vectors_of_a_folder_join(tmp_path):
    x = problem(4).calibration
    np.savez(tmp_path / "family.npz", **{"one/x": x, "one/wrong": x[:, 0] > 1.0})
    (found,) = part("wide_problems").families(tmp_path)
    assert found.calibration.shape == (200, 4)
    assert list(part("wide_problems").families(None)) == []

"""The examples run as they stand, and what they print is right."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vecuq import VecUQ, fit_ranker, read_table
from vecuq.data import DEMO_SCORES, demo_files, load_demo
from vecuq.evaluation import roc_auc

EXAMPLES = Path(__file__).parents[1] / "examples"


def printed_by(name):
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, check=True)
    return done.stdout


def test_rows_of_an_array_are_scored_flagged_saved_and_loaded():
    *rows, last = printed_by("from_arrays").splitlines()
    assert last == "the same bits after saving and loading: True"
    p_values = [float(re.search(r"p-value ([\d.]+)", row)[1]) for row in rows]
    flagged = [row.endswith("FLAGGED") for row in rows]
    assert len(rows) == 10
    assert flagged == [p <= 0.05 for p in p_values]
    assert sum(flagged[5:]) >= 3 > sum(flagged[:5])


def test_a_sketch_of_the_parts_gives_the_ranker_of_the_whole():
    sketched, compared = printed_by("from_chunks").splitlines()
    assert sketched.startswith("60,000 rows; 30,0")
    assert float(compared.rpartition(" ")[2]) < 1e-9


def test_the_figures_of_when_it_helps_are_those_of_the_library():
    shown = printed_by("when_it_helps")
    calibration, new = (read_table(path, columns=DEMO_SCORES) for path in demo_files())
    is_ood = np.asarray(load_demo().new["is_ood"])
    area = roc_auc(fit_ranker(calibration).uncertainty(new), is_ood)
    lines = [line for line in shown.splitlines() if line.strip().startswith("vecuq, defaults")]
    assert len(lines) == 2
    assert f"{area:.3f}" in lines[1]


def test_the_demo_is_fitted_and_scored_in_three_lines():
    calibration, new = load_demo()
    model = VecUQ().fit(calibration)
    assert model.uncertainty(new).shape == (720,)
    assert tuple(calibration.column_names) == DEMO_SCORES
    assert {"id", "is_error", "is_ood"} == {*new.column_names} - {*DEMO_SCORES}


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_every_example_has_a_test_here_or_makes_files(name):
    assert name in ("from_arrays", "from_chunks", "when_it_helps") or name.startswith("make_")

"""Two tables in the wrong roles: the same one twice, one that contains the other, or exchanged."""

import json

import numpy as np
import pandas as pd

from vecuq.data import load_demo
from vecuq.doctor import Case
from vecuq.doctor.files import check_files


def rows(n, seed):
    rng = np.random.default_rng(seed)
    return rng.gamma(2.0, size=(n, 1)) + rng.gamma(2.0, size=(n, 3))


def only(old, new):
    (found,) = check_files(Case.of(old, new))
    return found


def test_the_same_table_twice_is_serious():
    found = only(rows(300, 0), rows(300, 0)[::-1])
    assert found.severity == "serious"
    assert "Both tables hold the same rows" in found.what


def test_new_rows_that_were_calibrated_on_are_counted():
    found = only(rows(400, 0), np.concatenate([rows(400, 0)[:40], rows(160, 1)]))
    assert (found.severity, found.figures["copies"]) == ("warning", 40)
    assert only(rows(400, 0), rows(400, 0)[:250]).severity == "serious"


def test_scores_with_few_values_meet_again_honestly():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        old, new = (rng.integers(0, 6, size=(n, 3)) / 5 for n in (400, 300))
        assert only(old, new).severity == "ok"


def test_new_rows_of_the_same_law_are_not_suspected():
    assert {only(rows(400, seed), rows(300, seed + 50)).severity for seed in range(30)} == {"ok"}


def test_exchanged_tables_are_suspected():
    calibration, new = load_demo()
    new = new.select(calibration.column_names)
    found = only(new, calibration)
    assert found.severity == "warning"
    assert "wrong order" in found.what
    assert only(calibration, new).severity == "ok"


def test_missing_values_do_not_stand_in_the_way():
    new = rows(300, 0)
    new[5, 1] = np.nan
    assert only(rows(300, 0), new).severity == "serious"


def test_the_command_notices_its_own_calibration_file(run, tmp_path):
    path = tmp_path / "cal.csv"
    pd.DataFrame(rows(300, 0), columns=["a", "b", "c"]).to_csv(path, index=False)
    told = json.loads(run("doctor", path, path, "--json").stdout)["findings"]
    assert [one["severity"] for one in told if one["check"] == "files"] == ["serious"]

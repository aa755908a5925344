"""Python, the command line, Dask and Spark fit the same model to the same rows."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from cases import COLUMNS, FITS, bits, calibration, new_table

from vecuq import ScoreTable, Settings, fit_ranker, load

pytestmark = pytest.mark.filterwarnings("ignore::vecuq.errors.VecuqWarning")
NEW = new_table().select(COLUMNS)


@pytest.mark.parametrize("name", FITS)
def test_python_and_the_command_line(run, tmp_path, name):
    given, words = FITS[name]
    rows = calibration()
    settings = given if isinstance(given, Settings) else Settings(**given)
    table = ScoreTable.of(rows.select(COLUMNS), columns=COLUMNS, flip=["confidence"])
    mine = fit_ranker(table, settings, groups=rows["session"].to_numpy() if "--group" in words else None)
    pq.write_table(rows, tmp_path / "rows.parquet")
    line = ("fit", tmp_path / "rows.parquet", "--columns", ",".join(COLUMNS), "--flip", "confidence")
    done = run(*line, *words, "-o", tmp_path / "m.vecuq")
    assert done.exit_code == 0, done.output
    theirs = load(tmp_path / "m.vecuq")
    for ask in ("uncertainty", "explain", *(["p_values"] if name != "paper" else [])):
        mine_said, theirs_said = (np.ravel(getattr(one, ask)(NEW)).tolist() for one in (mine, theirs))
        assert bits(theirs_said) == bits(mine_said), ask

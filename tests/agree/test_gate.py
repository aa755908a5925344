"""Python and the command line certify the same from the same labels: every target, groups and categories."""

from dataclasses import replace

import faces
import numpy as np
import pyarrow.parquet as pq
import pytest
from cases import COLUMNS, GATES, bits, labelled, new_table, ranker

from vecuq import Gate, load

pytestmark = pytest.mark.filterwarnings("ignore::vecuq.errors.VecuqWarning")
LABELLED = labelled(1_200, 1)


def undated(certificate):
    """A certificate without the moments at which it and those of its categories were made."""
    return replace(certificate, date="", units=tuple(map(undated, certificate.units)))


@pytest.mark.parametrize("name", GATES)
def test_python_and_the_command_line_certify_the_same(run, saved, tmp_path, name):
    settings, how, words = GATES[name]
    columns = {given: LABELLED[column].to_numpy() for given, column in how.items() if isinstance(column, str)}
    mine = Gate(ranker(), **settings).fit(LABELLED.select(COLUMNS), LABELLED["right"].to_numpy(), **{**how, **columns})
    pq.write_table(LABELLED, tmp_path / "labelled.parquet")
    line = ("gate", saved("model"), tmp_path / "labelled.parquet", "--correct", "right", "-o", tmp_path / "g.vecuq")
    assert run(*line, *words).exit_code == 0
    theirs = load(tmp_path / "g.vecuq")
    assert undated(theirs.certificate()) == undated(mine.certificate())
    rows, by = new_table(), new_table()["subject"].to_pylist() if "by" in how else None
    np.testing.assert_array_equal(theirs.accept(rows.select(COLUMNS), by=by), mine.accept(rows.select(COLUMNS), by=by))
    assert bits(theirs.p_wrong(rows.select(COLUMNS)).tolist()) == bits(mine.p_wrong(rows.select(COLUMNS)).tolist())


def test_rows_one_by_one_get_the_bits_that_they_get_together(saved):
    pytest.importorskip("fastapi")
    served, table = faces.Http(saved("gate")), new_table().slice(100)
    together = served.score(table, "json", alpha=0.1, explain=True)
    for k in range(len(table)):
        alone = served.score(table.slice(k, 1), "json", alpha=0.1, explain=True)
        assert {name: column[0] for name, column in alone.items()} == {
            name: column[k] for name, column in together.items() if name in alone
        }

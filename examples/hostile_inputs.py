"""Attack your own use of vecuq with hostile inputs: for tests of pipelines that take what others send.

Needs `pip install 'vecuq[testing]'`. The functions below are ordinary tests: put them into a file that pytest finds.
"""

import numpy as np
import pyarrow as pa
from hypothesis import given, settings

from vecuq import VecUQ
from vecuq.testing import as_frame, check_command, check_scores, score_tables

rng = np.random.default_rng(0)
COLUMNS = ["entropy", "knn"]
model = VecUQ().fit({name: rng.gamma(1.0, size=200) for name in COLUMNS})
tried, ended = [], []


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(score_tables(COLUMNS))
def test_a_row_is_scored_by_itself_whatever_stands_around_it(table: pa.Table) -> None:
    """Any type, missing and infinite values, one row or none: the score of a row depends on that row alone."""
    tried.append(table.num_rows)
    check_scores(model, [as_frame(table, "pandas")])


def test_a_file_that_cannot_be_read_is_one_line_and_leaves_nothing_behind() -> None:
    """A failing command exits with 1, prints one line, and touches no file."""
    files = {"new.csv": b"entropy,knn\n0.5,oops\n", "model.vecuq": model.to_bytes()}
    ended.append(check_command(["score", "model.vecuq", "new.csv"], files))


test_a_row_is_scored_by_itself_whatever_stands_around_it()  # pytest would call them
test_a_file_that_cannot_be_read_is_one_line_and_leaves_nothing_behind()
print(f"{len(tried)} hostile tables were scored or refused as promised")
print(f"exit code {ended[0].code}")

"""What a fit leaves out or takes in against appearances is named once, with the remedy; what the user states is not."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from vecuq import ScoreTable, Settings, VecUQ, baselines, fit_ranker, fit_stream
from vecuq.errors import CalibrationWarning, ColumnError, ColumnWarning
from vecuq.table import warn_of_columns

N = 300
RNG = np.random.default_rng(3)
UNCERTAIN = RNG.gamma(1.0, size=N)
SCORES = {"entropy": UNCERTAIN + 0.3 * RNG.gamma(1.0, size=N), "knn": UNCERTAIN + 0.5 * RNG.gamma(1.0, size=N)}
COUNTS = RNG.integers(0, 100, N)
REVERSED = {**SCORES, "foo": np.exp(-UNCERTAIN)}

FITS = {
    "VecUQ": lambda columns: VecUQ().fit(pd.DataFrame(columns)),
    "partial_fit": lambda columns: VecUQ().partial_fit(pd.DataFrame(columns)),
    "fit_ranker": lambda columns: fit_ranker(pd.DataFrame(columns)),
    "fit_stream": lambda columns: fit_stream(lambda: iter([ScoreTable.of(columns)])),
    "baseline": lambda columns: baselines.mean_rank().fit(columns),
    "polars": lambda columns: VecUQ().fit(pl.DataFrame(columns)),
    "arrow": lambda columns: VecUQ().fit(pa.table(columns)),
    "records": lambda columns: VecUQ().fit(pd.DataFrame(columns).to_dict("records")),
}


def told(fit):
    """Return what a fit warns of its columns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in caught if one.category is ColumnWarning]


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_whole_numbers_beside_decimal_ones_are_named_in_one_warning_with_the_remedy(fit):
    assert told(lambda: fit({**SCORES, "n_trees_against": COUNTS, "prompt": ["why?"] * N})) == [
        "Not taken for scores: 'n_trees_against' (whole numbers beside decimal ones). If one is a score, name all "
        "score columns, as in columns=['entropy', 'knn', 'n_trees_against']; columns=['entropy', 'knn'] confirms the "
        "choice."
    ]


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_a_confidence_that_is_not_flipped_is_named_in_one_warning_with_the_remedy(fit):
    (only,) = told(lambda: fit(REVERSED))
    assert only.startswith(
        "Score columns that look like something else: 'foo' (a confidence: falls as 'entropy' and 'knn' rise, rank "
        "correlation -0.9"
    )
    assert only.endswith("If higher means more confident, fit with flip=['foo'].")


def test_everything_that_was_left_out_is_in_one_warning_by_reason():
    columns = {**SCORES, "votes": COUNTS, "id": np.arange(N), "flag": COUNTS > 50, "uncertainty": UNCERTAIN}
    (only,) = told(lambda: VecUQ().fit({**columns, "gone": [None] * N, "text": ["x"] * N}))
    assert (
        "Not taken for scores: 'votes', 'id' (whole numbers beside decimal ones); 'flag' (true or false); 'gone' (no "
        "values); 'uncertainty' (named like what vecuq adds)."
    ) in only


def test_what_vecuq_itself_writes_beside_scores_is_left_out_without_a_word():
    table = ScoreTable.of({**SCORES, "id": np.arange(N), "label": COUNTS, "is_error": COUNTS > 5, "quality": UNCERTAIN})
    assert list(table.left_out) == ["id", "label", "is_error", "quality"]
    assert told(lambda: VecUQ().fit(table)) == []


def test_everything_that_looks_strange_is_in_one_warning():
    columns = {**SCORES, "id": np.arange(N) + 0.0, "when": 1.7e9 + np.arange(N), "is_error": (COUNTS > 50) + 0.0}
    (only,) = told(lambda: VecUQ().fit({**columns, "probability": np.exp(-UNCERTAIN)}))
    assert "'id' (an id: by its name); 'when' (a time: its values are dates in seconds since 1970)" in only
    assert "'is_error' (a label: by its name); 'probability' (a confidence: by its name and because it falls" in only
    assert "fit with flip=['probability']. Leave out what is no score, as in columns=['entropy', 'knn', 'prob" in only


def test_named_columns_are_taken_as_they_are_but_directions_are_still_doubted():
    columns = {**REVERSED, "id": np.arange(N) + 0.0, "votes": COUNTS}
    assert told(lambda: VecUQ(columns=["entropy", "knn", "id", "votes"]).fit(columns)) == []
    (only,) = told(lambda: VecUQ(columns=["entropy", "knn", "foo", "id"]).fit(columns))
    assert "'foo' (a confidence" in only
    assert "'id'" not in only


def test_with_columns_and_flips_named_nothing_is_doubted():
    assert told(lambda: VecUQ(columns=["entropy", "knn", "foo"], flip=["foo"]).fit(REVERSED)) == []
    assert told(lambda: VecUQ(columns=["entropy", "knn", "foo"], flip=()).fit(REVERSED)) == []


def test_one_flip_does_not_clear_the_other_columns():
    columns = {**SCORES, "confidence": np.exp(-UNCERTAIN), "max_prob": np.exp(-2 * UNCERTAIN)}
    (only,) = told(lambda: VecUQ(flip=["confidence"]).fit(columns))
    assert "'max_prob' (a confidence" in only
    assert only.endswith("fit with flip=['confidence', 'max_prob'].")
    assert told(lambda: VecUQ(flip=["confidence", "max_prob"]).fit(columns)) == []


def test_directions_do_not_matter_to_signed_scores_and_to_distances():
    assert told(lambda: fit_ranker(REVERSED, Settings(reference="ball"))) == []
    for direction_free in (baselines.mahalanobis, baselines.knn, baselines.isolation_forest, baselines.pca):
        assert told(lambda fit=direction_free: fit().fit(REVERSED)) == []


def test_nothing_is_said_when_new_rows_are_scored():
    columns = {**SCORES, "votes": COUNTS, "id": np.arange(N) + 0.0}
    with pytest.warns(ColumnWarning) as caught:
        model = VecUQ().fit(columns)
    assert len(caught) == 2
    assert told(lambda: (model.uncertainty(columns), model.flag(columns), model.explain(columns))) == []


def test_only_the_first_chunk_of_a_partial_fit_is_looked_at():
    with pytest.warns(ColumnWarning):
        model = VecUQ(ranges=[(0.0, 20.0), (0.0, 20.0), (0.0, 1.0)]).partial_fit(REVERSED)
    assert told(lambda: model.partial_fit(REVERSED)) == []


def test_a_column_of_an_array_is_left_out_by_the_user():
    rows = np.column_stack([*SCORES.values(), np.arange(N)])
    assert told(lambda: VecUQ().fit(rows)) == [
        "Score columns that look like something else: 'x2' (an id: whole numbers, no two alike). Leave out what is no "
        "score."
    ]


def test_honest_scores_are_fitted_in_silence():
    assert told(lambda: VecUQ().fit({**SCORES, "text": ["x"] * N})) == []
    assert told(lambda: VecUQ().fit({"votes": COUNTS, "rounds": COUNTS[::-1]})) == []


def test_a_table_without_a_score_names_what_was_left_out():
    with pytest.raises(ColumnError, match=r"Left out: 'uncertainty' \(named like what vecuq adds\)\. Name some by"):
        ScoreTable.of({"uncertainty": [0.5, 0.25], "text": ["a", "b"]})


def test_long_lists_of_names_are_cut():
    columns = {f"score_{k}": SCORES["knn"] for k in range(9)} | {f"count_{k}": COUNTS for k in range(20)}
    with pytest.warns(ColumnWarning, match=r"'count_7' and 12 more .* as in columns=\[\.\.\.\]"):
        warn_of_columns(ScoreTable.of(columns))


def test_warnings_of_columns_are_calibration_warnings_at_the_line_of_the_user():
    assert issubclass(ColumnWarning, CalibrationWarning)
    with pytest.warns(ColumnWarning) as caught:
        VecUQ().fit(REVERSED)
    assert caught[0].filename == __file__


def test_what_was_stated_goes_with_the_table():
    table = ScoreTable.of({**REVERSED, "votes": COUNTS})
    assert table.left_out == {"votes": "whole numbers beside decimal ones"}
    assert table.unsaid == {"columns", "flip"}
    assert table.flip([]).unsaid == {"columns"}
    assert table.select(table.columns).unsaid == {"flip"}
    assert table.select(["knn"]).left_out == table.stated().left_out == {}
    assert table.stated().unsaid == frozenset()
    assert ScoreTable.of(np.ones((2, 2))).unsaid == {"array", "flip"}


TRUTHS = {"numpy": np.array([True, False]), "text": ["true", "false"], "Python": [True, None]}


@pytest.mark.parametrize("cells", TRUTHS.values(), ids=TRUTHS)
def test_truth_values_are_left_out_alike_whatever_they_came_as(cells):
    for frame in (dict, pd.DataFrame, pl.DataFrame, pa.table):
        table = ScoreTable.of(frame({"flag": cells, "a": [0.5, 0.25]}))
        assert table.left_out == {"flag": "true or false"}

"""A batch of Arrow rows comes back with its scores, to the bit those of the whole table."""

import numpy as np
import numpy.testing as npt
import pyarrow as pa
import pytest

from vecuq import ScoreTable, Settings, fit_ranker
from vecuq.errors import ColumnError


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(1).gamma(1.0, size=(500, 2))


def batch_of(rows, **more):
    columns = {"knn": pa.array(rows[:, 1], from_pandas=True), "entropy": pa.array(rows[:, 0], from_pandas=True)}
    return pa.RecordBatch.from_pydict({"id": pa.array(range(len(rows))), **columns, **more})


@pytest.fixture(scope="module")
def ranker(rows):
    return fit_ranker(ScoreTable(["entropy", "knn"], rows).flip(["knn"]))


def test_scores_are_added_and_everything_else_stays(ranker, rows):
    batch = batch_of(rows)
    scored = ranker.rank_batch(batch)
    expected = ranker.rank(ScoreTable(["entropy", "knn"], rows).flip(["knn"]))
    assert scored.schema.names == ["id", "knn", "entropy", "uncertainty", "p_value"]
    assert scored.select(["id", "knn", "entropy"]) == batch
    npt.assert_array_equal(scored["uncertainty"].to_numpy(), expected.uncertainty)
    npt.assert_array_equal(scored["p_value"].to_numpy(), expected.p_values)


@pytest.mark.parametrize("size", [1, 7, 96, 499])
def test_however_a_table_is_cut_its_scores_are_the_same_to_the_bit(ranker, rows, size):
    whole = pa.Table.from_batches([ranker.rank_batch(batch_of(rows))])
    pieces = [ranker.rank_batch(batch_of(rows[start : start + size]))["uncertainty"] for start in range(0, 500, size)]
    assert pa.chunked_array(pieces).combine_chunks() == whole["uncertainty"].combine_chunks()


def test_a_row_without_a_score_has_nulls_and_no_warning(ranker, rows):
    lost = rows[:3].copy()
    lost[1, 0] = np.nan
    scored = ranker.rank_batch(batch_of(lost))
    assert scored["uncertainty"].is_null().to_pylist() == [False, True, False]
    assert scored["p_value"].null_count == 1
    assert ranker.rank_batch(batch_of(lost), missing="marginal")["p_value"].null_count == 0


def test_an_absent_column_is_an_error_or_missing_everywhere(ranker, rows):
    without = batch_of(rows[:3]).drop_columns(["knn"])
    with pytest.raises(ColumnError, match="knn"):
        ranker.rank_batch(without)
    assert ranker.rank_batch(without, missing="marginal")["uncertainty"].null_count == 0


def test_without_held_back_rows_there_are_no_p_values_and_a_ranker_by_position_goes_by_its_names(rows):
    plain = fit_ranker(rows, Settings(holdback=0.0), named=False)
    batch = pa.RecordBatch.from_pydict({name: rows[:, k] for k, name in enumerate(plain.columns)})
    assert plain.rank_batch(batch).schema.names == [*plain.columns, "uncertainty"]


def test_columns_that_scoring_adds_are_not_replaced(ranker, rows):
    with pytest.raises(ColumnError, match="'uncertainty'"):
        ranker.rank_batch(batch_of(rows[:2], uncertainty=pa.array([0.0, 1.0])))


def test_a_batch_of_no_rows_is_scored(ranker, rows):
    assert ranker.rank_batch(batch_of(rows[:0])).num_rows == 0


def test_a_table_of_several_chunks_is_scored_as_a_batch_is(ranker, rows):
    table = pa.Table.from_batches([batch_of(rows[:200]), batch_of(rows[200:])])
    whole = pa.Table.from_batches([ranker.rank_batch(batch_of(rows))])
    scored = ranker.rank_batch(table).drop_columns(["id"])
    assert scored.combine_chunks() == whole.drop_columns(["id"]).combine_chunks()

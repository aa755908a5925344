"""Scores of Spark are those of the library, to the bit, however Spark cuts and orders the rows."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vecuq import Gate, load, workflows
from vecuq.cluster.spark import clear_errors, score
from vecuq.errors import ColumnError, MissingValueWarning, ModelFileError, SettingError, TableError

# Sockets to Java that pyspark 4.0 leaves to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


def by_id(df):
    return df.toArrow().sort_by("id")


def as_library(ranker, table, tmp_path, **wanted):
    """Return what `vecuq score` writes."""
    pq.write_table(table, tmp_path / "new.parquet")
    ranker.save(tmp_path / "model.vecuq")
    out = tmp_path / "out.parquet"
    with pytest.warns(MissingValueWarning):
        workflows.score(tmp_path / "model.vecuq", tmp_path / "new.parquet", out, **wanted)
    return pq.read_table(out)


def same_bits(one, other):
    """Compare two columns: types, nulls, and every bit of the numbers."""
    one, other = one.combine_chunks(), other.combine_chunks()
    assert one.type == other.type
    assert one.is_null().equals(other.is_null())
    if pa.types.is_floating(one.type):
        one, other = (each.fill_null(-1.0).to_numpy().view(np.int64) for each in (one, other))
        return bool((one == other).all())
    return one.equals(other)


def changed(found, expected, names):
    return [name for name in names if not same_bits(found[name], expected[name])]


@pytest.mark.filterwarnings("ignore::vecuq.errors.CalibrationWarning")
@pytest.mark.parametrize("by", [None, "topic"])
def test_a_gate_decides_as_on_the_command_line(frame, ranker, calibration, new, tmp_path, by):
    rng = np.random.default_rng(1)
    labelled = rng.gamma(1.5, size=(900, 2))
    right = rng.random(900) > labelled.sum(axis=1) / 20
    topics = None if by is None else rng.choice(["a", "b"], size=900)
    gate = Gate(ranker, accuracy=0.8, guard=0.02).fit(labelled, right, by=topics)
    rows = new.append_column("topic", pa.array(rng.choice(["a", "b", "other"], size=len(new))))
    found = by_id(score(gate, frame(rows, 4), by=by))
    expected = as_library(gate, rows, tmp_path, by=by)
    assert found.column_names == expected.column_names
    assert changed(found, expected, ["uncertainty", "p_value", "accept", "p_wrong"]) == []
    accepted = found["accept"].to_numpy()
    assert 0 < accepted.sum() < len(accepted)
    if by is not None:
        assert not accepted[np.array(found["topic"].to_pylist()) == "other"].any()


def test_a_gate_that_decides_batches_is_refused(frame, ranker, new):
    rows = np.random.default_rng(1).gamma(1.5, size=(300, 2))
    gate = Gate(ranker, accuracy=0.5, promise="average").fit(rows, np.arange(300) % 10 > 0)
    with pytest.raises(SettingError):
        score(gate, frame(new))


def test_other_columns_come_through_unchanged(frame, ranker, new):
    df = frame(new, 3)
    found = score(ranker, df)
    assert found.schema.fields[: len(df.columns)] == df.schema.fields
    assert changed(by_id(found), by_id(df), df.columns) == []


def test_empty_partitions_and_an_empty_frame_have_the_schema_and_no_rows(frame, ranker, new):
    few = score(ranker, frame(new.slice(0, 2), 6), alpha=0.1, explain=True)
    assert few.count() == 2
    none = score(ranker, frame(new, 2).where("id < 0"), alpha=0.1, explain=True).toArrow()
    assert none.num_rows == 0
    assert none.column_names == few.columns


def test_a_saved_model_and_its_bytes_score_as_the_model(frame, ranker, new, tmp_path):
    ranker.save(tmp_path / "model.vecuq")
    rows = new.select(["id", "knn", "entropy"]).slice(100, 50)
    expected = load(tmp_path / "model.vecuq").uncertainty(rows.drop_columns("id"))
    for model in (tmp_path / "model.vecuq", str(tmp_path / "model.vecuq"), ranker.to_bytes()):
        assert (by_id(score(model, frame(rows)))["uncertainty"].to_numpy() == expected).all()


def test_decimals_whole_numbers_and_short_floats_are_scored_as_arrow_ones(frame, ranker):
    table = pa.table(
        {
            "id": [0, 1, 2],
            "knn": pa.array([1, 2, 5], pa.int16()),
            "entropy": pa.array([0.5, 1.25, None], pa.float32()).cast(pa.decimal128(8, 2)),
        }
    )
    found = by_id(score(ranker, frame(table)))["uncertainty"].to_pylist()
    expected = ranker.uncertainty(table.select(["knn", "entropy"]), warn=False)
    assert found[:2] == expected[:2].tolist()
    assert found[2] is None


def test_an_absent_column_is_refused_or_scored_without(frame, ranker, new):
    lacking = frame(new.drop_columns("knn").slice(100, 20))
    with pytest.raises(ColumnError, match=r"lacks \['knn'\]"):
        score(ranker, lacking)
    with pytest.warns(MissingValueWarning, match="knn"):
        scored = score(ranker, lacking, missing="marginal")
    expected = ranker.uncertainty(new.select(["entropy"]).slice(100, 20), missing="marginal", warn=False)
    assert (by_id(scored)["uncertainty"].to_numpy() == expected).all()


def test_columns_of_an_earlier_scoring_are_refused_unless_they_are_replaced(frame, ranker, new):
    once = score(ranker, frame(new))
    with pytest.raises(ColumnError, match="replace=True"):
        score(ranker, once)
    again = score(ranker, once, replace=True)
    assert again.columns == once.columns
    assert changed(by_id(again), by_id(once), once.columns) == []


def test_names_that_spark_cannot_tell_apart_are_refused(frame, ranker, new, spark):
    upper = frame(new).withColumnRenamed("a.b", "Uncertainty")
    with pytest.raises(ColumnError, match="Uncertainty"):
        score(ranker, upper)
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        assert "uncertainty" in score(ranker, upper).columns
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_an_error_in_a_partition_is_one_line_that_names_it(frame, ranker, new):
    scored = score(ranker, frame(new), missing="error")
    with pytest.raises(TableError, match=r"missing='error' refuses .* Partition 0\.$") as caught, clear_errors():
        scored.collect()
    assert "\n" not in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_errors_of_others_stay_as_they_are(spark):
    from pyspark.errors import PythonException

    def broken(batches):
        raise ZeroDivisionError(f"not ours {next(batches)}")

    with pytest.raises(PythonException, match="not ours"), clear_errors():
        spark.range(3).mapInArrow(broken, "id long").collect()


def test_what_the_model_cannot_do_is_refused_before_any_row_is_read(frame, ranker, new):
    with pytest.raises(SettingError, match="alpha"):
        score(ranker, frame(new), alpha=1e-9)
    with pytest.raises(ModelFileError, match="got a dict"):
        score({}, frame(new))


def test_a_session_of_this_machine_listens_on_loopback_only(spark):
    assert spark.conf.get("spark.driver.host") == spark.conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert spark.sparkContext.uiWebUrl is None


def test_a_worker_that_is_killed_changes_no_bit(frame, ranker, new, through_python, tmp_path):
    rows = frame(new.drop_columns("a.b"), 2)
    undisturbed, retried = (by_id(score(ranker, through_python(rows, folder))) for folder in (None, tmp_path))
    assert len(list(tmp_path.iterdir())) == 2
    assert changed(retried, undisturbed, undisturbed.column_names) == []

"""A fit on Spark is the fit of one machine: the same rows held back by id, the same scores to 1e-9."""

import numpy as np
import numpy.testing as npt
import pyarrow as pa
import pytest

from vecuq import PartialFit, Settings
from vecuq.cluster.spark import fit, fitting
from vecuq.errors import CalibrationError, ColumnError, ColumnWarning, TableError

# Sockets to Java that pyspark 4.0 leaves to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
NAMES = ("entropy", "knn")
ALL_SAID = {"columns": NAMES, "flip": []}


@pytest.fixture(scope="module")
def alone(calibration):
    """The fit of one machine."""
    return PartialFit(NAMES).update(calibration.select(NAMES), ids=calibration["id"]).fit()


def agree(one, other, rows):
    npt.assert_allclose(one.uncertainty(rows), other.uncertainty(rows), rtol=0, atol=1e-9)
    npt.assert_array_equal(one.p_values(rows), other.p_values(rows))
    npt.assert_allclose(one.calibration_scores, other.calibration_scores, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n_partitions", [1, 7])
def test_with_ids_a_fit_does_not_depend_on_partitions(frame, calibration, alone, n_partitions):
    found = fit(frame(calibration, n_partitions), ids="id", **ALL_SAID)
    assert found.diagnostics.held_by == "id"
    assert found.diagnostics.n_held == alone.diagnostics.n_held
    agree(found, alone, calibration.select(NAMES))


def test_more_partitions_than_are_added_in_one_task_give_the_same_fit(frame, calibration, alone, monkeypatch):
    monkeypatch.setattr(fitting, "FAN_IN", 2)
    agree(fit(frame(calibration, 5), ids="id", **ALL_SAID), alone, calibration.select(NAMES))


def test_the_same_partitions_give_the_same_bits(frame, calibration):
    df = frame(calibration, 3).sortWithinPartitions("id")
    one, other = (fit(df, **ALL_SAID) for _ in range(2))
    assert one.diagnostics.held_by == "place"
    assert one.to_bytes() == other.to_bytes()


def test_score_columns_are_found_as_in_the_library(frame, calibration, alone):
    found = fit(frame(calibration, 2), ids="id")
    assert found.columns == NAMES
    agree(found, alone, calibration.select(NAMES))


def test_columns_are_looked_at_before_the_fit(frame, calibration):
    odd = calibration.append_column("confidence", pa.array(np.linspace(0, 1, len(calibration))))
    with pytest.warns(ColumnWarning, match="confidence"):
        fit(frame(odd), ids="id", columns=["entropy", "confidence"])


def test_flipped_columns_and_settings_reach_the_partitions(frame, calibration):
    settings = Settings(holdback=0.2, random_state=3)
    expected = PartialFit(NAMES, settings, flip=["knn"]).update(calibration.select(NAMES), ids=calibration["id"]).fit()
    found = fit(frame(calibration, 3), settings, columns=NAMES, flip=["knn"], ids="id")
    assert found.flipped == {"knn"}
    agree(found, expected, calibration.select(NAMES))


def test_empty_partitions_and_names_with_dots_do_no_harm(frame, calibration, alone):
    df = frame(calibration, 4).where("entropy > 0").withColumnRenamed("entropy", "en`tro.py")
    found = fit(df.union(df.where("id < 0")), columns=["en`tro.py", "knn"], flip=[], ids="id")
    values = np.column_stack([calibration[name].to_numpy() for name in NAMES])
    npt.assert_allclose(found.uncertainty(values), alone.uncertainty(calibration.select(NAMES)), rtol=0, atol=1e-9)


def test_incomplete_rows_are_refused_with_their_partition_or_dropped(frame, calibration, alone):
    rows = calibration.select(["id", *NAMES])
    gap = pa.table({"id": [-1], "entropy": [None], "knn": [1.0]}, schema=rows.schema)
    df = frame(pa.concat_tables([rows, gap]), 2)
    with pytest.raises(CalibrationError, match=r"missing='drop'.* Partition \d\.$") as caught:
        fit(df, ids="id", **ALL_SAID)
    assert "\n" not in str(caught.value)
    agree(fit(df, ids="id", missing="drop", **ALL_SAID), alone, calibration.select(NAMES))


def test_what_cannot_be_fitted_is_refused_in_one_line(frame, calibration, new):
    df = frame(calibration)
    with pytest.raises(ColumnError, match=r"lacks \['absent'\]"):
        fit(df, ids="absent")
    with pytest.raises(ColumnError, match=r"lacks \['absent'\]"):
        fit(df, columns=["absent"], flip=[])
    with pytest.raises(ColumnError, match="nested"):
        fit(frame(new), columns=["nested"], flip=[])
    with pytest.raises(TableError, match="ids"):
        fit(frame(new.drop_columns("knn")), columns=["id"], flip=[], ids="nested")
    with pytest.raises(CalibrationError, match="n_samples = 0"):
        fit(df.where("id < 0"), **ALL_SAID)


def test_long_texts_and_bytes_in_arrow_change_nothing(frame, calibration, alone, spark):
    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    try:
        found = fit(frame(calibration, 2), ids="id", **ALL_SAID)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")
    agree(found, alone, calibration.select(NAMES))


def test_a_sample_serves_where_no_sketch_can(frame, calibration):
    settings = Settings(scaling="quantile")
    expected = PartialFit(NAMES, settings).update(calibration.select(NAMES), ids=calibration["id"]).fit()
    found = fit(frame(calibration, 3), settings, ids="id", n_rows=len(calibration), **ALL_SAID)
    assert found.diagnostics.n_held == expected.diagnostics.n_held
    agree(found, expected, calibration.select(NAMES))


def test_a_worker_that_is_killed_changes_no_bit_of_the_model(frame, calibration, through_python, tmp_path):
    rows = frame(calibration, 2).sortWithinPartitions("id")
    undisturbed, retried = (fit(through_python(rows, folder), **ALL_SAID).to_bytes() for folder in (None, tmp_path))
    assert len(list(tmp_path.iterdir())) == 2
    assert retried == undisturbed

"""What holds where there is no Spark: the work of one partition, a model loaded once, and words for what is absent."""

import sys

import numpy as np
import numpy.testing as npt
import pyarrow as pa
import pytest

import vecuq
from vecuq.cluster.spark import failures, fitting, scoring, shipping
from vecuq.errors import SettingError, TableError
from vecuq.options import ScoreOptions


@pytest.fixture
def partition(monkeypatch):
    """Say which partition this is, as Spark would."""

    def put(number):
        for module in (failures, fitting):
            monkeypatch.setattr(module, "partition_number", lambda: number)

    put(0)
    return put


def test_a_partition_is_scored_batch_by_batch_with_the_bits_of_the_whole(partition, ranker, new):
    names = new.column_names
    work = {"shipped": shipping.Shipped.of(ranker), "asked": ScoreOptions(), "names": names}
    numbered = new.rename_columns([f"c{k}" for k in range(len(names))])
    scored = [
        pa.Table.from_batches(scoring.scored_partition(numbered.to_batches(size), **work)) for size in (1, 64, 1000)
    ]
    expected = ranker.uncertainty(new.select(["knn", "entropy"]), warn=False)
    for table in scored:
        found = table["uncertainty"].to_numpy()
        assert (found[~np.isnan(found)] == expected[~np.isnan(expected)]).all()


def test_partitions_add_up_to_the_fit_of_all_rows_in_whatever_order_they_come(partition, calibration):
    names = ["entropy", "knn"]
    start = vecuq.PartialFit(names, flip=[]).to_bytes()
    parts = []
    for number in (2, 0, 1):
        partition(number)
        some = calibration.slice(number * 2_000, 2_000).select([*names, "id"])
        batches = some.rename_columns(["c0", "c1", "c2"]).to_batches(300)
        (made,) = fitting.gathered_partition(batches, start=start, names=[*names, "id"], ids="id")
        parts.append(made.append_column("some", pa.array([0])))
    (whole,) = fitting.added_partitions(parts)
    (again,) = fitting.added_partitions(parts[::-1])
    assert whole.equals(again)
    found = vecuq.PartialFit.from_bytes(whole["content"][0].as_py())
    expected = vecuq.PartialFit(names).update(calibration.select(names), ids=calibration["id"])
    assert found.count == expected.count
    npt.assert_allclose(found.fit().calibration_scores, expected.fit().calibration_scores, rtol=0, atol=1e-12)


def test_each_group_of_partitions_has_its_own_sum(partition, calibration):
    start = vecuq.PartialFit(["knn"], flip=[]).to_bytes()
    parts = []
    for number in range(5):
        partition(number)
        rows = calibration.select(["knn"]).slice(number * 100, 100).to_batches()
        (made,) = fitting.gathered_partition(rows, start=start, names=["knn"], ids=None)
        parts.append(made.append_column("some", pa.array([number // 2])))
    sums = list(fitting.added_partitions(parts))
    assert [one["some"][0].as_py() for one in sums] == [0, 1, 2]
    assert [vecuq.PartialFit.from_bytes(one["content"][0].as_py()).count for one in sums] == [200, 200, 100]
    assert list(fitting.added_partitions([])) == []


def test_how_spark_cuts_a_partition_into_batches_changes_no_bit_of_a_fit(partition, calibration, monkeypatch):
    monkeypatch.setattr(fitting, "ROWS_AT_ONCE", 900)
    rows = calibration.select(["entropy", "knn"])
    work = {"start": vecuq.PartialFit(rows.column_names, flip=[], n_rows=10**6).to_bytes(), "ids": None}
    made = [
        next(fitting.gathered_partition(rows.to_batches(size), names=rows.column_names, **work))["content"][0].as_py()
        for size in (7, 900, 1_000, 6_000)
    ]
    assert len(set(made)) == 1
    assert [len(some) for some in fitting.larger(rows.to_batches(1_000))] == [900] * 6 + [600]


def test_a_model_is_loaded_once_in_a_process_and_few_are_kept(ranker, monkeypatch):
    monkeypatch.setattr(shipping, "_LOADED", {})
    shipped = shipping.Shipped.of(ranker)
    first = shipping.loaded(shipped)
    assert shipping.loaded(shipping.Shipped(shipped.checksum, bytes(bytearray(shipped.content)))) is first
    for k in range(10):
        shipping.loaded(shipping.Shipped(f"other {k}", shipped.content))
    assert len(shipping._LOADED) == shipping._MOST
    assert shipping.loaded(shipped) is not first


def test_what_is_sent_to_the_executors_holds_no_object_of_ours_but_a_model_as_bytes(ranker):
    shipped = shipping.Shipped.of(ranker)
    assert [type(part) for part in shipped] == [str, bytes]
    assert vecuq.load(shipped.content).columns == ranker.columns


def test_a_missing_pyspark_is_one_line_that_says_what_to_install(monkeypatch, ranker):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    for call in (
        lambda: vecuq.cluster.spark.score(ranker, None),
        lambda: vecuq.cluster.spark.fit(None),
        vecuq.cluster.spark.local_session,
    ):
        with pytest.raises(SettingError, match=r"pip install 'vecuq\[spark\]'") as caught:
            call()
        assert "\n" not in str(caught.value)


def test_a_missing_java_is_said_in_words(monkeypatch, tmp_path):
    from vecuq.cluster.spark import session

    monkeypatch.setattr(session, "require_spark", lambda: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingError, match="Java 17"):
        session.local_session()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SettingError, match="bin/java"):
        session.local_session()


def test_a_frame_of_another_kind_is_refused(monkeypatch, ranker, new):
    from vecuq.cluster.spark import session

    monkeypatch.setattr(session, "require_spark", lambda: None)
    for call in (lambda: vecuq.cluster.spark.score(ranker, new), lambda: vecuq.cluster.spark.fit(new)):
        with pytest.raises(SettingError):
            call()


def test_executors_without_vecuq_are_named_as_the_reason():
    said = failures.error_of("Traceback:\n  ...\nModuleNotFoundError: No module named 'vecuq'\n")
    assert "The Python of the executors has no vecuq" in str(said)


@pytest.mark.parametrize("text", ["", "ValueError: no", "vecuq.errors.Unheard: x", "vecuq.errors.annotations: x"])
def test_other_failures_are_not_taken_for_ours(text):
    assert failures.error_of(text) is None


def test_a_refusal_gets_the_number_of_its_partition(partition):
    partition(12)
    with pytest.raises(TableError, match=r"^Bad rows\. Partition 12\.$"), failures.named_partition():
        raise TableError("Bad rows.")

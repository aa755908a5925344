"""Dask and one machine agree: scores to the bit, fits to 1e-9, files byte for byte."""

import json

import numpy as np
import numpy.testing as npt
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from vecuq import PartialFit, cluster, load, workflows
from vecuq.errors import CalibrationError, SettingError, TableError, VecuqWarning
from vecuq.options import ScoreOptions
from vecuq.ranker import gather_and_fit, sum_of_chunks
from vecuq.table import ScoreTable, read_batches

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'vecuq[dask]'")
COLUMNS = ["entropy", "knn"]
MANIFEST = "_vecuq_manifest.json"


def bytes_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def one_machine(folder, **more):
    """Fit on one machine, as `vecuq fit` does with large tables."""
    n_rows = ds.dataset(folder).count_rows()
    start = PartialFit(COLUMNS, n_rows=n_rows, **more)
    tables = (ScoreTable.of(batch, columns=COLUMNS) for batch in read_batches(folder, columns=COLUMNS, alone=True))
    return gather_and_fit(lambda empty: sum_of_chunks(tables, empty), start)[0]


def rows_of(folder):
    return ds.dataset(folder).to_table().select(COLUMNS)


def assert_same(one, other, rows):
    npt.assert_allclose(one.uncertainty(rows), other.uncertainty(rows), rtol=0, atol=1e-9)
    npt.assert_array_equal(one.rank(rows).p_values, other.rank(rows).p_values)


def test_files_are_scored_byte_for_byte_as_on_one_machine(client, folder, big_model, tmp_path):
    done = cluster.dask.score(big_model, folder, tmp_path / "dask", alpha=0.1, client=client)
    alone = workflows.score_parts(big_model, folder, tmp_path / "one", ScoreOptions(alpha=0.1))
    assert bytes_in(tmp_path / "dask") == bytes_in(tmp_path / "one")
    assert done == alone


def test_a_model_in_memory_scores_as_the_saved_one(client, folder, big_ranker, big_model, tmp_path):
    cluster.dask.score(big_ranker, folder, tmp_path / "a", client=client)
    cluster.dask.score(big_model, folder, tmp_path / "b", client=client)
    a, b = bytes_in(tmp_path / "a"), bytes_in(tmp_path / "b")
    assert {name: a[name] for name in a if name != MANIFEST} == {name: b[name] for name in b if name != MANIFEST}


def test_the_fit_is_that_of_one_machine_to_1e_9_with_the_same_rows_held_back(client, folder):
    ranker = cluster.dask.fit(folder, columns=COLUMNS, client=client)
    assert ranker.diagnostics.held_by == "place"
    assert_same(ranker, one_machine(folder), rows_of(folder))


def test_fitting_twice_gives_the_same_bits(client, folder):
    one, other = (cluster.dask.fit(folder, columns=COLUMNS, client=client) for _ in range(2))
    assert one.to_bytes() == other.to_bytes()


def test_a_fit_by_ids_does_not_depend_on_the_partitions(client, folder, tmp_path):
    whole = rows = ds.dataset(folder).to_table()
    (tmp_path / "other").mkdir()
    order = np.random.default_rng(0).permutation(len(whole))
    rows = whole.take(pa.array(order))
    for k, start in enumerate(range(0, len(rows), 5_000)):
        pq.write_table(rows.slice(start, 5_000), tmp_path / "other" / f"q{k}.parquet")
    one = cluster.dask.fit(folder, columns=COLUMNS, ids="id", client=client)
    other = cluster.dask.fit(tmp_path / "other", columns=COLUMNS, ids="id", client=client)
    assert one.diagnostics.held_by == "id"
    assert_same(one, other, rows_of(folder))


def test_a_frame_is_scored_lazily(client, folder, big_ranker):
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.read_parquet(folder)
    scored = cluster.dask.score(big_ranker, frame, alpha=0.1, explain=True)
    assert list(scored.columns[:3]) == ["id", *COLUMNS]
    found = scored.compute()
    assert (found.dtypes == scored.dtypes).all()


def test_a_frame_with_missing_values_and_an_empty_partition(client, folder, big_ranker):
    dd = pytest.importorskip("dask.dataframe")
    pq.write_table(pq.read_table(folder / "p0001.parquet").slice(0, 0), folder / "p0001.parquet")
    frame = dd.read_parquet(folder)
    frame["knn"] = frame["knn"].where(frame["id"] > 10, np.nan)
    found = cluster.dask.score(big_ranker, frame).compute()
    assert found["uncertainty"].isna().sum() == 11
    assert len(found) == 10_000


def test_a_frame_is_fitted(client, folder):
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.read_parquet(folder)
    seen = []
    ranker = cluster.dask.fit(frame, columns=COLUMNS, ids="id", client=client, progress=seen.append)
    assert_same(ranker, cluster.dask.fit(folder, columns=COLUMNS, ids="id", client=client), rows_of(folder))
    assert sum(seen) == 12_000


def test_empty_parts_one_row_parts_and_other_column_order(client, folder, big_model, tmp_path):
    table = pq.read_table(folder / "p0000.parquet")
    pq.write_table(table.slice(0, 0), folder / "p0000.parquet")
    pq.write_table(table.slice(7, 1), folder / "p0001.parquet")
    pq.write_table(pq.read_table(folder / "p0002.parquet").select(["knn", "id", "entropy"]), folder / "p0002.parquet")
    assert_same(cluster.dask.fit(folder, columns=COLUMNS, client=client), one_machine(folder), read_whole(folder))
    cluster.dask.score(big_model, folder, tmp_path / "dask", client=client)
    workflows.score_parts(big_model, folder, tmp_path / "one")
    assert bytes_in(tmp_path / "dask") == bytes_in(tmp_path / "one")


def read_whole(folder):
    return pa.concat_tables([pq.read_table(path).select(COLUMNS) for path in sorted(folder.iterdir())])


def test_parts_of_missing_values_are_refused_by_name_or_dropped(client, folder):
    table = pq.read_table(folder / "p0003.parquet")
    holes = pa.nulls(len(table), pa.float64())
    pq.write_table(table.set_column(1, "entropy", holes), folder / "p0003.parquet")
    with pytest.raises((CalibrationError, TableError), match=r"p0003\.parquet"):
        cluster.dask.fit(folder, columns=COLUMNS, client=client)
    ranker = cluster.dask.fit(folder, columns=COLUMNS, missing="drop", client=client)
    assert ranker.diagnostics.n_map + ranker.diagnostics.n_held == 10_000


def damage(path):
    """Spoil the pages of the last column; what the file says about itself stays."""
    column = pq.read_metadata(path).row_group(0).column(2)
    start = column.dictionary_page_offset or column.data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + 64] = b"\xff" * 64
    path.write_bytes(content)


@pytest.mark.parametrize("spoil", [damage, lambda path: path.write_bytes(b"no parquet")])
def test_a_corrupt_part_is_named_and_left_out_on_request(client, folder, big_model, tmp_path, spoil):
    spoil(folder / "p0002.parquet")
    with pytest.raises(TableError, match="p0002"):
        cluster.dask.fit(folder, columns=COLUMNS, client=client)
    with pytest.raises(TableError, match="p0002"):
        cluster.dask.score(big_model, folder, tmp_path / "out", client=client)
    with pytest.warns(VecuqWarning, match="p0002"):
        ranker = cluster.dask.fit(folder, columns=COLUMNS, skip_bad=True, client=client)
    assert ranker.diagnostics.n_map + ranker.diagnostics.n_held == 10_000
    with pytest.warns(VecuqWarning, match="p0002"):
        done = cluster.dask.score(big_model, folder, tmp_path / "out", skip_bad=True, force=True, client=client)
    assert done.skipped == (str(folder / "p0002.parquet"),)
    assert done.n_parts == 5


def test_csv_parts_are_fitted_too(client, folder, tmp_path):
    from pyarrow.csv import write_csv

    (tmp_path / "csv").mkdir()
    for path in folder.iterdir():
        write_csv(pq.read_table(path), tmp_path / "csv" / f"{path.stem}.csv")
    ranker = cluster.dask.fit(tmp_path / "csv", columns=COLUMNS, ids="id", client=client)
    assert_same(ranker, cluster.dask.fit(folder, columns=COLUMNS, ids="id", client=client), rows_of(folder))


def test_what_makes_no_sense_is_refused(client, folder, big_model):
    with pytest.raises(SettingError, match="out="):
        cluster.dask.score(big_model, folder, client=client)
    pq.write_table(pq.read_table(folder / "p0000.parquet").slice(0, 0), folder.parent / "none.parquet")
    with pytest.raises(TableError):
        cluster.dask.fit(folder.parent / "none.parquet", columns=COLUMNS, client=client)


def test_an_interrupt_cancels_and_leaves_nothing(client, folder, big_model, tmp_path):
    def stop(n_rows):
        if n_rows:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cluster.dask.score(big_model, folder, tmp_path / "out", client=client, progress=stop)
    client.run(lambda: None)
    assert not list(tmp_path.glob("out*"))


def test_the_command_line_uses_a_scheduler(client, run, folder, big_model, tmp_path):
    address = client.scheduler.address
    more = ("--engine", "dask", "--scheduler", address)
    fitted = run("fit", folder, "--columns", "entropy,knn", "-o", tmp_path / "m.vecuq", *more)
    assert fitted.exit_code == 0, fitted.output
    assert load(tmp_path / "m.vecuq").diagnostics.held_by == "place"
    done = run("score", big_model, folder, "-o", f"{tmp_path / 'out'}/", *more)
    assert done.exit_code == 0, done.output
    assert "12,000 rows scored in 6 parts" in done.stdout
    assert json.loads((tmp_path / "out" / MANIFEST).read_text())["counts"]["rows"] == 12_000


def test_no_scheduler_is_one_line(run, folder, big_model, tmp_path):
    words = ("--engine", "dask", "--scheduler", "tcp://127.0.0.1:9")
    result = run("score", big_model, folder, "-o", f"{tmp_path / 'out'}/", *words)
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "No Dask scheduler answers" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--engine", "ray"), "engine must be"),
        (("--scheduler", "tcp://127.0.0.1:9"), "add --engine dask"),
        (("--skip-bad",), "--skip-bad: for --engine dask only"),
        (("--id", "a"), "for --engine dask only"),
        (("--engine", "dask", "--jobs", "2"), "--jobs: for one machine only"),
    ],
)
def test_options_of_a_fit_that_do_not_go_together_are_refused(run, folder, tmp_path, words, said):
    done = run("fit", folder, "--columns", "entropy,knn", "-o", tmp_path / "m.vecuq", *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not (tmp_path / "m.vecuq").exists()

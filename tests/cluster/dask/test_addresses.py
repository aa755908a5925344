"""Addresses that fsspec knows: parts are read and written there as on a disk."""

import errno
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vecuq import cluster, workflows
from vecuq.errors import SettingError, TableError, VecuqWarning

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'vecuq[dask]'")
distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'vecuq[dask]'")
COLUMNS = ["entropy", "knn"]
MANIFEST = "_vecuq_manifest.json"


@pytest.fixture
def memory(folder):
    """A file system in this process, with the part files."""
    system = fsspec.filesystem("memory")
    for path in folder.iterdir():
        system.put_file(str(path), f"/in/{path.name}")
    yield system
    for place in ("/in", "/out"):
        if system.exists(place):
            system.rm(place, recursive=True)


@pytest.fixture(scope="module")
def here():
    """A client whose worker is a thread of this process, for memory is not shared between processes."""
    how = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None}
    how["scheduler_kwargs"] = {"dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(processes=False, **how) as started, distributed.Client(started) as client:
        yield client


def test_parts_behind_an_address_are_scored_to_the_bytes_of_a_disk(here, memory, folder, big_model, tmp_path):
    done = cluster.dask.score(big_model, "memory://in", tmp_path / "out", client=here)
    assert done.n_parts == 6
    workflows.score_parts(big_model, folder, tmp_path / "one")
    for path in folder.iterdir():
        assert (tmp_path / "out" / path.name).read_bytes() == (tmp_path / "one" / path.name).read_bytes()
    said = json.loads((tmp_path / "out" / MANIFEST).read_text())
    assert said["counts"]["rows"] == 12_000
    assert said["parts"][0]["input"] == "memory:///in/p0000.parquet"


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # in Dask itself, with a new pandas
def test_a_frame_is_scored_from_one_address_to_another(here, memory, folder, big_model, tmp_path):
    frame = pytest.importorskip("dask.dataframe").read_parquet("memory://in")
    cluster.dask.score(big_model, frame).to_parquet("memory://out")
    workflows.score_parts(big_model, folder, tmp_path / "one")
    there = pa.concat_tables([pq.read_table(memory.open(name)) for name in sorted(memory.find("/out"))])
    wanted = pa.concat_tables([pq.read_table(path) for path in sorted((tmp_path / "one").glob("p*"))])
    assert there["uncertainty"].to_pylist() == wanted["uncertainty"].to_pylist()


def test_part_files_go_to_this_machine_and_the_way_to_an_address_is_named(here, run, memory, big_model):
    with pytest.raises(SettingError, match=r"vecuq\.cluster\.dask\.score"):
        cluster.dask.score(big_model, "memory://in", "memory://out", client=here)
    done = run("score", big_model, "memory://in", "-o", "memory://out/")
    assert done.exit_code == 1
    assert "vecuq.cluster.dask" in done.stderr
    assert not memory.exists("/out")


def test_parts_behind_an_address_are_fitted_as_on_a_disk(here, memory, folder):
    there = cluster.dask.fit("memory://in/*.parquet", columns=COLUMNS, client=here)
    assert there.to_bytes() == cluster.dask.fit(folder, columns=COLUMNS, client=here).to_bytes()


def test_a_broken_file_behind_an_address_is_named(here, memory, big_model, tmp_path):
    memory.pipe_file("/in/p0001.parquet", b"broken")
    with pytest.raises(TableError, match="p0001"):
        cluster.dask.score(big_model, "memory://in", tmp_path / "out", client=here)
    with pytest.warns(VecuqWarning, match="p0001"):
        done = cluster.dask.score(big_model, "memory://in", tmp_path / "out", skip_bad=True, client=here)
    assert done.n_parts == 5


def test_file_addresses_are_files(client, folder, big_model, tmp_path):
    cluster.dask.score(big_model, f"file://{folder}", f"file://{tmp_path / 'out'}", client=client)
    assert (tmp_path / "out" / MANIFEST).is_file()


def test_what_is_not_there_or_no_parquet_or_mixed_is_refused(here, memory, folder, big_model):
    with pytest.raises(TableError, match="nowhere"):
        cluster.dask.fit("memory://nowhere", client=here)
    with pytest.raises(SettingError):
        cluster.dask.fit(["memory://in", str(folder)], client=here)
    memory.pipe_file("/in/a.csv", b"entropy,knn\n1,2\n")
    with pytest.raises(TableError, match=r"a\.csv"):
        cluster.dask.fit("memory://in", client=here)
    with pytest.raises(SettingError, match="nosuch"):
        cluster.dask.fit("nosuch://in", client=here)


def test_the_command_line_reads_addresses(run, memory, big_model, tmp_path):
    done = run("score", big_model, "memory://in", "-o", f"{tmp_path / 'out'}/")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / MANIFEST).is_file()


def test_one_machine_reads_addresses_too(memory, folder, big_model, tmp_path):
    workflows.score_parts(big_model, "memory://in", tmp_path / "out", n_jobs=1)
    assert pq.read_table(tmp_path / "out" / "p0000.parquet").schema.field("uncertainty").type == pa.float64()


def copying_fails(monkeypatch, memory, error):
    """Let one file behind an address fail to be copied."""
    get_file = type(memory).get_file

    def fails(self, path, *more, **how):
        if path.endswith("p0001.parquet"):
            raise error
        return get_file(self, path, *more, **how)

    monkeypatch.setattr(type(memory), "get_file", fails)


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), ConnectionResetError("reset")])
def test_a_full_disk_or_a_lost_connection_is_no_bad_part(memory, big_model, tmp_path, monkeypatch, error):
    copying_fails(monkeypatch, memory, error)
    with pytest.raises(TableError, match="p0001"):
        workflows.score_parts(big_model, "memory://in", tmp_path / "out", n_jobs=1, skip_bad=True)


def test_a_file_that_is_gone_behind_an_address_is_a_bad_part(memory, big_model, tmp_path, monkeypatch):
    copying_fails(monkeypatch, memory, FileNotFoundError("p0001.parquet"))
    with pytest.warns(VecuqWarning, match="p0001"):
        workflows.score_parts(big_model, "memory://in", tmp_path / "out", n_jobs=1, skip_bad=True)

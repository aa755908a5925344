"""A small cluster of two worker processes, and part files."""

from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vecuq import fit_ranker

COLUMNS = ("entropy", "knn")
N_PARTS = 6
N_ROWS = 2_000


@contextmanager
def two_workers():
    """Yield a client of two worker processes."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'vecuq[dask]'")
    how = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    how["scheduler_kwargs"] = {"dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(n_workers=2, **how) as cluster, distributed.Client(cluster) as found:
        yield found


@pytest.fixture(scope="session")
def client():
    """A client of two worker processes, for all tests of this process."""
    with two_workers() as found:
        yield found


@pytest.fixture
def doomed():
    """A client of two worker processes of its own each time: one of them will be killed."""
    return two_workers


def write_parts(folder, n_parts=N_PARTS, n_rows=N_ROWS):
    folder.mkdir(parents=True)
    for k in range(n_parts):
        rng = np.random.default_rng(k)
        rows = {name: rng.gamma(1.0 + j, size=n_rows) for j, name in enumerate(COLUMNS)}
        pq.write_table(pa.table({"id": np.arange(n_rows) + k * n_rows, **rows}), folder / f"p{k:04d}.parquet")
    return folder


@pytest.fixture
def folder(tmp_path):
    return write_parts(tmp_path / "in")


@pytest.fixture(scope="session")
def many(tmp_path_factory):
    """Enough rows for a worker to be killed in the middle of them."""
    return write_parts(tmp_path_factory.mktemp("many") / "in", n_parts=24, n_rows=60_000)


@pytest.fixture(scope="session")
def big_ranker():
    rng = np.random.default_rng(9)
    return fit_ranker(pa.table({name: rng.gamma(1.0 + j, size=3_000) for j, name in enumerate(COLUMNS)}))


@pytest.fixture
def big_model(big_ranker, tmp_path):
    big_ranker.save(tmp_path / "big.vecuq")
    return tmp_path / "big.vecuq"

"""One Spark for all tests of this folder, and rows to fit and to score."""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))  # the reader of code blocks in pages
sys.path.insert(0, str(Path(__file__).parents[2]))
import on_spark
from vecuq import fit_ranker

spark = on_spark.spark
NAMES = ("entropy", "knn")


@pytest.fixture(scope="session")
def calibration():
    """Rows with an id, two scores, and columns that are none."""
    rng = np.random.default_rng(0)
    n = 6_000
    scores = {name: rng.gamma(1.0 + k, size=n) for k, name in enumerate(NAMES)}
    return pa.table({"id": rng.permutation(n), **scores, "words": [f"w{k}" for k in range(n)]})


@pytest.fixture(scope="session")
def ranker(calibration):
    return fit_ranker(calibration.select(NAMES))


@pytest.fixture(scope="session")
def new():
    """Rows to score, other columns between the scores, some far out, some with missing values."""
    rng = np.random.default_rng(1)
    n = 700
    knn, entropy = rng.gamma(2.0, size=n), rng.gamma(1.0, size=n)
    knn[:9] *= 30
    entropy[[3, 60]], knn[61] = np.nan, np.inf
    return pa.table(
        {
            "id": pa.array(range(n), pa.int64()),
            "knn": pa.array(knn, mask=np.arange(n) == 5),
            "nested": [[{"x": k, "y.z": None if k % 3 else "é"}] for k in range(n)],
            "a.b": pa.array([f"w{k}" if k % 2 else None for k in range(n)]),
            "entropy": entropy,
            "when": pa.array(range(n), pa.timestamp("us", "UTC")),
        }
    )


@pytest.fixture
def frame(spark):
    """Make a data frame of an Arrow table, cut as asked."""

    def make(table, n_partitions=1):
        return spark.createDataFrame(table).repartition(n_partitions)

    return make


@pytest.fixture
def through_python():
    """Pass a frame through Python; with a folder, each partition's process leaves a file there and is killed, once."""

    def dying(batches, folder):
        import os
        import signal
        from pathlib import Path

        from pyspark import TaskContext

        task = TaskContext.get()
        for k, batch in enumerate(batches):
            if folder is not None and k == 1 and task.attemptNumber() == 0:
                Path(folder, f"killed in {task.partitionId()}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch

    def make(df, folder):
        place = None if folder is None else str(folder)
        return df.mapInArrow(lambda batches: dying(batches, place), df.schema)

    return make

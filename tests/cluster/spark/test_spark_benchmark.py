"""The benchmark of Spark runs, with few rows."""

from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
ROOT = Path(__file__).parents[3]


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return import_module("benchmarks.cluster_spark")


def test_every_job_of_the_benchmark_is_measured(spark, benchmark, tmp_path):
    n = 8_000
    benchmark.write_folder(tmp_path / "rows", n)
    runs = benchmark.library_runs(tmp_path / "rows", tmp_path, n)
    runs += benchmark.spark_runs(spark, tmp_path / "rows", tmp_path, n)
    assert [run.job.split(":")[0] for run in runs] == ["library", "library", "Spark", "Spark", "Spark"]
    assert all(run.cpu > 0 and run.wall > 0 and run.line().count("|") == 6 for run in runs)
    assert spark.read.parquet(str(tmp_path / "spark")).count() == n
    assert min(benchmark.bytes_per_partition(tmp_path / "rows", n)) > 0


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="/proc is a matter of Linux")
def test_cpu_seconds_grow_with_work(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    cpu_seconds = import_module("benchmarks.process_tree").cpu_seconds
    before = cpu_seconds()
    while cpu_seconds() == before:
        sum(range(10**6))
    assert cpu_seconds() > before

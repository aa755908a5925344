"""The benchmark of Dask runs through, on few rows, and removes what it generates."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytest.importorskip("distributed", reason="Dask is not installed: pip install 'vecuq[dask]'")


@pytest.mark.slow
def test_every_route_is_measured(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    try:
        benchmark = import_module("benchmarks.cluster_dask")
        claims = [*benchmark.compared(20_000, 4, tmp_path), *benchmark.overheads((3,))]
    finally:
        sys.path.remove(str(ROOT))
    assert len(claims) == 8
    assert all(claim.value > 0 for claim in claims[:6])
    assert not list(tmp_path.iterdir())

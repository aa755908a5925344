"""Fit and score a folder on a Dask cluster: for more files than one machine should read.

The scores are those of one machine, to the bit, and what a killed worker had begun is done again. Here the cluster is
one worker in this process; give your own scheduler's address to `Client`.
"""

import tempfile
from pathlib import Path

import distributed
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import vecuq


def write_parts(folder: Path) -> None:
    """Write four files of scores."""
    folder.mkdir()
    for k in range(4):
        rng = np.random.default_rng(k)
        rows = {
            "id": np.arange(2_000) + 2_000 * k,
            "entropy": rng.gamma(1.0, size=2_000),
            "knn": rng.gamma(2.0, size=2_000),
        }
        pq.write_table(pa.table(rows), folder / f"part-{k}.parquet")


if __name__ == "__main__":  # where workers are processes, they import this file
    with (
        tempfile.TemporaryDirectory() as place,
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        logs, scored = Path(place, "logs"), Path(place, "scored")
        write_parts(logs)
        ranker = vecuq.cluster.dask.fit(str(logs), columns=["entropy", "knn"], ids="id", client=client)
        vecuq.cluster.dask.score(ranker, str(logs), str(scored), alpha=0.05, client=client)
        files = sorted(path.name for path in scored.glob("*.parquet"))
        table = pq.read_table(scored)
    rows = np.column_stack([table["entropy"], table["knn"]])
    same = bool((table["uncertainty"].to_numpy() == ranker.uncertainty(rows)).all())
    share = table["flagged"].to_numpy().mean()
    print(f"{table.num_rows:,} rows in {len(files)} files, {share:.1%} flagged; the bits of one machine: {same}")

"""Claims: fitting, scoring and reading take little longer than the multiplications and the files alone.

All sides are measured in one process, in turn, in seconds of CPU: the machine may be busy. The limit beside a claim is
the bare matrix products, in the same shapes, on arrays that are already there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow.csv as pc

from benchmarks.fit_growth import write_rows
from benchmarks.measure import Claim, best_of
from benchmarks.score_file import copy_job
from vecuq import Ranker, ScoreTable, fit_ranker, workflows
from vecuq._run import BLOCK
from vecuq.table import read_batches, write_batches
from vecuq.transport import GridMap
from vecuq.transport.maps import FEW
from vecuq.transport.moments import ROWS, moment_tiles

N_COLUMNS = 4
NODES = 12  # what the default settings take


@dataclass(frozen=True)
class Sizes:
    """How many rows each claim is measured with."""

    fitted: int
    scored: int
    in_text: int
    alone: int  # single rows
    rounds: int


SIZES = {False: Sizes(1_000_000, 10_000_000, 1_000_000, 2_000, 3), True: Sizes(1_000_000, 1_000_000, 300_000, 1_000, 3)}


def run(quick: bool = False) -> list[Claim]:
    """Measure all claims."""
    return claims(SIZES[quick])


def claims(sizes: Sizes) -> list[Claim]:
    """Measure all claims with so many rows."""
    ranker = fit_ranker(_named(10_000))
    with tempfile.TemporaryDirectory() as folder:
        files = _Files(Path(folder), ranker)
        return [
            fit_claim(sizes),
            *one_row_claims(ranker, sizes),
            score_claim(files, ranker, sizes),
            *text_claims(files, sizes),
        ]


def _named(n: int) -> ScoreTable:
    rows = np.random.default_rng(0).gamma(1.0, size=(n, N_COLUMNS))
    return ScoreTable.of({f"score_{k}": rows[:, k] for k in range(N_COLUMNS)})


def fit_claim(sizes: Sizes) -> Claim:
    """Fit rows in memory, beside the products that make their moments."""
    rows = np.random.default_rng(0).gamma(1.0, size=(sizes.fitted, N_COLUMNS))
    n_mapped = fit_ranker(rows).diagnostics.n_map
    calls = {"fit": lambda: fit_ranker(rows), "limit": _moment_products(n_mapped)}
    spent = best_of(calls, dict.fromkeys(calls, 2 * sizes.rounds))
    ours, limit = spent["fit"].cpu, spent["limit"].cpu
    return Claim(
        f"fit, {sizes.fitted:,} rows in memory",
        f"{ours:.3g} s",
        f"its multiplications alone {limit:.3g} s ({ours / limit:.2g}x)",
        ours,
        " CPU s",
        goal=0.6,
        at_least=False,
    )


def _moment_products(n_rows: int) -> Callable[[], None]:
    """Prepare the matrix products of the moments of so many rows."""
    block, tiles = ROWS, moment_tiles(NODES, N_COLUMNS)
    rng = np.random.default_rng(0)
    left, right = (rng.random((max(part.stop for part in side), block)) for side in zip(*tiles, strict=True))
    triples = [(left[one], right[other].T, np.empty((len(left[one]), other.stop))) for one, other in tiles]

    def call() -> None:
        for _ in range(n_rows // block):
            for a, b, out in triples:
                np.matmul(a, b, out=out)

    return call


def _map_products(ranker: Ranker, n_rows: int, block: int = BLOCK) -> Callable[[], None]:
    """Prepare the matrix products of scoring so many rows: the potentials times the factors of either half."""
    assert isinstance(ranker.rank_map, GridMap)
    first, second = _halves([len(axis) for axis in ranker.rank_map.axes])
    rng = np.random.default_rng(0)
    v, p, q = rng.random((first, second)), rng.random((first, block)), rng.random((second, block))
    from_p, from_q = np.empty((second, block)), np.empty((first, block))

    def call() -> None:
        for _ in range(-(-n_rows // block)):
            np.matmul(v.T, p, out=from_p)
            np.matmul(v, q, out=from_q)

    return call


def _halves(counts: list[int]) -> tuple[int, int]:
    half = len(counts) // 2
    return int(np.prod(counts[:half])), int(np.prod(counts[half:]))


def one_row_claims(ranker: Ranker, sizes: Sizes) -> list[Claim]:
    """Rank single rows, with p-values, beside the products of the block that a row stands in."""
    row = np.random.default_rng(1).gamma(1.0, size=(1, N_COLUMNS))
    named = {f"score_{k}": [float(row[0, k])] for k in range(N_COLUMNS)}
    table, n = ScoreTable.of(named), sizes.alone
    limit = _map_products(ranker, 1, FEW)
    calls = {
        "an array": lambda: ranker.rank(row),
        "a dict": lambda: ranker.rank(named),
        "a ScoreTable": lambda: ranker.rank(table),
        "limit": limit,
    }
    many = {name: _repeated(call, n) for name, call in calls.items()}
    spent = {name: 1e3 * run.cpu / n for name, run in best_of(many, dict.fromkeys(many, 2 * sizes.rounds)).items()}
    least = spent.pop("limit")
    return [
        Claim(
            f"one row with its p-value, from {name}",
            f"{ms:.3f} ms",
            f"the multiplications of its block of {FEW} alone {least:.3f} ms ({ms / least:.2g}x)",
            ms,
            " ms",
            goal=0.15,
            at_least=False,
        )
        for name, ms in spent.items()
    ]


def _repeated(call: Callable[[], Any], n: int) -> Callable[[], None]:
    def calls() -> None:
        for _ in range(n):
            call()

    return calls


class _Files:
    """A folder with a saved model and tables of scores."""

    def __init__(self, folder: Path, ranker: Ranker) -> None:
        self.folder, self.model = folder, folder / "model.vecuq"
        ranker.save(self.model)

    def rows(self, n: int) -> Path:
        """Return a parquet file of so many rows."""
        path = self.folder / f"{n}.parquet"
        if not path.exists():
            write_rows(path, n)
        return path

    def score(self, path: Path) -> Callable[[], Any]:
        """Prepare scoring a file into one of the same kind."""
        return lambda: workflows.score(self.model, path, path.with_name("scored" + path.suffix))


def score_claim(files: _Files, ranker: Ranker, sizes: Sizes) -> Claim:
    """Score a parquet file, beside reading and writing it with two more columns."""
    n, path = sizes.scored, files.rows(sizes.scored)
    scored = path.with_name("scored.parquet")
    files.score(path)()
    calls = {
        "score": files.score(path),
        "copy": copy_job(str(path), str(files.folder / "copy.parquet")),
        "our copy": lambda: write_batches(files.folder / "ours.parquet", read_batches(scored)),
        "limit": _map_products(ranker, n),
    }
    spent = {name: run.cpu for name, run in best_of(calls, dict.fromkeys(calls, sizes.rounds)).items()}
    sizes_of = [file.stat().st_size / 2**20 for file in (scored, files.folder / "copy.parquet")]
    return Claim(
        f"vecuq score, {n:,} rows of a parquet file, CPU over pyarrow's reading and writing alone",
        f"{spent['score']:.3g} s, {sizes_of[0]:,.0f} MiB",
        f"{spent['copy']:.3g} s, {sizes_of[1]:,.0f} MiB; read and written as vecuq does {spent['our copy']:.3g} s; "
        f"the multiplications alone {spent['limit']:.3g} s",
        spent["score"] / spent["copy"],
        goal=1.5,
        at_least=False,
    )


def text_claims(files: _Files, sizes: Sizes) -> list[Claim]:
    """Score the same rows as csv, jsonl and parquet, beside reading and writing the text alone."""
    n, path = sizes.in_text, files.rows(sizes.in_text)
    csv, jsonl = (path.with_suffix(kind) for kind in (".csv", ".jsonl"))
    for text in (csv, jsonl):
        write_batches(text, read_batches(path))
        files.score(text)()
    calls = {"parquet": files.score(path), "csv": files.score(csv), "jsonl": files.score(jsonl)}
    calls |= {"csv alone": _csv_alone(csv), "jsonl alone": _jsonl_alone(jsonl)}
    spent = {name: 1e9 * run.cpu / n for name, run in best_of(calls, dict.fromkeys(calls, sizes.rounds)).items()}
    readers = {"csv": ("pyarrow", 2), "jsonl": ("msgspec", 4)}
    return [
        Claim(
            f"vecuq score, {n:,} rows of {kind}, CPU per row over that of parquet",
            f"{spent[kind]:,.0f} ns a row",
            f"parquet {spent['parquet']:,.0f} ns; reading and writing {kind} by {reader} alone "
            f"{spent[f'{kind} alone']:,.0f} ns",
            spent[kind] / spent["parquet"],
            goal=goal,
            at_least=False,
        )
        for kind, (reader, goal) in readers.items()
    ]


def _csv_alone(path: Path) -> Callable[[], None]:
    """Prepare reading a csv file once, and writing what was scored of it."""
    scored, options = pc.read_csv(path.with_name("scored.csv")), pc.ReadOptions(use_threads=False)

    def call() -> None:
        pc.read_csv(path, read_options=options)
        pc.write_csv(scored, path.with_name("alone.csv"))

    return call


def _jsonl_alone(path: Path) -> Callable[[], None]:
    """Prepare reading a jsonl file once into dictionaries, and writing those of what was scored of it."""
    decode, encode = msgspec.json.Decoder().decode_lines, msgspec.json.Encoder().encode_lines
    scored = decode(path.with_name("scored.jsonl").read_bytes())

    def call() -> None:
        decode(path.read_bytes())
        path.with_name("alone.jsonl").write_bytes(encode(scored))

    return call

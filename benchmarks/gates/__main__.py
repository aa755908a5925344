"""Run the study: ``python -m benchmarks.gates --data FOLDER [--draws 1000] [--figure docs/img/gate.png]``."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.gates.asking import study_asking
from benchmarks.gates.average import study_batches
from benchmarks.gates.categories import GUARD, study_by, study_unseen
from benchmarks.gates.draws import certified, draw_counts
from benchmarks.gates.figure import LABELS as FIGURE_LABELS
from benchmarks.gates.figure import write_figure
from benchmarks.gates.goals import goals
from benchmarks.gates.mapie_control import HOLM, SEQUENCE, same_as_mapie
from benchmarks.gates.population import FAMILIES, VECUQ, Population, populations, read_family
from benchmarks.gates.promises import LABELS, TARGETS, Cell, same_as_the_product, study
from benchmarks.gates.report import AT, Results, markdown
from benchmarks.gates.rivals import BEST, LOGISTIC, MAPIE, RIVALS
from vecuq.gate.scoring import Scoring

HERE = Path(__file__).parent
DRAWN = ("mcq", "vlm")  # the families where something can be certified: those of the figure
BY_LABELS = (2000, 5000, 10000)


def main() -> None:
    """Run everything whose data are there, and write the page and the figure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gates", description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with mcq.npz, vlm.npz, reasoning.npz, rank.npz"
    )
    parser.add_argument("--draws", type=int, default=1000, help="draws of labels per cell")
    parser.add_argument("--out", type=Path, default=HERE.parent / "GATES.md", help="the page of results")
    parser.add_argument("--figure", type=Path, help="where to draw the figure; needs mcq.npz and vlm.npz")
    given = parser.parse_args()
    found = run(given.data, given.draws)
    if not found.families:
        print(f"Nothing to measure: no .npz file of a family ({', '.join(FAMILIES)}) is in the data folder.")
        return
    drawn = given.figure is not None and set(DRAWN) <= set(found.families)
    if drawn:
        write_figure(found, given.figure)
    shown = os.path.relpath(given.figure, given.out.parent) if drawn else None
    given.out.write_text(markdown(found, goals(found), shown))
    print(f"written: {given.out}")


def run(data: Path, draws: int) -> Results:
    """Measure every family whose file is there."""
    found = Results(draws)
    if find_spec("mapie") is None:
        found.skipped.append("MAPIE is not installed (`pip install mapie`), so it is not compared")
    for family in FAMILIES:
        if not (data / f"{family}.npz").is_file():
            found.skipped.append(f"{family}: its data are not there")
            continue
        sets = populations(data, family)
        found.columns[family] = sets[0].columns
        _measure(found, family, sets, draws)
        if family in DRAWN:
            _measure_more(found, family, sets, data, draws)
    return found


def _measure(found: Results, family: str, sets: list[Population], draws: int) -> None:
    """Measure both promises, and the rivals."""
    with _timed(f"{family}: the confident promise"):
        found.cells += study(family, sets, draws, labels=FIGURE_LABELS if family in DRAWN else LABELS)
        found.checked = _added(found.checked, same_as_the_product(sets))
    with _timed(f"{family}: the average promise"):
        found.batches += study_batches(family, sets, TARGETS, draws)
    few = max(draws // 5, 5)
    with _timed(f"{family}: rivals"):
        for rule in (MAPIE, LOGISTIC, BEST):
            if rule != MAPIE or find_spec("mapie") is not None:
                found.cells += _rival(family, sets, rule, few)
    if find_spec("mapie") is not None and family in DRAWN:
        rng = np.random.default_rng(2)
        same = [same_as_mapie(one, 500, 1 - AT, rng, how) for one in sets[:2] for how in (HOLM, HOLM, SEQUENCE)]
        found.checked_mapie = _added(found.checked_mapie, (len(same), len(same) - sum(same)))


def _rival(family: str, sets: list[Population], rule: str, draws: int) -> list[Cell]:
    cells = []
    for k, one in enumerate(sets):
        for n_labels in FIGURE_LABELS if rule == MAPIE and family in DRAWN else LABELS:
            result = RIVALS[rule](one, n_labels, 1 - AT, draws, np.random.default_rng([k, n_labels]))
            sizes = float(result.coverage.mean()), float(result.broken.mean())
            cells.append(Cell(family, one.name, rule, AT, n_labels, *sizes))
    return cells


def _measure_more(found: Results, family: str, sets: list[Population], data: Path, draws: int) -> None:
    """Measure what the figure needs, categories, other distributions, and asking for labels."""
    with _timed(f"{family}: alignment, categories, asking"):
        few = max(draws // 5, 5)
        found.aligned += study_batches(family, sets, (AT,), few, sizes=(1000,), labels=FIGURE_LABELS)
        found.asked.append(study_asking(family, sets, draws))
        if family == "mcq":
            found.by += [study_by(one, n_labels, 1 - AT, draws) for one in sets for n_labels in BY_LABELS]
        results: dict[tuple[str, str, int], list[tuple[float, float]]] = {}
        for _, fields in read_family(data, family):
            split = study_unseen(fields["x"], fields["wrong"], fields["group"], labels=FIGURE_LABELS, draws=draws)
            for (kind, n), one in split.items():
                results.setdefault((family, kind, n), []).append((one.coverage.mean(), one.broken.mean()))
        found.unseen |= {key: tuple(np.mean(values, axis=0)) for key, values in results.items()}
        found.others |= {one.name: _others(one, few) for one in sets if one.others is not None}


def _others(one: Population, draws: int) -> tuple[float, float, float]:
    """Return which share is accepted of the population, of rows of another distribution, and of these with a guard."""
    order = one.orders[VECUQ]
    counts = draw_counts(order, one.wrong, 500, draws, np.random.default_rng(3))
    last = certified(counts, order.ladder, 1 - AT)
    limits = np.append(order.ladder.thresholds, -np.inf)[last][:, None]
    shares = [Scoring(one.model, guard=guard).scores(one.others)[None] <= limits for guard in (None, GUARD)]
    return float(np.append(counts.coverage, 0.0)[last].mean()), float(shares[0].mean()), float(shares[1].mean())


def _added(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


@contextmanager
def _timed(what: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    print(f"{what}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()

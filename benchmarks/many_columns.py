"""More than ten columns: two levels of maps beside one map onto a cloud, a plain sum and the paper's four columns.

Run with ``python -m benchmarks.many_columns [FOLDER] [--quick]``. The columns are 12, 24 and 48 risk measures of the
bundled ensembles, and the scores of 20 baselines; FOLDER may hold npz files of further score vectors, one per family
(``NAME/x``, rows by columns, higher = more uncertain, and ``NAME/wrong``). Data that are not there are skipped. All
figures are ROC-AUC on rows that fitted nothing; times are CPU-seconds of one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.wide_problems import RISKS, Problem, Score, families, of_baselines, of_four, of_risks, widened
from vecuq import Settings, fit_ranker
from vecuq._run import one_blas_thread
from vecuq.errors import VecuqError
from vecuq.paper.ensembles import DATASETS, LETTERS
from vecuq.ranker import falls
from vecuq.transport import Cloud, CloudMap, DenseKernel, Sources, lengths, solve

# Calibration rows of which all are for the map: both designs then see the same.
OURS = Settings(holdback=0.0)


# The designs


def two_levels(rows: np.ndarray, settings: Settings = OURS) -> Score:
    """Return the score of groups of columns, as vecuq fits it."""
    return fit_ranker(rows, settings).uncertainty


def groups_alike(rows: np.ndarray) -> Score:
    """Return the score with groups that count alike, however many columns they hold."""
    groups = fit_ranker(rows, OURS).diagnostics.column_groups or {}
    weights = {name: 1.0 / len(group) for group in groups.values() for name in group}
    return two_levels(rows, replace(OURS, weights=weights or None))


def on_a_cloud(rows: np.ndarray, n_targets: int = 1024) -> Score:
    """Return the score of one map onto Sobol points, with an anchor on each axis and one at the far corner."""
    from scipy.stats.qmc import Sobol

    low, m = rows.min(axis=0), rows.shape[1]
    span = rows.max(axis=0) - low
    points = Sobol(m, rng=np.random.default_rng(0)).random(n_targets)
    sources = np.concatenate([(rows - low) / span, 5.0 * np.eye(m), np.full((1, m), 5.0)])
    cloud = Cloud(points, np.full(n_targets, 1.0 / n_targets))
    kernel = DenseKernel(Sources(sources, 1.0 / len(sources)), cloud, 0.5)
    images = CloudMap(points, solve(kernel.push, cloud.weights, tol=1e-6).log_v, 0.5)

    def score(new: np.ndarray) -> np.ndarray:
        scaled = (new - low) / span
        return np.linalg.norm(images(scaled), axis=1) + 0.5 * lengths(np.maximum(scaled - 1.0, 0.0))

    return score


def plain_sum(rows: np.ndarray) -> Score:
    """Return the sum of columns that are brought to one range."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    return lambda new: ((new - low) / (high - low)).sum(axis=1)


DESIGNS = {"two levels": two_levels, "cloud": on_a_cloud, "sum": plain_sum}


def fallen(score: Score, rows: np.ndarray, n_trials: int = 2000) -> float:
    """Return the share of trials in which raising one column, near or inside the box, lowers the score."""
    rng, m = np.random.default_rng(0), rows.shape[1]
    low, width = rows.min(axis=0), np.ptp(rows, axis=0)
    start = low + rng.uniform(-0.25, 1.25, size=(n_trials, m)) * width
    start[::2] = rows[rng.integers(len(rows), size=len(start[::2]))]
    raised, column = start.copy(), rng.integers(m, size=n_trials)
    raised[np.arange(n_trials), column] += rng.exponential(0.3, size=n_trials) * width[column]
    return float(np.mean(falls(np.column_stack([score(start), score(raised)])) > 1e-9))


# The tables


def timed(design: Callable[[np.ndarray], Score], problem: Problem) -> tuple[Score, float, float]:
    """Return a fitted score, the CPU-seconds of its fit, and how many rows it scores in a CPU-second."""
    start = time.process_time()
    score = design(problem.calibration)
    seconds = time.process_time() - start
    rows = np.concatenate([rows for rows, _ in problem.tasks.values()])
    score(rows[:100])
    start = time.process_time()
    score(rows)
    return score, seconds, len(rows) / max(time.process_time() - start, 1e-9)


def wide_row(name: str, problems: list[Problem], fours: list[Problem]) -> list[str]:
    """Return one row of the first table: mean ROC-AUC for errors and for out-of-distribution rows, by design."""
    alone, tally = [one.columns_alone for one in problems], []
    by_design: dict[str, list[np.ndarray]] = {design: [] for design in (*DESIGNS, "four columns")}
    costs, n_below, n_fallen = [], 0, {"two levels": 0.0, "cloud": 0.0}
    for problem, columns, four in zip(problems, alone, fours, strict=True):
        for design, make in DESIGNS.items():
            score, seconds, pace = timed(make, problem)
            by_design[design].append(problem.figures(score))
            if design in n_fallen:
                n_fallen[design] += fallen(score, problem.calibration) / len(problems)
            if design == "two levels":
                costs.append((seconds, pace))
                n_below += int((by_design[design][-1] < columns.min(axis=1)).sum())
        by_design["four columns"].append(four.figures(two_levels(four.calibration)))
    tally = [_both([one.min(axis=1) for one in alone]), *map(_both, by_design.values())]
    seconds, pace = np.mean(costs, axis=0)
    m, n_tasks = problems[0].calibration.shape[1], sum(len(one.tasks) for one in problems)
    fell = [f"{100 * share:.1f} %" for share in n_fallen.values()]
    return [name, str(m), *tally, f"{n_below} of {n_tasks}", *fell, f"{seconds:.2f}", f"{pace:,.0f}"]


def _both(figures: list[np.ndarray]) -> str:
    """Return the mean for errors and the mean for out-of-distribution rows."""
    ood = np.concatenate([one[1:] for one in figures])
    return f"{np.mean([one[0] for one in figures]):.3f}" + (f" / {ood.mean():.3f}" if len(ood) else "")


def order_rows(problems: list[Problem], sizes: tuple[int, ...] = (6, 8, 10)) -> Iterator[list[str]]:
    """Yield rows of the second table: how near each design is to one map of all columns, where that is possible."""
    from scipy.stats import spearmanr

    for m in sizes:
        names = [f"x{k}" for k in range(m)]
        grouped = Settings(holdback=0.0, column_groups=[names[k::3] for k in range(3)])
        designs = {"two levels": lambda rows, how=grouped: two_levels(rows, how), "cloud": on_a_cloud, "sum": plain_sum}
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in designs}
        for number, whole in enumerate(problems):
            columns = np.random.default_rng(number + m).choice(whole.calibration.shape[1], m, replace=False)
            problem = whole.select(columns)
            plain, rows = two_levels(problem.calibration), problem.tasks["errors"][0]
            for name, design in designs.items():
                score = design(problem.calibration)
                gap = np.abs(problem.figures(score) - problem.figures(plain)).max()
                found[name].append((float(spearmanr(score(rows), plain(rows))[0]), float(gap)))
        yield [str(m), *(f"{min(r for r, _ in one):.4f} / {max(g for _, g in one):.3f}" for one in found.values())]


def robust_rows(problems: list[Problem]) -> Iterator[list[str]]:
    """Yield rows of the third table: mean ROC-AUC for errors with copies and noise among the columns."""
    for copies, noise in ((8, 0), (20, 0), (0, 8), (0, 20), (4, 4)):
        wide = [widened(problem, copies, noise) for problem in problems]
        designs = [*DESIGNS.values(), groups_alike]
        figures = [np.mean([one.figures(make(one.calibration))[0] for one in wide]) for make in designs]
        before = np.mean([one.figures(two_levels(one.calibration))[0] for one in problems])
        yield [f"{copies} copies, {noise} of noise", f"{before:.3f}", *(f"{one:.3f}" for one in figures)]


WIDE = ("columns", "m", "worst column", *DESIGNS, "four columns", "below worst")
WIDE += ("two levels fall", "cloud falls", "fit, CPU-s", "rows/s")
ORDER = ("m", *DESIGNS)
ROBUST = ("beside the columns", "without", *DESIGNS, "groups that count alike")


def print_table(head: tuple[str, ...], rows: Iterator[list[str]] | list[list[str]]) -> None:
    """Print a table in markdown, row by row."""
    print("\n| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_columns", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="folder of npz files, one per family")
    parser.add_argument("--quick", action="store_true", help="letters and one group of networks only")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    places = [(name, group) for name in LETTERS if asked.quick for group in (0,)]
    places = places or [(name, group) for name in (*DATASETS, *LETTERS) for group in (0, 1)]
    with one_blas_thread():
        try:
            fours = [of_four(*place) for place in places]
        except VecuqError as error:
            print(f"skipped: {error}")
            fours = places = []
        if places:
            wide = [(f"{n} risks", [of_risks(*place, n) for place in places]) for n in RISKS]
            wide.append(("20 baselines", [of_baselines(*place) for place in places]))
            print_table(WIDE, (wide_row(name, problems, fours) for name, problems in wide))
            print_table(ORDER, order_rows(wide[2][1]))
        others = [one for one in families(asked.folder) if len(set(one.tasks["errors"][1])) == 2]
        if asked.folder and not others:
            print(f"skipped: there is no npz file of a family in {asked.folder}")
        if fours or others:
            print_table(ROBUST, robust_rows([*fours, *others]))


if __name__ == "__main__":
    main()

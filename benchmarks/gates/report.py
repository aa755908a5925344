"""GATES.md: what was measured, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np

from benchmarks.gates.asking import Asked
from benchmarks.gates.average import N_LABELS, Batches, average_table
from benchmarks.gates.categories import ByCategory
from benchmarks.gates.population import FAMILIES, MAX_PROBABILITY, SUM, VECUQ
from benchmarks.gates.promises import ENOUGH, LABELS, ORACLE, Cell, Limits, broken_of, mean_of, single_columns, table
from benchmarks.gates.rivals import BEST, LOGISTIC, MAPIE

AT = 0.9  # the target at which rivals are compared


@dataclass
class Results:
    """All that a run measured."""

    draws: int
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)  # the gate on every order, the naive threshold, the oracle, rivals
    checked: tuple[int, int] = (0, 0)  # draws decided by the product's own function, and how many differed
    checked_mapie: tuple[int, int] = (0, 0)
    batches: list[Batches] = field(default_factory=list)
    aligned: list[Batches] = field(default_factory=list)
    by: list[ByCategory] = field(default_factory=list)
    unseen: dict[tuple[str, str, int], tuple[float, float]] = field(default_factory=dict)
    others: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    @property
    def families(self) -> list[str]:
        """The families whose data were there."""
        return [family for family in FAMILIES if family in self.columns]


def grid(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])


def markdown(found: Results, goals: Sequence[Sequence[str]], figure: str | None) -> str:
    """Return the whole page."""
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    parts = [
        "# The gate, measured",
        "Written by `make gates`; do not edit.",
        f"- date: {date}; vecuq {version('vecuq')}; {found.draws:,} draws per cell, rivals a fifth of them\n"
        "- rows outside the map are the population; labels are drawn from them with replacement, and accuracy is that "
        "of all accepted rows of the population, so a broken promise is counted exactly\n"
        "- delta 0.1; thresholds come from rows that the model held back",
        *(f"- left out: {reason}" for reason in found.skipped),
        *([f"![Certified coverage against the number of labels]({figure})"] if figure else []),
        "## Goals",
        grid(["goal", "measured", "holds"], goals),
        *_promise(found),
        *_side_by_side(found),
        *_average(found),
        *_by(found),
        *_unseen(found),
        *_asked(found),
    ]
    return "\n\n".join(parts) + "\n"


def _promise(found: Results) -> list[str]:
    cells = [cell for cell in found.cells if cell.n_labels in LABELS]
    own = [cell for cell in cells if cell.rule == VECUQ]
    limits = Limits.of(len(own), found.draws)
    worst = max(own, key=lambda cell: cell.broken)
    over = [sum(cell.broken > limit for cell in own) for limit in (limits.three, limits.all_cells)]
    head = ["family", "target", "labels", "broken, mean of sets", "broken, worst set", "coverage", "oracle", "ratio"]
    return [
        "## The confident promise",
        f"Share of draws whose accepted rows miss the target: at most 0.1 is promised. {len(own)} cells (set, target, "
        f"labels). Three standard errors allow {limits.three:.4f}: {over[0]} cells above. With Bonferroni over all "
        f"cells {limits.all_cells:.4f}: {over[1]} cells above. Worst cell: {worst.broken:.3f} ({worst.name}, target "
        f"{worst.target:g}, {worst.n_labels:,} labels). Draws also decided by the product's own function and by "
        f"`Gate.fit`: {found.checked[0]:,}, of which {found.checked[1]} differ.",
        grid([*head, "max-probability", "naive", "naive broken"], table(cells)),
        f"Coverage is the mean over the sets of a family. A ratio is left out where the oracle covers less than "
        f"{ENOUGH:g}. The column that stands for max-probability: "
        + ", ".join(f"{family} `{MAX_PROBABILITY[family]}`" for family in found.families)
        + ".",
    ]


def _side_by_side(found: Results) -> list[str]:
    head = ["family", "labels", "gate", "best column", "best of each set", "worst column", SUM]
    lines = [_rival_line(found, family, n) for family in found.families for n in LABELS]
    return [
        f"## Other ways to spend the labels, target {AT:g}",
        "Mean coverage. The best column is known only afterwards. MAPIE: one threshold per column, the better of two "
        "grids and of Holm and the split fixed sequence, per set. Logistic: 30 % of the labels fit it, the others "
        f"certify. `order='best'`: 25 % choose. MAPIE's own class was run on {found.checked_mapie[0]} draws; "
        f"{found.checked_mapie[1]} differ.",
        grid([*head, MAPIE, LOGISTIC, BEST, "gate / best column", "gate / oracle"], lines),
    ]


def _rival_line(found: Results, family: str, n_labels: int) -> list[str]:
    (name, best), (_, worst), each = single_columns(found.cells, family, found.columns[family], AT, n_labels)
    gate, ceiling = (mean_of(found.cells, family, rule, AT, n_labels) for rule in (VECUQ, ORACLE))
    rivals = [_if_any(found, family, rule, n_labels) for rule in (SUM, MAPIE, LOGISTIC, BEST)]
    ratios = [f"{gate / other:.2f}" if ceiling >= ENOUGH and other > 0 else "-" for other in (best, ceiling)]
    own = [f"{gate:.3f}", f"{best:.3f} ({name})", f"{each:.3f}", f"{worst:.3f}"]
    return [family, f"{n_labels:,}", *own, *rivals, *ratios]


def _if_any(found: Results, family: str, rule: str, n_labels: int) -> str:
    there = any((cell.family, cell.rule) == (family, rule) for cell in found.cells)
    if not there:
        return "-"
    broken = broken_of(found.cells, family, rule, AT, n_labels)[0]
    return (
        f"{mean_of(found.cells, family, rule, AT, n_labels):.3f} ({broken:.3f})"
        if rule != SUM
        else (f"{mean_of(found.cells, family, rule, AT, n_labels):.3f}")
    )


def _average(found: Results) -> list[str]:
    over = [one for one in found.batches if one.excess > 3]
    head = ["family", "target", "batch", "allowed", "mean share", "worst set", "worst, standard errors", "pooled"]
    return [
        "## The average promise",
        f"Mean of wrong / max(accepted, 1) over batches, {N_LABELS} labels drawn anew for each. {len(found.batches)} "
        f"cells (set, target, batch); more than three standard errors above what is allowed: {len(over)}. "
        "Pooled is the share of wrong rows among all accepted ones of all batches: it is not promised, and in small "
        "batches it is far larger.",
        grid([*head, "coverage"], average_table(found.batches)),
    ]


def _by(found: Results) -> list[str]:
    if not found.by:
        return []
    head = ["set", "labels", "units", "certified", "broken", "broken of certified", "limit", "worst unit"]
    lines = [
        [
            one.name,
            f"{one.n_labels:,}",
            f"{one.units:.1f}",
            f"{one.certified:.1f}",
            *(f"{x:.3f}" for x in (one.broken, one.broken_of_certified, one.limit_of_certified, one.worst)),
            *(f"{x:.3f}" for x in (one.any_broken, one.coverage, one.coverage_together, one.oracle)),
        ]
        for one in found.by
    ]
    return [
        "## A certificate per subject (`by=`), mcq, target 0.9",
        "Units are categories with labels enough, and the pool of the others. Broken: share of all units; of the "
        "certified ones, with its limit of three standard errors; of the unit that broke most often. Together: with "
        "`simultaneous=True`, the share of draws with any broken unit, and the coverage. With more labels more "
        "categories leave the pool, and each has to prove its target with labels of its own: coverage may fall.",
        grid([*head, "any broken, together", "coverage", "coverage, together", "oracle per subject"], lines),
    ]


def _unseen(found: Results) -> list[str]:
    if not found.unseen:
        return []
    kinds = ("seen", "unseen", "guarded")
    keys = dict.fromkeys((family, n) for family, _, n in found.unseen)
    lines = [
        [family, f"{n:,}", *(f"{x:.3f}" for kind in kinds for x in found.unseen[family, kind, n])] for family, n in keys
    ]
    head = ["family", "labels", "own categories", "broken", "unseen", "broken", "unseen, guard=0.01", "broken"]
    parts = [
        "## Categories that the labels never saw, target 0.9",
        "Map and labels come from one half of the categories, drawn ten times. The promise is about rows like the "
        "labelled ones, and it does not hold for other categories. The guard does not mend this: p-values fall as the "
        "uncertainty rises, so the rows that it turns away lie beyond the threshold already.",
        grid(head, lines),
    ]
    if found.others:
        shares = np.mean(list(found.others.values()), axis=0)
        parts.append(
            f"Out-of-distribution rows of `vlm`, 500 labels, mean of {len(found.others)} sets: the gate accepts "
            f"{shares[0]:.3f} of the population and {shares[1]:.3f} of these rows, with the guard {shares[2]:.3f}."
        )
    return parts


def _asked(found: Results) -> list[str]:
    if not found.asked:
        return []
    head = ["family", *(f"random, {n}" for n in (300, 400, 500)), "region, 300", "weighted bets, 300"]
    lines = [[one.family, *(f"{x:.3f}" for x in one.random), *(f"{x:.3f}" for x in one.asked)] for one in found.asked]
    broken = max(one.broken for one in found.asked)
    return [
        "## Asking for the next label, target 0.9",
        "Coverage of labels drawn at random, and of two honest ways to choose which rows to label. Region: 100 random "
        "labels find how far acceptance may reach, 200 more come from there only, and both stages count (inverse "
        "normal combination of their p-values, Bauer and Koehne 1994). Weighted bets: rows near the threshold are "
        "drawn more often, with inverse-probability weights in a betting test (arXiv 2406.10490). "
        f"Broken in at most {broken:.3f} of the draws of a set.",
        grid(head, lines),
    ]

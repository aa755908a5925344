"""The goals of the study, each with what was measured and whether it holds."""

from __future__ import annotations

from scipy.stats import norm

from benchmarks.gates.population import VECUQ
from benchmarks.gates.promises import ENOUGH, LABELS, ORACLE, Limits, mean_of, single_columns
from benchmarks.gates.report import AT, Results
from benchmarks.gates.rivals import LOGISTIC, MAPIE

SHARES = {500: 0.65, 2000: 0.85}  # of the oracle's coverage, by the number of labels
OF_BEST = 0.95  # of the best column's coverage


def goals(found: Results) -> list[list[str]]:
    """Return a line per goal: what was wanted, what was measured, whether it holds."""
    lines = [_confident(found), _average(found)]
    for family in found.families:
        for n_labels in LABELS:
            if mean_of(found.cells, family, ORACLE, AT, n_labels) >= ENOUGH:
                lines += _coverage(found, family, n_labels)
    if found.by:
        over = [one for one in found.by if one.broken_of_certified > one.limit_of_certified]
        largest = max(one.broken_of_certified for one in found.by)
        lines.append(_goal("`by=`: broken of certified units at most 0.1 + 3 se", f"at most {largest:.3f}", not over))
    for one in found.asked:
        best = max(one.asked)
        wanted = f"{one.family}: 300 chosen labels cover as much as 500 random ones ({one.random[-1]:.3f})"
        lines.append(_goal(wanted, f"{best:.3f}", best >= one.random[-1]))
    return lines


def _goal(wanted: str, measured: str, holds: bool) -> list[str]:
    return [wanted, measured, "yes" if holds else "**no**"]


def _confident(found: Results) -> list[str]:
    shares = [cell.broken for cell in found.cells if cell.rule == VECUQ and cell.n_labels in LABELS]
    limit = Limits.of(len(shares), found.draws).all_cells
    wanted = f"confident promise broken in at most {limit:.3f} of draws (3 se, Bonferroni over {len(shares)} cells)"
    return _goal(wanted, f"at most {max(shares):.3f}", max(shares) <= limit)


def _average(found: Results) -> list[str]:
    limit = float(norm.isf(norm.sf(3) / len(found.batches)))
    largest = max(one.excess for one in found.batches)
    wanted = f"average promise at most {limit:.1f} se over (3 se, Bonferroni over {len(found.batches)} cells)"
    return _goal(wanted, f"at most {largest:.1f} se", largest <= limit)


def _coverage(found: Results, family: str, n_labels: int) -> list[list[str]]:
    """Compare with the oracle, the best column and the rivals."""
    gate, ceiling = (mean_of(found.cells, family, rule, AT, n_labels) for rule in (VECUQ, ORACLE))
    where = f"{family}, {n_labels:,} labels"
    lines = []
    if n_labels in SHARES:
        share = SHARES[n_labels]
        lines.append(_goal(f"{where}: {share:g} of the oracle", f"{gate / ceiling:.2f}", gate >= share * ceiling))
    (_, best), _, _ = single_columns(found.cells, family, found.columns[family], AT, n_labels)
    if best > 0:
        lines.append(_goal(f"{where}: {OF_BEST:g} of the best column", f"{gate / best:.3f}", gate >= OF_BEST * best))
    for rival in (MAPIE, LOGISTIC):
        if any((cell.family, cell.rule) == (family, rival) for cell in found.cells):
            other = mean_of(found.cells, family, rival, AT, n_labels)
            lines.append(_goal(f"{where}: above {rival} ({other:.3f})", f"{gate:.3f}", gate > other))
    return lines

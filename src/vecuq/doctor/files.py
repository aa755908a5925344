"""Two tables in the wrong roles: the same rows twice, or new rows and calibration rows exchanged."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array, finite_rows
from vecuq.doctor.case import FEWEST_ROWS, Case
from vecuq.doctor.finding import Finding
from vecuq.doctor.rates import percent
from vecuq.doctor.repeats import row_keys
from vecuq.doctor.statistics import chance_of_as_few, chance_of_as_many
from vecuq.ranker import Ranker

_ALPHA = 0.05
_CHANCE = 0.001


def check_files(case: Case) -> list[Finding]:
    """Look for new rows that are calibration rows, and for tables that were given in the wrong order."""
    if case.new is None:
        return []
    found = _shared(case, case.new[finite_rows(case.new)])
    if not any(finding.severity == "serious" for finding in found):
        found += _swapped(case)
    return found or [Finding("files", "ok", "The new rows are not copies of the calibration rows.")]


def _shared(case: Case, new: Array) -> list[Finding]:
    """Count new rows that are calibration rows, beyond those that scores with few values explain."""
    keys = row_keys(new)
    share = float(np.isin(keys, case.keys).mean()) if len(keys) else 0.0
    _, counts = np.unique(case.keys, return_counts=True)
    by_itself = float(counts[counts > 1].sum() / len(case.keys))
    figures = {"copies": round(share * len(keys)), "share": share, "calibration_share": by_itself}
    remedy = "Give new rows that the calibration table does not hold."
    if len(keys) > 1 and len(keys) == len(case.keys) and np.array_equal(np.sort(keys), np.sort(case.keys)):
        what = "Both tables hold the same rows, so nothing is compared: drift and flags below mean nothing."
        return [Finding("files", "serious", what, remedy, figures)]
    error = np.sqrt(by_itself * (1 - by_itself) * (1 / len(case.keys) + 1 / max(1, len(keys))))
    if share <= 0.01 + by_itself + 4 * error:
        return []
    what = (
        f"{figures['copies']:,} of {len(keys):,} new rows ({percent(share)}) are copies of calibration rows. Such rows "
        f"look in-distribution whatever they are, so too few are flagged."
    )
    return [Finding("files", "serious" if share > 0.5 else "warning", what, remedy, figures)]


def _swapped(case: Case) -> list[Finding]:
    """Compare what is flagged with what would be if the tables were exchanged."""
    ranker, new = case.ranker, case.new_sample
    if ranker is None or not ranker.diagnostics.n_held or len(new) < FEWEST_ROWS:
        return []
    now, _, few = _flags(ranker, new)
    if few > _CHANCE:
        return []
    other = case.refit(new, case.settings)
    if isinstance(other, str) or not other.diagnostics.n_held:
        return []
    then, many, _ = _flags(other, case.sample)
    if many > _CHANCE or then < 2 * _ALPHA:
        return []
    what = (
        f"Only {percent(now)} of the new rows are flagged at alpha {_ALPHA:g}; if the tables were exchanged, "
        f"{percent(then)} of the calibration rows would be. Either the tables are in the wrong order, or the "
        f"calibration rows contain out-of-distribution rows, or the new rows are more certain."
    )
    remedy = "Give the in-distribution rows first and the new rows second; see which rows stand out."
    return [Finding("files", "warning", what, remedy, {"flagged": now, "flagged_if_exchanged": then})]


def _flags(ranker: Ranker, rows: Array) -> tuple[float, float, float]:
    """Return the share that is flagged, and the chance of as many and of as few without drift."""
    bar = ranker.threshold(max(_ALPHA, 1 / (ranker.diagnostics.n_held + 1)))
    held = ranker.calibration_scores
    above, beyond = int((ranker.rank_complete(rows)[1] > bar).sum()), int((held > bar).sum())
    return (
        above / len(rows),
        chance_of_as_many(above, len(rows), beyond, len(held)),
        chance_of_as_few(above, len(rows), beyond, len(held)),
    )

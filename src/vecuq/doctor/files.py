"""Two tables in the wrong roles: the same rows twice, or new rows and calibration rows exchanged."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array, finite_rows
from vecuq.doctor.case import FEWEST_ROWS, Case
from vecuq.doctor.finding import Finding
from vecuq.doctor.rates import percent
from vecuq.doctor.repeats import row_keys
from vecuq.doctor.statistics import chance_of_as_many
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
    if figures["copies"] <= _explained(len(keys), by_itself, len(case.keys)):
        return []
    what = (
        f"{figures['copies']:,} of {len(keys):,} new rows ({percent(share)}) are copies of calibration rows. Such rows "
        f"look in-distribution whatever they are, so too few are flagged."
    )
    return [Finding("files", "serious" if share > 0.5 else "warning", what, remedy, figures)]


def _explained(n_new: int, by_itself: float, n: int) -> float:
    """Return how many copies scores with few values explain, to four standard errors and a row in a hundred."""
    likely = (by_itself * n + 2) / (n + 2)  # never 0: that none was seen does not mean that there is none
    return n_new * (likely + 0.01) + 4 * float(np.sqrt(n_new * likely * (1 - likely) * (1 + n_new / n)))


def _swapped(case: Case) -> list[Finding]:
    """See whether the new rows are the more certain ones, and calibration rows would be flagged beside them."""
    ranker, new = case.ranker, case.new_sample
    if ranker is None or not ranker.diagnostics.n_held or len(new) < FEWEST_ROWS or case.is_tiny:
        return []
    scores = ranker.rank_complete(new)[1]
    if _chance_of_higher(ranker.calibration_scores, scores) > _CHANCE:
        return []
    other = case.refit(new, case.settings)
    if isinstance(other, str) or not other.diagnostics.n_held:
        return []
    share, chance = _flagged(other, case.sample)
    if chance > 0.01 or share < 1.5 * _ALPHA:
        return []
    what = (
        f"The new rows are more certain than the calibration rows. If the tables were exchanged, {percent(share)} of "
        f"the calibration rows would be flagged at alpha {_ALPHA:g}. Are the tables in the wrong order? If not, the "
        f"calibration rows may contain out-of-distribution rows."
    )
    remedy = "Give the in-distribution rows first, the new rows second."
    return [Finding("files", "warning", what, remedy, {"flagged_if_exchanged": share, "chance": chance})]


def _chance_of_higher(old: Array, new: Array) -> float:
    """Return the p-value of calibration scores that are higher than new ones (one-sided Kolmogorov-Smirnov)."""
    from scipy.stats import ks_2samp

    return float(ks_2samp(old, new, alternative="less", method="asymp").pvalue)


def _flagged(ranker: Ranker, rows: Array) -> tuple[float, float]:
    """Return the share of rows that is flagged, and the chance of as many without drift."""
    bar, held = ranker.threshold(max(_ALPHA, 1 / (ranker.diagnostics.n_held + 1))), ranker.calibration_scores
    above, beyond = int((ranker.rank_complete(rows)[1] > bar).sum()), int((held > bar).sum())
    return above / len(rows), chance_of_as_many(above, len(rows), beyond, len(held))

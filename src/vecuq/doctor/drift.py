"""New rows beside the calibration rows: has anything moved, and how many rows are flagged."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array, finite_rows
from vecuq.doctor.case import FEWEST_ROWS, Case
from vecuq.doctor.finding import Finding
from vecuq.doctor.statistics import chance_of_as_many

_LEVEL = 0.01


def check_new_missing(case: Case) -> list[Finding]:
    """Count new rows that cannot be scored."""
    if case.new is None:
        return []
    lost = int((~finite_rows(case.new)).sum())
    if not lost:
        return [Finding("new rows", "ok", f"{len(case.new):,} new rows, all complete.")]
    what = f"{lost:,} of {len(case.new):,} new rows have missing or infinite values."
    remedy = "Score with missing='marginal', or they get no score."
    return [Finding("new rows", "warning", what, remedy, {"rows": lost})]


def check_drift(case: Case) -> list[Finding]:
    """Compare the distribution of each column, and of the score, by two-sample tests, corrected for their number."""
    new = case.new_sample
    if case.new is None:
        return []
    if len(new) < FEWEST_ROWS or case.is_tiny:
        what = f"{len(new):,} complete new rows beside {len(case.sample):,}: too few to detect drift."
        return [Finding("drift", "note", what, "Use a monitor, which gathers evidence row by row.")]
    pairs = dict(zip(case.columns, zip(case.sample.T, new.T, strict=True), strict=True))
    if case.ranker is not None and case.ranker.diagnostics.n_held:
        pairs["uncertainty"] = case.ranker.calibration_scores, case.ranker.rank_complete(new)[1]
    tested = _two_sample_tests(pairs)
    found = [
        _moved(name, *tested[name], *pairs[name], sign=-1.0 if name in case.flipped else 1.0)
        for name in tested
        if tested[name][1] < _LEVEL
    ]
    figures = {name: {"distance": distance, "p_value": p} for name, (distance, p) in tested.items()}
    what = f"No column, and not the score, differs from calibration (all p-values above {_LEVEL:g})."
    return found or [Finding("drift", "ok", what, "", figures)]


def _two_sample_tests(pairs: dict[str, tuple[Array, Array]]) -> dict[str, tuple[float, float]]:
    """Return the Kolmogorov-Smirnov distance and its p-value after Holm's correction."""
    from scipy.stats import ks_2samp

    raw = {name: ks_2samp(old, new, method="asymp") for name, (old, new) in pairs.items()}
    adjusted, so_far = {}, 0.0
    for place, name in enumerate(sorted(raw, key=lambda key: raw[key].pvalue)):
        so_far = max(so_far, min(1.0, float(raw[name].pvalue) * (len(raw) - place)))
        adjusted[name] = float(raw[name].statistic), so_far
    return {name: adjusted[name] for name in pairs}


def _moved(name: str, distance: float, p: float, old: Array, new: Array, sign: float) -> Finding:
    severity = "serious" if distance >= 0.3 else "warning" if distance >= 0.1 else "note"
    before, after = sign * float(np.median(old)), sign * float(np.median(new))
    shown = "under 1e-12" if p < 1e-12 else f"{p:.1g}"
    what = (
        f"{name!r} is distributed differently in the new rows: distance {distance:.2f} of 1, p-value {shown}; "
        f"median {before:.4g} before, {after:.4g} now."
    )
    remedy = (
        "Too small to matter much."
        if severity == "note"
        else "Find out what changed; recalibrate if the change is intended."
    )
    return Finding("drift", severity, what, remedy, {"column": name, "distance": distance, "p_value": p})


def check_flagged(case: Case) -> list[Finding]:
    """Compare the share of new rows that are flagged with the false-alarm rate."""
    ranker, new = case.ranker, case.new_sample
    if case.new is None or ranker is None or not ranker.diagnostics.n_held or not len(new):
        return []
    alpha = max(0.05, 1 / (ranker.diagnostics.n_held + 1))
    score, threshold = ranker.rank_complete(new)[1], ranker.threshold(alpha)
    above, beyond = int((score > threshold).sum()), int((ranker.calibration_scores > threshold).sum())
    share, chance = above / len(new), chance_of_as_many(above, len(new), beyond, len(ranker.calibration_scores))
    figures = {"alpha": alpha, "share": share, "chance": chance}
    what = f"{share:.1%} of the new rows are flagged at alpha {alpha:.2g}"
    if chance >= 0.01 or share <= alpha:
        return [Finding("flagged", "ok", f"{what}.", "", figures)]
    severity = "serious" if share > 4 * alpha else "warning" if share > 2 * alpha else "note"
    remedy = "Out-of-distribution rows or drift: look at the rows that are flagged."
    return [Finding("flagged", severity, f"{what}; probability without drift: {chance:.1g}.", remedy, figures)]

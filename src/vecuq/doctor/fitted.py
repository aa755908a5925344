"""The fitted order: whether there is one, what it resembles, and what it depends on."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.doctor.case import Case
from vecuq.doctor.finding import Finding
from vecuq.doctor.statistics import plain_sum, rank_correlation
from vecuq.ranker import is_proven_monotone


def check_fit(case: Case) -> list[Finding]:
    """Fit, and report if that is impossible."""
    if isinstance(case.fitted, str):
        remedy = "Correct this first; the checks of the order are left out."
        return [Finding("fit", "serious", f"No map can be fitted. {case.fitted}", remedy)]
    fit = case.fitted.diagnostics
    return [Finding("fit", "ok", f"The map is fitted in {fit.sweeps} sweeps, marginal error {fit.marginal_error:.0e}.")]


def check_anchors(case: Case) -> list[Finding]:
    """Compare the mass of the outer anchors with that of the rows."""
    if case.ranker is None:
        return []
    mass = case.ranker.diagnostics.anchor_mass
    if mass <= 0.2:
        return [Finding("anchors", "ok", f"The outer anchors carry {mass:.0%} of the mass.", "", {"mass": mass})]
    what = f"The outer anchors carry {mass:.0%} of the mass: there are {case.ranker.diagnostics.n_anchors:,} of them."
    remedy = "Give more rows, fewer columns, or set anchor_mass=0.2."
    return [Finding("anchors", "serious" if mass > 0.5 else "warning", what, remedy, {"mass": mass})]


def check_resemblance(case: Case) -> list[Finding]:
    """Compare the fitted order with the plain sum of the scaled columns, and with each column alone."""
    if case.ranker is None or case.is_tiny or len(case.columns) < 2:
        return []
    with_sum = rank_correlation(plain_sum(case.ranker, case.sample), case.uncertainty)
    alone = {
        name: rank_correlation(column, case.uncertainty)
        for name, column in zip(case.columns, case.sample.T, strict=True)
        if np.ptp(column) > 0
    }
    figures = {"sum": with_sum, **alone}
    return [_like_the_sum(with_sum, figures), *_like_one_column(alone, figures)]


def _like_the_sum(rho: float, figures: dict[str, float]) -> Finding:
    what = f"Rank correlation with the plain sum of scaled columns: {rho:.4f}."
    if rho < 0.99:
        return Finding("resemblance", "ok", what, "", figures)
    remedy = "Nothing is wrong. If an order is all you need, the sum of the scaled columns gives nearly the same one."
    return Finding("resemblance", "note", f"{what} The order is nearly that of the sum.", remedy, figures)


def _like_one_column(alone: dict[str, float], figures: dict[str, float]) -> list[Finding]:
    if len(alone) < 2:
        return []
    name, rho = max(alone.items(), key=lambda item: item[1])
    listed = ", ".join(f"{name} {rho:.2f}" for name, rho in alone.items())
    if rho < 0.98:
        return [Finding("resemblance", "ok", f"Rank correlation with each column: {listed}.", "", figures)]
    what = f"The order is that of {name!r} (rank correlation {rho:.3f}); the others hardly matter ({listed})."
    remedy = "See whether outliers stretch the others; scaling='quantile' gives all columns the same weight."
    return [Finding("resemblance", "warning", what, remedy, figures)]


def check_epsilon(case: Case) -> list[Finding]:
    """Fit with half and with twice the regularisation, and compare the orders."""
    if case.ranker is None or case.is_tiny:
        return []
    epsilon = case.settings.epsilon
    tried = {"half": {"epsilon": epsilon / 2}, "twice": {"epsilon": epsilon * 2}}
    return _sensitivity(case, "epsilon", f"With half and twice epsilon ({epsilon:g})", tried)


def check_grid(case: Case) -> list[Finding]:
    """Fit with half as many and with twice as many reference points, and compare the orders."""
    if case.ranker is None or case.is_tiny:
        return []
    if case.ranker.diagnostics.column_groups is not None:
        what = "The columns are ranked in groups; half and twice the reference points are tried for single maps only."
        return [Finding("grid", "note", what)]
    count = case.ranker.diagnostics.n_targets
    tried = {"half": {"n_targets": max(2, count // 2)}, "twice": {"n_targets": min(2 * count, 200_000)}}
    return _sensitivity(case, "grid", f"With half and twice the reference points ({count:,})", tried)


def _sensitivity(case: Case, check: str, lead: str, tried: dict[str, dict[str, Any]]) -> list[Finding]:
    """Compare orders by rank correlation and by how many of the top five per cent they share."""
    base = case.scores_with()
    others = {name: case.scores_with(**changes) for name, changes in tried.items()}
    figures = {
        name: {"spearman": rank_correlation(base, scores), "top": _shared_top(base, scores)}
        for name, scores in others.items()
        if scores is not None and base is not None
    }
    failed = len(tried) - len(figures)
    if not figures:
        return [Finding(check, "warning", f"{lead} no map can be fitted.", "Leave it as it is.")]
    rho = min(figure["spearman"] for figure in figures.values())
    top = min(figure["top"] for figure in figures.values())
    severity = "ok" if rho >= 0.99 and top >= 0.8 else "note" if rho >= 0.95 else "warning"
    what = f"{lead} the order keeps a rank correlation of {rho:.4f}, and {top:.0%} of its top 5 % are the same rows."
    if failed:
        what += " One of the two could not be fitted."
    remedy = "" if severity == "ok" else "Do not rely on small differences in rank; give more rows if you can."
    return [Finding(check, severity, what, remedy, figures)]


def _shared_top(a: Array, b: Array) -> float:
    count = max(1, len(a) // 20)
    return len(set(np.argsort(a)[-count:]) & set(np.argsort(b)[-count:])) / count


def check_monotone(case: Case) -> list[Finding]:
    """Report whether raising one column is proven never to lower the score; if not, how often it does."""
    if case.ranker is None:
        return []
    share = case.ranker.diagnostics.monotone_violations
    proven = share == 0 and is_proven_monotone(case.ranker)
    figures = {"violations": share, "proven": proven}
    if share is None:
        what = "The order is centre-outward (signed scores), so it is not monotone."
        return [Finding("monotone", "note", what, "", figures)]
    if proven:
        what = "Raising a column never lowers the score, at any row: proven from the fitted map."
        return [Finding("monotone", "ok", what, "", figures)]
    if share == 0:
        what = "Raising a column lowered the score in no trial, from far below the rows to far above them."
        return [Finding("monotone", "ok", what, "", figures)]
    what = f"Raising one column lowers the score in {share:.1%} of trials, from far below the rows to far above them."
    remedy = (
        "Fit with grid='midpoint', reference='beta' and a larger epsilon, or leave out columns that nearly repeat "
        "others."
    )
    return [Finding("monotone", "warning", what, remedy, figures)]

"""Columns one by one and in pairs: constant, repeated, noise, no scores at all, or in the wrong direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vecuq.doctor.case import Case
from vecuq.doctor.finding import Finding
from vecuq.doctor.statistics import rank_correlation, rank_correlations
from vecuq.table import Suspicion
from vecuq.transport import named_reference

_SAME, _ALIKE = 0.9999, 0.98
_SORTED = 0.98
_AN = {"id": "an id", "label": "a label", "time": "a time"}
_TIMES = {2: "twice", 3: "three times"}
# What was measured on six families of real scores (docs/when-it-helps.md).
_COST = "Copies and noise cost every way of combining 0.01 to 0.04 of ROC-AUC."


def check_constant(case: Case) -> list[Finding]:
    """Look for columns with one value, or with one value in nearly all rows."""
    found = []
    for name, column in zip(case.columns, case.sample.T, strict=True):
        _, counts = np.unique(column, return_counts=True)
        share = float(counts.max() / len(column))
        if share == 1.0:
            what = f"{name!r} is constant, so it has no influence, whatever it does in new rows."
            found.append(Finding("constant", "warning", what, "Leave it out, or find out why.", {"column": name}))
        elif share > 0.9:
            what = f"{name!r} has the same value in {share:.0%} of the rows, so it hardly orders them."
            remedy = "Check that this is what the measure should give."
            found.append(Finding("constant", "note", what, remedy, {"column": name, "share": share}))
    return found or [Finding("constant", "ok", "Every column varies.")]


def check_overlap(case: Case) -> list[Finding]:
    """Look for columns that order the rows alike, which counts the same thing twice, and for mirror images."""
    if case.is_tiny:
        return []
    related = rank_correlations(case.sample)
    same = _groups(related >= _SAME)
    found = [_copies(case, group) for group in same]
    for i, j in zip(*np.triu_indices(len(case.columns), 1), strict=True):
        if not any({i, j} <= group for group in same):
            found += _pair(case.columns[i], case.columns[j], float(related[i, j]))
    return found or [Finding("overlap", "ok", "No two columns order the rows alike.")]


def _groups(linked: NDArray[np.bool_]) -> list[set[int]]:
    """Return the columns that are linked with each other, directly or through others, two or more."""
    groups: list[set[int]] = []
    for k, row in enumerate(linked):
        near = {k, *map(int, np.flatnonzero(row))}
        joined = [group for group in groups if group & near]
        groups = [group for group in groups if group not in joined] + [near.union(*joined)]
    return [group for group in groups if len(group) > 1]


def _copies(case: Case, group: set[int]) -> Finding:
    names = [case.columns[k] for k in sorted(group)]
    listed = f"{', '.join(map(repr, names[:-1]))} and {names[-1]!r}"
    times = _TIMES.get(len(names), f"{len(names)} times")
    what = f"{listed} put the rows in the same order: one score counts {times}. {_COST}"
    return Finding("overlap", "warning", what, "Keep one of them.", {"columns": names, "spearman": 1.0})


def _pair(first: str, second: str, rho: float) -> list[Finding]:
    figures = {"columns": [first, second], "spearman": rho}
    if rho <= -_ALIKE:
        what = f"{first!r} and {second!r} are mirror images (rank correlation {rho:.3f}): they cancel each other."
        remedy = "Flip the one that is a confidence, and keep one of them."
        return [Finding("overlap", "serious", what, remedy, figures)]
    if rho >= _ALIKE:
        what = f"{first!r} and {second!r} are nearly the same (rank correlation {rho:.3f})."
        return [Finding("overlap", "note", what, "Keep one of them, unless they differ on new rows.", figures)]
    return []


def check_noise(case: Case) -> list[Finding]:
    """Look for columns that go with no other, where the others go together: noise, or something else that counts."""
    varying = [k for k in range(len(case.columns)) if np.ptp(case.sample[:, k]) > 0]
    if case.is_tiny or len(varying) < 3:
        return []
    related = np.abs(rank_correlations(case.sample[:, varying]))
    np.fill_diagonal(related, 0.0)
    error = 1 / np.sqrt(len(case.sample))
    alone = related.max(axis=1) < max(0.05, 3 * error)
    if not alone.any() or (~alone).sum() < 2 or related[~alone][:, ~alone].max(axis=1).min() < max(0.3, 6 * error):
        return [Finding("noise", "ok", "No column stands alone among columns that go together.")]
    names = [case.columns[varying[k]] for k in np.flatnonzero(alone)]
    listed = ", ".join(map(repr, names))
    goes = "go" if len(names) > 1 else "goes"
    what = f"Suspected: {listed} {goes} with no other column, while the others go together. {_COST}"
    remedy = "Leave it out, unless you know that it shows something else that matters."
    return [Finding("noise", "note", what, remedy, {"columns": names})]


def check_kind(case: Case) -> list[Finding]:
    """Look for columns that are no scores at all: ids, labels and times; and name those that were left out."""
    found = [_no_score(case, one) for one in case.suspicions if one.kind != "confidence"]
    if case.left_out:
        listed = ", ".join(f"{name!r} ({reason})" for name, reason in case.left_out.items())
        remedy = (
            f"If one is a score, name all score columns, as in columns={[*case.columns, next(iter(case.left_out))]}."
        )
        found.append(Finding("kind", "note", f"Not taken for scores: {listed}.", remedy, {"left_out": case.left_out}))
    return found or [Finding("kind", "ok", "No column looks like an id, a label or a time.")]


def _no_score(case: Case, one: Suspicion) -> Finding:
    column = case.values[:, case.columns.index(one.column)]
    number = np.arange(float(len(column)))
    rises = abs(rank_correlation(column, number)) > _SORTED if len(column) > 2 else False
    effect = " It goes on as rows are added, so that new rows lie beyond all calibration rows and are flagged."
    what = f"{one.column!r} looks like {_AN[one.kind]} ({one.why}), but counts as a score.{effect if rises else ''}"
    doubted = {other.column for other in case.suspicions if other.kind != "confidence"}
    rest = [name for name in case.columns if name not in doubted]
    remedy = f"Leave it out, as in columns={rest}." if rest else "Give score columns."
    figures = {"column": one.column, "kind": one.kind, "rises": rises}
    return Finding("kind", "serious" if rises else "warning", what, remedy, figures)


def check_direction(case: Case) -> list[Finding]:
    """Look for confidences that are not flipped: without labels that is a suspicion, no more."""
    if named_reference(case.settings.reference).signed:
        return [Finding("direction", "ok", "Signed scores: both sides count as far, so directions do not matter.")]
    found = [_reversed(case, one) for one in case.suspicions if one.kind == "confidence"]
    return found or [Finding("direction", "ok", "No column looks like a confidence.")]


def _reversed(case: Case, one: Suspicion) -> Finding:
    what = f"Suspected: {one.column!r} looks like a confidence ({one.why}). Higher must mean more uncertain."
    remedy = (
        f"If it is a confidence, set flip={[*sorted(case.flipped), one.column]}; if not, the columns measure "
        f"different things."
    )
    figures = {"column": one.column, "spearman": one.spearman}
    return Finding("direction", "note" if one.spearman is None else "warning", what, remedy, figures)

"""Columns one by one and in pairs: constant, repeated, or in the wrong direction."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from vecuq.doctor.case import Case
from vecuq.doctor.finding import Finding, worst
from vecuq.doctor.statistics import rank_correlation, rank_correlations, ranks
from vecuq.transport import named_reference

_CONFIDENT_NAMES = (
    *("confidence", "certainty", "likelihood", "logprob", "log_prob", "max_prob", "probability", "max_softmax"),
    *("similarity", "accuracy"),
)
# What reverses the meaning of such a word, at the beginning of the name or of a word in it.
_REVERSED = re.compile(
    r"^[-\u2212~]|(?<![a-z])(neg|minus|inv|non|not|dis(?=sim)|un(?=lik|conf|cert)|error|wrong|fail|1\s*[-_\u2212])"
)
_SAME, _ALIKE = 0.9999, 0.98
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


def check_direction(case: Case) -> list[Finding]:
    """Look for columns that fall as the others rise: without labels that is a suspicion, no more."""
    if named_reference(case.settings.reference).signed:
        return [Finding("direction", "ok", "Signed scores: both sides count as far, so directions do not matter.")]
    found = [*_by_name(case), *_by_consensus(case)]
    return found or [Finding("direction", "ok", "No column falls as the others rise.")]


def _by_name(case: Case) -> list[Finding]:
    doubtful = [name for name in case.columns if name not in case.flipped and _sounds_confident(name)]
    what = "Higher must mean more uncertain; the name of {0!r} suggests the opposite."
    remedy = "If it is a confidence, set flip=[{0!r}]."
    return [Finding("direction", "note", what.format(name), remedy.format(name), {"column": name}) for name in doubtful]


def _sounds_confident(name: str) -> bool:
    """Whether a name speaks of confidence; what vecuq computes is an uncertainty already, whatever its name."""
    from vecuq.measures import list_measures

    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    if not any(word in words for word in _CONFIDENT_NAMES) or _REVERSED.search(words):
        return False
    return not any(name in names for names in list_measures().values())


def _by_consensus(case: Case) -> list[Finding]:
    varying = [k for k in range(len(case.columns)) if np.ptp(case.sample[:, k]) > 0]
    if len(varying) < 2 or case.is_tiny:
        return []
    placed = ranks(case.sample[:, varying])
    against = {}
    for k, column in enumerate(varying):
        rho = rank_correlation(placed[:, k], np.delete(placed, k, axis=1).mean(axis=1))
        # Beyond chance, and of a size that matters.
        if rho < -0.1 and rho * np.sqrt(len(placed)) < -4.0:
            against[case.columns[column]] = float(rho)
    if not against:
        return []
    listed = ", ".join(f"{name!r} ({rho:.2f})" for name, rho in against.items())
    what = f"Suspected: {listed} falls as the mean rank of the others rises (rank correlation)."
    if len(varying) == 2:
        rho = min(against.values())
        what = f"Suspected: one of the two columns falls as the other rises (rank correlation {rho:.2f})."
    severity = worst(["warning" if rho < -0.3 else "note" for rho in against.values()])
    remedy = (
        f"If higher means more confident in one of them, name it, as in flip=[{next(iter(against))!r}]; if not, the "
        f"columns measure different things."
    )
    return [Finding("direction", severity, what, remedy, {"spearman_with_others": against})]

"""Columns one by one and two by two: constant, doubled, or pointing the wrong way."""

from __future__ import annotations

import re

import numpy as np

from vecuq._check import Array
from vecuq.doctor.case import Case, ranks
from vecuq.doctor.finding import Finding, worst
from vecuq.transport import named_reference

_CONFIDENT_NAMES = ("confidence", "likelihood", "logprob", "log_prob", "max_prob", "similarity", "accuracy")
# Names that turn such a word round, at the beginning of the name or of a word in it.
_TURNED = re.compile(r"^[-\u2212~]|(?<![a-z])(neg|minus|inv|non|not|dis(?=sim)|un(?=lik|conf)|1\s*[-_\u2212])")
_SAME, _ALIKE = 0.9999, 0.98


def check_constant(case: Case) -> list[Finding]:
    """Look for columns with one value, or with one value in nearly all rows."""
    found = []
    for name, column in zip(case.columns, case.sample.T, strict=True):
        _, counts = np.unique(column, return_counts=True)
        share = float(counts.max() / len(column))
        if share == 1.0:
            told = f"{name!r} is constant, so it has no influence, whatever it does in new rows."
            found.append(Finding("constant", "warning", told, "Leave it out, or find out why.", {"column": name}))
        elif share > 0.9:
            told = f"{name!r} has the same value in {share:.0%} of the rows, so it hardly orders them."
            remedy = "Check that this is what the measure should give."
            found.append(Finding("constant", "note", told, remedy, {"column": name, "share": share}))
    return found or [Finding("constant", "ok", "Every column varies.")]


def check_overlap(case: Case) -> list[Finding]:
    """Look for pairs of columns that order the rows alike, which counts the same thing twice."""
    if case.is_tiny:
        return []
    related = _rank_correlations(case.sample)
    found = []
    for i, first in enumerate(case.columns):
        for j, second in enumerate(case.columns[i + 1 :], start=i + 1):
            finding = _overlap(first, second, float(related[i, j]))
            found += [finding] if finding else []
    return found or [Finding("overlap", "ok", "No two columns order the rows alike.")]


def _overlap(first: str, second: str, rho: float) -> Finding | None:
    figures = {"columns": [first, second], "spearman": rho}
    if rho >= _SAME:
        told = f"{first!r} and {second!r} put the rows in the same order: one thing counts twice."
        return Finding("overlap", "warning", told, "Keep one of them.", figures)
    if rho <= -_ALIKE:
        told = f"{first!r} and {second!r} are mirror images (rank correlation {rho:.3f}): they cancel each other."
        return Finding("overlap", "serious", told, "Flip the one that is a confidence, and keep one of them.", figures)
    if rho >= _ALIKE:
        told = f"{first!r} and {second!r} are nearly the same (rank correlation {rho:.3f})."
        return Finding("overlap", "note", told, "Keep one of them, unless new rows tell them apart.", figures)
    return None


def check_direction(case: Case) -> list[Finding]:
    """Look for columns that go against the others: without labels that is a suspicion, no more."""
    if named_reference(case.settings.reference).signed:
        return [Finding("direction", "ok", "Signed scores: far counts on either side, so no column points wrongly.")]
    found = [*_by_name(case), *_by_consensus(case)]
    return found or [Finding("direction", "ok", "No column goes against the others.")]


def _by_name(case: Case) -> list[Finding]:
    doubtful = [name for name in case.columns if name not in case.flipped and _sounds_confident(name)]
    told = "Higher must mean more uncertain, and the name of {!r} sounds like the contrary."
    remedy = "If it is a confidence, name it in flip."
    return [Finding("direction", "note", told.format(name), remedy, {"column": name}) for name in doubtful]


def _sounds_confident(name: str) -> bool:
    """Whether a name speaks of confidence; what vecuq computes is turned round already, whatever its name."""
    from vecuq.measures import list_measures

    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    if not any(word in words for word in _CONFIDENT_NAMES) or _TURNED.search(words):
        return False
    return not any(name in names for names in list_measures().values())


def _by_consensus(case: Case) -> list[Finding]:
    varying = [k for k in range(len(case.columns)) if np.ptp(case.sample[:, k]) > 0]
    if len(varying) < 2 or case.is_tiny:
        return []
    placed = ranks(case.sample[:, varying])
    against = {}
    for k, column in enumerate(varying):
        rho = _rank_correlations(np.column_stack([placed[:, k], np.delete(placed, k, axis=1).mean(axis=1)]))[0, 1]
        # Beyond chance, and of a size that matters.
        if rho < -0.1 and rho * np.sqrt(len(placed)) < -4.0:
            against[case.columns[column]] = float(rho)
    if not against:
        return []
    told = ", ".join(f"{name!r} ({rho:.2f})" for name, rho in against.items())
    what = f"Suspected: {told} goes against the mean rank of the others (rank correlation)."
    if len(varying) == 2:
        what = f"Suspected: the two columns go against each other (rank correlation {min(against.values()):.2f})."
    severity = worst(["warning" if rho < -0.3 else "note" for rho in against.values()])
    remedy = "If higher means more confident in one of them, name it in flip; if not, the columns see different things."
    return [Finding("direction", severity, what, remedy, {"spearman_with_others": against})]


def _rank_correlations(values: Array) -> Array:
    """Return Spearman's correlation of every pair of columns, 0 where one is constant."""
    placed = ranks(values)
    centred = placed - placed.mean(axis=0)
    size = np.sqrt((centred**2).sum(axis=0))
    return np.asarray((centred.T @ centred) / np.where(np.outer(size, size) > 0, np.outer(size, size), 1.0))

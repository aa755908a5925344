"""Every promise that a saved thing makes, each with its assumption and theorem; and what is not promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vecuq.conformal import HeldScores
from vecuq.gate import Certificate, Gate, LiveGate
from vecuq.ranker import CrossRanker, Ranker
from vecuq.report.cards import theorems
from vecuq.report.cards.card import Promise

# Of more categories one promise speaks for all.
_MOST_CATEGORIES = 8
_LIKE = "the same model, the same source, the same preparation, and no dependence in time"


@dataclass(frozen=True)
class Promised:
    """Promises, and what is not promised although one could expect it."""

    promises: tuple[Promise, ...] = ()
    unpromised: tuple[str, ...] = ()

    def __add__(self, other: Promised) -> Promised:
        return Promised(self.promises + other.promises, self.unpromised + other.unpromised)


def promised_by_order(order: Any) -> Promised:
    """Return what an order promises: p-values and flags, if calibration rows were held back."""
    if isinstance(order, CrossRanker):
        return _cross(order)
    if isinstance(order, Ranker):
        held, alpha = order.held if order.diagnostics.n_held else None, float(order.settings.alpha)
    else:  # a Conformal
        held, alpha = order.held_, float(order.alpha)
    if held is None:
        return Promised(
            unpromised=(
                "No false-alarm rate and no p-value is promised: no calibration rows were held back from the fit. The "
                "uncertainty is an order and nothing more.",
            )
        )
    return _p_values(held) + _flags(held, alpha)


def _p_values(held: HeldScores) -> Promised:
    said = "A p-value of an in-distribution row is at most alpha with probability at most alpha, for every alpha"
    if held.weights is None:
        average = f"{said}. This holds on average over calibration sets; the set of this file is one of them."
        return Promised((Promise("p-values", average, _of_held(held), theorems.P_VALUES),))
    average = (
        f"{said}, for a row drawn from a new group. A long group counts as much as a short one. This holds on average "
        f"over calibration sets; the set of this file is one of them."
    )
    return Promised((Promise("p-values", average, _of_held(held), theorems.GROUPED),))


def _exchangeable(count: int, which: str, *, grouped: bool) -> str:
    """Return what p-values assume of new rows and the calibration rows, or groups, that they are counted among."""
    if not grouped:
        return (
            f"New in-distribution rows are exchangeable with the {count:,} {which} rows: {_LIKE}. Rows that come in "
            f"sessions or documents are not."
        )
    return (
        f"New groups of rows are exchangeable with the {count:,} {which} groups, and so are rows within each group: "
        f"{_LIKE} between groups. A new row belongs to a group that has no calibration row."
    )


def _of_held(held: HeldScores) -> str:
    grouped = held.weights is not None
    return _exchangeable(held.count, "held-back" if grouped else "held-back calibration", grouped=grouped)


def _flags(held: HeldScores, alpha: float) -> Promised:
    """Return the promise of flags at the rate of the settings, or that there is none for lack of rows."""
    threshold = held.threshold(alpha)
    if not np.isfinite(threshold):
        return Promised(
            unpromised=(
                f"No flag at false-alarm rate {alpha:g} is promised: {held.count:,} held-back {held.unit} deliver "
                f"rates from {1 / (held.count + 1):.2g} on.",
            )
        )
    low, high = held.interval(alpha)
    sets = (
        "Scores tie at the threshold, so fewer rows are flagged than alpha allows."
        if has_ties(held, alpha)
        else f"Of ten calibration sets of {held.count:,} held-back {held.unit}, nine flag between {_percent(low)} and "
        f"{_percent(high)} of in-distribution rows."
    )
    said = (
        f"Rows with an uncertainty above {threshold:.6g} are flagged at alpha {alpha:g}: an in-distribution row with "
        f"probability at most {alpha:g}, on average over calibration sets. {sets}"
    )
    theorem = theorems.P_VALUES if held.weights is None else theorems.GROUPED
    return Promised(
        (Promise("flags", said, _of_held(held) + _of_interval(held, alpha), f"{theorem} {theorems.RATES}"),)
    )


def _of_interval(held: HeldScores, alpha: float) -> str:
    """Return what the interval of the rates needs beyond exchangeable rows."""
    if has_ties(held, alpha):
        return ""
    if held.weights is None:
        return " The interval needs held-back rows that are independent of each other, and scores that do not tie."
    return " The interval is that of as many single rows; rows that differ within their groups make it narrower."


def has_ties(held: HeldScores, alpha: float) -> bool:
    """Whether so many held-back scores equal the threshold that clearly fewer rows exceed it than alpha allows."""
    allowed = alpha * (held.count + 1) - 1.0
    return held.above(held.threshold(alpha)) < allowed - 1.0


def _cross(order: CrossRanker) -> Promised:
    n, folds, unit = order.n_units, len(order.folds), order.folds[0].held.unit
    said = (
        f"A p-value of an in-distribution row is at most alpha with probability at most 2 alpha + 2 (1 - alpha) "
        f"{folds - 1} / (n + {folds}), with n = {n:,} calibration {unit}. This is weaker than what rows that are held "
        f"back once and for all promise."
    )
    grouped = order.folds[0].held.weights is not None
    theorem = f"{theorems.GROUPED} {theorems.CROSS}" if grouped else theorems.CROSS
    return Promised(
        (Promise("p-values", said, _exchangeable(n, "calibration", grouped=grouped), theorem),),
        ("No rate is promised for this one calibration set, and there is no threshold on the uncertainty.",),
    )


def promised_by_gate(gate: Gate) -> Promised:
    """Return what a gate promises of accepted rows, or that it promises nothing."""
    found = gate.certificate()
    assumption, proven = found.assumption, gate.target.kind != "rows" and (found.certified or bool(found.units))
    if not proven or (gate.target.is_certified and not gate.certified_):
        return Promised(unpromised=(found.promise,))
    theorem = theorems.theorem_of_gate(gate)
    if found.units:
        return _by_category(gate, found, assumption, theorem)
    return Promised((Promise(_about(gate), found.promise, assumption, theorem),), _beside(gate))


def _about(gate: Gate) -> str:
    """Return what the promise of a gate is about."""
    kind = gate.target.kind
    return {"cost": "costs", "flag_recall": "wrong rows", "flag_precision": "flagged rows"}.get(kind, "accepted rows")


def _by_category(gate: Gate, found: Certificate, assumption: str, theorem: str) -> Promised:
    """Return one promise for each category that is certified, and one sentence about the others."""
    jointly, theorem = _jointly(gate), f"{theorem}{_shared(gate)}"
    certified = [one for one in found.units if one.certified]
    made = tuple(
        Promise(f"{_about(gate)} of {one.unit}", f"{one.promise} {jointly}", assumption, theorem) for one in certified
    )
    if len(certified) > _MOST_CATEGORIES:  # each is in the table of categories
        made = (Promise(f"{_about(gate)}, by category", f"{found.promise} {jointly}", assumption, theorem),)
    failed = [one.unit for one in found.units if not one.certified]
    names = f"{', '.join(failed[:_MOST_CATEGORIES])}"
    names += f" and {len(failed) - _MOST_CATEGORIES:,} more" if len(failed) > _MOST_CATEGORIES else ""
    others = (f"Nothing is certified for {names}: no row of these is accepted.",) if failed else ()
    pool = (_of_pool(gate),) if gate.learned_.units.pooled else ()
    unseen = "Nothing is promised about categories without labels: their rows are not accepted."
    return Promised(made, (*others, *pool, unseen, *_beside(gate)))


def _jointly(gate: Gate) -> str:
    """Return whether the promises of categories hold together; averages have no confidence to share."""
    if gate.promise == "average":
        return "The average is that of this category alone."
    if gate.learned_.simultaneous:
        return "The promises of all categories hold together, with this confidence."
    return "The promise of each category holds by itself; that all hold together is not promised."


def _shared(gate: Gate) -> str:
    return f" {theorems.TOGETHER}" if gate.learned_.simultaneous and gate.promise != "average" else ""


def _of_pool(gate: Gate) -> str:
    """Return which categories share a certificate: it speaks of their pool, and of none of them."""
    units = gate.learned_.units
    more = len(units.pooled) - _MOST_CATEGORIES
    names = ", ".join(units.pooled[:_MOST_CATEGORIES]) + (f" and {more:,} more" if more > 0 else "")
    return (
        f"Nothing is promised about a single category of the pool {units.names[-1]!r}, which holds those with few "
        f"labels: {names}. What is certified of the pool is about their rows together."
    )


def _beside(gate: Gate) -> tuple[str, ...]:
    """Return what is computed beside the decision, and not promised."""
    said = "The probability of being wrong (p_wrong) of a single row is an estimate, and no promise."
    average = (
        "Nothing is promised about one batch, or about rows of many batches together: the promise is an average over "
        "batches and labels."
    )
    return (average, said) if gate.promise == "average" else (said,)


def promised_live(live: LiveGate) -> Promised:
    """Return what the audit of a live gate promises, however often one looks."""
    sure = f"With confidence {100 * live.confidence:g} %, however often one looks"
    drawn = (
        "Labels come for accepted rows that were drawn at random for the audit; only these count. A label may come "
        "late: overdue ones count as wrong in the bound."
    )
    bound = (
        f"{sure}, the error rate of accepted rows on average over all rows audited so far is at most "
        f"{_outward(live.bound, np.ceil)} and at least {_outward(live.lower, np.floor)}, each bound by itself."
    )
    broken = (
        f"{sure}, the state is never 'broken' while every accepted row is wrong with probability at most "
        f"{live.allowed:g}. It is {live.state!r} now."
    )
    if not live.standing.n_counted:
        unknown = "Nothing is known yet of the error rate after deployment: no audited row has a label."
        return Promised((Promise("the state of the audit", broken, drawn, theorems.RUNNING),), (unknown,))
    return Promised(
        (
            Promise("the error rate so far", bound, drawn, theorems.RUNNING),
            Promise("the state of the audit", broken, drawn, theorems.RUNNING),
        )
    )


def withdrawn(live: LiveGate) -> Promised:
    """Return the promise of a gate that the audit contradicts: it is none any more."""
    found = live.gate.certificate().promise
    return Promised(
        unpromised=(
            f"The certificate said: {found} Labels of the audit contradict it, so it is not promised any more.",
        )
    )


def _outward(bound: float, side: Any) -> str:
    """Return a bound with four decimals, rounded to the side on which it stays true."""
    return f"{side(1e4 * bound) / 1e4:.4f}"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"

"""Whether the new rows contradict a gate: labels against its promise, scores against those of the labelled rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecuq._draw import probability_words, shortened
from vecuq.gate import EVERYTHING, Audited, are_own_rows, audited, resemblance
from vecuq.report.subject import Decision, Subject

# New rows whose scores differ so improbably from those of the labelled rows make the promise doubtful.
LEVEL = 1e-4
# So many rows are compared with the labelled ones: more would find differences that do not matter.
_COMPARED = 20_000
OWN_ROWS = "The labels of these rows fitted the gate, so they cannot check its promise, nor p_wrong. Label later rows."
# Categories that are named, of those in which a promise is broken or open.
_MOST_NAMED = 5


@dataclass(frozen=True)
class Contradiction:
    """What speaks against a certificate; nothing, by default."""

    audit: Audited | None = None
    why_no_audit: str = ""
    is_own: bool = False  # whether the labels are those that fitted the gate
    unlike: float | None = None  # probability of such scores without a difference, where it is tiny

    @property
    def is_broken(self) -> bool:
        """Whether the labels show, with the gate's confidence, that the promise is broken."""
        return self.audit is not None and self.audit.verdict == "broken"

    @property
    def words(self) -> str:
        """What the labels of accepted rows say."""
        if self.audit is None:
            return self.why_no_audit
        return _audit_words(self.audit)

    @property
    def unlike_words(self) -> str:
        """That the scores differ from those of the labelled rows; nothing where they do not."""
        if self.unlike is None:
            return ""
        return (
            f"The scores differ from those of the labelled rows (probability without a difference: "
            f"{probability_words(self.unlike)}), and the promise is about rows like the labelled ones."
        )


def contradiction_of(subject: Subject) -> Contradiction:
    """Compare the new rows, and their labels if there are any, with what the gate promises."""
    decision = subject.decision
    if decision is None or not subject.n_rows:
        return Contradiction()
    found, why_not = _audit(subject, decision)
    own = why_not == OWN_ROWS
    if not subject.n_scored:  # that values are missing is what must be said, and is said
        return Contradiction(found, why_not, own)
    rows = subject.drawn(np.arange(subject.n_rows), _COMPARED)
    p_value = (
        None if subject.groups is not None else resemblance(decision.gate.learned_.labelled, decision.scores[rows])
    )
    return Contradiction(found, why_not, own, p_value if p_value is not None and p_value < LEVEL else None)


def _audit(subject: Subject, decision: Decision) -> tuple[Audited | None, str]:
    """Return what labels say of the promise, or why they say nothing."""
    gate = decision.gate
    label = "quality" if gate.target.kind == "quality" else "error"
    given = subject.label(label)
    if given is None:
        return None, ""
    if gate.target.kind not in ("accuracy", "quality"):
        return None, f"Labels check an accuracy, and this gate has another target: {gate.target.words}."
    if gate.learned_.labelled.groups is not None and subject.groups is None:
        return None, "This gate was fitted with groups; name their column to check the promise on labels."
    known = ~np.isnan(given)
    if are_own_rows(gate, decision.scores[known]):
        return None, OWN_ROWS
    losses = (1.0 - given if label == "quality" else given)[known]
    groups = None if subject.groups is None else subject.groups[known].tolist()
    by = None
    if gate.learned_.units != EVERYTHING and subject.categories is not None:
        by = [subject.categories[row] for row in np.flatnonzero(known)]
    return audited(gate, decision.accepted[known], losses, groups, by=by), ""


def _audit_words(done: Audited) -> str:
    """Return what the labels showed, in the words of ``vecuq audit``."""
    if done.error_rate is None:
        return f"Of {done.n_labels:,} labelled rows none is accepted, so the promise cannot be checked."
    lost = "mean loss" if done.graded else "error rate"
    seen = (
        f"{done.n_accepted:,} labelled rows are accepted, with a mean loss of {done.error_rate:.4f}"
        if done.graded
        else f"Of {done.n_accepted:,} accepted rows with labels {done.n_errors:,.0f} are wrong"
    )
    verdict = {
        "kept": "so the promise is kept",
        "broken": f"so the promise is broken{_inside(done.broken_in)}",
        "open": f"which settles nothing yet{_inside(done.open_in)}",
    }[done.verdict]
    return (
        f"{seen}: {lost} {done.lower:.4f} to {done.upper:.4f} (each end with confidence {done.confidence:g}), "
        f"{done.allowed:g} is allowed, {verdict}. This holds if the labelled rows are a random sample."
    )


def _inside(categories: tuple[str, ...]) -> str:
    """Return in which categories, each of which was checked by itself; nothing for a gate without them."""
    if not categories:
        return ""
    more = len(categories) - _MOST_NAMED
    named = ", ".join(shortened(name, 40) for name in categories[:_MOST_NAMED])
    return f" in {named}{f' and {more:,} more' if more > 0 else ''}, each category checked by itself"

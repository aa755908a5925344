"""What becomes of feedback: stored, known or replaced; and which of it speaks of the promise of a gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from vecuq._check import one_line
from vecuq.errors import TableError
from vecuq.gate import row_ids
from vecuq.service.keeping.gates import LiveGates
from vecuq.service.keeping.store import Kept, Store
from vecuq.service.recorder import Feedback, FeedbackTaken
from vecuq.service.refusal import Refusal

MOST_TOGETHER = 10_000
MOST_COMMENT, MOST_WHO = 2_000, 100
_PENDING = -1


def checked(found: Sequence[Feedback]) -> list[Feedback]:
    """Return feedback whose ids are as those of rows; refuse what says nothing, or too much."""
    if len(found) > MOST_TOGETHER:
        raise Refusal(413, "too_large", f"At most {MOST_TOGETHER:,} feedbacks fit in a request; got {len(found):,}.")
    return [_checked(one) for one in found]


def _checked(one: Feedback) -> Feedback:
    try:
        (name,) = row_ids([one.id])
    except TableError as error:
        raise _bad(str(error)) from None
    if one.kind == "audit" and one.correct is None:
        raise _bad(f"The audit of row {_shown(name)} needs its label: correct, true or false.")
    if one.correct is None and one.ood is None and not one.comment:
        raise _bad(f"The feedback on row {_shown(name)} says nothing: give correct, ood or comment.")
    for what, text, most in (("comment", one.comment, MOST_COMMENT), ("who", one.who, MOST_WHO)):
        if text is not None and len(text) > most:
            raise _bad(f"A {what} has at most {most:,} characters; that of row {_shown(name)} has {len(text):,}.")
        if text is not None and not _is_text(text):
            raise _bad(f"The {what} of row {_shown(name)} is not text in Unicode.")
    return msgspec.structs.replace(one, id=name)


@dataclass
class Findings:
    """The feedback of one request, taken in its order; labels for the live gates are gathered."""

    store: Store
    gates: LiveGates
    at: float
    labels: dict[str, dict[str, bool]] = field(default_factory=dict)

    def take(self, name: str, one: Feedback, token: str) -> FeedbackTaken:
        """Write one feedback on a row of a model, unless it is there already."""
        model = self.store.model(name)
        logged = self.store.logged(model, [one.id]).get(one.id)
        label = self._label(name, one.id)
        if one.kind == "audit" and label is None and not (logged is not None and logged.audit):
            raise _not_audited(one.id)
        kept = self.store.kept(model, one.id)
        counted = label is not None and one.kind == "audit"
        if self._came_before(model, one.id, kept, token):
            return FeedbackTaken(one.id, "stored", logged is not None, counted)
        _refuse_contradiction(one, kept, label)
        new = _merged(one, kept)
        if kept is not None and new == kept[:4]:
            return FeedbackTaken(one.id, "known", logged is not None, counted)
        self.store.keep(model, one.id, (self.at, *new, one.who, token))
        self.store.mark(model, one.id, labelled=one.kind == "audit")
        if one.kind == "audit" and label == _PENDING and one.correct is not None:
            self.labels.setdefault(name, {})[one.id] = one.correct
        return FeedbackTaken(one.id, "stored" if kept is None else "replaced", logged is not None, counted)

    def count(self) -> None:
        """Give the labels to the live gates; nothing is left that could be refused."""
        for name, labels in self.labels.items():
            self.gates.found(name, list(labels), list(labels.values()))

    def _label(self, name: str, row: str) -> int | None:
        """Return the label of an audited row of this epoch, 1 for wrong, or that it is awaited; None for any other."""
        given = self.labels.get(name, {}).get(row)
        if given is not None:
            return int(not given)
        live = self.gates.live.get(name)
        return None if live is None else live.ledger.labels.get(row)

    def _came_before(self, model: int, row: str, kept: Kept | None, token: str) -> bool:
        """Whether this very request was committed before and is repeated, because its answer was lost."""
        return kept is not None and (kept.token == token or self.store.was_replaced(model, row, token))


def _merged(one: Feedback, kept: Kept | None) -> tuple[str, int | None, int | None, str | None]:
    """Return what is to be kept: a later review replaces an earlier one, and only adds to an audit."""
    correct, ood, comment = _bit(one.correct), _bit(one.ood), one.comment or None
    if kept is None or kept.kind == "review":
        return one.kind, correct, ood, comment
    return kept.kind, kept.correct, kept.ood if ood is None else ood, kept.comment if comment is None else comment


def _refuse_contradiction(one: Feedback, kept: Kept | None, label: int | None) -> None:
    """Raise if a row has another label by its audit, which is final."""
    if one.correct is None:
        return
    final = kept.correct if kept is not None and kept.kind == "audit" else None
    if final is None and label in (0, 1) and one.kind == "audit":  # its feedback is older than what is kept
        final = 1 - label
    if final is not None and bool(final) != one.correct:
        said, says = ("right", "wrong") if final else ("wrong", "right")
        raise Refusal(
            409,
            "contradiction",
            f"The audit of row {_shown(one.id)} says that it is {said}, which is final; now it is said to be {says}. "
            f"Nothing of this request was stored.",
        )


def _not_audited(name: str) -> Refusal:
    return Refusal(
        404,
        "not_audited",
        f"Row {_shown(name)} was not drawn for the audit, so its label says nothing of the promise. Send it as a "
        f"review. Nothing of this request was stored.",
    )


def _bad(message: str) -> Refusal:
    return Refusal(422, "bad_feedback", message)


def _shown(name: str) -> str:
    return repr(one_line(name, most=40))


def _bit(value: bool | None) -> int | None:
    return None if value is None else int(value)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

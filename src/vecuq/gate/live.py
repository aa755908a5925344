"""LiveGate: a gate over time. An audit of accepted rows, and whether the promise is proven, unproven or broken."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import in_range, one_line, one_of, whole_number
from vecuq._draw import fragment
from vecuq._files import tensor_bytes, write_state
from vecuq.errors import SettingError, TableError
from vecuq.gate.doubts import warn_unlike
from vecuq.gate.gate import Gate
from vecuq.gate.labels import losses_of
from vecuq.gate.late_labels import UNKNOWN, LateLabels, Updated
from vecuq.gate.ledger import MOST_AUDITS, RIGHT, WRONG, Ledger, Standing
from vecuq.gate.memory import ACCEPTED, AUDITED, EARLIER, LABELLED, Memory
from vecuq.gate.names import drawn, hashes, row_ids

STATES = ("proven", "unproven", "broken")
# So many earlier epochs are remembered.
MOST_EPOCHS = 100


@dataclass(frozen=True)
class Decisions:
    """What was decided for each row, in their order: whether it is accepted, and whether it is drawn for an audit."""

    ids: tuple[str, ...]
    accept: NDArray[np.bool_]
    audit: NDArray[np.bool_]


@dataclass(frozen=True)
class Epoch:
    """What a gate came to from one calibration to the next."""

    decided: int = 0
    accepted: int = 0
    audited: int = 0
    wrong: int = 0
    state: str = "unproven"


class LiveGate:
    """A gate that keeps an eye on itself: some accepted rows are drawn at random, and labels come for these.

    Promises, each with the stated confidence in every epoch (from one calibration to the next), however often one
    looks: ``bound`` is never below the *running error rate*, that is the error rate of accepted rows on average over
    all audited ones so far; and ``state`` never is ``"broken"`` while every accepted row is wrong with at most the
    probability that the gate allows. Both need labels of the rows that were drawn, and of no others: rows that
    somebody looked at for a reason are no random sample.

    Rows count in the order of their decisions. A row whose label is awaited holds up the bound; once it is overdue it
    counts as wrong there. To the evidence for ``"broken"`` a missing label is no error.

    Parameters
    ----------
    gate
        A fitted :class:`vecuq.Gate` with an accuracy or error rate as its target and ``promise="confidence"``.
    audit
        The share of accepted rows that is drawn. The draw depends on seed and id alone: a retry draws the same.
    confidence
        With which probability each statement holds; by default that of the gate.
    overdue
        A label is overdue once so many rows were drawn after its own.
    random_state
        Seed of the draw; None is a fixed seed too.

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import Gate, VecUQ
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.gamma(1.0, size=(2_600, 2))
    >>> correct = rng.random(2_600) > rows.sum(axis=1) / 40
    >>> gate = Gate(VecUQ().fit(rows[:500]), accuracy=0.9).fit(rows[500:1_100], correct[500:1_100])
    >>> live = LiveGate(gate, audit=0.5)
    >>> done = live.decide(rows[1_100:], ids=range(1_500))
    >>> live.update(np.flatnonzero(done.audit), correct[1_100:][done.audit]).counted
    778
    >>> live.state, round(live.bound, 3)
    ('proven', 0.064)
    """

    def __init__(
        self,
        gate: Gate,
        *,
        audit: float = 0.05,
        confidence: float | None = None,
        overdue: int = 200,
        random_state: int | None = None,
    ) -> None:
        self.gate = _usable(gate)
        self.audit = in_range("audit", audit, 0.0, 1.0, ends="(]")
        self.confidence = in_range("confidence", gate.confidence if confidence is None else confidence, 0, 1, ends="()")
        self.seed = 0 if random_state is None else whole_number("random_state", random_state, 0)
        if whole_number("overdue", overdue, 1) > MOST_AUDITS:
            raise SettingError(
                f"overdue must be at most {MOST_AUDITS:,}, the number of rows remembered; got {overdue}."
            )
        self.ledger = Ledger(gate.allowed, int(overdue))
        self.memory = Memory()
        self.decided = self.accepted = 0  # in this epoch
        self.n_labels = self.n_unaudited = 0  # labels of audited rows, and of others, over all epochs
        self.epochs: tuple[Epoch, ...] = ()  # those before this one
        self.saved_as: frozenset[str] = frozenset()  # checksums of the files that it was loaded from or saved to

    @property
    def allowed(self) -> float:
        """The error rate of accepted rows that the gate allows."""
        return self.gate.allowed

    @property
    def standing(self) -> Standing:
        """What the labels say so far."""
        return self.ledger.standing(1.0 - self.confidence)

    @property
    def state(self) -> str:
        """``"proven"``: the bound is at most what is allowed. ``"broken"``, for good, until :meth:`recalibrate`."""
        found = self.standing
        if found.log_evidence >= -np.log(1.0 - self.confidence):
            return "broken"
        return "proven" if found.bound <= self.allowed else "unproven"

    @property
    def bound(self) -> float:
        """The upper bound on the running error rate of accepted rows; 1 without labels."""
        return self.standing.bound

    @property
    def lower(self) -> float:
        """The lower bound on the running error rate of accepted rows; 0 without labels."""
        return self.standing.lower

    @property
    def audited(self) -> int:
        """How many rows were drawn in this epoch."""
        return len(self.ledger)

    @property
    def pending(self) -> tuple[str, ...]:
        """The rows that were drawn and whose label is awaited, without those that are overdue."""
        return self.ledger.awaited(overdue=False)

    @property
    def overdue(self) -> tuple[str, ...]:
        """The rows whose label is overdue: in the bound they count as wrong until it comes."""
        return self.ledger.awaited(overdue=True)

    def decide(self, new: Any, ids: Any, *, by: Any = None) -> Decisions:
        """Decide rows, and draw some of the accepted ones for the audit.

        An id that comes again is decided once: it gets the decision made then, for as long as it is remembered (the
        last 100,000 rows). If the gate decides otherwise now, the id belongs to another row, which is an error. A row
        that the gate refuses now is not accepted, whatever an earlier epoch said of its id.
        """
        gate, scores = self.gate, self.gate.uncertainty(new)
        accept = gate.accept_scores(scores, by=by)
        warn_unlike(gate.learned_, scores, accepted=accept)
        refused = np.isnan(scores) | (gate.units_of(by, len(scores)) == -1)
        done = self.record(ids, accept)
        return replace(done, accept=done.accept & ~refused)

    def record(self, ids: Any, accept: NDArray[np.bool_]) -> Decisions:
        """Take what the gate has decided, as :meth:`decide` does by itself."""
        names = row_ids(ids, len(accept))
        digests = hashes(names, self.seed)
        audit = accept & drawn(digests, self.audit)
        new: dict[str, tuple[bytes, int]] = {}
        codes = []
        for name, digest, code in zip(names, digests, ACCEPTED * accept + AUDITED * audit, strict=True):
            known = self._code_of(name, digest) if name not in new else new[name][1]
            if known is None:
                new[name] = (digest, int(code))
            elif not known & EARLIER and (known ^ code) & ACCEPTED:
                _refuse_other_row(name, accepted=bool(known & ACCEPTED))
            codes.append(code if known is None else known)
        self._remember(new)
        found = np.array(codes, dtype=np.int64)
        return Decisions(tuple(names), (found & ACCEPTED) > 0, (found & AUDITED) > 0)

    def update(self, ids: Any, correct: Any, *, unknown: str = "refuse") -> Updated:
        """Take labels of rows that were decided, in any order, late or again; return what became of them.

        A label that contradicts an earlier one is an error, and then nothing of the call is counted. Labels of rows
        that were not drawn for the audit are counted apart and say nothing of the promise.

        Parameters
        ----------
        ids
            Which rows the labels belong to.
        correct
            1 or True where the answer is right, 0 or False where it is wrong.
        unknown
            ``"refuse"``: an id that was never decided, or is forgotten, is an error. ``"skip"``: it is counted as such.
        """
        one_of("unknown", unknown, UNKNOWN)
        names = row_ids(ids)
        if not names:
            return Updated()
        wrong = losses_of(correct, len(names)) > 0.5
        sorted_out = LateLabels(self.ledger, self.memory)
        sorted_out.add(names, hashes(names, self.seed), np.where(wrong, WRONG, RIGHT).tolist())
        sorted_out.refuse(unknown)
        self.ledger.labels.update(sorted_out.new)
        self.memory.mark(sorted_out.unaudited, LABELLED)
        done = sorted_out.counts()
        self.n_labels += done.counted
        self.n_unaudited += done.unaudited
        return done

    def recalibrate(self, gate: Gate, *, audit: float | None = None) -> Epoch:
        """Go on with another gate: a new epoch begins, without any label. Return what the one before came to.

        Labels that still come for rows of an earlier epoch are counted apart: they speak of the gate that decided them.
        ``audit`` is the share of accepted rows that is drawn from now on, if it changes.
        """
        ended = self.epoch
        usable = _usable(gate)
        self.audit = self.audit if audit is None else in_range("audit", audit, 0.0, 1.0, ends="(]")
        self.memory.mark(list(self.memory.codes), EARLIER)
        self._close(list(self.ledger.labels), EARLIER)
        self.gate, self.ledger = usable, Ledger(usable.allowed, self.ledger.overdue)
        self.decided = self.accepted = 0
        self.epochs = (*self.epochs, ended)[-MOST_EPOCHS:]
        return ended

    @property
    def epoch(self) -> Epoch:
        """What this epoch has come to so far."""
        found = self.ledger.closed.wrong + list(self.ledger.labels.values()).count(WRONG)
        return Epoch(self.decided, self.accepted, self.audited, found, self.state)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write gate and state to one file, whole or not at all; :func:`vecuq.load` goes on from there.

        A file that is there is replaced if this object was loaded from it or saved to it and nobody wrote it since;
        otherwise what it has counted would be lost, which is an error without ``force``.
        """
        from vecuq.gate.live_state import parts_of_live

        self.saved_as |= {write_state(path, *parts_of_live(self), known=self.saved_as, force=force)}

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write; :func:`vecuq.load` reads it too."""
        from vecuq.gate.live_state import parts_of_live

        return tensor_bytes(*parts_of_live(self))

    def describe(self) -> dict[str, Any]:
        """Return state, bounds and counts as plain values, with the gate."""
        found = self.standing
        return {
            "state": self.state,
            "bound": found.bound,
            "lower": found.lower,
            "allowed": self.allowed,
            "confidence": self.confidence,
            "audit": self.audit,
            "epoch": len(self.epochs) + 1,
            "decided": self.decided,
            "accepted": self.accepted,
            "audited": self.audited,
            "counted": found.n_counted,
            "wrong": self.epoch.wrong,
            "pending": len(self.pending),
            "overdue": len(self.overdue),
            "lost": self.ledger.closed.lost,
            "labels, all epochs": self.n_labels,
            "labels of rows not audited": self.n_unaudited,
            "earlier epochs": [asdict(one) for one in self.epochs],
            "gate": self.gate.describe(),
        }

    def __str__(self) -> str:
        from vecuq.gate.live_words import paragraph

        return paragraph(self)

    def __repr__(self) -> str:
        return f"LiveGate({self.state}, {self.audited:,} of {self.accepted:,} accepted rows audited, {self.gate!r})"

    def _repr_html_(self) -> str:
        from vecuq.gate.displays import live_sections

        return fragment("LiveGate", live_sections(self))

    def _code_of(self, name: str, digest: bytes) -> int | None:
        """Return what is known of a row; None if it was not decided before, or is forgotten."""
        return ACCEPTED | AUDITED if name in self.ledger.labels else self.memory.codes.get(digest)

    def _remember(self, new: dict[str, tuple[bytes, int]]) -> None:
        """Count rows that were decided for the first time."""
        self.decided += len(new)
        self.accepted += sum(code & ACCEPTED for _, code in new.values())
        self.memory.add({digest: code for digest, code in new.values() if not code & AUDITED})
        self._close(self.ledger.add([name for name, (_, code) in new.items() if code & AUDITED]))

    def _close(self, names: Sequence[str], bit: int = 0) -> None:
        """Remember audited rows only as such, once they have left the ledger."""
        self.memory.add(dict.fromkeys(hashes(names, self.seed), ACCEPTED | AUDITED | bit))


def _usable(gate: Any) -> Gate:
    """Return a gate whose promise can be watched; otherwise say which can."""
    if not isinstance(gate, Gate):
        raise TableError(f"A live gate needs a fitted Gate; got {type(gate).__name__}.")
    if gate.target.kind != "accuracy" or gate.promise != "confidence":
        about = gate.target.words if gate.target.kind != "accuracy" else f"promise={gate.promise!r}"
        raise SettingError(
            f"A live gate watches the error rate of accepted rows, and this gate is about something else: {about}. Fit "
            f"it with accuracy= or error= and promise='confidence'."
        )
    gate.learned_  # noqa: B018 - says that it must be fitted
    return gate


def _refuse_other_row(name: str, *, accepted: bool) -> None:
    before = "accepted" if accepted else "not accepted"
    raise TableError(
        f"The id {one_line(name, most=40)!r} was {before} before, and now the scores say otherwise: an id must belong "
        f"to one row for good. Nothing of this call was counted."
    )

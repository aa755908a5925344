"""What the saved state of a live gate must be: counts that fit together, ids that come once, bets that add up."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from vecuq._check import one_of
from vecuq._files import AtLeastOne, Count, Numbers, Rate, Rule, between, check_arrays, refuse
from vecuq.conformal import Doubt, doubted
from vecuq.gate.ledger import MOST_AUDITS, Closed
from vecuq.gate.live import MOST_EPOCHS, STATES
from vecuq.gate.memory import ACCEPTED, AUDITED, EARLIER, MOST_ROWS, Memory
from vecuq.gate.names import LONGEST, hashes, row_ids

# Made here, for msgspec looks at a field's type only when it first reads one.
_Overdue = Annotated[int, Meta(ge=1, le=MOST_AUDITS)]


class EpochHeader(Struct):
    """What an earlier epoch came to; the fields of :class:`vecuq.gate.Epoch`."""

    decided: Count
    accepted: Count
    audited: Count
    wrong: Count
    state: str

    def __post_init__(self) -> None:
        one_of("the state", self.state, STATES)
        if not self.wrong <= self.audited <= self.accepted <= self.decided:
            raise ValueError("an earlier epoch has more wrong, audited or accepted rows than there were")


class ClosedHeader(Struct):
    """What the rows came to that are no longer remembered one by one."""

    n_rows: Count
    wrong: Count
    lost: Count
    peak: Annotated[float, Meta(ge=0.0)]

    def __post_init__(self) -> None:
        if self.wrong + self.lost > self.n_rows:
            raise ValueError("more rows were wrong or lost than there were")


class LiveHeader(Struct):
    """What the header of a live gate states, and what its fields say of each other."""

    version: AtLeastOne
    audit: Annotated[float, Meta(gt=0.0, le=1.0)]
    confidence: Rate
    overdue: _Overdue
    seed: Annotated[int, Meta(ge=0)]
    decided: Count
    accepted: Count
    n_labels: Count
    n_unaudited: Count
    epochs: Annotated[tuple[EpochHeader, ...], Meta(max_length=MOST_EPOCHS)]
    closed: ClosedHeader

    def __post_init__(self) -> None:
        if self.version > 1:
            raise ValueError("a newer vecuq saved it; upgrade vecuq")
        if self.accepted > self.decided:
            raise ValueError("more rows were accepted than decided")


_CODES = Rule(
    "a code of what is known of a row", lambda x: (x > 15) | ((x.astype(int) & (AUDITED | ACCEPTED)) == AUDITED)
)
_TABLE = {
    "gate": Numbers("bytes", dtype="uint8"),
    "audits.ids": Numbers("letters", dtype="uint8"),
    "audits.lengths": Numbers("audits", between(1, 4 * LONGEST), dtype="int64"),
    "audits.labels": Numbers("audits", between(-1, 1), dtype="int8"),
    "memory.hashes": Numbers("rows 16", dtype="uint8"),
    "memory.codes": Numbers("rows", _CODES, dtype="uint8"),
    "doubt.run": Numbers("bets"),
    "doubt.staked": Numbers("bets", finite=False),
}


def check_live(known: LiveHeader, arrays: dict[str, Any]) -> None:
    """Raise ValueError if a part is not what it must be, by itself or beside the others."""
    sizes = check_arrays(arrays, _TABLE, bets=len(Doubt.new().run))
    if sizes["audits"] > MOST_AUDITS or sizes["rows"] > MOST_ROWS:
        raise ValueError("more rows are remembered than ever are")
    if int(arrays["audits.lengths"].sum()) != sizes["letters"]:
        raise ValueError("the ids are longer or shorter than stated")
    if len(np.unique(arrays["memory.hashes"], axis=0)) < sizes["rows"]:
        raise ValueError("a row is remembered twice")
    if known.closed.n_rows + sizes["audits"] > known.accepted:
        raise ValueError("more rows were audited than accepted")
    if known.closed.n_rows and sizes["audits"] < MOST_AUDITS:
        raise ValueError("rows were closed before there were too many")
    _check_counts(known, arrays)
    _check_decided(known, arrays["memory.codes"].astype(int), sizes["audits"])


def _check_decided(known: LiveHeader, codes: NDArray[np.int_], n_audits: int) -> None:
    """Raise if the rows that are remembered of this epoch are not as many as were decided and accepted."""
    own = codes[(codes & EARLIER) == 0]
    accepted = n_audits + int((own & ACCEPTED).sum())
    rejected = n_audits + len(own) - accepted
    more = known.accepted - accepted, known.decided - known.accepted - rejected
    # Once there are too many, the earliest are forgotten.
    if min(more) < 0 or (max(more) > 0 and len(codes) < MOST_ROWS):
        raise ValueError("other rows were decided or accepted than are remembered")


def _check_counts(known: LiveHeader, arrays: dict[str, Any]) -> None:
    """Raise if the labels are not as many as were counted."""
    labelled = known.closed.n_rows - known.closed.lost + int((arrays["audits.labels"] >= 0).sum())
    if labelled > known.n_labels or (not known.epochs and labelled < known.n_labels):
        raise ValueError("the audited rows have other labels than were counted")


def check_ids(names: list[str], n_audits: int, seed: int, memory: Memory) -> None:
    """Raise ValueError if an id is none, comes twice, or is remembered as one that is not audited."""
    if len(names) < n_audits or row_ids(names) != names:
        raise ValueError("an id is none, or comes twice")
    if memory.codes.keys() & set(hashes(names, seed)):
        raise ValueError("an audited row is remembered as another one")


# Sums of logarithms, added in another order here than there.
_TOLERANCE = 1e-6


def check_closed(closed: Closed, allowed: float) -> None:
    """Raise ValueError if the bets do not stand where so many labels bring them."""
    doubt = closed.doubt
    if not closed.n_rows:
        if closed.peak or doubt.run.any() or not np.array_equal(doubt.staked, Doubt.new().staked):
            raise ValueError("no row was closed, and the bets stand elsewhere than at the beginning")
        return
    right, wrong = (doubted(Doubt.new(), [label], allowed)[0].run for label in (False, True))
    run = wrong * closed.wrong + right * (closed.n_rows - closed.wrong)
    refuse("doubt.run", "what so many labels bring", ~np.isclose(doubt.run, run, rtol=1e-9, atol=_TOLERANCE), run.size)
    # A quarter is staked at once, and no stake is discounted by more than right labels alone would bring.
    low, high = np.log(0.25) - _TOLERANCE, -right * closed.n_rows + _TOLERANCE
    refuse("doubt.staked", "what can be staked", ~((doubt.staked >= low) & (doubt.staked <= high)), run.size)
    now, most = float(doubt.log_evidence), float(wrong.max()) * closed.wrong
    if not now - _TOLERANCE <= closed.peak <= most + _TOLERANCE:
        raise ValueError("the evidence was never so large, or is larger than it ever was")

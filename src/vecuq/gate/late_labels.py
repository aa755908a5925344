"""Labels that come after the decisions: which are new, which come again, and which belong to no audited row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vecuq._check import one_line
from vecuq.errors import TableError
from vecuq.gate.ledger import PENDING, Ledger
from vecuq.gate.memory import AUDITED, LABELLED, Memory

UNKNOWN = ("refuse", "skip")


@dataclass(frozen=True)
class Updated:
    """What became of the labels of one call."""

    counted: int = 0  # labels of audited rows
    repeated: int = 0  # labels that were there already
    unaudited: int = 0  # labels of rows that were not drawn: counted apart
    closed: int = 0  # labels of an earlier epoch, or so late that the row was closed
    unknown: int = 0  # labels of rows that were never decided, or so long ago that they are forgotten


class LateLabels:
    """The labels of one call, sorted by what becomes of them; nothing is counted yet."""

    def __init__(self, ledger: Ledger, memory: Memory) -> None:
        self._ledger, self._memory = ledger, memory
        self.new: dict[str, int] = {}
        self.repeated, self.closed = 0, 0
        self.unknown, self.contradicting = list[str](), list[str]()
        self._apart: dict[bytes, None] = {}

    def add(self, names: Sequence[str], digests: Sequence[bytes], labels: Sequence[int]) -> None:
        """Sort labels out, each by its id and the hash of it."""
        for name, digest, label in zip(names, digests, labels, strict=True):
            if name in self._ledger.labels:
                self._audited(name, label, self.new.get(name, self._ledger.labels[name]))
            else:
                self._other(name, digest, self._memory.codes.get(digest))

    @property
    def unaudited(self) -> list[bytes]:
        """Rows that were not drawn, and now have their first label."""
        return list(self._apart)

    def _audited(self, name: str, label: int, before: int) -> None:
        if before == PENDING:
            self.new[name] = label
        elif before == label:
            self.repeated += 1
        else:
            self.contradicting.append(name)

    def _other(self, name: str, digest: bytes, code: int | None) -> None:
        if code is None:
            self.unknown.append(name)
        elif code & AUDITED:
            self.closed += 1
        elif code & LABELLED or digest in self._apart:
            self.repeated += 1
        else:
            self._apart[digest] = None

    def refuse(self, unknown: str) -> None:
        """Raise for labels that contradict others, and for ids that nobody decided."""
        if self.contradicting:
            raise TableError(
                f"{_some(self.contradicting)} came with the other label before; nothing of this call was counted. A "
                f"row has one label: find out which is right, and leave the other out."
            )
        if self.unknown and unknown == "refuse":
            raise TableError(
                f"{_some(self.unknown)} {_were(self.unknown)} never decided by this gate, or too long ago to be "
                f"remembered; nothing of this call was counted. Leave such labels out, or skip them with "
                f"unknown='skip'."
            )

    def counts(self) -> Updated:
        """Return how many labels are what."""
        return Updated(len(self.new), self.repeated, len(self._apart), self.closed, len(self.unknown))


def _were(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"


def _some(names: Sequence[str]) -> str:
    """Name the first of some ids, and how many there are."""
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"The {'id' if len(names) == 1 else 'ids'} {one_line(names[0], most=40)!r}{more}"

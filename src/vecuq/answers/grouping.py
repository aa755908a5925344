"""Which lines tell of the same question: by id, else by the question itself, else by the number of the line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

from vecuq._check import one_line
from vecuq.answers.parts import Part
from vecuq.answers.spool import Laid, Spool
from vecuq.errors import TableError


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a line stands: the number of its file, its own number in it, and both in words."""

    file: int
    number: int
    place: str


@dataclass(slots=True)
class Group:
    """The lines of one question: the first of them, where their parts lie, and what names and asks it."""

    first: Origin
    id: str | None
    question: bytes | None
    laid: list[Laid] = field(default_factory=list)
    clash: str | None = None

    def refuse_clash(self) -> None:
        """Raise if one id stands for two questions."""
        if self.clash is not None:
            raise TableError(
                f"the id {one_line(self.id, most=60)!r} stands for another question in {self.clash}; "
                f"measure files of different questions one at a time, or give each question an id of its own."
            )


class Grouping:
    """Puts lines together as they come. It holds ids, digests of questions and places; the parts lie in a spool."""

    def __init__(self, spool: Spool) -> None:
        self.n_by_number = 0
        self.n_copies = 0
        self._spool = spool
        self._groups: list[Group] = []
        self._by_id: dict[str, Group] = {}
        self._by_question: dict[bytes, Group] = {}
        self._by_number: dict[int, Group] = {}
        self._views: dict[tuple[int, str | None, str], str | None] = {}

    def __iter__(self) -> Iterator[tuple[str, Group]]:
        """Yield the groups in the order in which they were met first, each with a name of its own."""
        for group in self._groups:
            yield group.id or self._number_of(group.first), group

    @property
    def notes(self) -> list[str]:
        """What had to be decided, a sentence each."""
        told = []
        if self.n_by_number:
            told.append(
                f"{_lines(self.n_by_number, 'was', 'were')} joined with another file's by the line number, for want of "
                f"an id or a question that both have (an id that a server made is none)."
            )
        if self.n_copies:
            told.append(
                f"{_lines(self.n_copies, 'repeats', 'repeat')} a document for another filter of lm-eval; "
                f"every document was read once."
            )
        return told

    def _number_of(self, first: Origin) -> str:
        """Return the number of the first line, with that of its file where the line alone would not be enough."""
        number = str(first.number)
        lonely = self._by_number[first.number].first == first and number not in self._by_id
        return number if lonely else f"file {first.file + 1}, line {number}"

    def add(self, part: Part, origin: Origin) -> None:
        """Put a part where it belongs, unless it was written before and only looks different."""
        if self._is_copy(part, origin):
            self.n_copies += 1
            return
        asked = None if part.question is None else _digest(part.question)
        group = self._known(part.id, asked, origin) or self._found(part.id, asked, origin)
        self._learn(group, part.id, asked, origin)
        group.laid.append(self._spool.add(part))

    def _is_copy(self, part: Part, origin: Origin) -> bool:
        if part.content is None:
            return False
        return self._views.setdefault((origin.file, part.id, part.content), part.view) != part.view

    def _known(self, name: str | None, asked: bytes | None, origin: Origin) -> Group | None:
        """Return the group that a line belongs to, if there is one."""
        if name is not None and name in self._by_id:
            return self._by_id[name]
        group = None if asked is None else self._by_question.get(asked)
        if group is not None and (name is None or group.id is None):
            return group
        group = self._by_number.get(origin.number)
        # A number joins files, not lines of one, and only where nothing better could.
        if group is None or group.first.file == origin.file:
            return None
        if (name is not None and group.id is not None) or (asked is not None and group.question is not None):
            return None
        self.n_by_number += 1
        return group

    def _found(self, name: str | None, asked: bytes | None, origin: Origin) -> Group:
        group = Group(origin, name, asked)
        self._groups.append(group)
        self._by_number.setdefault(origin.number, group)
        return group

    def _learn(self, group: Group, name: str | None, asked: bytes | None, origin: Origin) -> None:
        """Note what a line adds to its group, and whether it contradicts it."""
        if name is not None:
            group.id = group.id or name
            self._by_id.setdefault(name, group)
        if asked is not None:
            if group.question not in (None, asked):
                group.clash = group.clash or origin.place
            group.question = group.question or asked
            self._by_question.setdefault(asked, group)


def _lines(count: int, one: str, many: str) -> str:
    return f"1 line {one}" if count == 1 else f"{count:,} lines {many}"


def _digest(question: str) -> bytes:
    """Return 16 bytes that stand for a question; blanks make no difference."""
    return blake2b(" ".join(question.split()).encode(errors="replace"), digest_size=16).digest()

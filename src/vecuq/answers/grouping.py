"""Which lines belong to the same question: by id, else by the question itself, else by the number of the line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from vecuq._check import one_line
from vecuq.answers.fields import digest_of
from vecuq.answers.parts import Part, Span, Spool
from vecuq.errors import TableError


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a line is: the number of its file, its own number in it, and both in words."""

    file: int
    number: int
    place: str


@dataclass(slots=True)
class Group:
    """The lines of one question: the first of them, its id and digest, and where their parts are in the spool.

    ``place`` counts the questions that begin in the same line, from 1.
    """

    first: Origin
    id: str | None
    question: bytes | None
    place: int = 1
    spans: list[Span] = field(default_factory=list)
    clash: str | None = None

    def refuse_clash(self) -> None:
        """Raise if one id has two questions."""
        if self.clash is not None:
            raise TableError(
                f"the id {one_line(self.id, most=60)!r} has another question in {self.clash}; "
                f"read files of different questions one at a time, or give each question its own id."
            )


class Grouping:
    """Groups lines as they are read. It holds ids, digests of questions and places; a spool holds the parts."""

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
        """Yield the groups in the order of their first lines, each with a unique name."""
        for group in self._groups:
            yield group.id or self._number_of(group), group

    @property
    def notes(self) -> list[str]:
        """What was decided, one sentence each."""
        found = []
        if self.n_by_number:
            found.append(
                f"{_lines(self.n_by_number, 'was', 'were')} joined with another file by line number, sharing neither "
                f"an id nor a question (an id made by a server does not count)."
            )
        if self.n_copies:
            found.append(
                f"{_lines(self.n_copies, 'repeats', 'repeat')} a document for another filter of lm-eval; "
                f"every document was read once."
            )
        return found

    def _number_of(self, group: Group) -> str:
        """Return the number of the first line, with that of its file where the line alone is not unique.

        Of several questions that begin in one line, the second is ``1.2``, the third ``1.3``.
        """
        first, number = group.first, str(group.first.number) + (f".{group.place}" if group.place > 1 else "")
        unique = self._by_number[first.number].first == first and number not in self._by_id
        return number if unique else f"file {first.file + 1}, line {number}"

    def add(self, part: Part, origin: Origin) -> None:
        """Add a part to its group, unless it repeats an earlier part in another view."""
        if self._is_copy(part, origin):
            self.n_copies += 1
            return
        digest = None if part.question is None else digest_of(" ".join(part.question.split()))
        group = self._known(part.id, digest, origin) or self._found(part.id, digest, origin)
        self._learn(group, part.id, digest, origin)
        group.spans.append(self._spool.add(part))

    def _is_copy(self, part: Part, origin: Origin) -> bool:
        if part.content is None:
            return False
        return self._views.setdefault((origin.file, part.id, part.content), part.view) != part.view

    def _known(self, name: str | None, digest: bytes | None, origin: Origin) -> Group | None:
        """Return the group that a line belongs to, if there is one."""
        if name is not None and name in self._by_id:
            return self._by_id[name]
        group = None if digest is None else self._by_question.get(digest)
        if group is not None and (name is None or group.id is None):
            return group
        group = self._by_number.get(origin.number)
        # A number joins lines of different files, and only where nothing better is known.
        if group is None or group.first.file == origin.file:
            return None
        if (name is not None and group.id is not None) or (digest is not None and group.question is not None):
            return None
        self.n_by_number += 1
        return group

    def _found(self, name: str | None, digest: bytes | None, origin: Origin) -> Group:
        before = self._groups[-1] if self._groups else None
        place = before.place + 1 if before is not None and before.first == origin else 1
        group = Group(origin, name, digest, place)
        self._groups.append(group)
        self._by_number.setdefault(origin.number, group)
        return group

    def _learn(self, group: Group, name: str | None, digest: bytes | None, origin: Origin) -> None:
        """Note what a line adds to its group, and whether it contradicts the group."""
        if name is not None:
            group.id = group.id or name
            self._by_id.setdefault(name, group)
        if digest is not None:
            if group.question not in (None, digest):
                group.clash = group.clash or origin.place
            group.question = group.question or digest
            self._by_question.setdefault(digest, group)


def _lines(count: int, one: str, many: str) -> str:
    return f"1 line {one}" if count == 1 else f"{count:,} lines {many}"

"""Which lines belong to the same question: by id, else by the question itself, else by the number of the line."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from sys import intern

import numpy as np

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


@dataclass(frozen=True, slots=True)
class Group:
    """The lines of one question: the first of them, its id, where their parts are in the spool, and what clashes."""

    first: Origin
    id: str | None
    spans: list[Span]
    clash: str | None = None

    def refuse_clash(self) -> None:
        """Raise if one id has two questions."""
        if self.clash is not None:
            raise TableError(
                f"the id {one_line(self.id, most=60)!r} has another question in {self.clash}; "
                f"read files of different questions one at a time, or give each question its own id."
            )


class Grouping:
    """Groups lines as they are read. It holds digests and numbers only; a spool holds the parts and their names.

    Groups are numbered from 0 in the order of their first lines. There may be millions of them, so what is known of
    each is an entry of an array and not an object.
    """

    def __init__(self, spool: Spool) -> None:
        self.n_by_number = 0
        self.n_copies = 0
        self.n_apart = 0
        self._spool = spool
        self._files, self._numbers, self._turns = array("l"), array("q"), array("q")
        self._named = bytearray()
        self._questions: list[bytes | None] = []
        self._clashes: dict[int, str] = {}
        self._by_id: dict[bytes, int] = {}
        self._by_question: dict[bytes, int] = {}
        self._by_number: dict[int, int] = {}
        self._starts, self._lengths, self._groups = array("q"), array("q"), array("q")
        self._views: dict[bytes, str | None] = {}

    def __iter__(self) -> Iterator[tuple[str, Group]]:
        """Yield the groups in the order of their first lines, each with a unique name."""
        ordered = np.argsort(np.frombuffer(self._groups, dtype=np.int64), kind="stable") if self._groups else ()
        for number, parts in groupby(ordered, key=self._groups.__getitem__):
            spans = [Span(self._starts[part], self._lengths[part]) for part in parts]
            head = self._spool.head(spans[0])
            name = head.id or (self._later_name(spans) if self._named[number] else None)
            first = Origin(self._files[number], self._numbers[number], head.place)
            yield name or self._number_of(number), Group(first, name, spans, self._clashes.get(number))

    def _later_name(self, spans: list[Span]) -> str | None:
        """Return the first id after the first line."""
        return next((name for span in spans[1:] if (name := self._spool.head(span).id)), None)

    @property
    def notes(self) -> list[str]:
        """What was decided, one sentence each."""
        found = []
        if self.n_by_number:
            found.append(
                f"{_lines(self.n_by_number, 'was', 'were')} joined with another file by line number, sharing neither "
                f"an id nor a question (an id made by a server does not count)."
            )
        if self.n_apart:
            many = "1 request has" if self.n_apart == 1 else f"{self.n_apart:,} requests have"
            found.append(
                f"{many} the question of an earlier one under another id; ids decide, so these are different "
                f"rows. If they are samples of one question, give them the same id in all files."
            )
        if self.n_copies:
            found.append(
                f"{_lines(self.n_copies, 'repeats', 'repeat')} a document for another filter of lm-eval; "
                f"every document was read once."
            )
        return found

    def _number_of(self, group: int) -> str:
        """Return the number of the first line, with that of its file where the line alone is not unique.

        Of several questions that begin in one line, the second is ``1.2``, the third ``1.3``.
        """
        line, turn = self._numbers[group], self._turns[group]
        number = f"{line}.{turn}" if turn > 1 else str(line)
        unique = self._files[self._by_number[line]] == self._files[group] and digest_of(number) not in self._by_id
        return number if unique else f"file {self._files[group] + 1}, line {number}"

    def add(self, part: Part, origin: Origin) -> None:
        """Add a part to its group, unless it repeats an earlier part in another view."""
        if self._is_copy(part, origin):
            self.n_copies += 1
            return
        name = None if part.id is None else digest_of(part.id)
        question = None if part.question is None else digest_of(" ".join(part.question.split()))
        group = self._known(name, question, origin)
        if group is None:
            group = self._found(origin)
        if not part.answers and question is not None:  # a request of a batch
            self.n_apart += self._by_question.get(question, group) != group
        self._learn(group, name, question, origin)
        span = self._spool.add(part, origin.place)
        self._starts.append(span.start)
        self._lengths.append(span.length)
        self._groups.append(group)

    def _is_copy(self, part: Part, origin: Origin) -> bool:
        if part.content is None:
            return False
        view = None if part.view is None else intern(part.view)
        return self._views.setdefault(digest_of(repr((origin.file, part.id, part.content))), view) != part.view

    def _known(self, name: bytes | None, question: bytes | None, origin: Origin) -> int | None:
        """Return the group that a line belongs to, if there is one."""
        if name is not None and name in self._by_id:
            return self._by_id[name]
        group = None if question is None else self._by_question.get(question)
        if group is not None and (name is None or not self._named[group]):
            return group
        group = self._by_number.get(origin.number)
        # A number joins lines of different files, and only where nothing better is known.
        if group is None or self._files[group] == origin.file:
            return None
        if (name is not None and self._named[group]) or (question is not None and self._questions[group] is not None):
            return None
        self.n_by_number += 1
        return group

    def _found(self, origin: Origin) -> int:
        """Return the number of a new group."""
        group = len(self._files)
        again = group > 0 and (self._files[-1], self._numbers[-1]) == (origin.file, origin.number)
        self._turns.append(self._turns[-1] + 1 if again else 1)
        self._files.append(origin.file)
        self._numbers.append(origin.number)
        self._named.append(False)
        self._questions.append(None)
        self._by_number.setdefault(origin.number, group)
        return group

    def _learn(self, group: int, name: bytes | None, question: bytes | None, origin: Origin) -> None:
        """Note what a line adds to its group, and whether it contradicts the group."""
        if name is not None:
            self._named[group] = True
            self._by_id.setdefault(name, group)
        if question is not None:
            if self._questions[group] not in (None, question):
                self._clashes.setdefault(group, origin.place)
            self._by_question.setdefault(question, group)
            self._questions[group] = self._questions[group] or question


def _lines(count: int, one: str, many: str) -> str:
    return f"1 line {one}" if count == 1 else f"{count:,} lines {many}"

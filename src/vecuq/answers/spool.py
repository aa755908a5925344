"""Parts of answers laid aside on disk until all that belongs to a question has been read."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryFile
from types import TracebackType
from typing import Self

from pydantic import TypeAdapter

from vecuq.answers.parts import Part

__all__ = ["Spool"]

_PARTS = TypeAdapter(Part)


class Spool:
    """A temporary file of parts, and where those of each question lie in it; memory holds the places alone."""

    def __init__(self) -> None:
        self._file = TemporaryFile("w+b")  # noqa: SIM115 - closed on exit
        self._places: dict[str, list[tuple[int, int]]] = {}
        # The line on which a question was met first.
        self._first: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, name: str, part: Part, place: str) -> None:
        """Lay a part aside; ``place`` is its file and line."""
        content = _PARTS.dump_json(part, exclude_defaults=True)
        self._places.setdefault(name, []).append((self._file.tell(), len(content)))
        self._first.setdefault(name, place)
        self._file.write(content)

    def __iter__(self) -> Iterator[tuple[str, str, list[Part]]]:
        """Yield questions in the order in which they were met first: name, place, all parts."""
        for name, places in self._places.items():
            yield name, self._first[name], [self._part(*place) for place in places]

    def _part(self, start: int, length: int) -> Part:
        self._file.seek(start)
        return _PARTS.validate_json(self._file.read(length))

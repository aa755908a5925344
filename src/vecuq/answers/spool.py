"""Parts of answers laid aside on disk until all that belongs to a question has been read."""

from __future__ import annotations

from tempfile import TemporaryFile
from types import TracebackType
from typing import NamedTuple, Self

from pydantic import TypeAdapter

from vecuq.answers.parts import Part

_PARTS = TypeAdapter(Part)


class Laid(NamedTuple):
    """Where a part lies in the spool."""

    start: int
    length: int


class Spool:
    """A temporary file of parts; memory holds none of them."""

    def __init__(self) -> None:
        self._file = TemporaryFile("w+b")  # noqa: SIM115 - closed on exit
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, part: Part) -> Laid:
        """Lay a part aside, and say where."""
        content = _PARTS.dump_json(part, exclude_defaults=True)
        self._file.seek(self._end)
        self._end += self._file.write(content)
        return Laid(self._end - len(content), len(content))

    def part(self, laid: Laid) -> Part:
        """Take a part up again."""
        self._file.seek(laid.start)
        return _PARTS.validate_json(self._file.read(laid.length))

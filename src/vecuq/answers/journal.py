"""A file of answers that grows line by line and survives a kill: no answer is lost, none is written twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vecuq._files import locked
from vecuq.answers.lines import LINE_BYTES, refuse_other_files
from vecuq.answers.schema import AnswerRecord, changed, parse_record
from vecuq.errors import TableError


class Journal:
    """An open file of answers; use :meth:`Journal.opened`, which locks it and removes a line that a kill cut short."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.done: dict[str, AnswerRecord] = {}
        self._descriptor = descriptor

    @staticmethod
    @contextmanager
    def opened(path: str | os.PathLike[str]) -> Iterator[Journal]:
        """Open or create a journal and lock it; a last line that a kill cut short is removed, to be answered again."""
        place = Path(path)
        _refuse_place(place)
        with locked(place):
            known = place.exists()
            descriptor = _open(place)
            try:
                journal = Journal(place, descriptor)
                journal._read_done()
                yield journal
            finally:
                if not known and not os.fstat(descriptor).st_size:
                    place.unlink(missing_ok=True)  # nothing was answered, so no file stays
                os.close(descriptor)

    def append(self, record: AnswerRecord) -> None:
        """Write one record, and return when it is on disk."""
        line = record.to_line().encode() + b"\n"
        if len(line) > LINE_BYTES:
            raise TableError(
                f"The answers to {record.id!r} take more than {LINE_BYTES // 2**20} MiB; use fewer `samples`."
            )
        os.lseek(self._descriptor, 0, os.SEEK_END)
        while line:
            line = line[os.write(self._descriptor, line) :]
        os.fsync(self._descriptor)
        self.done[record.id] = _slim(record)

    def _read_done(self) -> None:
        whole = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(LINE_BYTES + 1), b""), start=1):
                if not line.endswith(b"\n"):
                    break
                if line.strip():
                    self._keep(parse_record(line, f"{self.path}, line {number}"), number)
                whole = file.tell()
        if whole < os.fstat(self._descriptor).st_size:
            self._drop_from(whole)

    def _keep(self, record: AnswerRecord, number: int) -> None:
        if record.id in self.done:
            raise TableError(f"{self.path}, line {number}: {record.id!r} has an answer in an earlier line.")
        self.done[record.id] = _slim(record)

    def _drop_from(self, whole: int) -> None:
        """Cut a last line without its end if it can be ours; anything else is an error."""
        with self.path.open("rb") as file:
            file.seek(whole)
            start = file.read(16)
        mark = b'{"vecuq_answers"'
        if not mark.startswith(start[: len(mark)]):
            raise TableError(f"{self.path} is not a file of answers; choose another name for the answers.")
        os.ftruncate(self._descriptor, whole)


def _slim(record: AnswerRecord) -> AnswerRecord:
    """Return a record without its answers, to save memory."""
    return changed(record, greedy=None, samples=(), references=(), meta={})


def _refuse_place(place: Path) -> None:
    if place.is_dir():
        raise TableError(f"{place} is a folder; a file name is needed.")
    if not place.parent.is_dir():
        raise TableError(f"{place} cannot be written: there is no folder {place.parent}; make it first.")
    if place.exists() and not place.is_file():
        raise TableError(f"{place} is not a regular file; answers need one, so that a run can be resumed.")


def _open(place: Path) -> int:
    if place.exists():
        refuse_other_files(place)
    try:
        return os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise TableError(f"{place} cannot be written: {(error.strerror or str(error)).lower()}.") from None

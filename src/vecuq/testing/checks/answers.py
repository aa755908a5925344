"""A bad line of answers is skipped with its place, and changes nothing of the lines beside it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vecuq.answers import read_answers, record_of
from vecuq.errors import VecuqError
from vecuq.testing.attack import BrokenPromiseError
from vecuq.testing.checks.commands import last_lines
from vecuq.testing.hostile.answers import good_line

Read = Callable[..., Any]
_GOOD = "good"


def check_reader(line: bytes, kind: str = "vecuq", *, read: Read = read_answers, as_kind: str = "auto") -> int:
    """Read a line between two good ones and raise if these suffer, or if anything but a clear error comes of it.

    Parameters
    ----------
    line
        The bytes of one line.
    kind
        What the good lines beside it are: one of ``vecuq.answers.kinds()`` but ``"auto"``.
    read
        The reader, called with a path and ``kind=``; it is iterated for records with ``id``, and has ``problems``.
    as_kind
        The kind that the reader is given.

    Returns
    -------
    int
        How many records were read.
    """
    good = [json.dumps(good_line(kind, f"{_GOOD}{k}")).encode() for k in range(2)]
    with tempfile.TemporaryDirectory(prefix="vecuq-testing-") as folder:
        path = Path(folder) / "answers.jsonl"
        path.write_bytes(b"\n".join([good[0], line, good[1]]))
        reader, records = _read(read, path, as_kind)
    # Some formats name a question by what was asked; a good line asks "q of" its name.
    found = {key: record for record in records for key in (str(record.question).removeprefix("q of "), record.id)}
    _refuse_loss(found, kind)
    wrong = [problem for problem in reader.problems if "\n" in problem or not problem.isprintable()]
    if wrong:
        raise BrokenPromiseError("message", f"a problem is one printable line; got {wrong[0][:200]!r}")
    return len(records)


def check_stream(content: bytes) -> int:
    """Read a file with events of a stream and one good line after them; raise if it suffers, or on a traceback.

    Returns
    -------
    int
        How many records were read.
    """
    last = json.dumps(good_line("openai", f"{_GOOD}0")).encode()
    with tempfile.TemporaryDirectory(prefix="vecuq-testing-") as folder:
        path = Path(folder) / "stream.txt"
        path.write_bytes(b"data: {}\n" + content + b"\ndata: [DONE]\n" + last)
        reader, records = _read(read_answers, path, "auto")
    if f"{_GOOD}0" not in [record.id for record in records]:
        raise BrokenPromiseError("good lines lost", f"{_GOOD}0 is not among the records; {reader.problems}")
    return len(records)


def check_record_of(line: bytes) -> bool:
    """Read a reply in memory; raise if anything but a record or a clear error comes of it.

    Returns
    -------
    bool
        Whether it was read.
    """
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):  # nothing that could be in memory
        return False
    try:
        record_of(reply, samples=["x", reply])
    except VecuqError:
        return False
    except Exception as error:
        raise BrokenPromiseError("traceback", last_lines(error)) from error
    return True


def _read(read: Read, path: Path, kind: str) -> tuple[Any, list[Any]]:
    try:
        reader = read(path, kind=kind)
        return reader, list(reader)
    except VecuqError as error:
        raise BrokenPromiseError("good lines lost", str(error)) from error
    except Exception as error:
        raise BrokenPromiseError("traceback", last_lines(error)) from error


def _refuse_loss(found: dict[str, Any], kind: str) -> None:
    for k in range(2):
        record = found.get(f"{_GOOD}{k}")
        if record is None:
            raise BrokenPromiseError("good lines lost", f"{_GOOD}{k} is not among {sorted(found)} ({kind})")
        given = [*record.samples, *([record.greedy] if record.greedy else [])]
        if not given or any(answer.text not in ("x", "y") for answer in given):
            raise BrokenPromiseError("wrong answer", f"{_GOOD}{k} became {[answer.text for answer in given]}")


def check_document(content: bytes, name: str, told: dict[str, str] | None = None, *, read: Read = read_answers) -> int:
    """Read a file and raise if anything but answers or a clear error comes of it; return how many records there are.

    Parameters
    ----------
    content
        The bytes of the file.
    name
        Its name, whose ending says what it is.
    told
        A map of fields, or None.
    read
        The reader, called with a path and ``map=``.
    """
    with tempfile.TemporaryDirectory(prefix="vecuq-testing-") as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            reader = read(path, map=told)
            found = len(list(reader))
            words = reader.problems
        except VecuqError as error:
            found, words = 0, [str(error)]
        except Exception as error:
            raise BrokenPromiseError("traceback", last_lines(error)) from error
    wrong = [problem for problem in words if "\n" in problem or not problem.isprintable()]
    if wrong:
        raise BrokenPromiseError("message", f"a problem is one printable line; got {wrong[0][:200]!r}")
    return found

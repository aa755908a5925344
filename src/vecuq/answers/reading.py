"""Read answers from files of any known kind, line by line: what cannot be read is counted, or stops it all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from vecuq._check import existing_file, one_line, one_of
from vecuq.answers.huggingface import is_huggingface, read_huggingface
from vecuq.answers.lines import LINE_BYTES, Line, numbered_lines
from vecuq.answers.lm_eval import is_lm_eval, read_lm_eval
from vecuq.answers.openai import is_openai, read_openai
from vecuq.answers.parts import Part, joined
from vecuq.answers.schema import AnswerRecord, parse_record, why_invalid
from vecuq.answers.spool import Spool
from vecuq.answers.vllm import is_vllm, read_vllm
from vecuq.errors import TableError

__all__ = ["KINDS", "AnswerReader", "read_answers"]

PathLike = str | os.PathLike[str]
Reader = Callable[..., Part]

# In the order in which a line is asked whether it is one.
_FOREIGN: dict[str, tuple[Callable[[Mapping[str, Any]], bool], Reader]] = {
    "lm-eval": (is_lm_eval, read_lm_eval),
    "openai": (is_openai, read_openai),
    "vllm": (is_vllm, read_vllm),
    "huggingface": (is_huggingface, read_huggingface),
}
KINDS = ("auto", "vecuq", *_FOREIGN)
# Within a text the quotes would be escaped, so this is the name of a field.
_OURS = b'"vecuq_answers"'
_PROBLEMS_KEPT = 5


@dataclass
class AnswerReader:
    """Answers that come one by one as they are asked for; see :func:`read_answers`.

    Attributes
    ----------
    n_read
        Questions yielded so far.
    n_skipped
        Lines that could not be read so far.
    problems
        The first few of these, each with its file and line.
    """

    paths: tuple[Path, ...]
    sample_paths: tuple[Path, ...] = ()
    kind: str = "auto"
    strict: bool = False
    renormalise: bool = False
    longest_line: int = LINE_BYTES
    n_read: int = field(default=0, init=False)
    n_skipped: int = field(default=0, init=False)
    problems: list[str] = field(default_factory=list, init=False)

    def __iter__(self) -> Iterator[AnswerRecord]:
        """Yield one record per question."""
        self.n_read = self.n_skipped = 0
        self.problems.clear()
        for record in self._ours() if self._is_one_of_ours() else self._joined():
            self.n_read += 1
            yield record
        if not self.n_read:
            first = f" The first problem: {self.problems[0]}" if self.problems else ""
            raise TableError(f"{', '.join(map(str, self.paths))}: no answers to be read there.{first}")

    def _is_one_of_ours(self) -> bool:
        """Whether there is a single file, and its first line follows our schema: then nothing need be laid aside."""
        if len(self.paths) + len(self.sample_paths) > 1 or self.kind not in ("auto", "vecuq"):
            return False
        first = next(numbered_lines(self.paths[0], limit=self.longest_line), None)
        return first is not None and first.content is not None and _OURS in first.content

    def _ours(self) -> Iterator[AnswerRecord]:
        seen: set[str] = set()
        for line in numbered_lines(self.paths[0], limit=self.longest_line):
            place = f"{self.paths[0]}, line {line.number}"
            try:
                record = parse_record(self._content(line, place), place)
                if record.id in seen:
                    raise TableError(f"{place}: the id {one_line(record.id, most=60)!r} came before.")
            except TableError as error:
                self._skip(str(error), error)
                continue
            seen.add(record.id)
            yield record

    def _joined(self) -> Iterator[AnswerRecord]:
        with Spool() as spool:
            roles: list[tuple[Path, str | None]] = [
                (path, "greedy" if self.sample_paths else None) for path in self.paths
            ]
            for path, role in [*roles, *((path, "samples") for path in self.sample_paths)]:
                self._lay_aside(path, role, spool)
            for name, place, parts in spool:
                try:
                    yield joined(name, parts)
                except (TableError, ValidationError) as error:
                    self._skip(f"{place}: {_told(error)}", error)

    def _lay_aside(self, path: Path, role: str | None, spool: Spool) -> None:
        for line in numbered_lines(path, limit=self.longest_line):
            place = f"{path}, line {line.number}"
            try:
                for part in self._parts(self._content(line, place)):
                    spool.add(part.id or str(line.number), part.settled(role), place)
            except (TableError, ValidationError) as error:
                told = _told(error)
                self._skip(told if told.startswith(place) else f"{place}: {told}", error)

    def _content(self, line: Line, place: str) -> bytes:
        if line.content is None:
            raise TableError(f"{place}: longer than {self.longest_line:,} bytes, the most that is read of a line.")
        return line.content

    def _parts(self, content: bytes) -> list[Part]:
        if self.kind == "vecuq" or (self.kind == "auto" and _OURS in content):
            return _parts_of_ours(AnswerRecord.model_validate(_parsed(content)))
        fields = _parsed(content)
        if self.kind != "auto":
            return [_FOREIGN[self.kind][1](fields, renormalise=self.renormalise)]
        for is_this, read in _FOREIGN.values():
            if is_this(fields):
                return [read(fields, renormalise=self.renormalise)]
        known = ", ".join(one_line(name, most=20) for name in list(fields)[:8])
        raise TableError(f"no known kind of answers ({', '.join(KINDS[1:])}); its fields: {known or 'none'}.")

    def _skip(self, problem: str, error: Exception) -> None:
        if self.strict:
            raise TableError(problem) from error
        self.n_skipped += 1
        if len(self.problems) < _PROBLEMS_KEPT:
            self.problems.append(problem)


def _told(error: TableError | ValidationError) -> str:
    return why_invalid(error) if isinstance(error, ValidationError) else str(error)


def _parsed(content: bytes) -> Mapping[str, Any]:
    try:
        fields = json.loads(content)
        if b"\\ud" in content.lower():  # half a character, as a cut emoji leaves it, becomes a question mark
            content = json.dumps(fields, ensure_ascii=False).encode(errors="replace")
            del fields  # one copy at a time
            fields = json.loads(content)
    except (ValueError, RecursionError):
        raise TableError("not valid JSON.") from None
    if isinstance(fields, list):
        raise TableError("a JSON object was expected, one per line, not a list; write one object per line.")
    if not isinstance(fields, Mapping):
        raise TableError("a JSON object was expected.")
    return fields


def _parts_of_ours(record: AnswerRecord) -> list[Part]:
    sampled = Part(record.samples, "samples", record.id, record.question, record.references, record.model)
    return [sampled] if record.greedy is None else [replace(sampled, answers=(record.greedy,), role="greedy"), sampled]


def read_answers(
    paths: PathLike | Sequence[PathLike],
    *,
    samples: PathLike | Sequence[PathLike] = (),
    kind: str = "auto",
    strict: bool = False,
    renormalise: bool = False,
) -> AnswerReader:
    r"""Read answers from JSON lines, plain or gzipped, one record per question as it is asked for.

    Our own schema, OpenAI-style replies, vLLM and Hugging Face dumps and lm-eval-harness logs are told apart line by
    line. Lines of one question, in one file or several, are joined by their id; where lines have none, by their number.

    A line may have 16 MiB; a longer one is skipped without being held. Whatever a line says, reading it takes at most
    512 MiB. Besides one line and the answers to one question, memory holds ids alone, some 500 bytes a question; what
    must be joined waits in a temporary file.

    Parameters
    ----------
    paths
        One file or several.
    samples
        Files whose answers are all sampled; single answers in ``paths`` are then greedy. Without it, the temperature
        of the request says which are which; of single answers without one, an only one is greedy, several are samples.
    kind
        "auto", "vecuq", "openai", "vllm", "huggingface" or "lm-eval".
    strict
        Whether a line that cannot be read is an error; otherwise it is skipped and counted.
    renormalise
        Whether the likeliest k tokens that a server tells are made to sum to 1 before their entropy is taken.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> line = '{"id": "q1", "temperature": 0, "choices": [{"message": {"content": "Paris"}}]}'
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "replies.jsonl"
    ...     _ = file.write_text(line + "\nbroken")
    ...     reader = read_answers(file)
    ...     [(record.id, record.greedy.text) for record in reader], reader.n_skipped
    ([('q1', 'Paris')], 1)
    """
    one_of("kind", kind, KINDS)
    files, sampled = _files(paths), _files(samples)
    if not files:
        raise TableError("At least one file of answers is needed.")
    return AnswerReader(files, sampled, kind, strict, renormalise)


def _files(paths: PathLike | Sequence[PathLike]) -> tuple[Path, ...]:
    listed = [paths] if isinstance(paths, str | os.PathLike) else paths
    return tuple(existing_file(path) for path in listed)

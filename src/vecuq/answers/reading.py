"""Read answers from files of any known kind, entry by entry; entries that cannot be read are counted, or an error."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from vecuq._check import existing_file, one_line, one_of
from vecuq.answers.fields import digest_of
from vecuq.answers.grouping import Grouping, Origin
from vecuq.answers.line_formats import how_read, is_ours, kinds, mapped_parts, parts_of
from vecuq.answers.lines import Entry, TornFileError
from vecuq.answers.mapping import FieldMap
from vecuq.answers.parts import Part, Spool, records_of
from vecuq.answers.paths import JsonPath
from vecuq.answers.schema import AnswerRecord, checked_record
from vecuq.answers.sources import entries_of, first_entry, map_of_table
from vecuq.errors import SettingError, TableError

PathLike = str | os.PathLike[str]
_PROBLEMS_KEPT = 5
_NOTES_KEPT = 20
_REPORT_EVERY = 100


@dataclass
class _Coverage:
    """How many questions have a greedy answer, samples, or both."""

    n_questions: int = 0
    n_greedy: int = 0
    n_sampled: int = 0
    n_both: int = 0

    def count(self, record: AnswerRecord) -> None:
        """Count one record."""
        greedy, sampled = record.greedy is not None, bool(record.samples)
        self.n_questions += 1
        self.n_greedy += greedy
        self.n_sampled += sampled
        self.n_both += greedy and sampled

    @property
    def notes(self) -> list[str]:
        """One sentence if some questions lack what others have."""
        if not (self.n_greedy and self.n_sampled) or self.n_both == self.n_questions:
            return []
        return [
            f"{self.n_both:,} of {self.n_questions:,} questions have both a greedy answer and samples "
            f"({self.n_greedy:,} have the one, {self.n_sampled:,} the other); "
            f"if they should meet, give both the same id (without ids, the same question)."
        ]


@dataclass
class _Noted:
    """How often readers of formats decided the same, and how many questions nobody answered."""

    counts: Counter[str] = field(default_factory=Counter)
    n_unanswered: int = 0

    def taken(self, part: Part) -> Part:
        """Count the notes of a part, and return it without them."""
        for sentence in part.notes:
            if sentence in self.counts or len(self.counts) < _NOTES_KEPT:
                self.counts[sentence] += 1
        return replace(part, notes=()) if part.notes else part

    @property
    def notes(self) -> list[str]:
        """One sentence for each decision, with its count."""
        found = [f"{_many(count, 'answer')}: {sentence}" for sentence, count in self.counts.items()]
        if self.n_unanswered:
            were = "was" if self.n_unanswered == 1 else "were"
            found.append(f"{_many(self.n_unanswered, 'question')} without an answer in these files {were} left out.")
        return found


def _many(count: int, name: str) -> str:
    return f"1 {name}" if count == 1 else f"{count:,} {name}s"


@dataclass
class AnswerReader:
    """An iterable of answers, read one by one; see :func:`read_answers`.

    Attributes
    ----------
    n_read
        Questions yielded so far.
    n_skipped
        Lines that could not be read so far.
    is_named
        Whether the answer that came last has an id of its own; else it is called by the number of its line.
    problems
        The first few of these, each with its file and line.
    notes
        After the last answer: what the reader decided, and what some questions lack, one sentence each.
    """

    paths: tuple[Path, ...]
    sample_paths: tuple[Path, ...] = ()
    kind: str = "auto"
    strict: bool = False
    renormalise: bool = False
    progress: Callable[[int], None] | None = None
    fields: FieldMap | None = None
    n_read: int = field(default=0, init=False)
    n_skipped: int = field(default=0, init=False)
    is_named: bool = field(default=True, init=False)
    problems: list[str] = field(default_factory=list, init=False)
    notes: list[str] = field(default_factory=list, init=False)
    _noted: _Noted = field(default_factory=_Noted, init=False, repr=False)

    def __iter__(self) -> Iterator[AnswerRecord]:
        """Yield one record per question."""
        self.n_read = self.n_skipped = 0
        self.is_named = True
        self.problems.clear()
        self.notes.clear()
        self._noted = _Noted()
        coverage = _Coverage()
        for record in self._ours() if self._is_one_of_ours() else self._joined():
            self.n_read += 1
            coverage.count(record)
            yield record
        if not self.n_read:
            first = f" The first problem: {self.problems[0]}" if self.problems else ""
            if not first and self._noted.n_unanswered:
                first = " They hold requests alone; give the file of the replies too."
            if not first and all(path.stat().st_size == 0 for path in self.paths):
                first = " There is nothing in it." if len(self.paths) == 1 else " There is nothing in them."
            raise TableError(f"{', '.join(map(str, self.paths))}: no answers could be read.{first}")
        self.notes += [*self._noted.notes, *coverage.notes]

    def _is_one_of_ours(self) -> bool:
        """Whether there is a single file, and its first entry follows our schema: then nothing has to be joined."""
        if len(self.paths) + len(self.sample_paths) > 1 or self.kind not in ("auto", "vecuq"):
            return False
        first = None if self._names_fields else first_entry(self.paths[0], kind=self.kind, records=self._records)
        return first is not None and is_ours(first.content)

    @property
    def _names_fields(self) -> bool:
        return self.fields is not None and self.fields.names_fields

    @property
    def _records(self) -> JsonPath | None:
        return None if self.fields is None else self.fields.records

    def _ours(self) -> Iterator[AnswerRecord]:
        seen: set[bytes] = set()
        for entry in self._entries(self.paths[0]):
            try:
                record = checked_record(entry.fields())
                if (name := digest_of(record.id)) in seen:
                    raise TableError(f"the id {one_line(record.id, most=60)!r} came before.")
            except TableError as error:
                self._skip(entry.place, error)
                continue
            seen.add(name)
            yield record

    def _joined(self) -> Iterator[AnswerRecord]:
        with closing(Spool()) as spool:
            groups = Grouping(spool)
            role = "greedy" if self.sample_paths else None
            for file, path in enumerate([*self.paths, *self.sample_paths]):
                self._collect(path, file, role if file < len(self.paths) else "samples", groups)
            if self.fields is not None:
                self.fields.refuse_unseen()
                self.notes += self.fields.notes
            self.notes += groups.notes
            for name, group in groups:
                try:
                    group.refuse_clash()
                    parts = [spool.part(span) for span in group.spans]
                    self.is_named = group.id is not None and not any(part.is_numbered for part in parts)
                    if any(part.answers for part in parts):
                        yield from records_of(name, parts)
                    else:
                        self._noted.n_unanswered += max(1, *(len(part.prompts) for part in parts))
                except TableError as error:
                    self._skip(group.first.place, error)

    def has_name(self, name: str) -> bool:
        """Whether the first record has a field that may name it: a text or a whole number."""
        first = first_entry(self.paths[0], kind=self.kind, records=self._records)
        try:
            fields = None if first is None else first.fields()
        except TableError:
            return False
        found = fields.get(name) if isinstance(fields, Mapping) else None
        return isinstance(found, str | int) and not isinstance(found, bool)

    def how(self, path: Path) -> tuple[str, str]:
        """Return what the first entry of a file is read as, and by which fields it is known."""
        first = first_entry(path, kind=self.kind, records=self._records)
        if first is None:
            return "nothing", "no entry"
        return how_read(first, self.kind, self.fields if self._names_fields else map_of_table(path))

    def _collect(self, path: Path, file: int, role: str | None, groups: Grouping) -> None:
        named = self.fields if self._names_fields else map_of_table(path)
        for entry in self._entries(path):
            try:
                for part in self._parts(entry, named):
                    groups.add(self._noted.taken(part).settled(role), Origin(file, entry.number, entry.place))
            except TableError as error:
                self._skip(entry.place, error)
            if self.progress is not None and entry.number % _REPORT_EVERY == 0:
                self.progress(_REPORT_EVERY)

    def _parts(self, entry: Entry, named: FieldMap | None) -> list[Part]:
        if named is not None:
            return mapped_parts(entry, named)
        return parts_of(entry, self.kind, renormalise=self.renormalise)

    def _entries(self, path: Path) -> Iterator[Entry]:
        """Yield the entries of a file up to where it is damaged, if it is."""
        try:
            yield from entries_of(path, kind=self.kind, records=self._records)
        except TornFileError as error:
            self._skip("", error)

    def _skip(self, place: str, error: TableError) -> None:
        problem = f"{place}: {error}" if place else str(error)
        if self.strict:
            raise TableError(problem) from error
        self.n_skipped += 1
        if len(self.problems) < _PROBLEMS_KEPT:
            self.problems.append(problem)


def read_answers(
    paths: PathLike | Sequence[PathLike],
    *,
    samples: PathLike | Sequence[PathLike] = (),
    kind: str = "auto",
    map: Mapping[str, str] | None = None,
    strict: bool = False,
    renormalise: bool = False,
) -> AnswerReader:
    r"""Read answers from JSON lines, plain or gzipped, as an iterable with one record per question.

    Our own schema and every format of :func:`vecuq.answers.kinds`, such as replies of servers, are recognised line by
    line; a JSON file may also be one list, and npz files of arrays are read too. Lines of one question, in one file or
    several, are joined by their id; where lines have none, by the question; where they have neither, by their number,
    and then ``notes`` of the reader says so. An id made by a server counts as none.

    A line or an entry of a list may have 12 MiB and a million brackets; a longer one is skipped without being held.
    Whatever a line says, the process stays below 512 MiB. Besides one line and the answers to one question, memory
    holds digests and numbers, about 350 bytes a question and 24 for each further line of it; what must be joined
    waits in a temporary file. Arrays are loaded whole, up to 256 MiB.

    Parameters
    ----------
    paths
        One file or several.
    samples
        Files whose answers are all sampled; single answers in ``paths`` are then greedy. Without it, the temperature
        of the request decides. Without a temperature, one answer to a question is greedy, several are samples.
    kind
        "auto", "vecuq" for our own lines, or the name of a format, see :func:`vecuq.answers.kinds`.
    map
        Names or paths of the fields of a record, where no format knows them: for ``answer`` (the greedy one),
        ``samples``, ``references``, ``question``, ``id``, ``logprobs``, ``tokens``, ``quality``, as in
        ``{"answer": "output.text", "samples": "runs[*].text"}``; and ``records``, where the records lie in a JSON
        document, as in ``"results[*]"``.
    strict
        Whether a line that cannot be read is an error; otherwise it is skipped and counted.
    renormalise
        Whether the probabilities of the k most likely tokens that a server returns are divided by their sum before
        the entropy is computed.

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
    one_of("kind", kind, kinds())
    files, sampled = _files(paths), _files(samples)
    if not files:
        raise TableError("At least one file of answers is needed.")
    named = None if map is None else FieldMap.of(map)
    if named is not None and named.names_fields and kind != "auto":
        raise SettingError(f"map= names the fields of records that no format knows; leave out kind={kind!r}.")
    return AnswerReader(files, sampled, kind, strict, renormalise, fields=named)


def _files(paths: PathLike | Sequence[PathLike]) -> tuple[Path, ...]:
    listed = [paths] if isinstance(paths, str | os.PathLike) else paths
    return tuple(existing_file(path) for path in listed)

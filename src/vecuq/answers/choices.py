"""Log-likelihoods of given choices, as lm-evaluation-harness logs them: a classifier's outputs, and their labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from vecuq._check import existing_file, one_line
from vecuq.answers.fields import as_list, as_name, digest_of
from vecuq.answers.lines import TornFileError
from vecuq.answers.readers.lm_eval import arguments_of, is_lm_eval, leaves_of
from vecuq.answers.schema import MOST_ANSWERS
from vecuq.answers.sources import entries_of, first_entry
from vecuq.answers.tokens import logprob
from vecuq.errors import TableError

_PROBLEMS_KEPT = 5


class ChoiceRow(NamedTuple):
    """One document: the log-likelihoods of its choices, the right one, and whether the likeliest is wrong."""

    id: str
    logprobs: tuple[float, ...]
    label: int | None
    wrong: bool | None

    @property
    def prediction(self) -> int:
        """The number of the likeliest choice, the first of several."""
        return max(range(len(self.logprobs)), key=self.logprobs.__getitem__)


def holds_choices(path: Path) -> bool:
    """Whether the first entry of a file is a document with log-likelihoods of its choices."""
    entry = first_entry(path)
    try:
        fields = None if entry is None else entry.fields()
        return isinstance(fields, Mapping) and is_lm_eval(fields) and not _has_texts(fields)
    except TableError:
        return False


def _has_texts(fields: Mapping[str, Any]) -> bool:
    return all(isinstance(one, str) for one in leaves_of(fields.get("resps")))


def choices_of(fields: Mapping[str, Any], number: int) -> ChoiceRow:
    """Return the row of a document; its target is a number, or the text of a choice.

    Examples
    --------
    >>> row = choices_of({"doc_id": 7, "resps": [[[-1.5, False]], [[-0.2, True]]], "target": 0}, 1)
    >>> row.id, row.logprobs, row.prediction, row.wrong
    ('7', (-1.5, -0.2), 1, True)
    """
    if not is_lm_eval(fields):
        raise TableError("no log-likelihoods of lm-eval (`resps` beside `doc_id`), as the first line has.")
    found = as_list(list(leaves_of(fields.get("resps"))), "resps", most=MOST_ANSWERS)
    if found and all(isinstance(one, str) for one in found):
        raise TableError(
            "a generated text among log-likelihoods of choices; measure generations in a file of their own."
        )
    values = tuple(_likelihood(one) for one in found)
    if len(values) < 2:
        raise TableError("the log-likelihood of one text only; there is nothing to choose between.")
    label = _label(fields, len(values))
    row = ChoiceRow(as_name(fields.get("doc_id"), "doc_id") or str(number), values, label, None)
    return row._replace(wrong=_wrong(fields, row))


def _likelihood(given: Any) -> float:
    """Return the number of a pair such as [-1.5, false]; newer logs write both as text."""
    pair = as_list(given, "a log-likelihood", most=2)
    first = pair[0] if pair else None
    if isinstance(first, str):
        try:
            first = float(first)
        except ValueError:
            raise TableError(f"a log-likelihood must be a number; got {one_line(first, most=40)}.") from None
    return logprob(first)


def _label(fields: Mapping[str, Any], n_choices: int) -> int | None:
    """Return the number of the right choice; None where the line does not say it in a way that we know."""
    doc = fields["doc"] if isinstance(fields.get("doc"), Mapping) else {}
    given = next((one for one in (fields.get("target"), doc.get("gold")) if one is not None), None)
    if isinstance(given, list):
        given = given[0] if len(given) == 1 else None
    if isinstance(given, int) and not isinstance(given, bool):
        return given if 0 <= given < n_choices else None
    if not isinstance(given, str):
        return None
    for texts in (_choices(doc), _continuations(fields)):
        same = [k for k, text in enumerate(texts[:n_choices]) if text.strip() == given.strip()]
        if len(texts) == n_choices and len(same) == 1:
            return same[0]
    return int(given) if given.strip().isdecimal() and len(given) < 6 and int(given) < n_choices else None


def _choices(doc: Mapping[str, Any]) -> list[str]:
    """Return the texts of the choices in the document, a list or an object with a list ``text``."""
    found = doc.get("choices")
    listed = found.get("text") if isinstance(found, Mapping) else found
    return listed if isinstance(listed, list) and all(isinstance(one, str) for one in listed) else []


def _continuations(fields: Mapping[str, Any]) -> list[str]:
    """Return the texts whose log-likelihoods these are: the second argument of every request."""
    pairs = [[text for text in one if isinstance(text, str)] for one in arguments_of(fields.get("arguments"))]
    return [pair[1] for pair in pairs if len(pair) > 1]


def _wrong(fields: Mapping[str, Any], row: ChoiceRow) -> bool | None:
    """Whether the likeliest choice is wrong: by the label, else by the accuracy that the harness computed."""
    if row.label is not None:
        return row.prediction != row.label
    accuracy = fields.get("acc")
    return accuracy == 0 if isinstance(accuracy, int | float) and accuracy in (0, 1) else None


@dataclass
class ChoiceReader:
    """An iterable of rows, one per document; a document that is written once per filter is read once.

    Attributes
    ----------
    n_skipped, problems
        Lines that could not be read so far, and the first few with their places.
    n_copies
        Lines that repeated a document.
    """

    paths: tuple[Path, ...]
    strict: bool = False
    n_skipped: int = field(default=0, init=False)
    n_copies: int = field(default=0, init=False)
    problems: list[str] = field(default_factory=list, init=False)

    def __iter__(self) -> Iterator[ChoiceRow]:
        """Yield the rows of all files."""
        for path in self.paths:
            try:
                yield from self._rows(path)
            except TornFileError as error:
                self._skip(str(error))

    def _rows(self, path: Path) -> Iterator[ChoiceRow]:
        seen: set[bytes] = set()
        for entry in entries_of(path):
            try:
                fields = entry.fields()
                row = choices_of(fields if isinstance(fields, Mapping) else {}, entry.number)
            except TableError as error:
                self._skip(f"{entry.place}: {error}")
                continue
            known = digest_of(repr((row.id, row.logprobs)))
            if known in seen:
                self.n_copies += 1
                continue
            seen.add(known)
            yield row

    def _skip(self, problem: str) -> None:
        if self.strict:
            raise TableError(problem)
        self.n_skipped += 1
        if len(self.problems) < _PROBLEMS_KEPT:
            self.problems.append(problem)


def read_choices(paths: Sequence[str | Path], *, strict: bool = False) -> ChoiceReader:
    """Read log-likelihoods of choices from logs of lm-eval; with ``strict``, a line that cannot be read is an error."""
    return ChoiceReader(tuple(existing_file(path) for path in paths), strict)

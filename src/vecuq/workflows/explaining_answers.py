"""How files of answers are understood: their format, their first records, and the measures that these allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq.measures import text
from vecuq.table import PathLike
from vecuq.workflows.measuring_answers import WantedOfAnswers
from vecuq.workflows.measuring_choices import CHOICE_MEASURES, holds_choices

if TYPE_CHECKING:
    from vecuq.answers import Answer, AnswerRecord, ChoiceRow


@dataclass(frozen=True)
class Explained:
    """How some files were understood.

    Parameters
    ----------
    files
        What each file is read as, and by which fields it is known.
    records
        What is known of each of the first questions.
    measures
        The measures that each of them allows.
    absent
        The measures that it does not allow, and the reasons.
    n_skipped, problems, notes
        Entries that could not be read, the first of these, and what the reader decided.
    """

    files: dict[str, tuple[str, str]]
    records: tuple[dict[str, Any], ...]
    measures: tuple[tuple[str, ...], ...]
    absent: tuple[dict[str, str], ...]
    n_skipped: int
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def explain_answers(
    answers: Sequence[PathLike],
    wanted: WantedOfAnswers | None = None,
    *,
    samples: Sequence[PathLike] = (),
    kind: str = "auto",
    map: Mapping[str, str] | None = None,
    renormalise: bool = False,
    first: int = 3,
) -> Explained:
    """Say how files are read, and what their first questions allow; nothing is written.

    All files are read, since the answers to one question may stand anywhere in them.
    """
    from vecuq.answers import read_answers

    if map is None and holds_choices(answers[0]):
        return _explain_choices(answers, first)
    wanted = WantedOfAnswers() if wanted is None else wanted
    reader = read_answers(answers, samples=samples, kind=kind, map=map, renormalise=renormalise)
    files = {str(path): reader.how(path) for path in (*reader.paths, *reader.sample_paths)}
    records = list(islice(reader, first))
    found = [text.measure_record(record, wanted.found, wanted.settings) for record in records]
    return Explained(
        files,
        tuple(_record(record) for record in records),
        tuple(tuple(name for name in one.values if name not in one.reasons) for one in found),
        tuple(dict(one.reasons) for one in found),
        reader.n_skipped,
        tuple(reader.problems),
        tuple(reader.notes),
    )


def _record(record: AnswerRecord) -> dict[str, Any]:
    """Return what is known of one question, in a few fields."""
    return {
        "id": record.id,
        "question": record.question,
        "answer": None if record.greedy is None else record.greedy.text,
        "tokens": _tokens(record.greedy),
        "samples": len(record.samples),
        "first_sample": record.samples[0].text if record.samples else None,
        "tokens_of_samples": _tokens(record.samples[0]) if record.samples else None,
        "references": list(record.references),
        "quality": record.quality,
        "model": record.model,
        "meta": {name: value for name, value in record.meta.items() if value != record.question},
    }


def _tokens(answer: Answer | None) -> str | None:
    """Say what is known of the tokens of an answer."""
    if answer is None:
        return None
    known = {
        "texts": answer.tokens,
        "log-probs": answer.logprobs,
        "entropies": answer.entropies,
    }
    found = [name for name, values in known.items() if values is not None]
    if not found:
        return "none" if answer.logprob is None else "a total log-prob"
    size = max(len(values) for values in known.values() if values is not None)
    return f"{size:,} with {', '.join(found)}"


def _explain_choices(answers: Sequence[PathLike], first: int) -> Explained:
    from vecuq.answers import read_choices

    reader = read_choices([str(path) for path in answers])
    rows = list(islice(reader, first))
    known_by = "log-likelihoods in `resps`, beside `doc_id`; measured as a classifier's outputs"
    return Explained(
        {str(Path(path)): ("lm-eval", known_by) for path in answers},
        tuple(_choice(row) for row in rows),
        tuple(CHOICE_MEASURES for _ in rows),
        tuple({} for _ in rows),
        reader.n_skipped,
        tuple(reader.problems),
        (),
    )


def _choice(row: ChoiceRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "choices": len(row.logprobs),
        "log-likelihoods": list(row.logprobs),
        "label": row.label,
        "prediction": row.prediction,
        "wrong": row.wrong,
    }

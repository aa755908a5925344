"""Answers that are there already: only how sure the model is of them is asked, and written with them to a new file."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from vecuq._check import existing_file, one_line
from vecuq.answers import (
    LINE_BYTES,
    Answerer,
    AnswerRecord,
    Journal,
    Pace,
    Plan,
    Question,
    RefusedQuestionError,
    confidence_of,
    parse_record,
    refuse_unaskable,
)
from vecuq.errors import TableError
from vecuq.table import PathLike
from vecuq.workflows.asking_budget import Budget
from vecuq.workflows.asking_replies import Reply, replies
from vecuq.workflows.asking_tally import Asked, AskProgress, Tally


def holds_own_answers(path: PathLike) -> bool:
    """Whether the first line of a file is a record of answers as vecuq writes it."""
    with existing_file(path).open("rb") as file:
        try:
            first = json.loads(file.readline(LINE_BYTES))
        except (ValueError, RecursionError):
            return False
    return isinstance(first, dict) and "vecuq_answers" in first


def ask_confidence(
    answers: PathLike,
    out: PathLike,
    answerer: Answerer,
    plan: Plan,
    *,
    pace: Pace,
    budget: Budget,
    progress: Callable[[AskProgress], None] | None = None,
) -> Asked:
    """Ask how sure the model is of every answer that ``out`` lacks; answers are read as they are needed."""
    refuse_unaskable(answerer, plan)
    total = sum(1 for _ in _records(answers, answerer))
    report = progress or (lambda _: None)
    started, tally = time.perf_counter(), Tally()

    def judge_one(record: AnswerRecord) -> Reply:
        return _judged(record, answerer, plan)

    with Journal.opened(out) as journal:
        todo = (record for record in _records(answers, answerer) if not _is_done(record, journal, plan))
        before = len(journal.done)
        report(AskProgress(before, total))
        for record, reply in replies(budget.affordable(todo), judge_one, answerer, pace):
            kept = reply if isinstance(reply, RefusedQuestionError) else _kept(reply, record, journal, plan)
            tally.add(record.id, kept)
            report(AskProgress(before + tally.n_done, total, *tally.last))
            if tally.n_asked:
                budget.refuse_uncounted()
    return tally.result(total, total - before - tally.n_done, time.perf_counter() - started, budget)


def _records(answers: PathLike, answerer: Answerer) -> Iterator[AnswerRecord]:
    """Yield the records of a file; another model's answers are refused, since a model is asked about its own."""
    seen = set[str]()
    with existing_file(answers).open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LINE_BYTES + 1), b""), start=1):
            if not line.strip():
                continue
            place = f"{answers}, line {number}"
            record = parse_record(line, place)
            if record.model != answerer.name:
                raise TableError(f"{place}: an answer of {record.model!r}, not of {answerer.name!r}.")
            if record.id in seen:
                raise TableError(f"{place}: the id {record.id!r} was used before.")
            seen.add(record.id)
            yield record


def _settings(record: AnswerRecord, plan: Plan) -> dict[str, Any]:
    """Return the settings of the answers, with every way in which the model was asked about them."""
    before = record.settings.get("confidence")
    asked = before if isinstance(before, list) else []
    return {**record.settings, "confidence": [*asked, *(kind for kind in plan.confidence if kind not in asked)]}


def _is_done(record: AnswerRecord, journal: Journal, plan: Plan) -> bool:
    done = journal.done.get(record.id)
    if done is not None and (done.settings != _settings(record, plan) or done.question != record.question):
        raise TableError(f"{journal.path} has another answer to {record.id!r}; choose another name for the answers.")
    return done is not None


def _judged(record: AnswerRecord, answerer: Answerer, plan: Plan) -> Reply:
    """Return the answers of a record, with how sure the model is of the greedy one, or else of the first sample."""
    answers = [answer for answer in (record.greedy, *record.samples) if answer is not None]
    if record.question is None or not answers:
        raise RefusedQuestionError(record.id, "the file has no question or no answer to it.")
    sure = confidence_of(answerer, Question(record.id, record.question), answers[0].text or "", plan)
    return Reply(record.greedy, list(record.samples), sure)


def _kept(reply: Reply, record: AnswerRecord, journal: Journal, plan: Plan) -> Reply | RefusedQuestionError:
    """Write a record with what the model said of it."""
    said = {**reply.confidence.fields, "settings": _settings(record, plan)}
    try:
        journal.append(replace(record, **said))
    except ValueError as error:
        return RefusedQuestionError(record.id, f"its answers cannot be written: {one_line(error)}")
    return reply._replace(samples=[], greedy=None)  # their tokens are from before

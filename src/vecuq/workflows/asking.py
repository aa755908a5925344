"""From questions to answers: one line per question, written as soon as it is answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from vecuq._check import one_line
from vecuq._run import resolve_jobs, side_by_side
from vecuq.answers import Answer, Answerer, AnswerRecord, Journal, Plan, Question, RefusedQuestionError, read_questions
from vecuq.errors import SettingError, TableError, VecuqError
from vecuq.table import PathLike
from vecuq.workflows.places import refuse_overwriting

# After so many refusals in the same words, and no answer at all, the reason is not a question.
_HOPELESS = 20
Answers = tuple[Answer, list[Answer]]


class AskProgress(NamedTuple):
    """How far a run is: questions done, questions in all, and the tokens of the last answers or why it was refused."""

    done: int
    total: int
    tokens: int = 0
    refused: RefusedQuestionError | None = None


@dataclass(frozen=True)
class Asked:
    """A file of answers on disk; ``refused`` maps the ids of the questions that it lacks to the reasons."""

    n_questions: int
    n_asked: int
    n_tokens: int
    seconds: float
    refused: dict[str, str]


def ask(
    questions: PathLike,
    out: PathLike,
    answerer: Answerer,
    plan: Plan,
    *,
    n_jobs: int | None = None,
    progress: Callable[[AskProgress], None] | None = None,
) -> Asked:
    """Answer every question that ``out`` does not answer yet; a run that was stopped continues where it was.

    Every answer is on disk before the next question starts, so a kill loses at most the ``n_jobs`` questions in
    progress (None: 1, -1: as many as cores). All questions are read before the first is sent. A refused question is
    reported and left out; the next run tries it again.
    """
    at_once = resolve_jobs(n_jobs)
    _refuse_place(Path(out), Path(questions))
    wanted = list(read_questions(questions))
    _refuse_unwritable(answerer, plan)
    report = progress or (lambda _: None)
    started, tokens, refused = time.perf_counter(), 0, dict[str, str]()
    with Journal.opened(out) as journal:
        todo = _unanswered(wanted, journal, answerer, plan)
        before = len(wanted) - len(todo)
        report(AskProgress(before, len(wanted)))
        for done, (question, reply) in enumerate(_replies(todo, answerer, plan, at_once), start=before + 1):
            kept = reply if isinstance(reply, RefusedQuestionError) else _kept(reply, question, journal, answerer, plan)
            if isinstance(kept, RefusedQuestionError):
                refused[question.id] = kept.words
                report(AskProgress(done, len(wanted), refused=kept))
                _give_up_if_hopeless(journal, refused)
                continue
            tokens += kept
            report(AskProgress(done, len(wanted), kept))
    return Asked(len(wanted), len(todo) - len(refused), tokens, time.perf_counter() - started, refused)


def _refuse_place(out: Path, questions: Path) -> None:
    refuse_overwriting(out, [questions])
    if out.suffix.lower() == ".gz" or _is_compressed(out):
        raise TableError(
            f"{out} is compressed, and a compressed file cannot grow line by line; choose another name, such as "
            f"answers.jsonl, and compress it when all questions are answered."
        )


def _is_compressed(out: Path) -> bool:
    if not out.is_file():
        return False
    with out.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _refuse_unwritable(answerer: Answerer, plan: Plan) -> None:
    """Raise now, before anything is sent, what would be an error with every answer."""
    try:
        _record(Question("", ""), (Answer(text=""), []), answerer, plan).to_line().encode()
    except ValueError as error:
        raise SettingError(f"The model's name and settings cannot be written as JSON: {one_line(error)}") from None


def _give_up_if_hopeless(journal: Journal, refused: Mapping[str, str]) -> None:
    """Stop when every question is refused for the same reason: further requests would be refused too."""
    words = set(refused.values())
    if not journal.done and len(refused) == _HOPELESS and len(words) == 1:
        raise VecuqError(f"The first {_HOPELESS} questions were all refused for the same reason: {words.pop()}")


def _settings(answerer: Answerer, plan: Plan) -> dict[str, Any]:
    """Return all settings that the answers depend on, besides the question and the model."""
    return {**plan.as_settings(), **getattr(answerer, "settings", {})}


def _unanswered(wanted: Sequence[Question], journal: Journal, answerer: Answerer, plan: Plan) -> list[Question]:
    """Return the questions that are left; a file of answers with other settings is refused."""
    now = {"model": answerer.name, **_settings(answerer, plan)}
    for record in journal.done.values():
        before = {"model": record.model, **record.settings}
        if before != now:
            raise TableError(
                f"{journal.path} has answers with {_differences(before, now)}; "
                f"use the same settings, or choose another name for the answers."
            )
    for question in wanted:
        if question.id in journal.done and journal.done[question.id].question != question.text:
            raise TableError(
                f"{journal.path} answers another question with the id {question.id!r}; "
                f"choose another name for the answers."
            )
    return [question for question in wanted if question.id not in journal.done]


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    names = [name for name in {**now, **before} if before.get(name) != now.get(name)]
    return ", ".join(f"{name} {before.get(name)!r} (now {now.get(name)!r})" for name in names) or "other settings"


def _kept(
    answers: Answers, question: Question, journal: Journal, answerer: Answerer, plan: Plan
) -> int | RefusedQuestionError:
    """Write answers, and return the number of their tokens; answers that cannot be written are one question less."""
    try:
        journal.append(_record(question, answers, answerer, plan))
    except ValueError as error:
        return RefusedQuestionError(question.id, f"its answers cannot be written: {one_line(error)}")
    return sum(len(answer.logprobs or ()) for answer in (answers[0], *answers[1]))


def _record(question: Question, answers: Answers, answerer: Answerer, plan: Plan) -> AnswerRecord:
    greedy, samples = answers
    return AnswerRecord(
        id=question.id,
        question=question.text,
        references=question.references,
        greedy=greedy,
        samples=tuple(samples),
        model=answerer.name,
        settings=_settings(answerer, plan),
        meta=question.meta,
    )


def _replies(
    todo: Iterable[Question], answerer: Answerer, plan: Plan, at_once: int
) -> Iterator[tuple[Question, Answers | RefusedQuestionError]]:
    """Yield questions with their answers, or why they were refused, as they are done, ``at_once`` at a time."""

    def reply(question: Question) -> Answers | RefusedQuestionError:
        try:
            return answerer.answer(question, plan)
        except RefusedQuestionError as refused:
            return refused

    # One at a time runs in this thread: a local model belongs to the thread that loaded it.
    return ((question, reply(question)) for question in todo) if at_once == 1 else side_by_side(reply, todo, at_once)

"""From questions to answers: one line per question, written as soon as it is answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from vecuq._check import whole_number
from vecuq.answers import Answer, AnswerRecord, Journal
from vecuq.ask import Answerer, Plan, Question, read_questions
from vecuq.errors import TableError
from vecuq.workflows.watch import PathLike

__all__ = ["Asked", "ask"]

# Told of every step: questions answered so far, of how many, and the tokens that the last one took.
Progress = Callable[[int, int, int], None]
Answered = tuple[Question, tuple[Answer, list[Answer]]]


@dataclass(frozen=True)
class Asked:
    """A file of answers on disk."""

    n_questions: int
    n_asked: int
    n_tokens: int
    seconds: float


def ask(
    questions: PathLike,
    out: PathLike,
    answerer: Answerer,
    plan: Plan,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Asked:
    """Ask every question that ``out`` does not answer yet; a run that was killed goes on where it stopped.

    Every answer is on disk before the next question is taken up, so a kill costs at most the ``jobs`` questions that
    were being answered. All lines of the questions are read before the first is asked.
    """
    whole_number("jobs", jobs, 1)
    if Path(out).resolve() == Path(questions).resolve():
        raise TableError(f"{out} holds the questions; choose another name for the answers.")
    wanted = list(read_questions(questions))
    started, tokens, asked = time.perf_counter(), 0, 0
    with Journal.opened(out) as journal:
        todo = _unanswered(wanted, journal, answerer.name, plan)
        before = len(wanted) - len(todo)
        _tell(progress, before, len(wanted), 0)
        for question, answers in _answers(todo, answerer, plan, jobs):
            journal.append(_record(question, answers, answerer.name, plan))
            spent = sum(len(answer.logprobs or ()) for answer in (answers[0], *answers[1]))
            asked, tokens = asked + 1, tokens + spent
            _tell(progress, before + asked, len(wanted), spent)
    return Asked(len(wanted), asked, tokens, time.perf_counter() - started)


def _tell(progress: Progress | None, done: int, total: int, tokens: int) -> None:
    if progress is not None:
        progress(done, total, tokens)


def _unanswered(wanted: Sequence[Question], journal: Journal, model: str, plan: Plan) -> list[Question]:
    """Return the questions that are left; answers made in another way do not count and do not mix."""
    for question in wanted:
        record = journal.done.get(question.id)
        if record is None:
            continue
        if record.question != question.text:
            raise TableError(
                f"{journal.path} answers another question of the id {question.id!r}; "
                f"choose another name for the answers."
            )
        if (record.model, record.settings) != (model, plan.as_settings()):
            raise TableError(
                f"{journal.path} holds answers of {_differences(record, model, plan)}; "
                f"ask with the same settings, or choose another name for the answers."
            )
    return [question for question in wanted if question.id not in journal.done]


def _differences(record: AnswerRecord, model: str, plan: Plan) -> str:
    before = {"model": record.model, **record.settings}
    now = {"model": model, **plan.as_settings()}
    told = [f"{name} {before.get(name)!r} (now {now[name]!r})" for name in now if before.get(name) != now[name]]
    return ", ".join(told) or "other settings"


def _record(question: Question, answers: tuple[Answer, list[Answer]], model: str, plan: Plan) -> AnswerRecord:
    greedy, samples = answers
    return AnswerRecord(
        id=question.id,
        question=question.text,
        references=question.references,
        greedy=greedy,
        samples=tuple(samples),
        model=model,
        settings=plan.as_settings(),
        meta=question.meta,
    )


def _answers(todo: Iterable[Question], answerer: Answerer, plan: Plan, jobs: int) -> Iterator[Answered]:
    """Yield answered questions as they come, ``jobs`` of them at a time."""
    if jobs == 1:
        yield from ((question, answerer.answer(question, plan)) for question in todo)
        return
    waiting, running = iter(todo), dict[Future[tuple[Answer, list[Answer]]], Question]()
    pool = ThreadPoolExecutor(jobs)
    try:
        while True:
            for question in islice(waiting, jobs - len(running)):
                running[pool.submit(answerer.answer, question, plan)] = question
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        pool.shutdown(cancel_futures=True)

"""From questions to answers: one line per question, written as soon as it is answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from vecuq._check import one_line
from vecuq.answers import (
    Answer,
    Answerer,
    AnswerRecord,
    Journal,
    Pace,
    Plan,
    Prices,
    Question,
    RefusedQuestionError,
    confidence_of,
    read_questions,
    refuse_unaskable,
)
from vecuq.errors import SettingError, TableError, VecuqError
from vecuq.table import PathLike
from vecuq.workflows.asking_budget import Budget
from vecuq.workflows.asking_confidence import ask_confidence, holds_own_answers
from vecuq.workflows.asking_replies import Reply, replies
from vecuq.workflows.asking_tally import Asked, AskProgress, Tally
from vecuq.workflows.places import refuse_overwriting

# After so many refusals in the same words, and no answer at all, the reason is not a question.
_HOPELESS = 20


def ask(
    questions: PathLike,
    out: PathLike,
    answerer: Answerer,
    plan: Plan,
    *,
    n_jobs: int | Literal["auto"] | None = None,
    prices: Prices | None = None,
    progress: Callable[[AskProgress], None] | None = None,
) -> Asked:
    """Answer every question that ``out`` does not answer yet; a run that was stopped continues where it was.

    Every answer is on disk before the next question starts, so a kill loses at most the questions in progress:
    ``n_jobs`` of them (None: 1, -1: as many as cores, "auto": as many as the server takes), or fewer while the server
    asks for fewer requests. All questions are read before the first is sent. A refused question is reported and left
    out; the next run tries it again.

    If ``questions`` is a file of answers as this function writes it and the plan has a ``confidence``, the answers are
    kept and only the confidence is asked for.
    """
    pace, budget = Pace(n_jobs), Budget(answerer, prices)
    _refuse_place(Path(out), Path(questions))
    if plan.confidence and holds_own_answers(questions):
        return ask_confidence(questions, out, answerer, plan, pace=pace, budget=budget, progress=progress)
    wanted = list(read_questions(questions))
    _refuse_settings(answerer, plan, wanted)
    report = progress or (lambda _: None)
    started, tally = time.perf_counter(), Tally()
    with Journal.opened(out) as journal:
        todo = _unanswered(wanted, journal, answerer, plan)
        before = len(wanted) - len(todo)
        report(AskProgress(before, len(wanted)))

        def ask_one(question: Question) -> Reply:
            return _reply(question, answerer, plan)

        for question, reply in replies(budget.affordable(todo), ask_one, answerer, pace):
            kept = reply if isinstance(reply, RefusedQuestionError) else _kept(reply, question, journal, answerer, plan)
            tally.add(question.id, kept)
            report(AskProgress(before + tally.n_done, len(wanted), *tally.last))
            _give_up_if_hopeless(journal, tally.refused)
            if tally.n_asked:
                budget.refuse_uncounted()
    return tally.result(len(wanted), len(todo) - tally.n_done, time.perf_counter() - started, budget)


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


def _refuse_settings(answerer: Answerer, plan: Plan, wanted: Sequence[Question]) -> None:
    """Raise now, before anything is sent, what would be an error with every answer."""
    refuse_unaskable(answerer, plan)
    if any(question.messages for question in wanted) and (plan.raw or plan.template != "{question}"):
        raise SettingError("Questions with `messages` need the chat format: leave out `template` and `raw`.")
    try:
        _record(Question("", ""), Reply(Answer(text=""), []), answerer, plan).to_line().encode()
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
    reply: Reply, question: Question, journal: Journal, answerer: Answerer, plan: Plan
) -> Reply | RefusedQuestionError:
    """Write answers, and return them; answers that cannot be written are one question less."""
    try:
        journal.append(_record(question, reply, answerer, plan))
    except ValueError as error:
        return RefusedQuestionError(question.id, f"its answers cannot be written: {one_line(error)}")
    return reply


def _record(question: Question, reply: Reply, answerer: Answerer, plan: Plan) -> AnswerRecord:
    said: dict[str, Any] = reply.confidence.fields
    return AnswerRecord(
        id=question.id,
        question=question.text,
        references=question.references,
        greedy=reply.greedy,
        samples=tuple(reply.samples),
        model=answerer.name,
        settings=_settings(answerer, plan),
        meta=question.meta,
        **said,
    )


def _reply(question: Question, answerer: Answerer, plan: Plan) -> Reply:
    """Return the answers, and how sure the model is of the greedy one, or else of the first sample."""
    greedy, samples = answerer.answer(question, plan)
    if not plan.confidence:
        return Reply(greedy, samples)
    judged = greedy or samples[0]
    return Reply(greedy, samples, confidence_of(answerer, question, judged.text or "", plan))

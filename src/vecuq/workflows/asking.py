"""From questions to answers: one line per question, written as soon as it is answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from vecuq._check import whole_number
from vecuq._run import side_by_side
from vecuq.answers import Answer, Answerer, AnswerRecord, Journal, Plan, Question, RefusedQuestionError, read_questions
from vecuq.errors import TableError, VecuqError
from vecuq.workflows.places import refuse_overwriting
from vecuq.workflows.watch import PathLike

# So many questions refused in the same words, and none ever answered: it is not the questions.
_HOPELESS = 20
Answers = tuple[Answer, list[Answer]]


class Step(NamedTuple):
    """How far a run is: questions dealt with, of how many, and the tokens of the last one, or why it was refused."""

    done: int
    total: int
    tokens: int = 0
    refused: RefusedQuestionError | None = None


@dataclass(frozen=True)
class Asked:
    """A file of answers on disk; ``refused`` says by id which questions it lacks, and why."""

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
    jobs: int = 1,
    progress: Callable[[Step], None] | None = None,
) -> Asked:
    """Ask every question that ``out`` does not answer yet; a run that was killed goes on where it stopped.

    Every answer is on disk before the next question is taken up, so a kill costs at most the ``jobs`` questions that
    were being answered. All lines of the questions are read before the first is asked. A question that is refused is
    told and left out; the next run asks it again.
    """
    whole_number("jobs", jobs, 1)
    _refuse_place(Path(out), Path(questions))
    wanted = list(read_questions(questions))
    told = progress or (lambda _: None)
    started, tokens, refused = time.perf_counter(), 0, dict[str, str]()
    with Journal.opened(out) as journal:
        todo = _unanswered(wanted, journal, answerer, plan)
        before = len(wanted) - len(todo)
        told(Step(before, len(wanted)))
        for done, (question, reply) in enumerate(_replies(todo, answerer, plan, jobs), start=before + 1):
            if isinstance(reply, RefusedQuestionError):
                refused[question.id] = reply.words
                told(Step(done, len(wanted), refused=reply))
                _give_up_if_hopeless(journal, refused)
                continue
            journal.append(_record(question, reply, answerer, plan))
            spent = sum(len(answer.logprobs or ()) for answer in (reply[0], *reply[1]))
            tokens += spent
            told(Step(done, len(wanted), spent))
    return Asked(len(wanted), len(todo) - len(refused), tokens, time.perf_counter() - started, refused)


def _refuse_place(out: Path, questions: Path) -> None:
    refuse_overwriting(out, [questions])
    if out.suffix.lower() == ".gz" or _is_packed(out):
        raise TableError(
            f"{out} is packed or named so, and a packed file cannot grow line by line; choose another name, such as "
            f"answers.jsonl, and pack it when all are answered."
        )


def _is_packed(out: Path) -> bool:
    if not out.is_file():
        return False
    with out.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _give_up_if_hopeless(journal: Journal, refused: Mapping[str, str]) -> None:
    """Stop when nothing is taken at all: it is how we ask, and asking on would change nothing."""
    words = set(refused.values())
    if not journal.done and len(refused) == _HOPELESS and len(words) == 1:
        raise VecuqError(f"The first {_HOPELESS} questions were all refused in the same words: {words.pop()}")


def _settings(answerer: Answerer, plan: Plan) -> dict[str, Any]:
    """Return all that makes the answers what they are, but for the question and the model."""
    return {**plan.as_settings(), **getattr(answerer, "settings", {})}


def _unanswered(wanted: Sequence[Question], journal: Journal, answerer: Answerer, plan: Plan) -> list[Question]:
    """Return the questions that are left; answers made in another way do not count and do not mix."""
    now = {"model": answerer.name, **_settings(answerer, plan)}
    for record in journal.done.values():
        before = {"model": record.model, **record.settings}
        if before != now:
            raise TableError(
                f"{journal.path} holds answers of {_differences(before, now)}; "
                f"ask with the same settings, or choose another name for the answers."
            )
    for question in wanted:
        if question.id in journal.done and journal.done[question.id].question != question.text:
            raise TableError(
                f"{journal.path} answers another question of the id {question.id!r}; "
                f"choose another name for the answers."
            )
    return [question for question in wanted if question.id not in journal.done]


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    names = [name for name in {**now, **before} if before.get(name) != now.get(name)]
    return ", ".join(f"{name} {before.get(name)!r} (now {now.get(name)!r})" for name in names) or "other settings"


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
    todo: Iterable[Question], answerer: Answerer, plan: Plan, jobs: int
) -> Iterator[tuple[Question, Answers | RefusedQuestionError]]:
    """Yield questions with their answers or why there are none, as they come, ``jobs`` of them at a time."""

    def reply(question: Question) -> Answers | RefusedQuestionError:
        try:
            return answerer.answer(question, plan)
        except RefusedQuestionError as refused:
            return refused

    # One at a time is asked where we are: a local model belongs to the thread that loaded it.
    return ((question, reply(question)) for question in todo) if jobs == 1 else side_by_side(reply, todo, jobs)

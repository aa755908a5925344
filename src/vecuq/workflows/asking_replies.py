"""What a model replies to questions, several at a time where it can take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from vecuq._run import side_by_side
from vecuq.answers import Answer, Answerer, Confidence, Pace, RefusedQuestionError

Item = TypeVar("Item")


class Reply(NamedTuple):
    """What a model said to one question."""

    greedy: Answer | None
    samples: list[Answer]
    confidence: Confidence = Confidence({}, {})

    @property
    def n_tokens(self) -> int:
        """Tokens with known log-probs."""
        return sum(len(answer.logprobs or ()) for answer in (self.greedy, *self.samples) if answer is not None)


def replies(
    todo: Iterable[Item], reply: Callable[[Item], Reply], answerer: Answerer, pace: Pace
) -> Iterator[tuple[Item, Reply | RefusedQuestionError]]:
    """Yield items with the reply to each, or why it was refused, as they are done."""

    def tried(item: Item) -> Reply | RefusedQuestionError:
        try:
            return reply(item)
        except RefusedQuestionError as refused:
            return refused

    if pace.most == 1:  # in this thread: an answerer may belong to the thread that made it
        yield from ((item, tried(item)) for item in todo)
        return
    for done in side_by_side(tried, todo, lambda: pace.room):
        pace.done(slow_downs=getattr(answerer, "n_slow_downs", 0))
        yield done

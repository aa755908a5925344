"""Our own schema of answers, versioned: one record per question, one JSON object per line.

Log-probabilities are natural logarithms under the model itself (temperature 1), entropies are in nats.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError, model_validator

from vecuq._check import one_line
from vecuq.errors import TableError

SCHEMA_VERSION = 1
MOST_TOKENS = 1_000_000
MOST_ANSWERS = 10_000

# A log-probability may exceed 0 by the rounding of half precision, not by more.
LogProb = Annotated[float, Field(le=1e-2, allow_inf_nan=False)]
Entropy = Annotated[float, Field(ge=-1e-2, allow_inf_nan=False)]
# A list of a million wrong entries is one error, not a million.
_Tokens = Annotated[tuple[StrictStr, ...], Field(max_length=MOST_TOKENS, fail_fast=True)]
_LogProbs = Annotated[tuple[LogProb, ...], Field(max_length=MOST_TOKENS, fail_fast=True)]
_Entropies = Annotated[tuple[Entropy, ...], Field(max_length=MOST_TOKENS, fail_fast=True)]


class Answer(BaseModel):
    """One generated text, and what the model thought of each of its tokens.

    Parameters
    ----------
    text
        The answer, without surrounding blanks and without the stop string.
    tokens
        The pieces of text, one per token; the last ``n_end`` of them end the answer and belong to no text.
    logprobs
        Log-probability of each token, in the order of ``tokens``; at most 0.
    entropies
        Entropy of the distribution that each token was chosen from; at least 0.
    entropy_top_k
        None when the entropies run over the whole vocabulary, else the number of likeliest tokens they run over.
    entropy_renormalised
        Whether the probabilities of those k tokens were made to sum to 1.
    logprob
        Log-probability of the whole answer, where only that is known, or where it is not the sum of ``logprobs``.
    n_end
        How many of the last tokens ended the answer: an end-of-sequence token, or the tokens of a stop string.
    finish
        Why generation ended: ``stop`` or ``length``, as servers call it.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    text: StrictStr
    tokens: _Tokens | None = None
    logprobs: _LogProbs | None = None
    entropies: _Entropies | None = None
    entropy_top_k: Annotated[int, Field(ge=1)] | None = None
    entropy_renormalised: bool = False
    logprob: LogProb | None = None
    n_end: Annotated[int, Field(ge=0)] = 0
    finish: StrictStr | None = None

    @model_validator(mode="after")
    def _one_of_each_per_token(self) -> Self:
        lists = {name: getattr(self, name) for name in ("tokens", "logprobs", "entropies")}
        sizes = {name: len(values) for name, values in lists.items() if values is not None}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"one entry per token was expected; got {sizes}")
        if sizes and self.n_end > next(iter(sizes.values())):
            raise ValueError(f"n_end is {self.n_end}, more than there are tokens")
        return self

    @property
    def total_logprob(self) -> float | None:
        """Log-probability of the whole answer, its end included where the model told it; None if unknown."""
        if self.logprob is not None or self.logprobs is None:
            return self.logprob
        return sum(self.logprobs)

    @property
    def text_logprobs(self) -> tuple[float, ...] | None:
        """Log-probabilities of the tokens of the text, without those that ended it."""
        return None if self.logprobs is None else self.logprobs[: len(self.logprobs) - self.n_end]


class AnswerRecord(BaseModel):
    """Everything known of one question: a greedy answer, sampled ones, and how they were made.

    Parameters
    ----------
    id
        Names the question within its file.
    question, references
        What was asked, and the right answers if they are known.
    greedy
        The answer of the likeliest token at every step, or None.
    samples
        Answers drawn at random.
    model, settings
        What made the answers, and with which settings.
    meta
        Whatever else the question's line held.

    Examples
    --------
    >>> record = AnswerRecord(id="q1", question="2 + 2?", greedy=Answer(text="4", logprobs=(-0.1, -0.2), n_end=1))
    >>> round(record.greedy.total_logprob, 6), record.greedy.text_logprobs
    (-0.3, (-0.1,))
    >>> parse_record(record.to_line(), "answers.jsonl, line 1") == record
    True
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    vecuq_answers: Literal[1] = 1
    id: StrictStr
    question: StrictStr | None = None
    references: Annotated[tuple[StrictStr, ...], Field(max_length=MOST_ANSWERS, fail_fast=True)] = ()
    greedy: Answer | None = None
    samples: Annotated[tuple[Answer, ...], Field(max_length=MOST_ANSWERS, fail_fast=True)] = ()
    model: StrictStr | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    meta: dict[str, Any] = Field(default_factory=dict)

    def to_line(self) -> str:
        """Return the record as one line of JSON, without its line end and without what is not known."""
        return f'{{"vecuq_answers":{SCHEMA_VERSION},{self.model_dump_json(exclude_defaults=True)[1:]}'


def parse_record(line: str | bytes, place: str) -> AnswerRecord:
    """Return the record of a line; ``place`` names file and line for the error."""
    try:
        return AnswerRecord.model_validate(json.loads(line))
    except ValidationError as error:
        raise TableError(f"{place}: {why_invalid(error)}") from None
    except (ValueError, RecursionError):
        raise TableError(f"{place}: not valid JSON.") from None


def why_invalid(error: ValidationError) -> str:
    """Return what is wrong with a line, and where in it, as one short line."""
    first = error.errors(include_url=False, include_context=False, include_input=True)[0]
    where = ".".join(map(str, first["loc"]))
    if where == "vecuq_answers":
        newer = isinstance(first["input"], int) and first["input"] > SCHEMA_VERSION
        return f"answers of schema {one_line(first['input'], most=20)}; this vecuq reads {SCHEMA_VERSION}." + (
            " Upgrade vecuq." if newer else ""
        )
    more = f", and {error.error_count() - 1} more" if error.error_count() > 1 else ""
    return f"{where + ': ' if where else ''}{one_line(first['msg'], most=120)}{more}."

"""The record of an answer: one per question, one JSON object per line, with a versioned schema.

Log-probabilities are natural logarithms under the model itself (temperature 1), entropies are in nats.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError, model_validator

from vecuq._check import one_line
from vecuq.errors import TableError

SCHEMA_VERSION = 1
MOST_TOKENS = 1_000_000
MOST_ANSWERS = 10_000

# Rounding of half precision may take a log-probability above 0, or an entropy below it, by this much and no more.
LogProb = Annotated[float, Field(le=1e-2, allow_inf_nan=False)]
Entropy = Annotated[float, Field(ge=-1e-2, allow_inf_nan=False)]
Similarity = Annotated[float, Field(ge=-1e-5, le=1 + 1e-5, allow_inf_nan=False)]
# A list of a million wrong entries is one error, not a million.
_PER_TOKEN = Field(max_length=MOST_TOKENS, fail_fast=True)
_PER_ANSWER = Field(max_length=MOST_ANSWERS, fail_fast=True)
_Tokens = Annotated[tuple[StrictStr, ...], _PER_TOKEN]
_LogProbs = Annotated[tuple[LogProb, ...], _PER_TOKEN]
_Entropies = Annotated[tuple[Entropy, ...], _PER_TOKEN]
_Similarities = Annotated[tuple[Similarity, ...], _PER_TOKEN]
_LISTS = ("tokens", "logprobs", "entropies", "margins", "certainties", "token_similarity")
_Nli = tuple[Similarity, Similarity, Similarity]


class Answer(BaseModel):
    """One generated text, and what is known about each of its tokens. What is not known is None.

    Parameters
    ----------
    text
        The answer, without surrounding blanks and without the stop string; None where only its numbers are known.
    tokens
        The pieces of text, one per token; the last ``n_end`` of them end the answer and are no part of its text.
    logprobs
        Log-probability of each token, in the order of ``tokens``; at most 0.
    entropies
        Entropy of the distribution that each token was chosen from; at least 0.
    entropy_top_k
        None if the entropies run over the whole vocabulary, else the number of most likely tokens they run over.
    entropy_renormalised
        Whether the probabilities of those k tokens were divided by their sum.
    logprob
        Log-probability of the whole answer; where it is given it counts, and not the sum of ``logprobs``.
    n_end
        How many of the last tokens ended the answer: an end-of-sequence token, or the tokens of a stop string. They
        count in its probability, and not in its length.
    finish
        Why generation ended: ``stop`` or ``length``, as servers call it; ``refusal`` or ``tool_calls`` where the text
        is one.
    margins
        Probability of the most likely token at every step minus that of the second; between 0 and 1.
    certainties
        Kullback-Leibler divergence from the uniform law to the distribution at every step, in nats, over the same
        tokens as the entropies; at least 0.
    token_similarity
        Similarity of question and answer to the same text without each token, for
        ``TextSettings(similarity="recorded")``.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    text: StrictStr | None
    tokens: _Tokens | None = None
    logprobs: _LogProbs | None = None
    entropies: _Entropies | None = None
    entropy_top_k: Annotated[int, Field(ge=1)] | None = None
    entropy_renormalised: bool = False
    logprob: LogProb | None = None
    n_end: Annotated[int, Field(ge=0)] = 0
    finish: StrictStr | None = None
    margins: _Similarities | None = None
    certainties: _Entropies | None = None
    token_similarity: _Similarities | None = None

    @model_validator(mode="after")
    def _one_of_each_per_token(self) -> Self:
        lists = {name: getattr(self, name) for name in _LISTS}
        sizes = {name: len(values) for name, values in lists.items() if values is not None}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"one entry per token was expected; got {sizes}")
        if sizes and self.n_end > next(iter(sizes.values())):
            raise ValueError(f"n_end is {self.n_end}, more than there are tokens")
        return self

    @property
    def total_logprob(self) -> float | None:
        """Log-probability of the whole answer, its end included where that is known; None if unknown.

        No tokens add up to 0, a probability of 1: an answer without any has no known probability.
        """
        return sum(self.logprobs) if self.logprob is None and self.logprobs else self.logprob

    @property
    def text_logprobs(self) -> tuple[float, ...] | None:
        """Log-probabilities of the tokens of the text, without those that ended it."""
        return None if self.logprobs is None else self.logprobs[: len(self.logprobs) - self.n_end]

    @property
    def text_tokens(self) -> tuple[str, ...] | None:
        """The tokens of the text, without those that ended it."""
        return None if self.tokens is None else self.tokens[: len(self.tokens) - self.n_end]

    @staticmethod
    def of(given: Answer | Mapping[str, Any] | str) -> Answer:
        """Make an answer of a text, or of a mapping with the fields above; see :meth:`AnswerRecord.of`."""
        if isinstance(given, Answer):
            return given
        return _unchecked_answer({"text": given} if isinstance(given, str) else _known_fields(given, Answer))


class AnswerRecord(BaseModel):
    """Everything known about one question: a greedy answer, sampled ones, and how they were made.

    Parameters
    ----------
    id
        Names the question within its file.
    question, references
        The question, and the right answers if they are known.
    greedy
        The answer with the most likely token at every step, or None.
    samples
        Answers drawn at random.
    model, settings
        The model that made the answers, and its settings.
    meta
        The other fields of the question's line.
    similarity_to_samples, similarity_of_samples
        (samples,) similarity of the greedy answer to each sample, and (samples, samples) of the samples to each other,
        computed beforehand, for ``TextSettings(similarity="recorded")``.
    nli_of_samples
        (samples, samples, 3) probabilities of contradiction, neutral and entailment; premise first; for
        ``TextSettings(nli="recorded")``.
    quality
        The verdict of whoever judged the answer already, between 0 (wrong) and 1 (right).
    p_true
        The probability of "true" that the model gave when it was shown its own answer.
    confidence, confidence_words
        How sure the model said it was: a number between 0 and 1, or its words.

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
    references: Annotated[tuple[StrictStr, ...], _PER_ANSWER] = ()
    greedy: Answer | None = None
    samples: Annotated[tuple[Answer, ...], _PER_ANSWER] = ()
    model: StrictStr | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    meta: dict[str, Any] = Field(default_factory=dict)
    similarity_to_samples: _Similarities | None = None
    similarity_of_samples: Annotated[tuple[_Similarities, ...], _PER_ANSWER] | None = None
    nli_of_samples: Annotated[tuple[Annotated[tuple[_Nli, ...], _PER_ANSWER], ...], _PER_ANSWER] | None = None
    quality: Similarity | None = None
    p_true: Similarity | None = None
    confidence: Similarity | None = None
    confidence_words: StrictStr | None = None

    @staticmethod
    def of(given: AnswerRecord | Mapping[str, Any]) -> AnswerRecord:
        """Make a record of a mapping in memory.

        Its keys are the fields of the record; the fields of the greedy answer stand beside them. A sample is a mapping
        or a text. ``token_logprobs`` and ``token_entropies`` are other names of ``logprobs`` and ``entropies``. Numbers
        are checked where they are used, so a log-probability may be missing (None) or minus infinity.

        Examples
        --------
        >>> record = AnswerRecord.of({"text": "Paris", "samples": ["Paris", {"text": "Lyon", "logprobs": [-2.0]}]})
        >>> record.greedy.text, record.samples[1].total_logprob
        ('Paris', -2.0)
        """
        if isinstance(given, AnswerRecord):
            return given
        fields = _known_fields(given, Answer, AnswerRecord)
        said = {name: fields.pop(name) for name in Answer.model_fields if name in fields}
        if said and fields.get("greedy") is not None:
            raise TableError(f"`greedy` holds the greedy answer already; leave out {list(said)}.")
        if said or fields.get("greedy") is not None:
            fields["greedy"] = Answer.of(said or fields["greedy"])
        fields["samples"] = tuple(map(Answer.of, fields.get("samples") or ()))
        fields |= {name: _as_tuples(fields[name]) for name in _RECORDED if name in fields}
        return AnswerRecord.model_construct(**{"id": "", **fields})

    def to_line(self) -> str:
        """Return the record as one line of JSON, without its line end and without what is not known."""
        return f'{{"vecuq_answers":{SCHEMA_VERSION},{self.model_dump_json(exclude_defaults=True)[1:]}'


_RECORDED = ("similarity_to_samples", "similarity_of_samples", "nli_of_samples", "references")
_OTHER_NAMES = {"token_logprobs": "logprobs", "token_entropies": "entropies"}


def _known_fields(given: Any, *kinds: type[BaseModel]) -> dict[str, Any]:
    names = [name for kind in kinds for name in kind.model_fields]
    if not isinstance(given, Mapping):
        raise TableError(f"An answer must be a mapping with keys such as {names[:3]}; got {type(given).__name__}.")
    fields = {_OTHER_NAMES.get(str(name), str(name)): value for name, value in given.items()}
    unknown = [name for name in fields if name not in names]
    if unknown:
        raise TableError(f"An answer has no {unknown}. It may have {names}.")
    return fields


def _unchecked_answer(fields: dict[str, Any]) -> Answer:
    """Return an answer whose lists have the right types; their values may be missing or infinite."""
    if not isinstance(fields.setdefault("text", None), str | None):
        raise TableError(f"`text` must be a text or None; got {one_line(repr(fields['text']), most=60)}.")
    for name in ("logprobs", "entropies"):
        if fields.get(name) is not None:
            fields[name] = _numbers(name, fields[name])
    fields |= {name: _as_tuples(fields[name]) for name in ("tokens", "token_similarity") if name in fields}
    return Answer.model_construct(**fields)


def _as_tuples(values: Any) -> Any:
    """Return lists and arrays, however deep, as tuples."""
    listed = values.tolist() if hasattr(values, "tolist") else values
    return tuple(map(_as_tuples, listed)) if isinstance(listed, list | tuple) else listed


def _numbers(name: str, values: Iterable[Any]) -> tuple[float, ...]:
    try:
        return tuple(math.nan if value is None else float(value) for value in values)
    except (TypeError, ValueError):
        raise TableError(f"`{name}` must be a list of numbers; got {one_line(repr(values), most=60)}.") from None


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

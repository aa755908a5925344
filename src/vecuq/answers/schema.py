"""The record of an answer: one per question, one JSON object per line, with a versioned schema.

Log-probabilities are natural logarithms under the model itself (temperature 1), entropies are in nats.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping
from copy import copy
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from vecuq._check import one_line
from vecuq.errors import TableError

SCHEMA_VERSION = 1
MOST_TOKENS = 1_000_000
MOST_ANSWERS = 10_000

# Rounding of half precision may take a log-probability above 0, or an entropy below it, by this much and no more.
# Bounds on both sides refuse NaN and infinity too.
_MOST = sys.float_info.max
LogProb = Annotated[float, Meta(ge=-_MOST, le=1e-2)]
Entropy = Annotated[float, Meta(ge=-1e-2, le=_MOST)]
Similarity = Annotated[float, Meta(ge=-1e-5, le=1 + 1e-5)]
Count = Annotated[int, Meta(ge=0)]
_PER_TOKEN = Meta(max_length=MOST_TOKENS)
_PER_ANSWER = Meta(max_length=MOST_ANSWERS)
_Tokens = Annotated[tuple[str, ...], _PER_TOKEN]
_LogProbs = Annotated[tuple[LogProb, ...], _PER_TOKEN]
_Entropies = Annotated[tuple[Entropy, ...], _PER_TOKEN]
_Similarities = Annotated[tuple[Similarity, ...], _PER_TOKEN]
_LISTS = ("tokens", "logprobs", "entropies", "margins", "certainties", "token_similarity")
_TEXTS = frozenset(("text", "tokens", "finish", "id", "question", "references", "model", "confidence_words"))
_Nli = tuple[Similarity, Similarity, Similarity]
Made = TypeVar("Made", bound=msgspec.Struct)


class _Checked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Fields that are checked when they are given."""

    def __post_init__(self) -> None:
        """Check the fields, and turn lists and arrays into tuples."""
        checked = _converted(self, _plain_struct(type(self)))
        for name in self.__struct_fields__:
            msgspec.structs.force_setattr(self, name, getattr(checked, name))
        try:
            msgspec.json.encode([getattr(self, name, None) for name in _TEXTS])
        except UnicodeEncodeError:
            raise TableError("a text has half a character, which cannot be written.") from None

    def model_dump(self, *, exclude_none: bool = False) -> dict[str, Any]:
        """Return the fields as a dict, as objects of SDKs do."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        kept = {name: value for name, value in fields.items() if not exclude_none or value is not None}
        return {name: _dumped(value, exclude_none) for name, value in kept.items()}


class Answer(_Checked, frozen=True, kw_only=True, omit_defaults=True):
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

    text: str | None
    tokens: _Tokens | None = None
    logprobs: _LogProbs | None = None
    entropies: _Entropies | None = None
    entropy_top_k: Annotated[int, Meta(ge=1)] | None = None
    entropy_renormalised: bool = False
    logprob: LogProb | None = None
    n_end: Count = 0
    finish: str | None = None
    margins: _Similarities | None = None
    certainties: _Entropies | None = None
    token_similarity: _Similarities | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = {name: len(value) for name in _LISTS if (value := getattr(self, name)) is not None}
        if len(set(sizes.values())) > 1:
            raise TableError(f"one entry per token was expected; got {sizes}")
        if sizes and self.n_end > next(iter(sizes.values())):
            raise TableError(f"n_end is {self.n_end}, more than there are tokens")

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


class AnswerRecord(_Checked, frozen=True, kw_only=True, omit_defaults=True):
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

    vecuq_answers: Literal[1] = 1
    id: str
    question: str | None = None
    references: Annotated[tuple[str, ...], _PER_ANSWER] = ()
    greedy: Answer | None = None
    samples: Annotated[tuple[Answer, ...], _PER_ANSWER] = ()
    model: str | None = None
    settings: dict[str, Any] = {}
    meta: dict[str, Any] = {}
    similarity_to_samples: _Similarities | None = None
    similarity_of_samples: Annotated[tuple[_Similarities, ...], _PER_ANSWER] | None = None
    nli_of_samples: Annotated[tuple[Annotated[tuple[_Nli, ...], _PER_ANSWER], ...], _PER_ANSWER] | None = None
    quality: Similarity | None = None
    p_true: Similarity | None = None
    confidence: Similarity | None = None
    confidence_words: str | None = None

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
        said = {name: fields.pop(name) for name in Answer.__struct_fields__ if name in fields}
        if said and fields.get("greedy") is not None:
            raise TableError(f"`greedy` holds the greedy answer already; leave out {list(said)}.")
        if said or fields.get("greedy") is not None:
            fields["greedy"] = Answer.of(said or fields["greedy"])
        fields["samples"] = tuple(map(Answer.of, fields.get("samples") or ()))
        fields |= {name: _as_tuples(fields[name]) for name in _RECORDED if name in fields}
        return changed(AnswerRecord(id=""), **fields)

    def to_line(self) -> str:
        """Return the record as one line of JSON, without its line end and without what is not known."""
        try:
            return f'{{"vecuq_answers":{SCHEMA_VERSION},{msgspec.json.encode(self).decode()[1:]}'
        except (TypeError, UnicodeEncodeError, RecursionError) as error:
            raise TableError(f"{one_line(error)}.") from None


_RECORDED = ("similarity_to_samples", "similarity_of_samples", "nli_of_samples", "references")
_OTHER_NAMES = {"token_logprobs": "logprobs", "token_entropies": "entropies"}


def _known_fields(given: Any, *kinds: type[msgspec.Struct]) -> dict[str, Any]:
    names = [name for kind in kinds for name in kind.__struct_fields__]
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
    for name in ("logprobs", "entropies", "margins", "certainties"):
        if fields.get(name) is not None:
            fields[name] = _numbers(name, fields[name])
    fields |= {name: _as_tuples(fields[name]) for name in ("tokens", "token_similarity") if name in fields}
    return changed(Answer(text=None), **fields)


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
        return checked_record(json.loads(line))
    except TableError as error:
        raise TableError(f"{place}: {error}") from None
    except (ValueError, RecursionError):
        raise TableError(f"{place}: not valid JSON.") from None


def checked_record(fields: Any) -> AnswerRecord:
    """Return the record of a mapping that follows our schema; fields that it does not know are left out."""
    version = fields.get("vecuq_answers", SCHEMA_VERSION) if isinstance(fields, Mapping) else SCHEMA_VERSION
    if version != SCHEMA_VERSION:
        newer = " Upgrade vecuq." if isinstance(version, int) and version > SCHEMA_VERSION else ""
        raise TableError(f"answers of schema {one_line(version, most=20)}; this vecuq reads {SCHEMA_VERSION}.{newer}")
    return _converted(fields, AnswerRecord)  # type: ignore[no-any-return]


def changed(made: Made, **fields: Any) -> Made:
    """Return an answer or a record with other fields, which are taken as they are."""
    made = copy(made)
    for name, value in fields.items():
        msgspec.structs.force_setattr(made, name, value)
    return made


def _dumped(value: Any, exclude_none: bool) -> Any:
    if isinstance(value, tuple):
        return tuple(_dumped(one, exclude_none) for one in value)
    return value.model_dump(exclude_none=exclude_none) if isinstance(value, _Checked) else value


@lru_cache(maxsize=2)
def _plain_struct(kind: type[msgspec.Struct]) -> Any:
    """Return a Struct with the same fields, whose making checks nothing more."""
    return msgspec.defstruct(kind.__name__, [(field.name, field.type) for field in msgspec.structs.fields(kind)])


def _converted(value: Any, kind: Any) -> Any:
    """Return a value as its type; numbers may be written as text, and come from NumPy."""
    try:
        return msgspec.convert(value, kind, strict=False, from_attributes=True)
    except msgspec.ValidationError:
        try:
            return msgspec.convert(_plain(value), kind, strict=False, from_attributes=True)
        except msgspec.ValidationError as error:
            raise TableError(_why(str(error))) from None


def _plain(value: Any) -> Any:
    """Return lists of Python's own numbers in place of arrays, sets and iterators; true is 1."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, msgspec.Struct):
        return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, bool) else value


def _why(said: str) -> str:
    """Return what is wrong, its place first: ``Expected `float`, got `str` - at `$[3]``` becomes ours."""
    what, _, place = said.rpartition(" - at ") if " - at " in said else (said, "", "")
    where = place.strip("`").removeprefix("$").removeprefix(".")
    plain = one_line(what.replace("`", ""), most=120)
    return f"{where}: {plain[:1].lower()}{plain[1:]}" if where else plain

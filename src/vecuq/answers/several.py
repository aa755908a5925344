"""Several replies in one line: a server's list for one request, replies under ``responses``, or ``samples`` beside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from vecuq.answers.fields import as_list
from vecuq.answers.lines import Entry, TornFileError
from vecuq.answers.parts import Part
from vecuq.answers.readers.envelope import Envelope
from vecuq.answers.readers.sglang import is_sglang
from vecuq.answers.schema import MOST_ANSWERS, Answer
from vecuq.errors import TableError

Fields = Mapping[str, Any]
_NAMES = ("responses", "response", "replies")
_UNKNOWN = (
    "a list of replies of SGLang without their prompts: they may be samples of one question or answers to several. "
    "Add `question` to each, or write the samples of one question as a list on one line of a .jsonl file."
)


def listed_as_one(listed: list[Any]) -> Fields:
    """Return the list of a line as one object, where servers return such lists; any other is an error."""
    known = all(isinstance(one, Mapping) and ("generated_text" in one or is_sglang(one)) for one in listed)
    if not listed or not known:
        raise TableError(
            "a JSON object was expected, not a list; write one object per line, or name a whole list .json."
        )
    sizes = {one["meta_info"].get("prompt_tokens") for one in listed if is_sglang(one)}
    if len(sizes) > 1:
        raise TableError("the replies of a list answer several prompts (their `prompt_tokens` differ); add `question`.")
    only: Fields = listed[0]
    return only if len(listed) == 1 else {_NAMES[0]: listed}


def replies_in(fields: Fields) -> list[Fields]:
    """Return the replies of a line that holds several, each with what surrounds them; the line itself otherwise.

    Examples
    --------
    >>> replies_in({"question": "Why?", "responses": [{"text": "a"}, {"text": "b"}]})[1]
    {'question': 'Why?', 'response': {'text': 'b'}}
    """
    name = next((one for one in _NAMES if _are_replies(fields.get(one))), None)
    if name is None:
        return [fields]
    listed = as_list(fields[name], name, most=MOST_ANSWERS)
    around = {other: value for other, value in fields.items() if other != name}
    return [{**around, "response": one} for one in listed] if around else listed


def _are_replies(given: Any) -> bool:
    return isinstance(given, list) and bool(given) and all(isinstance(one, Mapping) for one in given)


def samples_beside(fields: Fields) -> list[Any]:
    """Return the samples that an application logged beside its reply: a list of texts or replies; else none.

    Examples
    --------
    >>> samples_beside({"response": {"text": "a"}, "samples": ["b"]}), samples_beside({"text": "a", "samples": [3]})
    (['b'], [])
    """
    listed = fields.get("samples")
    if not isinstance(listed, list) or not all(isinstance(one, str | Mapping) for one in listed):
        return []
    return as_list(listed, "samples", most=MOST_ANSWERS)


def with_samples(said: Sequence[Part], drawn: Sequence[Part], *, number: int | None) -> list[Part]:
    """Return the answer of a line as the one in question, and its samples; ``number`` names a line without a name."""
    if len(said) != 1 or len(said[0].answers) != 1:
        many = sum(len(part.answers) for part in said)
        raise TableError(f"the line has `samples` beside {many:,} answers; beside samples there must be one.")
    numbered = said[0].id is said[0].question is None is not number
    name = str(number) if numbered else said[0].id
    answer = replace(said[0], role="greedy", id=name, is_numbered=numbered)
    answers = tuple(one for part in drawn for one in part.answers)
    # What holds for the answer too is said once, or it would be counted twice for one question.
    notes = tuple(dict.fromkeys(note for part in drawn for note in part.notes if note not in answer.notes))
    return [answer, replace(answer, answers=answers, role="samples", notes=notes)] if answers else [answer]


def sampled_text(text: str) -> Part:
    """Return the part of a sample that is a text."""
    return Part((Answer(text=text.strip()),), "samples")


def together(said: Sequence[Sequence[Part]]) -> list[Part]:
    """Return the parts of each reply of a line as one part; those with an id, question or role of their own stay."""
    parts = [part for one in said for part in one]
    names = {(part.id, part.question, part.role) for part in parts}
    if len(said) == 1 or len(names) > 1 or any(len(one) > 1 or one[0].prompts for one in said):
        return parts
    answers = tuple(answer for part in parts for answer in part.answers)
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    return [replace(parts[0], answers=answers, notes=notes)]


def known_apart(entries: Iterator[Entry]) -> Iterator[Entry]:
    """Yield the entries of a list; where they are replies of SGLang and nothing says of which question, as problems."""
    held: Entry | None = None
    unknown: bool | None = None
    try:
        for entry in entries:
            if unknown is None and held is None:
                held = entry
                continue
            if unknown is None and held is not None:
                unknown = _is_nameless(held) and _is_nameless(entry)
                yield held._replace(problem=_UNKNOWN) if unknown else held
            yield entry._replace(problem=_UNKNOWN) if unknown and _is_nameless(entry) else entry
    except TornFileError:
        yield from [held] if unknown is None and held is not None else []
        raise
    yield from [held] if unknown is None and held is not None else []


def _is_nameless(entry: Entry) -> bool:
    """Whether an entry is a reply of SGLang, which has no id and no question."""
    try:
        fields = entry.fields()
        if not isinstance(fields, Mapping) or not is_sglang(fields):
            return False
        envelope = Envelope.of(fields)
        return envelope.name is None and envelope.question is None
    except TableError:
        return False

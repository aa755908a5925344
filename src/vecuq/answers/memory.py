"""Replies in memory: the object of an SDK, a mapping or a text becomes the record that a file would give."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from typing import Any, TypeVar

from vecuq.answers.fields import plain_fields
from vecuq.answers.line_formats import parts_of_fields
from vecuq.answers.parts import Part, joined
from vecuq.answers.schema import Answer, AnswerRecord, changed, checked_record
from vecuq.errors import TableError

_WAYS = ("model_dump", "to_dict", "dict")
# A mapping with one of these follows our schema, and no other has them.
_OURS = frozenset(
    ("vecuq_answers", "greedy", "samples", "n_end", "finish", "logprob", "margins", "certainties", "token_similarity")
)
_NEEDED = ("a text, a mapping or an object of an SDK (with model_dump, to_dict or dict)", ", or None")
Result = TypeVar("Result")


def record_of(
    reply: Any,
    *,
    samples: Any = (),
    question: str | None = None,
    references: Sequence[str] = (),
    id: str = "",
    renormalise: bool = False,
) -> AnswerRecord:
    """Return the record of a reply in memory, read by the same formats as files.

    Parameters
    ----------
    reply
        The answer: an object of an SDK (anything with ``model_dump``, ``to_dict`` or ``dict``, or a dataclass), a
        mapping of any known format or of our own schema, a text, or None if there are only samples. It is the greedy
        answer of the record, whatever its temperature. A reply with several choices has no greedy answer: all of them
        are samples, as in files.
    samples
        A list of texts, mappings and objects as above, or one reply with several choices.
    question, references, id
        Override what the reply says.
    renormalise
        Whether the probabilities of the k most likely tokens are divided by their sum before an entropy is computed.

    Returns
    -------
    AnswerRecord
        What readers decided, such as log-probs left out since they do not belong to the text, is a list under
        ``notes`` in its ``meta``.

    Examples
    --------
    >>> reply = {"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}]}
    >>> record = record_of(reply, samples=["Paris", "Lyon"], question="Capital of France?")
    >>> record.greedy.text, [sample.text for sample in record.samples]
    ('Paris', ['Paris', 'Lyon'])
    """
    fields = _checked("reply", lambda: _fields(reply, "reply"))
    own = _checked("reply", lambda: _own(fields))
    drawn = [part for one in _listed(samples) for part in _sampled(one, renormalise)]
    record = _with_samples(own, drawn) if own is not None else _of_formats(fields, drawn, renormalise)
    if not isinstance(id, str):
        raise TableError(f"`id` must be a text; got {type(id).__name__}.")
    record = changed(record, id=id or record.id, references=tuple(references) or record.references)
    return record if question is None else changed(record, question=question)


def plain_reply(given: Any, *, name: str = "reply") -> Any:
    """Return a reply as a text, or as a dict that JSON can hold: what a service is sent, for it to read like `given`.

    Examples
    --------
    >>> plain_reply("Paris"), plain_reply(Answer(text="Paris"))["greedy"]["text"]
    ('Paris', 'Paris')
    """
    if given is None or isinstance(given, str):
        return given
    fields = _checked(name, lambda: _fields(given, name))
    return json.loads(fields.to_line()) if isinstance(fields, AnswerRecord) else dict(fields)


def plain_samples(samples: Any) -> list[Any]:
    """Return samples one by one, each as :func:`plain_reply` gives it."""
    return [plain_reply(one, name="samples") for one in _listed(samples)]


def _of_formats(fields: Mapping[str, Any] | None, drawn: list[Part], renormalise: bool) -> AnswerRecord:
    """Return the record of a reply of another program."""
    said = [] if fields is None else _checked("reply", lambda: _parts_of_one(fields, renormalise))
    parts = [*_with_role(said, bool(drawn)), *drawn]
    record = _checked("reply", lambda: joined(next((part.id for part in said if part.id), ""), parts))
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    return changed(record, meta={**record.meta, "notes": notes}) if notes else record


def _with_role(said: list[Part], has_samples: bool) -> list[Part]:
    """Return the part of a reply with its role: one answer is the greedy one, several are samples."""
    if len(said) > 1:  # a result that has both
        return said
    for part in said:
        if len(part.answers) == 1:
            return [replace(part, role="greedy")]
        if has_samples:
            many = f"{len(part.answers):,}"
            raise TableError(f"`reply` has {many} answers; beside `samples` it must be one. Put all into `samples`.")
    return [replace(part, role="samples") for part in said]


def _with_samples(record: AnswerRecord, drawn: list[Part]) -> AnswerRecord:
    """Return a record of our own with samples that came beside it."""
    if not drawn:
        return record
    if record.samples:
        raise TableError("`reply` holds samples already; leave out `samples`.")
    return changed(record, samples=tuple(answer for part in drawn for answer in part.answers))


def _sampled(given: Any, renormalise: bool) -> list[Part]:
    """Return the part of one sample, or of one reply with several."""
    if isinstance(given, str):
        return [_checked("samples", lambda: Part((Answer(text=given.strip()),), "samples"))]
    fields = _checked("samples", lambda: _fields(given, "samples"))
    if fields is None:
        raise TableError("`samples` must not hold None.")
    own = _checked("samples", lambda: _own(fields))
    if own is not None:
        return [Part((*([own.greedy] if own.greedy else []), *own.samples), "samples")]
    return _checked("samples", lambda: _parts_of_one(fields, renormalise, role="samples"))


def _listed(samples: Any) -> Sequence[Any]:
    """Return the samples one by one; a single reply may hold several."""
    if samples is None:
        return ()
    if isinstance(samples, str):
        raise TableError("`samples` must be a list of texts or replies; got one text.")
    return samples if isinstance(samples, list | tuple) else [samples]


def _own(fields: Any) -> AnswerRecord | None:
    """Return a record that follows our schema; None for anything else."""
    if fields is None or isinstance(fields, AnswerRecord):
        return fields
    if "vecuq_answers" in fields:
        return checked_record(fields)
    is_logged = isinstance(fields.get("response"), Mapping)  # a line of a log, which may have samples beside
    return None if is_logged or _OURS.isdisjoint(fields) else AnswerRecord.of(fields)


def _parts_of_one(fields: Mapping[str, Any], renormalise: bool, *, role: str | None = None) -> list[Part]:
    """Return the parts of a reply, which must answer one question: one, or an answer and its samples."""
    parts = parts_of_fields(fields, renormalise=renormalise)
    n_questions = max(Counter(part.role for part in parts).values(), default=0)
    if n_questions > 1:
        raise TableError(f"it answers {n_questions:,} questions; give the answers to one.")
    if not parts or not all(part.answers for part in parts):
        raise TableError("it is a request, without an answer.")
    return [replace(part, role=role or part.role, meta=part.meta or plain_fields(fields)) for part in parts]


def _fields(given: Any, name: str) -> Any:
    """Return a record, a mapping or None; a text is a mapping with a text."""
    if given is None or isinstance(given, AnswerRecord):
        return given
    if isinstance(given, str):
        return AnswerRecord(id="", greedy=Answer(text=given.strip()))
    if isinstance(given, Answer):
        return AnswerRecord(id="", greedy=given)
    found = _dumped(given)
    if not isinstance(found, Mapping):
        none = _NEEDED[1] if name == "reply" else ""
        raise TableError(f"it must be {_NEEDED[0]}{none}; got {type(given).__name__}.")
    held = {key: value for key, value in found.items() if hasattr(value, "model_dump") or isinstance(value, list)}
    return {**found, **{key: _dumped(value) for key, value in held.items()}} if held else found


def _dumped(given: Any) -> Any:
    """Return the fields of an object of an SDK; anything else as it is."""
    if isinstance(given, Mapping):
        return given
    if isinstance(given, list):
        return [_dumped(one) if hasattr(one, "model_dump") else one for one in given]
    if is_dataclass(given) and not isinstance(given, type):
        return asdict(given)
    way = next((getattr(given, name) for name in _WAYS if callable(getattr(given, name, None))), None)
    if way is None or isinstance(given, type):
        return given
    try:
        return way(warnings=False)  # some SDKs fill models with values of other types, and pydantic would warn
    except TypeError:
        return way()


def _checked(name: str, read: Callable[[], Result]) -> Result:
    """Return what a reader makes of an argument; its errors name the argument."""
    try:
        return read()
    except TableError as error:
        raise TableError(f"`{name}` cannot be read: {error}") from None

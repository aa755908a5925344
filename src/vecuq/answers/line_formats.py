"""Which format a line has, and its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vecuq._check import one_line
from vecuq.answers.fields import as_list, plain_fields
from vecuq.answers.hints import hint_of
from vecuq.answers.lines import Entry
from vecuq.answers.mapping import FieldMap
from vecuq.answers.parts import Part, parts_of_record
from vecuq.answers.readers import Format, formats
from vecuq.answers.readers.envelope import Envelope
from vecuq.answers.schema import MOST_ANSWERS, SCHEMA_VERSION, checked_record
from vecuq.answers.several import listed_as_one, replies_in, sampled_text, samples_beside, together, with_samples
from vecuq.errors import TableError

# Within a text the quotes would be escaped, so this is the name of a field.
_MARK = b'"vecuq_answers"'


def kinds() -> tuple[str, ...]:
    """Return what ``kind`` may be: ``"auto"``, ``"vecuq"`` for our own lines, or the name of a format."""
    return ("auto", "vecuq", *formats())


def is_ours(content: Any) -> bool:
    """Whether a line says that it follows our schema; it is not parsed for this."""
    return isinstance(content, bytes) and _MARK in content


def parts_of(entry: Entry, kind: str, *, renormalise: bool = False) -> list[Part]:
    """Return the parts of an entry, read as one kind, or as the kind that is recognised."""
    fields = _object(entry.fields())
    if kind == "vecuq" or (kind == "auto" and is_ours(entry.content)):
        return parts_of_record(checked_record(fields))
    found = parts_of_fields(fields, kind, renormalise=renormalise, number=entry.number)
    meta = plain_fields(fields)
    made = [part if part.meta else replace(part, meta=meta) for part in found]
    return [replace(part, notes=part.notes + entry.notes) for part in made] if entry.notes else made


def parts_of_fields(
    fields: Mapping[str, Any], kind: str = "auto", *, renormalise: bool = False, number: int | None = None
) -> list[Part]:
    """Return the parts of the fields of a line of another program, which may hold several replies, or samples beside.

    ``number`` names a line with samples that has neither an id nor a question.
    """
    said = _said(fields, kind, renormalise)
    listed = samples_beside(fields)
    if not listed:
        return said
    drawn = [part for one in listed for part in _drawn(one, kind, renormalise)]
    return with_samples(said, drawn, number=number)


def _said(fields: Mapping[str, Any], kind: str, renormalise: bool) -> list[Part]:
    listed = replies_in(fields)
    return together([_format(one, kind).parts(one, renormalise=renormalise) for one in listed])


def _drawn(sample: str | Mapping[str, Any], kind: str, renormalise: bool) -> list[Part]:
    """Return the parts of one sample; one that cannot be read, such as a server's error, is left out with a note."""
    if isinstance(sample, str):
        return [sampled_text(sample)]
    try:
        return _said(sample, kind, renormalise)
    except TableError as error:
        return [Part((), notes=(f"A sample was left out: {error}",))]


def _format(fields: Mapping[str, Any], kind: str) -> Format:
    one = recognised(fields) if kind == "auto" else formats()[kind]
    if one is None:
        if fields.get("error"):
            Envelope.of(fields).refuse_error()
        raise TableError(_unknown(fields))
    return one


def how_read(entry: Entry, kind: str, named: FieldMap | None) -> tuple[str, str]:
    """Return what an entry is read as, and by which fields it is known, in words."""
    if named is not None:
        return "named fields", ", ".join(f"{key}={path.text}" for key, path in named.paths.items())
    if kind == "vecuq" or (kind == "auto" and is_ours(entry.content)):
        return "vecuq", "`vecuq_answers`"
    first = replies_in(_object(entry.fields()))[0]
    one = recognised(first) if kind == "auto" else formats()[kind]
    return ("unknown", "no field that is known") if one is None else (one.name, one.known_by)


def mapped_parts(entry: Entry, named: FieldMap) -> list[Part]:
    """Return the parts of an entry whose fields the user has named."""
    return named.parts(_object(entry.fields()), number=entry.number)


def recognised(fields: Mapping[str, Any]) -> Format | None:
    """Return the first format that recognises some fields."""
    return next((one for one in formats().values() if one.recognises(fields)), None)


def _object(value: Any) -> Mapping[str, Any]:
    """Return a JSON object; the list that a server or a pipeline returns for one prompt becomes one."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, list):
        return listed_as_one(as_list(value, "the list of answers", most=MOST_ANSWERS))
    raise TableError("a JSON object was expected.")


def _unknown(fields: Mapping[str, Any]) -> str:
    known = ", ".join(one_line(name, most=20) for name in list(fields)[:8])
    why = f"no known kind of answers; its fields: {known or 'none'}.{hint_of(fields)}"
    if "greedy" in fields or "samples" in fields:
        why += f' If it follows the schema of vecuq, add "vecuq_answers": {SCHEMA_VERSION} to every line.'
    return why

"""The kinds of lines that are read, and how each is recognised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vecuq._check import one_line
from vecuq.answers.fields import as_list
from vecuq.answers.huggingface import is_huggingface, read_huggingface
from vecuq.answers.lines import Entry
from vecuq.answers.lm_eval import is_lm_eval, read_lm_eval
from vecuq.answers.openai import is_openai, read_openai
from vecuq.answers.parts import Part, parts_of_record
from vecuq.answers.schema import MOST_ANSWERS, SCHEMA_VERSION, AnswerRecord
from vecuq.answers.vllm import is_vllm, read_vllm
from vecuq.errors import TableError

Reader = Callable[..., Part]

# In the order in which they are tried.
_FOREIGN: dict[str, tuple[Callable[[Mapping[str, Any]], bool], Reader]] = {
    "lm-eval": (is_lm_eval, read_lm_eval),
    "openai": (is_openai, read_openai),
    "vllm": (is_vllm, read_vllm),
    "huggingface": (is_huggingface, read_huggingface),
}
KINDS = ("auto", "vecuq", *_FOREIGN)
# Within a text the quotes would be escaped, so this is the name of a field.
_MARK = b'"vecuq_answers"'


def is_ours(content: Any) -> bool:
    """Whether a line says that it follows our schema; it is not parsed for this."""
    return isinstance(content, bytes) and _MARK in content


def parts_of(entry: Entry, kind: str, *, renormalise: bool = False) -> list[Part]:
    """Return the parts of an entry, read as one kind, or as the kind that is recognised."""
    fields = _object(entry.fields())
    if kind == "vecuq" or (kind == "auto" and is_ours(entry.content)):
        return parts_of_record(AnswerRecord.model_validate(fields))
    if kind != "auto":
        return [_FOREIGN[kind][1](fields, renormalise=renormalise)]
    for is_this, read in _FOREIGN.values():
        if is_this(fields):
            return [read(fields, renormalise=renormalise)]
    raise TableError(_unknown(fields))


def _object(value: Any) -> Mapping[str, Any]:
    """Return a JSON object; the list that a pipeline returns for one prompt becomes one."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, list) and value and all(isinstance(one, Mapping) and "generated_text" in one for one in value):
        return {"texts": as_list(value, "the list of answers", most=MOST_ANSWERS)}
    if isinstance(value, list):
        raise TableError(
            "a JSON object was expected, not a list; write one object per line, or name a whole list .json."
        )
    raise TableError("a JSON object was expected.")


def _unknown(fields: Mapping[str, Any]) -> str:
    known = ", ".join(one_line(name, most=20) for name in list(fields)[:8])
    why = f"no known kind of answers ({', '.join(KINDS[1:])}); its fields: {known or 'none'}."
    if "greedy" in fields or "samples" in fields:
        why += f' If it follows the schema of vecuq, add "vecuq_answers": {SCHEMA_VERSION} to every line.'
    return why

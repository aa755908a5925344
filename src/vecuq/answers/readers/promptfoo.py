"""Answers of promptfoo: one result per test, prompt and provider, with the verdict of its assertions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vecuq._check import one_line
from vecuq.answers.fields import as_mapping, as_texts, digest_of, plain_fields
from vecuq.answers.parts import Part
from vecuq.answers.readers.format import Format, Wrapping
from vecuq.answers.readers.messages import conversation
from vecuq.answers.schema import Answer
from vecuq.errors import TableError

# What a result says if the provider failed, and not an assertion.
_PROVIDER_FAILED = 2
_UNGRADED = "No assertions"


def is_promptfoo(fields: Mapping[str, Any]) -> bool:
    """Whether an entry is a result: a prompt, its variables, and what came of it."""
    known = {"prompt", "vars", "success"} <= set(fields) or {"prompt", "testCase", "provider"} <= set(fields)
    return known and isinstance(fields.get("prompt"), Mapping)


def read_promptfoo(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the answer of one provider to one prompt.

    The same prompt given to the same provider again is the same question. Answers of other providers are questions of
    their own, since they are no samples of one model.
    """
    text = _output(fields)
    asked = _asked(fields)
    provider = fields.get("provider")
    name = provider.get("id") if isinstance(provider, Mapping) else provider
    model = name if isinstance(name, str) else None
    known = json.dumps([_raw(fields), fields.get("vars")], sort_keys=True)
    described = as_mapping(fields.get("testCase") or {}, "testCase")
    return Part(
        answers=(Answer(text=text.strip()),),
        id=f"{one_line(model or 'provider', most=80)} {digest_of(known).hex()[:12]}",
        question=asked,
        references=_references(described),
        model=model,
        quality=_verdict(fields),
        meta={**plain_fields(described), **plain_fields(_variables(fields)), **plain_fields(fields)},
    )


def _output(fields: Mapping[str, Any]) -> str:
    """Return what the provider returned; JSON is written out. What failed is an error with its message."""
    response = fields.get("response")
    said = response.get("output") if isinstance(response, Mapping) else None
    if said is None or fields.get("failureReason") == _PROVIDER_FAILED:
        why = (response.get("error") if isinstance(response, Mapping) else None) or fields.get("error")
        raise TableError(
            f"the provider failed: {one_line(why, most=120)}." if why else "there is no `response.output`."
        )
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def _variables(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return fields["vars"] if isinstance(fields.get("vars"), Mapping) else {}


def _asked(fields: Mapping[str, Any]) -> str | None:
    """Return the question among the variables, else the whole prompt."""
    named = _variables(fields).get("question")
    return named if isinstance(named, str) else conversation(_raw(fields))


def _raw(fields: Mapping[str, Any]) -> Any:
    return as_mapping(fields.get("prompt"), "prompt").get("raw")


def _references(test: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the right answers: what the output had to be equal to."""
    checks = test.get("assert")
    listed = [one for one in checks if isinstance(one, Mapping)] if isinstance(checks, list) else []
    equal = [one.get("value") for one in listed if one.get("type") == "equals"]
    return as_texts([one for one in equal if isinstance(one, str | int | float)], "assert")


def _verdict(fields: Mapping[str, Any]) -> float | None:
    """Return the score of the assertions, else whether they passed; None where there were none."""
    graded = fields.get("gradingResult")
    found = graded if isinstance(graded, Mapping) else {}
    test = fields.get("testCase")
    ungraded = not found and isinstance(test, Mapping) and not test.get("assert")
    if ungraded or found.get("reason") == _UNGRADED:
        return None
    for value in (found.get("score"), found.get("pass"), fields.get("score"), fields.get("success")):
        if isinstance(value, int | float) and 0 <= value <= 1:
            return float(value)
    return None


PROMPTFOO = Format(
    "promptfoo",
    "results of promptfoo, .json or .jsonl",
    "an object `prompt` beside `vars` and `success`",
    is_promptfoo,
    read_promptfoo,
    Wrapping(("results.results[*]", "results[*]")),
)

"""What a record looks like that no format recognises, and the map that reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from vecuq.answers.guessing import guessed_paths
from vecuq.answers.paths import flat_leaves
from vecuq.answers.readers import formats

# Paths that can be typed as they are.
_PLAIN = re.compile(r"[\w.*\[\] -]+")


class Lookalike(NamedTuple):
    """A format that is not read: its name, fields that tell it, and the map that reads it."""

    name: str
    fields: frozenset[str]
    map: str


def _like(name: str, fields: str, named: str) -> Lookalike:
    return Lookalike(name, frozenset(fields.split()), named)


LOOKALIKES = (
    _like(
        "HELM (scenario_state.json)",
        "adapter_spec request_states",
        "records=request_states[*],id=instance.id,question=instance.input.text,answer=result.completions[0].text,"
        "tokens=result.completions[0].tokens[*].text,logprobs=result.completions[0].tokens[*].logprob",
    ),
    _like(
        "a test run of DeepEval",
        "testCases",
        "records=testCases[*],question=input,answer=actualOutput,references=expectedOutput,quality=success",
    ),
    _like("test cases of DeepEval", "input actual_output", "question=input,answer=actual_output"),
    _like("Ragas", "user_input response", "question=user_input,answer=response"),
    _like("runs of LangSmith", "inputs outputs run_type", "id=id,question=inputs.input,answer=outputs.output"),
    _like("calls of W&B Weave", "op_name inputs output", "id=id,question=inputs.question,answer=output"),
    _like("traces of Langfuse", "input output observations", "id=id,question=input,answer=output"),
    _like("observations of Langfuse", "traceId input output", "id=id,question=input,answer=output"),
    _like(
        "requests of Helicone",
        "request_body response_body",
        "question=request_body.messages,answer=response_body.choices[0].message.content",
    ),
    _like(
        "events of OpenAI evals",
        "run_id sample_id data",
        "id=sample_id,question=data.prompt,answer=data.sampled",
    ),
)


def hint_of(fields: Mapping[str, Any]) -> str:
    """Return a sentence on what a record looks like, with the map to copy; nothing where it looks like nothing.

    Examples
    --------
    >>> hint_of({"idx": 0, "samples": ["a", "b"], "gt": "18"})
    " Name its fields: map='samples=samples,references=gt'."
    """
    like = next((one for one in LOOKALIKES if one.fields <= set(fields)), None)
    if like is not None:
        return f" This looks like {like.name}; read it with map='{like.map}'."
    if _are_scores(fields):
        return " These look like scores already: give them to `vecuq fit`, without measuring."
    named = _map_of(fields) or next(_maps_inside(fields), None)
    return f" Name its fields: map='{named}'." if named else ""


def _are_scores(fields: Mapping[str, Any]) -> bool:
    numbers = [value for value in fields.values() if isinstance(value, int | float)]
    texts = [value for value in fields.values() if isinstance(value, str) and " " in value.strip()]
    return (
        len(numbers) > 1 and not texts and all(isinstance(value, str | int | float | None) for value in fields.values())
    )


def _map_of(fields: Mapping[str, Any]) -> str | None:
    found = guessed_paths(fields)
    if not {"answer", "samples"} & set(found) or not all(map(_PLAIN.fullmatch, found.values())):
        return None
    # A set of samples by itself: what only may be an id, and comes again, would join it with another.
    if "samples" in found and found.get("id") != "id":
        found.pop("id", None)
    return ",".join(f"{key}={path}" for key, path in found.items())


def _maps_inside(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield maps for lists of objects inside a document: of a known format, or with fields that can be guessed."""
    for path, value in flat_leaves(fields):
        if not (isinstance(value, list) and value and isinstance(value[0], Mapping) and _PLAIN.fullmatch(path)):
            continue
        guessed = _map_of(value[0])
        if any(one.recognises(value[0]) for one in formats().values()):
            yield f"records={path}[*]"
        elif guessed:
            yield f"records={path}[*],{guessed}"

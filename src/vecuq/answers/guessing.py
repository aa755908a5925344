"""What the fields of a record may be, by their names and values: for tables, and for hints on files we do not know."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vecuq.answers.paths import flat_leaves

# Usual names, the most telling first, in small letters and without blanks, dashes and underscores.
_NAMES = {
    "id": ("id", "questionid", "qid", "idx", "index", "sampleid", "docid"),
    "question": ("question", "prompt", "query", "userinput", "instruction", "input", "problem"),
    "answer": (
        *("response", "output", "actualoutput", "completion", "prediction", "generatedtext", "generation", "generated"),
        *("modelanswer", "modeloutput", "greedy", "answer", "text"),
    ),
    "samples": ("samples", "sampledresponses", "sampledanswers", "responses", "generations", "completions", "outputs"),
    "references": (
        *("references", "reference", "gold", "goldanswer", "groundtruth", "gt", "target", "targets", "expected"),
        *("expectedoutput", "correctanswer", "solution", "answers", "answer", "label"),
    ),
    "logprobs": ("logprobs", "tokenlogprobs"),
    "tokens": ("tokens",),
    "quality": ("quality",),
}
_NUMBERED = re.compile(r"(sample|samples|response|answer|output|generation)([_ -]?)\d+")
_MANY = re.compile(r"[^a-z0-9]")


def guessed_paths(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return a path for each key of a map that some field may stand for.

    A field that has the name of an answer and of a reference is the reference if another one is the answer.

    Examples
    --------
    >>> guessed_paths({"idx": 0, "samples": ["a", "b"], "gt": "18"})
    {'id': 'idx', 'samples': 'samples', 'references': 'gt'}
    >>> guessed_paths({"question": "q", "answer": "gold", "response": "said", "sample_1": "x", "sample_2": "y"})
    {'question': 'question', 'answer': 'response', 'samples': 'sample_*', 'references': 'answer'}
    """
    leaves = [(path, value) for path, value in flat_leaves(fields) if value is not None]
    found: dict[str, str] = {}
    for key, names in _NAMES.items():
        named = _first_named(leaves, names, key, set(found.values()))
        if named is not None:
            found[key] = named
    several = _numbered(fields) or _several_texts(leaves, set(found.values()))
    if "samples" not in found and several:
        found["samples"] = several
    return {key: found[key] for key in _NAMES if key in found}


def _first_named(leaves: list[tuple[str, Any]], names: tuple[str, ...], key: str, taken: set[str]) -> str | None:
    for name in names:
        for path, value in leaves:
            last = _MANY.sub("", path.rpartition(".")[2].lower())
            if last == name and path not in taken and _fits(key, value):
                return path
    return None


def _fits(key: str, value: Any) -> bool:
    if key == "samples":
        return _is_texts(value) or (isinstance(value, str) and value.startswith("["))
    if key in ("question", "answer"):
        return isinstance(value, str)
    if key == "references":
        return isinstance(value, str | int | float) or _is_texts(value, least=1)
    if key in ("logprobs", "tokens"):
        return isinstance(value, list) and bool(value) and not isinstance(value[0], Mapping)
    return isinstance(value, str | int | float)


def _is_texts(value: Any, least: int = 2) -> bool:
    return isinstance(value, list) and len(value) >= least and all(isinstance(one, str) for one in value[:100])


def _numbered(fields: Mapping[str, Any]) -> str | None:
    """Return the pattern of fields such as sample_1, sample_2."""
    found = [match for name in fields if (match := _NUMBERED.fullmatch(str(name).lower()))]
    stems = [str(name)[: match.end(2)] for name in fields if (match := _NUMBERED.fullmatch(str(name).lower()))]
    return f"{stems[0]}*" if len(found) > 1 else None


def _several_texts(leaves: list[tuple[str, Any]], taken: set[str]) -> str | None:
    return next((path for path, value in leaves if path not in taken and _is_texts(value)), None)

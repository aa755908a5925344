"""Answers of lm-evaluation-harness, as ``--log_samples`` writes them: texts; ``choices.py`` reads log-likelihoods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vecuq.answers.fields import as_list, as_mapping, as_name, as_texts, digest_of, first_of, role_of
from vecuq.answers.parts import Part
from vecuq.answers.readers.format import Format
from vecuq.answers.schema import MOST_ANSWERS, Answer
from vecuq.errors import TableError


def is_lm_eval(fields: Mapping[str, Any]) -> bool:
    """Whether a line has the responses to a document."""
    return "resps" in fields and "doc_id" in fields


def read_lm_eval(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the texts of one document, one per repeat; without log-probs, which these logs do not have.

    The harness writes a document once per filter, with the same responses; ``content`` and ``view`` distinguish
    copies.
    """
    texts = as_list(list(leaves_of(fields.get("resps"))), "resps", most=MOST_ANSWERS)
    if not texts:
        raise TableError("`resps` is empty.")
    if not all(isinstance(text, str) for text in texts):
        raise TableError(
            "`resps` holds log-likelihoods of given choices, and the first line of the file does not; keep them in a "
            "file of their own, which is measured as a classifier."
        )
    arguments = [one for request in arguments_of(fields.get("arguments")) for one in request]
    doc = as_mapping(fields.get("doc") or {}, "doc")
    prompt = next((text for text in arguments if isinstance(text, str)), None)
    question = first_of(doc, ("question", "Question", "query", "problem")) or prompt
    return Part(
        answers=tuple(Answer(text=text.strip()) for text in texts),
        role=role_of(*(one for one in arguments if isinstance(one, Mapping))),
        id=as_name(fields.get("doc_id"), "doc_id"),
        question=question if isinstance(question, str) else None,
        references=as_texts(fields.get("target"), "target"),
        content=digest_of("\0".join(texts)).hex(),
        view=str(fields.get("filter")),
    )


def leaves_of(resps: Any) -> Iterator[Any]:
    """Yield the responses: a list of requests, each a list of repeats; a log-likelihood stays a list."""
    for request in as_list(resps, "resps"):
        yield from request if isinstance(request, list) else [request]


def arguments_of(given: Any) -> Iterator[list[Any]]:
    """Yield the arguments of every request, written as lists by older versions and as named fields by newer ones."""
    requests = given.values() if isinstance(given, Mapping) else given if isinstance(given, list) else ()
    for request in requests:
        yield list(request.values()) if isinstance(request, Mapping) else request if isinstance(request, list) else []


LM_EVAL = Format(
    "lm-eval", "samples that lm-evaluation-harness logs", "`resps` beside `doc_id`", is_lm_eval, read_lm_eval
)

"""Answers of Inspect AI: the samples of a log, with the verdict of its scorer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecuq._check import one_line
from vecuq.answers.fields import as_list, as_mapping, as_name, as_texts, plain_fields
from vecuq.answers.parts import Part
from vecuq.answers.readers.format import Format, Wrapping
from vecuq.answers.readers.messages import call_text, conversation, text_of
from vecuq.answers.readers.openai import said_by
from vecuq.answers.readers.rows import Spoken
from vecuq.answers.schema import MOST_ANSWERS
from vecuq.errors import TableError

_VERDICTS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_ELSEWHERE = "attachment://"
_SEVERAL_SCORERS = "a sample has several scorers; its quality is the verdict of the first."
_SEVERAL_EPOCHS = "the epochs of a sample are taken as samples; the quality is the verdict of the first epoch."
_NO_VERDICT = "a score is neither C, P, I, N nor a number from 0 to 1, and gives no quality."


def is_inspect(fields: Mapping[str, Any]) -> bool:
    """Whether an entry is a sample of a log."""
    return {"id", "epoch", "input", "target"} <= set(fields)


def read_inspect(fields: Mapping[str, Any], *, renormalise: bool = False) -> Part:
    """Return the answer to one sample in one epoch; ``eval``, of the whole log, says how many epochs there are."""
    _refuse_failed(fields)
    task: Mapping[str, Any] = fields["eval"] if isinstance(fields.get("eval"), Mapping) else {}
    output = as_mapping(fields.get("output") or {}, "output")
    choices = as_list(output.get("choices") or [], "output.choices", most=MOST_ANSWERS)
    if not choices:
        raise TableError("the sample has no output (`output.choices` is empty).")
    role = _role(task)
    verdict, notes = _verdict(fields)
    if role == "samples":
        notes = (*notes, _SEVERAL_EPOCHS)
    model = task.get("model") or output.get("model")
    said = [_answer(choice, fields, renormalise) for choice in choices]
    return Part(
        answers=tuple(one.answer for one in said),
        role="samples" if len(choices) > 1 else role,
        id=as_name(fields.get("id"), "id"),
        question=_attached(conversation(fields.get("input")), fields),
        references=tuple(text.strip() for text in as_texts(fields.get("target"), "target") if text.strip()),
        model=model if isinstance(model, str) else None,
        quality=verdict,
        meta=plain_fields(fields["metadata"]) if isinstance(fields.get("metadata"), Mapping) else {},
        notes=tuple(dict.fromkeys([*notes, *(note for one in said for note in one.notes)])),
    )


def _refuse_failed(fields: Mapping[str, Any]) -> None:
    """Raise for a sample that ended in an error."""
    failed = fields.get("error")
    if failed:
        said = failed.get("message") if isinstance(failed, Mapping) else failed
        raise TableError(f"the sample ended in an error: {one_line(said, most=120)}.")


def _role(task: Mapping[str, Any]) -> str | None:
    """Return ``samples`` for several epochs, ``greedy`` for one at temperature 0, and None where it is not known."""
    config, settings = task.get("config"), task.get("model_generate_config")
    epochs = config.get("epochs") if isinstance(config, Mapping) else None
    if isinstance(epochs, int) and epochs > 1:
        return "samples"
    temperature = settings.get("temperature") if isinstance(settings, Mapping) else None
    return "greedy" if temperature == 0 and temperature is not False else None


def _answer(choice: Any, fields: Mapping[str, Any], renormalise: bool) -> Spoken:
    given = as_mapping(choice, "a choice")
    message = as_mapping(given.get("message"), "message")
    text = _attached(text_of(message.get("content"), "content"), fields) or _calls(message)
    finish = {"max_tokens": "length"}.get(str(given.get("stop_reason")), given.get("stop_reason"))
    said = {"message": {"content": text}, "logprobs": given.get("logprobs"), "finish_reason": finish}
    return said_by(said, renormalise=renormalise)


def _calls(message: Mapping[str, Any]) -> str:
    """Return the tools that a message calls, one per line; a call has the name of its tool under ``function``."""
    calls = [as_mapping(one, "a tool call") for one in as_list(message.get("tool_calls") or [], "tool_calls")]
    return "\n".join(call_text(call.get("function"), call.get("arguments")) for call in calls)


def _attached(text: str | None, fields: Mapping[str, Any]) -> str | None:
    """Return a text, also one that the log keeps among its attachments."""
    kept = fields.get("attachments")
    if text is None or not text.startswith(_ELSEWHERE) or not isinstance(kept, Mapping):
        return text
    found = kept.get(text.removeprefix(_ELSEWHERE))
    return found if isinstance(found, str) else text


def _verdict(fields: Mapping[str, Any]) -> tuple[float | None, tuple[str, ...]]:
    """Return the verdict of the first scorer, and what has to be said about it."""
    scores = fields.get("scores") or ({"": fields["score"]} if fields.get("score") else {})
    listed = list(scores.values()) if isinstance(scores, Mapping) else []
    if not listed:
        return None, ()
    value = listed[0].get("value") if isinstance(listed[0], Mapping) else listed[0]
    found = _as_quality(value)
    notes = (_SEVERAL_SCORERS,) if len(listed) > 1 else ()
    return found, notes if found is not None else (*notes, _NO_VERDICT)


def _as_quality(value: Any) -> float | None:
    if isinstance(value, str):
        return _VERDICTS.get(value)
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


INSPECT = Format(
    "inspect",
    "logs of Inspect AI, .json or .eval",
    "`epoch`, `input` and `target` beside `id`",
    is_inspect,
    read_inspect,
    Wrapping(
        ("samples[*]",),
        facts=("eval",),
        keeps=("id", "epoch", "input", "target", "output", "score", "scores", "metadata", "error", "attachments"),
    ),
)

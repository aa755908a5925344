"""Verdicts as OpenTelemetry events ``gen_ai.evaluation.result``, as its conventions for generative AI name them."""

from __future__ import annotations

from typing import Any

from opentelemetry._logs import LogRecord, get_logger

_LABELS = {True: "accept", False: "review"}


def emit_verdict(verdict: Any, *, response_id: str | None = None, name: str = "vecuq.uncertainty") -> None:
    """Emit one event with the uncertainty, the decision and its reason, within the current span if there is one.

    ``response_id`` is the provider's id of the judged reply. Without a logger provider nothing is sent.
    """
    given = {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": verdict.uncertainty,
        "gen_ai.evaluation.score.label": _LABELS.get(verdict.accept),
        "gen_ai.evaluation.explanation": verdict.why,
        "gen_ai.response.id": response_id,
        "vecuq.p_value": verdict.p_value,
        "vecuq.p_wrong": verdict.p_wrong,
    }
    attributes = {key: value for key, value in given.items() if value is not None}
    get_logger("vecuq").emit(LogRecord(event_name="gen_ai.evaluation.result", attributes=attributes))

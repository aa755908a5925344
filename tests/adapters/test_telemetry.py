"""Events of OpenTelemetry, seen by its own exporter in memory."""

import pytest

pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry is not installed; `make test-adapters` does")

from opentelemetry._logs import set_logger_provider
from opentelemetry.sdk import trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor

from vecuq.adapters import emit_verdict


@pytest.fixture(scope="module")
def exporter():
    exporter, provider = InMemoryLogRecordExporter(), LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    set_logger_provider(provider)
    return exporter


def only(exporter):
    (found,) = exporter.get_finished_logs()
    exporter.clear()
    return found.log_record


def test_a_verdict_becomes_an_evaluation_result_within_its_span(judge, exporter):
    verdict = judge("Paris", samples=["Paris"] * 8, question="Capital of France?")
    with trace.TracerProvider().get_tracer("test").start_as_current_span("chat") as span:
        emit_verdict(verdict, response_id="chatcmpl-1")
    record = only(exporter)
    assert record.event_name == "gen_ai.evaluation.result"
    assert record.trace_id == span.get_span_context().trace_id
    assert record.attributes["gen_ai.evaluation.score.value"] == verdict.uncertainty
    assert record.attributes["gen_ai.evaluation.score.label"] == "accept"
    assert record.attributes["gen_ai.evaluation.explanation"] == verdict.why
    assert record.attributes["gen_ai.response.id"] == "chatcmpl-1"


def test_what_a_judge_without_labels_does_not_know_is_left_out(judge, exporter):
    from dataclasses import replace

    emit_verdict(
        replace(judge("Paris", samples=["Lyon"] * 8, question="Capital of France?"), accept=None, p_wrong=None)
    )
    record = only(exporter)
    assert "gen_ai.evaluation.score.label" not in record.attributes
    assert "vecuq.p_wrong" not in record.attributes

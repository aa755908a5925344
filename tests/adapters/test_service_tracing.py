"""Requests to the service as spans, seen by OpenTelemetry's own exporter in memory."""

import asyncio

import pytest

pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry's SDK is not installed; `make test-adapters` does")

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from vecuq.service import tracing

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def exporter(monkeypatch):
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return exporter


async def app(scope, receive, send):
    scope["vecuq.route"] = "/models/{name}/score"
    with tracing.span("score rows", **{"vecuq.rows": 3}):
        pass
    await send({"type": "http.response.start", "status": 503 if scope["path"] == "/bad" else 200, "headers": []})


def ask(path="/models/a/score", headers=()):
    async def send(message):
        pass

    scope = {"type": "http", "method": "POST", "path": path, "headers": list(headers), "scheme": "http"}
    asyncio.run(tracing.traced(app)(scope, None, send))


def test_a_request_is_a_span_of_the_callers_trace_and_its_work_a_span_within(exporter):
    ask(headers=[(b"traceparent", CALLER.encode())])
    inner, request = exporter.get_finished_spans()
    assert request.name == "POST /models/{name}/score"
    assert request.kind is trace.SpanKind.SERVER
    assert f"{request.context.trace_id:032x}" == CALLER.split("-")[1]
    assert f"{request.parent.span_id:016x}" == CALLER.split("-")[2]
    assert request.attributes["http.response.status_code"] == 200
    assert inner.parent.span_id == request.context.span_id
    assert dict(inner.attributes) == {"vecuq.rows": 3}


def test_no_span_holds_a_path_or_a_query(exporter):
    ask(path="/models/secret/score")
    assert not any("secret" in str(span.to_json()) for span in exporter.get_finished_spans())


def test_a_broken_trace_header_begins_a_new_trace(exporter):
    ask(headers=[(b"traceparent", b"\xff\x00nonsense")])
    assert exporter.get_finished_spans()[-1].parent is None


def test_a_server_error_marks_the_span(exporter):
    ask(path="/bad")
    assert exporter.get_finished_spans()[-1].status.status_code is trace.StatusCode.ERROR


def test_other_scopes_pass_through(exporter):
    asked = []

    async def lifespan(scope, receive, send):
        asked.append(scope["type"])

    asyncio.run(tracing.traced(lifespan)({"type": "lifespan"}, None, None))
    assert asked == ["lifespan"]
    assert exporter.get_finished_spans() == ()

"""Without a configured OpenTelemetry, traces cost nothing: the application stays as it is."""

import sys

from vecuq.service import tracing


async def app(scope, receive, send):
    """Stand for the application."""


def test_without_a_provider_the_application_is_the_same_object():
    assert tracing.traced(app) is app


def test_without_opentelemetry_nothing_is_imported_or_raised(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    assert tracing.tracer() is None
    assert tracing.traced(app) is app
    with tracing.span("score", rows=1) as found:
        assert found is None


def test_with_an_sdk_that_nobody_set_up_a_span_does_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", sys)
    with tracing.span("score", rows=1) as found:
        assert found is None

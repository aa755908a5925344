"""Counts and gauges as Prometheus reads them: text format 0.0.4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from vecuq._version import __version__
from vecuq.service.counts import BATCH_ROWS, SECONDS

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_OF_MODELS = {
    "rows": ("vecuq_rows_total", "Rows that were scored."),
    "missing": ("vecuq_rows_missing_total", "Rows without a score, because a value is missing."),
    "tested": ("vecuq_rows_tested_total", "Rows of requests with alpha, which flags some."),
    "flagged": ("vecuq_rows_flagged_total", "Rows that were flagged at the alpha of their request."),
    "gated": ("vecuq_rows_gated_total", "Rows that a gate decided on."),
    "accepted": ("vecuq_rows_accepted_total", "Rows that a gate accepted."),
}


class Gauge(NamedTuple):
    """One value of the moment: name, labels, value, and what it means."""

    name: str
    labels: Mapping[str, str]
    value: float
    help: str


def rendered(total: Mapping[str, Any], gauges: Iterable[Sequence[Any]] = ()) -> str:
    """Return summed counts, and gauges as (name, labels, value, help), in Prometheus' text format."""
    lines = [*_requests(total), *_models(total), *_batches(total)]
    for kind, group in _by_name([*_own(total), *(Gauge(*one) for one in gauges)]).items():
        lines += _head(kind, "counter" if kind.endswith("_total") else "gauge", group[0].help)
        lines += [_sample(one.name, one.labels, one.value) for one in group]
    return "\n".join(lines) + "\n"


def _own(total: Mapping[str, Any]) -> list[Gauge]:
    return [
        Gauge("vecuq_requests_in_flight", {}, total.get("in_flight", 0), "Requests that have no answer yet."),
        Gauge("vecuq_workers", {}, total.get("workers", 1), "Worker processes that these numbers come from."),
        Gauge("vecuq_build_info", {"version": __version__}, 1, "The version of vecuq."),
    ]


def _by_name(gauges: Iterable[Gauge]) -> dict[str, list[Gauge]]:
    """Return gauges by name: all lines of a metric stand together."""
    found: dict[str, list[Gauge]] = {}
    for one in gauges:
        found.setdefault(one.name, []).append(one)
    return found


def _requests(total: Mapping[str, Any]) -> list[str]:
    lines = _head("vecuq_requests_total", "counter", "Answers by route and status.")
    for route, by_status in sorted(total.get("requests", {}).items()):
        for status, count in sorted(by_status.items()):
            lines.append(_sample("vecuq_requests_total", {"route": route, "status": status}, count))
    lines += _head("vecuq_request_seconds", "histogram", "Time from the first byte of a request to its answer.")
    for route, found in sorted(total.get("seconds", {}).items()):
        lines += _histogram("vecuq_request_seconds", {"route": route}, SECONDS, found)
    return lines


def _models(total: Mapping[str, Any]) -> list[str]:
    lines = []
    for count, (name, meaning) in _OF_MODELS.items():
        lines += _head(name, "counter", meaning)
        for model, counts in sorted(total.get("models", {}).items()):
            lines.append(_sample(name, {"model": model}, counts[count]))
    return lines


def _batches(total: Mapping[str, Any]) -> list[str]:
    if "batches" not in total:
        return []
    head = _head("vecuq_batch_rows", "histogram", "Rows of single requests that were scored in one call.")
    return [*head, *_histogram("vecuq_batch_rows", {}, BATCH_ROWS, total["batches"])]


def _histogram(name: str, labels: Mapping[str, str], ends: Sequence[float], found: Mapping[str, Any]) -> list[str]:
    upto = list(accumulate(found["buckets"]))
    marks = [*(_number(end) for end in ends), "+Inf"]
    lines = [_sample(f"{name}_bucket", {**labels, "le": end}, count) for end, count in zip(marks, upto, strict=True)]
    return [*lines, _sample(f"{name}_sum", labels, found["sum"]), _sample(f"{name}_count", labels, upto[-1])]


def _head(name: str, kind: str, meaning: str) -> list[str]:
    plain = meaning.replace("\\", r"\\").replace("\n", r"\n")
    return [f"# HELP {name} {plain}", f"# TYPE {name} {kind}"]


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    inside = ",".join(f'{label}="{_escaped(str(text))}"' for label, text in labels.items())
    return f"{name}{{{inside}}} {_number(value)}" if labels else f"{name} {_number(value)}"


def _escaped(text: str) -> str:
    r"""Return the value of a label as it stands between quotes.

    Examples
    --------
    >>> print(_escaped('a"b\\c'))
    a\"b\\c
    """
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    if value != value:  # noqa: PLR0124 - NaN
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(float(value))

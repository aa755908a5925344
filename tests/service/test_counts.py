"""Counts of workers: added up exactly, and read by Prometheus' own parser."""

import asyncio
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.service.counts import BATCH_ROWS, SECONDS, Counts, Histogram, ended, summed
from vecuq.service.metrics import rendered

parser = pytest.importorskip("prometheus_client.parser", reason="prometheus-client is not installed")


def parsed(text):
    return {family.name: family for family in parser.text_string_to_metric_families(text)}


def value(families, name, **labels):
    found = [s.value for f in families.values() for s in f.samples if s.name == name and s.labels == labels]
    assert len(found) == 1, (name, labels, found)
    return found[0]


def some_counts(times=1):
    counts = Counts()
    for _ in range(times):
        counts.request("/score", 200, 0.003)
        counts.request("/score", 422, 0.0001)
        counts.request("/models/{name}/score", 200, 99.0)
        counts.rows("bot", rows=5, missing=1, flagged=2, accepted=None)
        counts.rows("bot", rows=2, missing=0, flagged=None, accepted=1)
        counts.batch(20)
    return counts


def test_prometheus_reads_every_number_back():
    families = parsed(rendered(some_counts().snapshot()))
    assert value(families, "vecuq_requests_total", route="/score", status="422") == 1
    assert value(families, "vecuq_request_seconds_count", route="/score") == 2
    assert value(families, "vecuq_request_seconds_sum", route="/score") == pytest.approx(0.0031)
    assert value(families, "vecuq_request_seconds_bucket", route="/score", le="0.0025") == 1
    assert value(families, "vecuq_request_seconds_bucket", route="/models/{name}/score", le="30") == 0
    assert value(families, "vecuq_request_seconds_bucket", route="/models/{name}/score", le="+Inf") == 1
    shares = {"rows": 7, "rows_missing": 1, "rows_tested": 5, "rows_flagged": 2, "rows_gated": 2, "rows_accepted": 1}
    for name, count in shares.items():
        assert value(families, f"vecuq_{name}_total", model="bot") == count
    assert value(families, "vecuq_batch_rows_bucket", le="32") == 1
    assert families["vecuq_request_seconds"].type == "histogram"
    assert families["vecuq_requests"].type == "counter"
    assert families["vecuq_requests_in_flight"].type == "gauge"


def test_every_metric_has_one_help_and_one_type_before_its_samples():
    gauges = [
        ("vecuq_drift", {"model": "a"}, 1.0, "Drift."),
        ("vecuq_x", {}, 2, "X."),
        ("vecuq_drift", {}, 3, "Drift."),
    ]
    lines = rendered(some_counts().snapshot(), gauges).splitlines()
    heads = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(heads) == len(set(heads)) == sum(line.startswith("# HELP") for line in lines)


@given(label=st.text(max_size=20), number=st.floats())
def test_any_label_and_any_number_come_back(label, number):
    text = rendered({}, [("vecuq_gauge", {"model": label}, number, "A gauge.\nOf two \\ lines.")])
    (sample,) = parsed(text.replace("\r", ""))["vecuq_gauge"].samples
    assert sample.labels == {"model": label.replace("\r", "")}
    assert sample.value == number or (math.isnan(number) and math.isnan(sample.value))


def test_a_gauge_that_only_grows_is_a_counter():
    text = rendered({}, [("vecuq_model_reload_failures_total", {"model": "a"}, 2, "Files that could not be loaded.")])
    assert parsed(text)["vecuq_model_reload_failures"].type == "counter"


@given(times=st.lists(st.integers(0, 5), max_size=4))
def test_the_sum_over_workers_is_one_worker_with_all_the_work(times):
    total = summed(some_counts(n).snapshot() for n in times)
    alone = some_counts(sum(times)).snapshot()
    if sum(times):
        assert {name: total[name] for name in ("requests", "models", "in_flight")} == {
            name: alone[name] for name in ("requests", "models", "in_flight")
        }
        assert total["seconds"]["/score"]["buckets"] == alone["seconds"]["/score"]["buckets"]
    assert total.get("workers", 0) == len(times)


def test_the_order_of_workers_does_not_matter_and_counts_survive_json():
    one, two = some_counts(1).snapshot(), Counts().snapshot()
    assert summed([one, two]) == summed([two, one])
    assert json.loads(json.dumps(one)) == one
    assert parsed(rendered(summed([json.loads(json.dumps(one)), two])))


def test_summing_changes_no_snapshot():
    one = some_counts().snapshot()
    before = json.dumps(one)
    summed([one, some_counts(3).snapshot()])
    assert json.dumps(one) == before


def test_what_a_dead_worker_did_stays_and_what_it_was_doing_does_not():
    counts = some_counts()
    counts.in_flight = 3
    total = summed([ended(counts.snapshot()), Counts().snapshot()])
    assert (total["in_flight"], total["workers"]) == (0, 1)
    assert total["requests"]["/score"] == {"200": 1, "422": 1}


@pytest.mark.parametrize("ends", [SECONDS, BATCH_ROWS])
@given(values=st.lists(st.floats(0, 1e4)))
def test_a_bucket_counts_what_is_at_most_its_end(ends, values):
    found = Histogram(ends)
    for one in values:
        found.add(one)
    for k, end in enumerate(ends):
        assert sum(found.buckets[: k + 1]) == sum(one <= end for one in values)
    assert sum(found.buckets) == len(values)


def test_the_counts_of_a_worker_alone_are_its_own():
    counts = some_counts()
    assert asyncio.run(counts.everywhere()) == counts.snapshot()


def test_before_the_first_request_there_is_a_page_of_zeros():
    families = parsed(rendered(Counts().snapshot()))
    assert value(families, "vecuq_requests_in_flight") == 0
    assert value(families, "vecuq_batch_rows_count") == 0

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.answers.asking.patience import pause_before, seconds_to_wait

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after": "0.25"}, 0.25),
        ({"Retry-After": "9999"}, 60),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"retry-after-ms": "soon", "Retry-After": "9"}, 9),
        ({"Retry-After": format_datetime(NOW + timedelta(seconds=12), usegmt=True)}, 12),
        ({"Retry-After": format_datetime(NOW - timedelta(seconds=12), usegmt=True)}, None),
        ({"Retry-After": "Fri, 99 Foo 2026"}, None),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "1e9"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "9" * 400}, None),
        ({"x-ratelimit-reset-requests": "20ms"}, 0.02),
        ({"x-ratelimit-reset-tokens": "1m0.5s"}, 60),
        ({"x-ratelimit-reset-tokens": "1s", "x-ratelimit-reset-requests": "6m0s"}, 1),
        (
            {
                "x-ratelimit-reset-tokens": "1s",
                "x-ratelimit-reset-requests": "8s",
                "x-ratelimit-remaining-requests": "0",
            },
            8,
        ),
        ({"x-ratelimit-reset-tokens": "2.5"}, 2.5),
        ({"x-ratelimit-reset-tokens": "1s or so"}, None),
        ({}, None),
    ],
)
def test_the_headers_of_a_refusal_say_how_long_to_wait(headers, seconds):
    assert seconds_to_wait(headers, now=NOW) == (None if seconds is None else pytest.approx(seconds))


@given(st.dictionaries(st.sampled_from(["Retry-After", "retry-after-ms", "x-ratelimit-reset-tokens"]), st.text()))
def test_whatever_a_header_says_the_wait_is_bounded(headers):
    found = seconds_to_wait(headers)
    assert found is None or 0 <= found <= 60


@given(st.integers(1, 10_000), st.none() | st.floats(0.001, 60), st.integers(0, 100))
def test_a_pause_is_never_shorter_than_asked_nor_longer_than_a_minute(attempt, wait, seed):
    pause = pause_before(attempt, wait, np.random.default_rng(seed))
    assert (wait or 0) <= pause <= 60


def test_requests_that_were_refused_together_come_again_at_different_times():
    random = np.random.default_rng(0)
    assert len({pause_before(1, 2.0, random) for _ in range(10)}) == 10

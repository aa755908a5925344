"""The judge of the simulations is judged: it sees a broken promise, and one that does not break where it must."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

PATH = Path(__file__).parents[2] / "docs" / "validation" / "_checking.py"


@pytest.fixture(scope="module")
def checking():
    spec = importlib.util.spec_from_file_location("_checking", PATH)
    made = importlib.util.module_from_spec(spec)
    before = sys.modules.get("_checking")
    sys.modules["_checking"] = made
    spec.loader.exec_module(made)
    yield made
    sys.modules.pop("_checking")
    if before is not None:
        sys.modules["_checking"] = before


def share(n_true, n):
    return np.arange(n) < n_true


def test_the_limit_of_a_rate_is_a_binomial_quantile_that_does_not_depend_on_what_was_seen(checking):
    limits = {checking.rate("p", "case", share(k, 1000), 0.05).limit for k in (0, 50, 900)}
    assert len(limits) == 1
    assert binom.sf(1000 * limits.pop(), 1000, 0.05) <= checking.CHANCE


def test_a_promise_that_holds_at_its_limit_rarely_fails_and_one_that_does_not_hold_fails(checking):
    rng = np.random.default_rng(0)
    kept = [checking.rate("p", "c", rng.random(500) < 0.1, 0.1).within for _ in range(2000)]
    assert sum(kept) >= 1995
    broken = [checking.rate("p", "c", rng.random(500) < 0.2, 0.1).within for _ in range(200)]
    assert sum(broken) <= 10


@pytest.mark.parametrize("kind", ["rate", "mean", "law", "exact"])
def test_a_broken_promise_raises_and_a_kept_one_does_not(checking, kind):
    rng = np.random.default_rng(1)
    good, bad = {
        "rate": (
            lambda: checking.rate("p", "c", share(5, 100), 0.05),
            lambda: checking.rate("p", "c", share(60, 100), 0.05),
        ),
        "mean": (
            lambda: checking.mean("p", "c", rng.normal(0.0, 1, 400), 0.0),
            lambda: checking.mean("p", "c", rng.normal(1.0, 1, 400), 0.0),
        ),
        "law": (
            lambda: checking.law("p", "c", rng.random(500), lambda x: x),
            lambda: checking.law("p", "c", rng.random(500) ** 2, lambda x: x),
        ),
        "exact": (
            lambda: checking.exact("p", "c", [False] * 9),
            lambda: checking.exact("p", "c", [False] * 9 + [True]),
        ),
    }[kind]
    assert "kept" in checking.judged([good()])
    with pytest.raises(checking.BrokenPromiseError):
        checking.judged([good(), bad()])


def test_a_simulation_that_does_not_see_a_promise_break_where_it_must_raises(checking):
    blind = checking.rate("p", "c", share(5, 100), 0.05, assumed=False)
    with pytest.raises(checking.BrokenPromiseError, match="FAILED"):
        checking.judged([blind])
    assert "as expected" in checking.judged([checking.rate("p", "c", share(60, 100), 0.05, assumed=False)])

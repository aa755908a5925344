"""Rows that come together: resamples of whole groups, and intervals that hold the truth."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orders_of_ties import tied_rows

from vecuq.conformal import group_codes
from vecuq.errors import TableError
from vecuq.evaluation import METRICS, Bootstrap, estimate, evaluate, rejection_ratio
from vecuq.evaluation.bootstrap import resampled, row_counts
from vecuq.evaluation.inputs import defect

# One more than the registry: a share at which the curve is cut inside a group.
ALL = (*METRICS, rejection_ratio(0.8))


@given(tied_rows(most=12), st.integers(0, 2**31), st.data())
def test_a_resample_of_groups_is_what_its_rows_are_written_out(rows, seed, data):
    score, target = rows
    codes = group_codes(
        data.draw(st.lists(st.sampled_from("abcd"), min_size=len(score), max_size=len(score))), len(score)
    )
    counts = row_counts(int(codes.max()) + 1, 3, np.random.SeedSequence(seed).spawn(1)[0])[codes]
    draws = resampled(score[None], target, [one.kernel for one in ALL], Bootstrap(3, random_state=seed), codes)
    for b in range(3):
        drawn = np.repeat(np.arange(len(score)), counts[:, b].astype(int))
        if defect(score[drawn], target[drawn]) is not None:
            continue  # missing by rule, whatever the kernel says
        for k, metric in enumerate(ALL):
            expected = metric.function(score[drawn], target[drawn])
            assert draws[k, 0, b] == pytest.approx(expected, abs=1e-12, nan_ok=True), metric.key


def test_groups_of_one_row_each_are_rows():
    rng = np.random.default_rng(0)
    score, target = rng.normal(size=(2, 50)), (rng.random(50) < 0.4).astype(float)
    kernels = [one.kernel for one in METRICS]
    alone = resampled(score, target, kernels, Bootstrap(20))
    npt.assert_array_equal(alone, resampled(score, target, kernels, Bootstrap(20), np.arange(50)))


@pytest.mark.parametrize(
    "names", [[3, 1, 3, 1], ["x", "y", "x", "y"], [2.5, -1.0, 2.5, -1.0], [True, False, True, False]]
)
def test_groups_may_be_named_by_anything(names):
    npt.assert_array_equal(group_codes(names, 4), [0, 1, 0, 1])


@pytest.mark.parametrize("metric", ["aurc", "average_precision", "prediction_rejection_ratio"])
def test_intervals_hold_the_truth_where_rows_come_in_groups(metric):
    """60 groups of 8 rows that share score and label; intervals by row hold the truth in far fewer test sets."""
    rng, codes, held = np.random.default_rng(0), np.repeat(np.arange(60), 8), []
    is_quality = metric in ("aurc", "prediction_rejection_ratio")

    def drawn(n_groups):
        target = (rng.random(n_groups) < 0.4).astype(float)
        score = rng.normal(size=n_groups) + 1.5 * target
        return score, 1.0 - target if is_quality else target

    truth = estimate(*drawn(200_000), metric, bootstrap=Bootstrap(0)).value
    for seed in range(120):
        score, target = (np.repeat(one, 8) for one in drawn(60))
        found = [
            estimate(score, target, metric, bootstrap=Bootstrap(200, random_state=seed), groups=together)
            for together in (codes, None)
        ]
        held.append([one.low <= truth <= one.high for one in found])
    by_group, by_row = np.mean(held, axis=0)
    assert by_group >= 0.86  # 95 % is what it says; a percentile interval of 60 groups falls a little short of it
    assert by_row <= 0.65


def test_too_few_groups_leave_a_value_without_an_interval_but_for_the_roc_auc():
    rng = np.random.default_rng(0)
    target = np.tile([0.0, 1.0, 0.0], 30)
    score, groups = rng.normal(size=90) + target, np.repeat(np.arange(9), 10)
    found = estimate(score, target, "average_precision", groups=groups)
    assert found.reason == "no interval: 9 groups are too few, 10 are needed"
    assert not np.isnan(found.value)
    area = estimate(score, target, "roc_auc", groups=groups)
    assert (area.reason, area.low < area.value < area.high) == (None, True)
    without = estimate(score, target, "average_precision", groups=groups, bootstrap=Bootstrap(0))
    assert without.reason is None


def test_groups_stay_with_their_rows_when_rows_are_left_out():
    rng = np.random.default_rng(0)
    error, ood = (rng.random(200) < 0.4).astype(float), np.repeat([0.0, 1.0], [150, 50])
    score, groups = rng.normal(size=200) + error, rng.integers(30, size=200)
    score[:20] = np.nan
    done = evaluate({"a": score}, error=error, ood=ood, groups=groups, bootstrap=Bootstrap(50))
    assert done.n_groups == 30
    part = slice(20, 150)
    alone = estimate(score[part], error[part], "error average_precision", groups=groups[part], bootstrap=Bootstrap(50))
    assert done.estimate("a", "error average_precision") == alone


def test_values_do_not_depend_on_groups():
    rng = np.random.default_rng(0)
    error = (rng.random(200) < 0.4).astype(float)
    scores = {"a": rng.normal(size=200) + error}
    plain, grouped = (evaluate(scores, error=error, groups=one, bootstrap=Bootstrap(5)) for one in (None, range(200)))
    assert plain.wide_rows() == grouped.wide_rows()
    assert (plain.n_groups, grouped.n_groups) == (None, 200)


def test_a_row_without_a_group_is_refused():
    with pytest.raises(TableError, match="1 of 2 rows have no group"):
        evaluate({"a": [1, 2]}, error=[0, 1], groups=[float("nan"), 1])

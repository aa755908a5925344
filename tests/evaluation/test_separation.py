"""Which of many methods differ: false wins among equal ones, and true wins."""

import numpy as np
import numpy.testing as npt
import pytest

from vecuq.evaluation import Bootstrap, Record, compare, comparison_sheet, evaluate, find_metrics, verdicts
from vecuq.evaluation.comparison import compare_all
from vecuq.evaluation.separation import separated_pairs, shared_level

NAMES = [f"method {k}" for k in range(14)]


def equal_methods(rng, n_rows, n_positive, shift=1.0):
    """Fourteen methods that differ by chance alone."""
    target = np.repeat([1.0, 0.0], [n_positive, n_rows - n_positive])
    common = 0.5 * rng.normal(size=n_rows)
    return {name: rng.normal(size=n_rows) + shift * target + common for name in NAMES}, target


def false_wins(tables, *, n_rows, n_positive, metric, resamples, seed=0):
    """Count the tables in which any of fourteen equal methods beats another."""
    rng, found = np.random.default_rng(seed), 0
    for k in range(tables):
        scores, target = equal_methods(rng, n_rows, n_positive)
        compared = compare(scores, target, metric, bootstrap=Bootstrap(resamples, random_state=k))
        found += any(compared.separated(name) for name in NAMES)
    return found


def test_among_fourteen_equal_methods_a_table_seldom_has_a_win():
    """6 % of 150 tables are 9; pair by pair, about 125 of them would have a false win."""
    assert false_wins(150, n_rows=120, n_positive=40, metric="roc_auc", resamples=200) <= 15


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["ood roc_auc", "selective accuracy_coverage_area"])
@pytest.mark.parametrize(("n_rows", "n_positive"), [(300, 100), (400, 20)])
def test_false_wins_stay_below_six_percent_of_many_tables(metric, n_rows, n_positive):
    """6 % of 400 tables, and three standard errors of 5 %."""
    assert false_wins(400, n_rows=n_rows, n_positive=n_positive, metric=metric, resamples=500) <= 24 + 13


def test_a_method_that_is_better_is_found_among_equal_ones():
    rng = np.random.default_rng(0)
    scores, target = equal_methods(rng, 600, 200)
    scores["better"] = rng.normal(size=600) + 2.5 * target
    compared = compare(scores, target, "roc_auc")
    assert compared.separated("better") == tuple(NAMES)
    assert compared.record("better") == Record(14, 0, 0)
    assert compared.record("better", NAMES[:3]) == Record(3, 0, 0)
    assert compared.record(NAMES[0]) == Record(0, 13, 1)


def test_equal_columns_and_copies_do_not_differ():
    rng = np.random.default_rng(0)
    values = np.array([0.7, 0.7, np.nan])
    one = 0.7 + 0.01 * rng.normal(size=100)
    draws = np.stack([one, one, np.full(100, np.nan)])
    npt.assert_array_equal(separated_pairs(values, draws, 0.95, counted=50), np.zeros((3, 3), dtype=bool))


def test_a_difference_that_never_moves_is_a_win_only_with_enough_rows():
    values, draws = np.array([1.0, 0.0]), np.repeat([[1.0], [0.0]], 50, axis=1)
    assert not separated_pairs(values, draws, 0.95, counted=3).any()
    assert separated_pairs(values, draws, 0.95, counted=10)[0, 1]


def test_few_rows_need_a_larger_difference():
    rng = np.random.default_rng(0)
    draws = np.stack([0.1 * rng.normal(size=2_000), np.zeros(2_000)])
    values = np.array([0.21, 0.0])  # 2.1 standard deviations
    assert separated_pairs(values, draws + values[:, None], 0.95, counted=1_000).any()
    assert not separated_pairs(values, draws + values[:, None], 0.95, counted=10).any()


def test_without_resamples_or_with_few_that_exist_nothing_is_separated():
    values, draws = np.array([1.0, 0.5]), np.array([[1.0, 1.1, np.nan, np.nan], [0.5, 0.4, 0.5, 0.5]])
    assert not separated_pairs(values, draws, 0.95, counted=50).any()
    assert not separated_pairs(values, draws[:, :0], 0.95, counted=50).any()


def test_verdicts_and_wins_of_one_table_share_the_level_of_its_metrics():
    """A difference that is enough for one metric alone may not be for three."""
    assert shared_level(0.95, 1) == pytest.approx(0.95)
    rng = np.random.default_rng(3)
    n_changed = 0
    for k in range(12):
        scores, target = equal_methods(rng, 200, 80)
        scores["better"] = scores["method 0"] + 0.9 * target
        done = evaluate(scores, error=target, bootstrap=Bootstrap(200, random_state=k))
        keys = [one.metric.key for one in done.comparisons]
        alone, together = verdicts(done, ["error roc_auc"])[0], verdicts(done, keys)[keys.index("error roc_auc")]
        assert set(alone.not_separated) <= set(together.not_separated)
        n_changed += alone.not_separated != together.not_separated
        sheet = comparison_sheet(done, ["error roc_auc"], NAMES)
        wins = {row["method"]: row["wins"] for row in sheet.rows}
        assert wins[alone.best] == len(NAMES) - len(alone.not_separated)
    assert n_changed > 0


def test_rows_in_groups_win_less_easily():
    """Forty sessions of ten equal rows say as much as forty rows."""
    rng = np.random.default_rng(5)
    target = np.repeat((np.arange(40) < 15).astype(float), 10)
    scores = {name: np.repeat(rng.normal(size=40), 10) + target for name in NAMES}
    groups = np.repeat(np.arange(40), 10)
    metric = find_metrics(["ood roc_auc"])
    by_row, by_group = (compare_all(scores, target, metric, groups=together)[0] for together in (None, groups))
    assert by_group.counted == 15
    assert any(by_row.separated(name) for name in NAMES)
    assert not any(by_group.separated(name) for name in NAMES)

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orders_of_ties import averaged, means_by_the_book, tied_rows, trapezoid_by_the_book

from vecuq.errors import SettingError, TableError
from vecuq.evaluation import accuracy_coverage_area, aurc, coverage_at_error, excess_aurc, risk_coverage_curve

METRICS = [accuracy_coverage_area, aurc, excess_aurc, coverage_at_error]
ERRORS = st.sampled_from([0.0, 0.1, 0.25, 0.4, 0.5, 0.7])


def largest_coverage(risk, error):
    kept = [k for k, one in enumerate(risk, start=1) if one <= error + 1e-12]
    return max(kept, default=0) / len(risk)


@given(tied_rows())
def test_the_accuracy_coverage_area_is_its_mean_over_all_orders_of_tied_rows(rows):
    assert accuracy_coverage_area(*rows) == pytest.approx(averaged(trapezoid_by_the_book, *rows), abs=1e-12)


@given(tied_rows())
def test_aurc_is_its_mean_over_all_orders_of_tied_rows(rows):
    expected = averaged(lambda target: means_by_the_book(1 - target).mean(), *rows)
    assert aurc(*rows) == pytest.approx(expected, abs=1e-12)
    best = means_by_the_book(np.sort(1 - rows[1])).mean()
    assert excess_aurc(*rows) == pytest.approx(expected - best, abs=1e-12)


@given(tied_rows(), ERRORS)
def test_curve_and_coverage_come_from_the_mean_risk_over_all_orders_of_tied_rows(rows, error):
    risk = averaged(lambda target: means_by_the_book(1 - target), *rows)
    curve = risk_coverage_curve(*rows)
    npt.assert_allclose(curve.risk, risk, atol=1e-12)
    npt.assert_allclose(curve.coverage, np.arange(1, len(risk) + 1) / len(risk), atol=1e-15)
    assert coverage_at_error(*rows, error) == pytest.approx(largest_coverage(risk, error), abs=1e-12)


def test_the_area_is_the_trapezoid_sum_that_the_authors_take():
    rng = np.random.default_rng(0)
    score, correct = rng.normal(size=3_000), rng.random(3_000) < 0.8
    accuracy = np.cumsum(correct[np.argsort(score)]) / np.arange(1, 3_001)
    coverage = np.arange(1, 3_001) / 3_000
    trapezoid = np.sum(np.diff(coverage) * (accuracy[1:] + accuracy[:-1]) / 2)
    assert accuracy_coverage_area(score, correct) == pytest.approx(trapezoid, abs=1e-12)


@given(tied_rows(most=60))
def test_the_areas_are_those_of_the_curve(rows):
    risk = risk_coverage_curve(*rows).risk
    assert aurc(*rows) == pytest.approx(risk.mean(), abs=1e-12)
    ends = (risk[0] + risk[-1]) / 2
    assert accuracy_coverage_area(*rows) == pytest.approx((len(risk) - 1 - risk.sum() + ends) / len(risk), abs=1e-12)
    short = (1.0 - ends) / len(risk)  # about 1/n where the first rows are right
    assert accuracy_coverage_area(*rows) == pytest.approx(1.0 - aurc(*rows) - short, abs=1e-12)


def test_the_best_and_the_worst_order_have_their_closed_forms():
    n, wrong = 100, 10
    correct, score = np.repeat([1, 0], [n - wrong, wrong]), np.arange(float(n))
    best = sum(j / (n - wrong + j) for j in range(1, wrong + 1)) / n
    assert aurc(score, correct) == pytest.approx(best, abs=1e-12)
    assert excess_aurc(score, correct) == pytest.approx(0.0, abs=1e-15)
    assert coverage_at_error(score, correct, 0.0) == pytest.approx(0.9, abs=1e-12)
    assert coverage_at_error(score, correct, 0.1) == 1.0
    assert coverage_at_error(-score, correct, 0.05) == 0.0


@pytest.mark.parametrize("wrong", range(1, 100))
def test_an_error_rate_that_is_met_exactly_counts(wrong):
    """0.29 * 100 is 28.999999999999996, yet 29 errors in 100 rows are 29 %."""
    correct = np.repeat([0, 1], [wrong, 100 - wrong])
    assert coverage_at_error(np.arange(100.0), correct, wrong / 100) == 1.0


@given(tied_rows(most=20), st.permutations(range(20)))
def test_metrics_do_not_move_with_increasing_transforms_or_the_order_of_rows(rows, shuffled):
    score, correct = rows
    order = [k for k in shuffled if k < len(score)]
    for metric in METRICS:
        value = metric(score, correct)
        assert metric(np.exp(3 * score) - 7, correct) == value
        assert metric(score[order], correct[order]) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("score", "correct"), [([], []), ([1.0], [1]), ([1, 2], [1, 1]), ([1, 2], [0, 0]), ([3, 3, 3], [0, 1, 1])]
)
def test_where_there_is_nothing_to_judge_the_number_is_missing(metric, score, correct):
    assert np.isnan(metric(score, correct))


def test_a_curve_exists_wherever_there_are_rows():
    npt.assert_allclose(risk_coverage_curve([3, 3, 3, 3], [0, 1, 1, 1]).risk, 0.25)
    assert len(risk_coverage_curve([], []).risk) == 0


def test_bad_rows_and_settings_are_refused():
    with pytest.raises(TableError, match="correct must be 0 or 1"):
        aurc([0.1, 0.2], [0.5, 1])
    with pytest.raises(SettingError, match="error"):
        coverage_at_error([0.1, 0.2], [0, 1], error=-0.1)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orders_of_ties import ap_by_the_book, averaged, fpr_by_the_book, tied_rows
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from vecuq.errors import SettingError, TableError
from vecuq.evaluation import average_precision, fpr_at_tpr, roc_auc

METRICS = [roc_auc, average_precision, fpr_at_tpr]
ROWS = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=40)


@given(ROWS)
def test_roc_auc_is_the_share_of_ordered_pairs(rows):
    score, label = np.array([s for s, _ in rows], float), np.array([p for _, p in rows])
    positive, negative = score[label], score[~label]
    if not len(positive) or not len(negative) or np.ptp(score) == 0:
        assert np.isnan(roc_auc(score, label))
        return
    pairs = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    assert roc_auc(score, label) == pytest.approx(pairs.mean(), abs=1e-12)


def test_roc_auc_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    score, label = rng.normal(size=5000).round(1), rng.random(5000) < 0.3
    assert roc_auc(score, label) == pytest.approx(roc_auc_score(label, score), abs=1e-12)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.98])
def test_average_precision_agrees_with_scikit_learn_on_untied_rows(share):
    rng = np.random.default_rng(1)
    label = rng.random(20_000) < share
    score = rng.normal(size=20_000) + label
    assert average_precision(score, label) == pytest.approx(average_precision_score(label, score), abs=1e-12)


@pytest.mark.parametrize("tpr", [0.05, 0.5, 0.8, 0.95, 1.0])
def test_fpr_agrees_with_the_roc_curve_of_scikit_learn_on_untied_rows(tpr):
    rng = np.random.default_rng(2)
    label = np.arange(2_000) % 5 == 0
    score = rng.normal(size=2_000) + label
    fpr, found, _ = roc_curve(label, score, drop_intermediate=False)
    assert fpr_at_tpr(score, label, tpr) == pytest.approx(fpr[np.argmax(found >= tpr)], abs=1e-12)


@given(tied_rows())
def test_average_precision_is_its_mean_over_all_orders_of_tied_rows(rows):
    assert average_precision(*rows) == pytest.approx(averaged(ap_by_the_book, *rows), abs=1e-12)


@given(tied_rows(), st.sampled_from([0.2, 0.5, 0.75, 0.95, 1.0]))
def test_fpr_is_its_mean_over_all_orders_of_tied_rows(rows, tpr):
    expected = averaged(lambda target: fpr_by_the_book(target, tpr), *rows)
    assert fpr_at_tpr(*rows, tpr) == pytest.approx(expected, abs=1e-12)


def test_a_perfect_and_a_perfectly_wrong_score_have_their_closed_forms():
    label, score = np.repeat([0, 1], [30, 20]), np.arange(50.0)
    assert (roc_auc(score, label), average_precision(score, label), fpr_at_tpr(score, label)) == (1.0, 1.0, 0.0)
    assert (roc_auc(-score, label), fpr_at_tpr(-score, label)) == (0.0, 1.0)
    # Positive j of 20 comes after all 30 negatives.
    worst = np.mean([j / (30 + j) for j in range(1, 21)])
    assert average_precision(-score, label) == pytest.approx(worst, abs=1e-12)


@given(tied_rows(most=20), st.permutations(range(20)))
def test_metrics_do_not_move_with_increasing_transforms_or_the_order_of_rows(rows, shuffled):
    score, label = rows
    order = [k for k in shuffled if k < len(score)]
    for metric in METRICS:
        value = metric(score, label)
        assert metric(np.exp(3 * score) - 7, label) == value
        assert metric(score[order], label[order]) == pytest.approx(value, abs=1e-12)


def test_infinite_scores_have_their_place_in_the_order():
    label = [0, 0, 1, 1]
    for metric in METRICS:
        assert metric([-np.inf, 0.2, 0.1, np.inf], label) == metric([0, 2, 1, 3], label)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("score", "label"), [([], []), ([1.0], [1]), ([1, 2], [1, 1]), ([1, 2], [0, 0]), ([3, 3, 3], [0, 1, 1])]
)
def test_where_there_is_nothing_to_judge_the_number_is_missing(metric, score, label):
    assert np.isnan(metric(score, label))


@pytest.mark.parametrize("metric", METRICS)
def test_what_is_no_score_or_no_label_is_refused(metric):
    with pytest.raises(TableError, match="NaN"):
        metric([0.1, np.nan], [0, 1])
    with pytest.raises(TableError, match="NaN"):
        metric(np.ma.array([0.1, 0.2], mask=[True, False]), [0, 1])
    with pytest.raises(TableError, match="one length"):
        metric([0.1, 0.2], [0, 1, 1])
    with pytest.raises(TableError, match="1 rows have no positive"):
        metric([0.1, 0.2], [0, np.nan])
    with pytest.raises(TableError, match=r"0 or 1.*got 2"):
        metric([0.1, 0.2], [0, 2])
    with pytest.raises(TableError, match="one number per row"):
        metric([[0.1], [0.2]], [0, 1])
    with pytest.raises(TableError, match="no number"):
        metric(["low", "high"], [0, 1])


def test_a_rate_that_cannot_be_is_refused():
    with pytest.raises(SettingError, match="tpr"):
        fpr_at_tpr([0.1, 0.2], [0, 1], tpr=1.5)

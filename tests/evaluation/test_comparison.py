import numpy as np
import pytest

from vecuq.errors import ColumnError, SettingError, TableError
from vecuq.evaluation import METRICS, Bootstrap, Record, compare, estimate, find_metrics, fpr_at_tpr, roc_auc
from vecuq.evaluation.comparison import compare_all


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    target = (rng.random(600) < 0.4).astype(float)
    good = rng.normal(size=600) + 2 * target
    return {"good": good, "near": good + 0.3 * rng.normal(size=600), "chance": rng.normal(size=600)}, target


def test_values_are_those_of_the_plain_functions(problem):
    scores, target = problem
    for task in ("ood", "error", "selective", "generation"):
        metrics = [one for one in METRICS if one.task == task]
        for compared in compare_all(scores, target, metrics, bootstrap=Bootstrap(0)):
            for name, found in compared.estimates.items():
                assert found.value == compared.metric.function(scores[name], target)
                assert found.n == 600


def test_equal_seeds_give_equal_intervals_and_other_seeds_do_not(problem):
    scores, target = problem
    first, again, other = (
        estimate(scores["good"], target, "aurc", bootstrap=Bootstrap(50, random_state=seed)) for seed in (3, 3, 4)
    )
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)
    assert first.low < first.value < first.high


def test_a_method_is_drawn_alike_alone_and_in_company(problem):
    scores, target = problem
    assert compare(scores, target, "aurc").estimate("near") == estimate(scores["near"], target, "aurc")


def test_differences_are_paired(problem):
    scores, target = problem
    compared = compare({**scores, "twin": np.exp(scores["good"])}, target, "roc_auc")
    twin = compared.difference("good", "twin")
    assert (twin.value, twin.low, twin.high) == (0.0, 0.0, 0.0)
    gap = compared.difference("good", "near")
    assert gap.value == roc_auc(scores["good"], target) - roc_auc(scores["near"], target)
    good, near = compared.estimate("good"), compared.estimate("near")
    apart = np.hypot(good.high - good.low, near.high - near.low)
    assert gap.high - gap.low < 0.6 * apart  # what unpaired resamples would give
    back = compared.difference("near", "good")
    assert (back.low, back.high) == pytest.approx((-gap.high, -gap.low), abs=1e-12)


def test_a_wider_level_gives_a_wider_interval(problem):
    scores, target = problem
    narrow, wide = (
        estimate(scores["near"], target, "average_precision", bootstrap=Bootstrap(level=level)) for level in (0.5, 0.99)
    )
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("key", ["ood roc_auc", "ood fpr_at_95_tpr"])
def test_methods_are_ranked_and_beaten_in_the_direction_of_the_metric(problem, key):
    scores, target = problem
    compared = compare(scores, target, key)
    assert compared.ranked[-1] == "chance"
    assert compared.record("good", ["chance"]) == Record(1, 0, 0)
    assert compared.record("chance") == Record(0, 0, 2)


def test_a_method_without_a_value_says_why_and_the_others_go_on(problem):
    scores, target = problem
    compared = compare({**scores, "flat": np.zeros(600)}, target, "roc_auc")
    assert compared.estimate("flat").reason == "the uncertainty is the same on all rows (600 rows)"
    assert compared.difference("good", "flat").reason == compared.estimate("flat").reason
    assert np.isnan(compared.difference("good", "flat").value)
    assert compared.estimate("good").reason is None
    assert "flat" not in compared.ranked
    assert compared.record("flat") == Record(0, 0, 0)


@pytest.mark.parametrize(
    ("key", "score", "target", "reason"),
    [
        ("ood roc_auc", [], [], "there are no rows"),
        ("error aurc", [1.0], [1], None),
        ("error roc_auc", [1.0], [1], "there is only one row"),
        ("ood roc_auc", [1, 2], [0, 0], "no row is out of distribution (2 rows)"),
        ("ood average_precision", [1, 2], [1, 1], "every row is out of distribution (2 rows)"),
        ("error fpr_at_95_tpr", [1, 2], [0, 0], "no prediction is wrong (2 rows)"),
        ("selective aurc", [1, 2], [1, 1], "no prediction is wrong (2 rows)"),
        ("selective excess_aurc", [1, 2], [0, 0], "every prediction is wrong (2 rows)"),
        ("generation prediction_rejection_ratio", range(9), [0.5] * 9, "all answers have the same quality (9 rows)"),
        ("generation prediction_rejection_ratio", [1], [1], "there is only one row"),
        (
            "generation prediction_rejection_ratio",
            [1, 2, 3],
            [1, 0, 1],
            "max_rejection=0.5 of 3 rows leaves 1 points on the curve; 2 needed",
        ),
    ],
)
def test_where_there_is_nothing_to_judge_the_reason_is_told(key, score, target, reason):
    if reason is None:
        with pytest.raises(SettingError, match="metrics"):
            estimate(score, target, key)
        return
    found = estimate(score, target, key)
    assert found.reason == reason
    assert np.isnan([found.value, found.low, found.high]).all()
    assert found.n == len(target)


def test_a_rare_kind_of_rows_leaves_a_value_without_an_interval():
    target = np.zeros(50)
    target[0] = 1
    found = estimate(-np.arange(50.0), target, "average_precision")
    assert found.value == 1.0
    assert np.isnan(found.low)
    assert found.reason.startswith("no interval: the metric exists on only")


def test_a_false_positive_rate_needs_twenty_positive_rows_and_its_interval_fifty():
    score = np.arange(400.0)
    reasons = {}
    for n_positive in (19, 20, 49, 50):
        found = estimate(score, score >= 400 - n_positive, "fpr_at_95_tpr", bootstrap=Bootstrap(20))
        assert np.isnan(found.value) == (n_positive < 20)
        assert np.isnan(found.low) == (n_positive < 50)
        reasons[n_positive] = found.reason
    assert reasons == {
        19: "fpr_at_95_tpr needs 20 positive rows, there are 19",
        20: "no interval: that of fpr_at_95_tpr needs 50 positive rows, there are 20",
        49: "no interval: that of fpr_at_95_tpr needs 50 positive rows, there are 49",
        50: None,
    }
    assert fpr_at_tpr(score, score >= 390) == 0.0  # the plain function gives what was asked for


def test_coverage_at_an_error_rate_has_an_interval_where_ten_errors_are_allowed():
    rng = np.random.default_rng(0)
    correct = (rng.random(1_000) > 0.02).astype(float)
    few, enough = (estimate(rng.normal(size=1_000), correct, f"coverage_at_{k}_percent_error") for k in (1, 5))
    assert few.reason == (
        "no interval: coverage at an error rate that allows fewer than 10 errors tends to be too high"
    )
    assert np.isnan(few.low)
    assert not np.isnan(few.value)
    assert (enough.reason, enough.low <= enough.value <= enough.high) == (None, True)


def test_no_resamples_no_interval_and_no_complaint(problem):
    scores, target = problem
    found = estimate(scores["good"], target, "roc_auc", bootstrap=Bootstrap(0))
    assert found.reason is None
    assert np.isnan([found.low, found.high]).all()


def test_what_cannot_be_compared_is_refused(problem):
    scores, target = problem
    with pytest.raises(TableError, match="same rows"):
        compare({"a": [1, 2], "b": [1, 2, 3]}, [0, 1], "roc_auc")
    with pytest.raises(TableError, match="no uncertainty of 'a'"):
        compare({"a": [1, np.nan]}, [0, 1], "roc_auc")
    with pytest.raises(TableError, match="at least one method"):
        compare({}, [0, 1], "roc_auc")
    with pytest.raises(SettingError, match="Did you mean 'roc_auc'"):
        compare(scores, target, "rocauc")
    with pytest.raises(SettingError, match="one task"):
        compare_all(scores, target, find_metrics(["roc_auc"]))
    with pytest.raises(ColumnError, match="Did you mean 'good'"):
        compare(scores, target, "roc_auc", bootstrap=Bootstrap(0)).estimate("goof")

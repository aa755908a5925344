import numpy as np
import numpy.testing as npt
import pytest

from vecuq.errors import SettingError, TableError
from vecuq.evaluation import METRICS, Bootstrap, evaluate, pareto_share, rejection_ratio, roc_auc

FEW = Bootstrap(20)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    scores = {name: rng.gamma(2.0, size=400) for name in ("entropy", "knn", "uncertainty")}
    ood, error = (rng.random(400) < 0.3).astype(float), (rng.random(400) < 0.2).astype(float)
    return scores, {"ood": ood, "error": error, "quality": rng.random(400)}


def test_all_metrics_of_all_methods_come_at_once(problem):
    scores, labels = problem
    done = evaluate(scores, **labels, bootstrap=FEW)
    rows = done.rows()
    assert len(rows) == len(scores) * len(METRICS)
    assert list(rows[0]) == ["method", "task", "metric", "value", "low", "high", "n", "reason"]
    assert all(row["low"] <= row["high"] or row["reason"].startswith("no interval") for row in rows)
    few_errors = {f"coverage_at_{k}_percent_error" for k in (1, 2, 5)}
    assert {row["metric"] for row in rows if row["reason"]} <= {"fpr_at_95_tpr", *few_errors}
    assert [one.metric.key for one in done.comparisons] == [metric.key for metric in METRICS]
    assert done.n_left_out == 0


def test_errors_are_looked_for_among_in_distribution_rows_only(problem):
    scores, labels = problem
    done = evaluate(scores, **labels, bootstrap=FEW)
    own = labels["ood"] == 0
    assert done.estimate("knn", "error roc_auc").value == roc_auc(scores["knn"][own], labels["error"][own])
    assert done.estimate("knn", "selective aurc").n == own.sum()
    assert done.estimate("knn", "ood roc_auc").value == roc_auc(scores["knn"], labels["ood"])
    alone = evaluate(scores, error=labels["error"], bootstrap=FEW)
    assert alone.estimate("knn", "error roc_auc").n == 400


def test_rows_without_a_label_are_left_out_of_their_task(problem):
    scores, labels = problem
    ood, error, quality = (labels[name].copy() for name in ("ood", "error", "quality"))
    ood[:10], error[10:30], quality[:7] = np.nan, np.nan, np.nan
    done = evaluate(scores, ood=ood, error=error, quality=quality, bootstrap=FEW)
    assert done.estimate("knn", "ood roc_auc").n == 390
    assert done.estimate("knn", "error roc_auc").n == ((ood == 0) & ~np.isnan(error)).sum()
    assert done.estimate("knn", "generation prediction_rejection_ratio").n == 393


def test_a_row_that_one_method_cannot_score_is_left_out_for_all(problem):
    scores, labels = problem
    holed = {**scores, "knn": np.where(np.arange(400) < 25, np.nan, scores["knn"])}
    done = evaluate(holed, ood=labels["ood"], bootstrap=FEW)
    assert (done.n_rows, done.n_left_out, done.without_score) == (400, 25, {"knn": 25})
    rest = evaluate({name: one[25:] for name, one in scores.items()}, ood=labels["ood"][25:], bootstrap=FEW)
    assert done.rows() == rest.rows()


def test_tables_for_people_and_for_pareto(problem):
    scores, labels = problem
    done = evaluate(scores, **labels, bootstrap=FEW)
    wide = done.wide_rows("selective")
    assert [row["method"] for row in wide] == list(scores)
    assert wide[1]["aurc"] == done.estimate("knn", "selective aurc").value
    table = done.table()
    assert list(table["knn"]) == [
        "ood roc_auc",
        "error roc_auc",
        "selective accuracy_coverage_area",
        "generation prediction_rejection_ratio",
    ]
    turned = done.table(["ood fpr_at_95_tpr"])["knn"]["ood fpr_at_95_tpr"]
    assert turned == -done.estimate("knn", "ood fpr_at_95_tpr").value
    assert set(pareto_share(table)) == set(scores)


def test_metrics_can_be_chosen_and_made(problem):
    scores, labels = problem
    done = evaluate(scores, **labels, metrics=[rejection_ratio(0.25), "roc_auc"], bootstrap=FEW)
    assert list(done.wide_rows()[0]) == [
        "method",
        "generation prediction_rejection_ratio_at_25_percent",
        "ood roc_auc",
        "error roc_auc",
    ]


def test_labels_that_allow_nothing_leave_reasons(problem):
    scores, _ = problem
    done = evaluate(scores, ood=np.full(400, np.nan), error=np.zeros(400), bootstrap=FEW)
    assert {row["reason"] for row in done.rows()} == {"there are no rows"}
    npt.assert_array_equal([row["n"] for row in done.rows()], 0)


def test_what_cannot_be_evaluated_is_refused(problem):
    scores, labels = problem
    with pytest.raises(TableError, match="no labels to evaluate with"):
        evaluate(scores)
    with pytest.raises(TableError, match="at least one method"):
        evaluate({}, ood=labels["ood"])
    with pytest.raises(TableError, match="as a dict; got a list"):
        evaluate([1.0, 2.0], ood=labels["ood"])
    with pytest.raises(SettingError, match="No metric was chosen"):
        evaluate(scores, ood=labels["ood"], metrics=[])
    with pytest.raises(TableError, match="same rows"):
        evaluate({**scores, "short": [1.0]}, ood=labels["ood"])
    with pytest.raises(TableError, match="one length"):
        evaluate(scores, ood=labels["ood"][:-1])
    with pytest.raises(TableError, match="error must be 0 or 1"):
        evaluate(scores, error=np.full(400, 0.5))
    with pytest.raises(SettingError, match="need labels that are not there"):
        evaluate(scores, ood=labels["ood"], metrics=["aurc"])
    with pytest.raises(SettingError, match="Did you mean 'ood roc_auc'"):
        evaluate(scores, ood=labels["ood"], bootstrap=FEW).comparison("odd roc_auc")

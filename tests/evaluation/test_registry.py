import numpy as np
import pytest

from vecuq.errors import SettingError
from vecuq.evaluation import METRICS, TASKS, find_metrics, prediction_rejection_ratio, rejection_ratio


def test_every_metric_has_a_key_of_its_own_a_task_and_one_line_of_meaning():
    assert len({metric.key for metric in METRICS}) == len(METRICS)
    assert {metric.task for metric in METRICS} == set(TASKS)
    assert all(metric.meaning and "\n" not in metric.meaning for metric in METRICS)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
def test_the_direction_told_is_the_one_in_which_a_better_order_moves(metric):
    target = np.repeat([0.0, 1.0], 50)
    # Positive rows should be uncertain; correct rows and good answers should not.
    good = np.arange(100.0) if metric.task in ("ood", "error") else -np.arange(100.0)
    better, worse = metric.function(good, target), metric.function(-good, target)
    assert (better > worse) == metric.higher_is_better
    assert better != worse


def test_metrics_are_found_by_name_key_or_themselves_without_doubles():
    assert [one.key for one in find_metrics(["aurc", "ood roc_auc", "roc_auc"])] == [
        "selective aurc",
        "ood roc_auc",
        "error roc_auc",
    ]
    own = rejection_ratio(0.25)
    assert find_metrics([own, "aurc"])[0] is own
    assert find_metrics() == METRICS


def test_an_unknown_metric_and_a_bare_text_are_refused():
    with pytest.raises(SettingError, match="Did you mean 'aurc'"):
        find_metrics(["auric"])
    with pytest.raises(SettingError, match="list of names"):
        find_metrics("aurc")


def test_the_ratio_at_another_share_is_a_metric_like_the_others():
    rng = np.random.default_rng(0)
    score, quality = rng.normal(size=(2, 40))
    metric = rejection_ratio(0.25)
    assert metric.name == "prediction_rejection_ratio_at_25_percent"
    assert metric.function(score, quality) == prediction_rejection_ratio(score, quality, 0.25)
    assert metric.defect(score[:4], quality[:4]).startswith("max_rejection=0.25 of 4 rows leaves 1 point")
    with pytest.raises(SettingError, match="max_rejection"):
        rejection_ratio(1.5)


OTHER_NAMES = {
    "roc_auc": ("auroc", "AUROC", "AU-ROC", "auc", "aucroc", "ROC AUC", "au_roc"),
    "ood roc_auc": ("ood auroc", "auroc_ood", "ood_auroc"),
    "error roc_auc": ("error auroc",),
    "average_precision": ("aupr", "AUPRC", "pr-auc"),
    "fpr_at_95_tpr": ("fpr95", "FPR@95"),
    "excess_aurc": ("e-aurc",),
    "prediction_rejection_ratio": ("PRR",),
}


@pytest.mark.parametrize(("theirs", "ours"), [(one, ours) for ours, names in OTHER_NAMES.items() for one in names])
def test_a_metric_under_the_name_that_others_give_it_is_never_mistaken_for_the_nearest_spelling(theirs, ours):
    with pytest.raises(SettingError, match=rf"There is no metric '{theirs}'\. Did you mean '{ours}'\?"):
        find_metrics([theirs])


def test_every_metric_is_found_by_its_own_name():
    assert all(find_metrics([metric.key]) == (metric,) for metric in METRICS)

"""Rows of the image studies that lack one of the four columns: what is lost, and that it is no more than it must be."""

import numpy as np
import pytest

from vecuq import Ranker, fit_ranker
from vecuq.evaluation import roc_auc
from vecuq.measures import compositions
from vecuq.paper.ensembles import DATASETS, GroupScores, group_scores, n_groups

COLUMNS = compositions["eat_m"]


def auc(score, own, foreign):
    found = score(own), score(foreign)
    return roc_auc(np.concatenate(found), np.repeat([0, 1], [len(own), len(foreign)]))


def lacking(ranker: Ranker, column: int):
    def score(rows):
        holed = rows.copy()
        holed[:, column] = np.nan
        return ranker.uncertainty(holed, missing="marginal")

    return score


def cases(scores: GroupScores):
    """Yield ROC-AUC with all columns, without one, and of a ranker fitted without it, for each column and data set."""
    full = fit_ranker(scores.calibration)
    for column in range(len(COLUMNS)):
        rest = [k for k in range(len(COLUMNS)) if k != column]
        refitted = fit_ranker(scores.calibration[:, rest])
        for foreign in scores.ood.values():
            own, other = scores.test[::4], foreign[::4]
            yield (
                auc(full.uncertainty, own, other),
                auc(lacking(full, column), own, other),
                auc(lambda rows, r=refitted, k=rest: r.uncertainty(rows[:, k]), own, other),
            )


@pytest.mark.slow
def test_a_missing_column_costs_no_more_than_it_must():
    found = np.array(
        [
            case
            for name in DATASETS
            for g in range(n_groups(name))
            for case in cases(group_scores(name, g).select(COLUMNS))
        ]
    )
    full, marginal, refitted = found.T
    assert len(found) == 160
    assert np.abs(marginal - refitted).max() < 0.005
    # Where the other columns see as much, at most 0.02 is lost; where they do not, it is the column that did.
    others_see_it = refitted >= full - 0.02
    assert others_see_it.sum() > 120
    assert (full - marginal)[others_see_it].max() <= 0.02


@pytest.mark.slow
@pytest.mark.parametrize("column", range(len(COLUMNS)))
def test_p_values_without_a_column_stay_valid(column):
    rates = []
    for name in DATASETS:
        for group in range(n_groups(name)):
            scores = group_scores(name, group).select(COLUMNS)
            holed = scores.test.copy()
            holed[:, column] = np.nan
            rates.append(np.mean(fit_ranker(scores.calibration).flag(holed, 0.05, missing="marginal")))
    # A rate given 1,000 held-back rows scatters by sqrt(0.05 * 0.95 / 1000) about alpha; the mean of ten by less.
    assert np.mean(rates) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000 / len(rates))
    assert np.min(rates) > 0.02

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from vecuq.errors import TableError
from vecuq.evaluation import roc_auc

ROWS = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=40)


@given(ROWS)
def test_roc_auc_is_the_share_of_ordered_pairs(rows):
    score, label = np.array([s for s, _ in rows], float), np.array([p for _, p in rows])
    positive, negative = score[label], score[~label]
    if not len(positive) or not len(negative):
        assert np.isnan(roc_auc(score, label))
        return
    pairs = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    assert roc_auc(score, label) == pytest.approx(pairs.mean(), abs=1e-12)


def test_roc_auc_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    score, label = rng.normal(size=5000).round(1), rng.random(5000) < 0.3
    assert roc_auc(score, label) == pytest.approx(roc_auc_score(label, score), abs=1e-12)


def test_missing_scores_and_wrong_lengths_are_refused():
    with pytest.raises(TableError, match="NaN"):
        roc_auc([0.1, np.nan], [0, 1])
    with pytest.raises(TableError, match="one length"):
        roc_auc([0.1, 0.2], [0, 1, 1])

"""Rules: what decides where rows have no score, come in groups, or where labels chose the threshold."""

import numpy as np
import pytest

from vecuq import Gate, VecUQ
from vecuq.conformal import Ladder
from vecuq.errors import SettingError
from vecuq.gate.rule import Labelled, decide
from vecuq.gate.target import Target

LADDER = Ladder.of(np.linspace(0, 1, 1_001))


@pytest.mark.parametrize(("share", "certified"), [(0.02, True), (0.3, False)])
def test_a_row_without_a_score_is_flagged_and_counts_in_the_precision(share, certified):
    rng = np.random.default_rng(0)
    scores, unscored = rng.random(2_000), rng.random(2_000) < share
    losses = ((rng.random(2_000) < scores**2) & ~unscored).astype(float)
    without, beyond = (
        decide(
            Labelled("", np.where(unscored, given, scores), losses, None, LADDER), Target("flag_precision", 0.5), 0.1
        )
        for given in (np.nan, 2.0)
    )
    assert (without.threshold, without.certified) == (beyond.threshold, beyond.certified)
    assert without.certified == certified


def test_the_bound_beside_a_flag_holds_for_every_threshold_that_labels_could_have_chosen():
    rng, below = np.random.default_rng(1), 0
    for _ in range(100):
        scores, losses = rng.random(500), (rng.random(500) < 0.1).astype(float)
        below += decide(Labelled("", scores, losses, None, LADDER), Target("flag_recall", 0.5), 0.1).bound < 0.1
    assert below <= 3


def test_a_budget_smaller_than_the_rows_without_a_score_reviews_these_alone():
    scores = np.where(np.arange(1_000) % 10 == 0, np.nan, np.linspace(0, 1, 1_000))
    found = decide(Labelled("", scores, np.zeros(1_000), None, Ladder.of(scores)), Target("budget", 0.05), 0.1)
    assert found.n_accepted == 900


@pytest.mark.parametrize(
    ("target", "kinds", "message"),
    [
        ({"accuracy": 0.8, "promise": "average"}, {"groups": np.arange(300) // 3}, "independent"),
        ({"budget": 5}, {"by": ["a"] * 300}, "whole batch"),
        ({"accuracy": 0.8}, {"simultaneous": True}, "give them as by="),
    ],
)
def test_what_cannot_be_had_together_is_refused(target, kinds, message):
    rng = np.random.default_rng(2)
    model = VecUQ().fit(rng.random((200, 2)))
    with pytest.raises(SettingError, match=message):
        Gate(model, **target).fit(rng.random((300, 2)), rng.random(300) < 0.9, **kinds)


def test_groups_lend_their_scores_whole():
    rng, groups = np.random.default_rng(3), np.repeat(np.arange(100), 6)
    rows = rng.random((600, 2))

    class Plain:
        def uncertainty(self, data):
            return np.asarray(data).sum(axis=1)

    made = Gate(Plain(), accuracy=0.7).fit(rows, rng.random(600) < 0.9, groups=groups)
    left = groups[made.learned_.kept]
    assert 0 < len(left) < 600
    assert (np.bincount(left)[np.unique(left)] == 6).all()


def test_a_certificate_of_categories_speaks_of_a_category():
    rng = np.random.default_rng(4)
    model, rows = VecUQ().fit(rng.random((300, 2))), rng.random((1_000, 2))
    made = Gate(model, accuracy=0.7).fit(rows, rng.random(1_000) < 0.95, by=np.arange(1_000) % 2)
    assert "each by itself. With confidence 90 %, at least 70 % of the accepted rows of a category" in str(
        made.certificate()
    )

"""A column that is no uncertainty score is recognised by its name and its values; an honest score is left in peace."""

import numpy as np
import pytest

from vecuq.data import DEMO_SCORES, load_demo
from vecuq.measures import list_measures
from vecuq.table import find_suspicions
from vecuq.table.directions import against_the_others
from vecuq.table.suspicions import sounds_confident

RNG = np.random.default_rng(7)
N = 400
UNCERTAIN = RNG.gamma(1.0, size=N)
SCORES = {"entropy": UNCERTAIN + 0.3 * RNG.gamma(1.0, size=N), "knn": UNCERTAIN + 0.5 * RNG.gamma(1.0, size=N)}


def found(columns, **how):
    """Return what is suspected, by column."""
    return {one.column: one.kind for one in find_suspicions(list(columns), np.column_stack([*columns.values()]), **how)}


SOUNDING = (
    *("confidence", "conf", "Confidence", "max_prob", "maxProb", "max_softmax", "probability", "prob", "certainty"),
    *("log_prob", "logprob", "avg-logprob", "log_likelihood", "loglik", "predicted probability", "cosine_similarity"),
)
NOT_SOUNDING = (
    *("uncertainty", "entropy", "neg_log_prob", "nll", "1-confidence", "1 - max_prob", "unconfidence", "error_prob"),
    *("softmax_entropy", "prob_std", "confidence_interval", "unlikelihood", "negLogLikelihood", "problem", "confusion"),
    *("prob_wrong", "-log_prob", "dissimilarity"),
)


@pytest.mark.parametrize("name", SOUNDING)
def test_a_name_that_speaks_of_confidence_is_suspected(name):
    columns = {"entropy": RNG.gamma(1.0, size=N), name: RNG.gamma(1.0, size=N)}
    assert found(columns) == {name: "confidence"}


@pytest.mark.parametrize("name", NOT_SOUNDING)
def test_a_name_that_speaks_of_the_opposite_is_not(name):
    assert not sounds_confident(name)


def test_no_measure_of_ours_sounds_confident():
    assert [name for names in list_measures().values() for name in names if sounds_confident(name)] == []


def test_a_column_that_falls_as_the_others_rise_is_suspected_whatever_its_name():
    (one,) = find_suspicions([*SCORES, "foo"], np.column_stack([*SCORES.values(), np.exp(-UNCERTAIN)]))
    assert (one.column, one.kind) == ("foo", "confidence")
    assert one.spearman < -0.7
    assert one.why == f"falls as 'entropy' and 'knn' rise, rank correlation {one.spearman:.2f}"


def test_a_flipped_column_is_beyond_suspicion():
    columns = {**SCORES, "confidence": UNCERTAIN}
    assert found(columns, flipped={"confidence"}) == {}
    assert found({**SCORES, "confidence": -UNCERTAIN}, flipped={"confidence"}) == {}


def test_a_confidence_by_name_that_rises_with_the_others_was_turned_already():
    assert found({**SCORES, "confidence": UNCERTAIN}) == {}


def test_confidences_that_rise_together_are_all_suspected():
    columns = {"max_prob": -UNCERTAIN, "log_prob": -SCORES["knn"], "entropy": SCORES["entropy"]}
    assert found(columns) == {"max_prob": "confidence", "log_prob": "confidence"}


def test_of_two_columns_the_one_with_the_doubtful_name_is_suspected():
    assert found({"prob": -UNCERTAIN, "knn": SCORES["knn"]}) == {"prob": "confidence"}


def test_where_nothing_tells_which_side_is_reversed_the_words_say_so():
    (one,) = find_suspicions(["a", "b"], np.column_stack([UNCERTAIN, -SCORES["knn"]]))
    assert one.column == "b"
    assert "falls as 'a' rises" in one.why
    assert "one side is reversed" in one.why


def test_columns_of_noise_have_no_vote_about_the_direction():
    noise = {f"noise_{k}": RNG.gamma(1.0, size=N) for k in range(5)}
    assert found({**noise, **SCORES, "foo": -UNCERTAIN}) == {"foo": "confidence"}


def test_directions_are_left_alone_on_request():
    assert found({**SCORES, "confidence": -UNCERTAIN, "id": np.arange(N)}, directions=False) == {"id": "id"}


@pytest.mark.parametrize("n_rows", [20, 50, 400])
@pytest.mark.parametrize("n_columns", [2, 4, 10])
def test_independent_columns_are_not_suspected(n_rows, n_columns):
    rng = np.random.default_rng([n_rows, n_columns])
    for _ in range(50):
        rows = rng.gamma(1.0, size=(n_rows, n_columns))
        assert not against_the_others(rows, trusted=[True] * n_columns).against


NO_SCORES = {
    "row numbers": ("c", np.arange(N), "id"),
    "shuffled row numbers": ("c", RNG.permutation(N) + 1.0, "id"),
    "large ids": ("c", RNG.choice(10**9, N, replace=False), "id"),
    "an id with copies, by its name": ("sample_id", RNG.integers(0, 50, N), "id"),
    "the index of pandas": ("Unnamed: 0", np.arange(N), "id"),
    "zeros and ones": ("c", RNG.integers(0, 2, N), "label"),
    "classes": ("label", RNG.integers(0, 10, N), "label"),
    "a regression target": ("y_true", RNG.normal(size=N), "label"),
    "is_error": ("is_error", RNG.integers(0, 2, N), "label"),
    "seconds": ("c", 1.7e9 + 60.5 * np.arange(N), "time"),
    "milliseconds": ("c", 1.7e12 + RNG.random(N) * 1e9, "time"),
    "microseconds": ("c", 1.7e15 + RNG.random(N) * 1e12, "time"),
    "nanoseconds": ("c", 1.7e18 + RNG.random(N) * 1e15, "time"),
    "dates": ("c", RNG.choice([20240131, 20240201, 20231224], N), "time"),
    "a timestamp": ("timestamp", RNG.random(N), "time"),
    "a clock": ("time", np.cumsum(RNG.random(N)), "time"),
}


@pytest.mark.parametrize(("name", "values", "kind"), NO_SCORES.values(), ids=NO_SCORES)
def test_ids_labels_and_times_are_suspected_also_as_floats_with_a_missing_value(name, values, kind):
    column = np.asarray(values, dtype=float).copy()
    assert found({**SCORES, name: column}) == {name: kind}
    column[3] = np.nan
    assert found({**SCORES, name: column}) == {name: kind}


HONEST = {
    "counts": ("n_trees_against", RNG.integers(0, 100, N)),
    "few counts": ("num_sets", RNG.integers(1, 6, N)),
    "an index that is a score": ("gini_index", RNG.random(N)),
    "an error that is a score": ("reconstruction_error", RNG.random(N)),
    "elapsed time": ("response_time", RNG.random(N)),
    "a sorted score": ("energy", np.sort(RNG.normal(size=N))),
    "one value": ("constant", np.ones(N)),
    "nothing": ("empty", np.full(N, np.nan)),
}


@pytest.mark.parametrize(("name", "values"), HONEST.values(), ids=HONEST)
def test_honest_scores_are_left_in_peace(name, values):
    assert found({**SCORES, name: np.asarray(values, dtype=float)}) == {}


def test_nothing_is_suspected_in_the_bundled_data():
    for table in load_demo():
        assert found({name: table[name].to_numpy() for name in DEMO_SCORES}) == {}


def test_of_many_rows_some_are_enough():
    rows = np.random.default_rng(0).gamma(1.0, size=(300_001, 1))
    table = np.hstack([rows, rows + 0.1, np.arange(len(rows))[:, None], -rows])
    assert [(one.column, one.kind) for one in find_suspicions(["a", "b", "c", "d"], table)] == [
        ("c", "id"),
        ("d", "confidence"),
    ]


def test_a_handful_of_rows_is_judged_by_names_only():
    rows = np.column_stack([np.arange(5.0), np.arange(5.0), -np.arange(5.0), [0.0, 1, 0, 1, 1]])
    assert find_suspicions(["a", "b", "c", "d"], rows) == ()
    assert [one.column for one in find_suspicions(["id", "b", "prob", "label"], rows)] == ["id", "prob", "label"]


def test_no_rows_at_all_raise_no_suspicion():
    assert find_suspicions(["id"], np.empty((0, 1))) == ()


def test_columns_that_all_sound_confident_are_all_suspected_even_if_they_rise_together():
    columns = {"max_prob": UNCERTAIN, "log_prob": SCORES["knn"], "conf": SCORES["entropy"]}
    assert found(columns) == dict.fromkeys(columns, "confidence")


def test_values_that_all_columns_share_say_nothing_of_one_of_them():
    for values in (np.arange(N), RNG.integers(0, 2, N), 1.7e9 + RNG.random(N)):
        assert found({name: RNG.permutation(values) for name in "abc"}) == {}
    assert found({"id": np.arange(N)}) == {"id": "id"}


def test_numbers_too_large_for_fractions_are_not_taken_for_whole_ones():
    assert found({**SCORES, "a": 1e150 * UNCERTAIN}) == {}


def test_two_columns_that_fall_a_little_against_each_other_may_both_be_honest():
    rng = np.random.default_rng(0)
    pairs = rng.multivariate_normal([0, 0], [[1, -0.4], [-0.4, 1]], size=2_000)
    assert find_suspicions(["a", "b"], pairs) == ()

"""Weights: they scale the columns before the transport, and a few labels may set them."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from vecuq import (
    PartialFit,
    ScoreTable,
    Settings,
    VecUQ,
    Weights,
    fit_ranker,
    fit_stream,
    learn_weights,
    load,
)
from vecuq.errors import CalibrationError, CalibrationWarning, ColumnError, SettingError, TableError
from vecuq.evaluation import roc_auc
from vecuq.ranker import falls, is_proven_monotone
from vecuq.ranker.label_fit import weights_from_labels

RNG = np.random.default_rng(0)
NAMES = ("a", "b", "c")
ROWS = RNG.gamma(1.0, size=(1200, 3))
NEW = RNG.gamma(1.3, size=(200, 3)) * 2
GIVEN = {"a": 1.0, "b": 0.5, "c": 0.2}


def named(values, names=NAMES):
    return {name: values[:, k] for k, name in enumerate(names)}


def fitted(weights=None, rows=ROWS, names=NAMES, **more):
    return VecUQ(weights=weights, columns=list(names), flip=(), **more).fit(named(rows, names))


def labelled(n_rows, seed, strength=(3.0, 1.0, 0.0)):
    """Rows of three scores, of which some point to wrong answers."""
    rng = np.random.default_rng(seed)
    rows = rng.random((n_rows, 3))
    return rows, rng.random(n_rows) < 1 / (1 + np.exp(2.0 - rows @ strength))


# Given by hand


@pytest.mark.parametrize("number", [1.0, 0.3, 7])
@pytest.mark.parametrize("scaling", ["featurewise", "global", "quantile"])
def test_equal_weights_are_none_to_the_bit(number, scaling):
    equal, none = (fitted(weights, scaling=scaling) for weights in (dict.fromkeys(NAMES, number), None))
    assert equal.ranker_.settings.weights is None
    npt.assert_array_equal(equal.transform(named(NEW)), none.transform(named(NEW)))
    assert equal.to_bytes() == none.to_bytes()


@pytest.mark.parametrize("reference", ["beta", "ball"])
def test_a_weight_of_0_drops_the_column(reference):
    three = fitted({"a": 1.0, "b": 1.0, "c": 0.0}, reference=reference)
    two = fitted(rows=ROWS[:, :2], names=("a", "b"), reference=reference)
    npt.assert_array_equal(three.uncertainty(named(NEW)), two.uncertainty(named(NEW[:, :2], ("a", "b"))))
    assert (three.explain(named(NEW))[:, 2] == 0).all()
    assert (three.transform(named(NEW))[:, 2] == 0).all()
    assert three.diagnostics_.constant_columns == ()


def test_columns_beyond_the_limit_may_be_there_with_a_weight_of_0():
    rows = np.random.default_rng(4).random((200, 66))
    names = [f"x{k}" for k in range(66)]
    few = {name: float(k < 2) for k, name in enumerate(names)}
    assert fit_ranker(rows, Settings(weights=few)).active == (0, 1)
    with pytest.raises(SettingError, match="65 varying score columns are too many"):
        fit_ranker(rows, Settings(weights={**dict.fromkeys(names, 1.0), "x3": 0.0}))


def test_weights_act_as_columns_of_other_ranges_do():
    """With identity scaling the user could do it by hand."""
    by_hand = fitted(rows=ROWS * list(GIVEN.values()), scaling="identity", epsilon=5.0)
    weighted = fitted(GIVEN, scaling="identity", epsilon=5.0)
    npt.assert_allclose(
        weighted.uncertainty(named(NEW)), by_hand.uncertainty(named(NEW * list(GIVEN.values()))), rtol=1e-9
    )


def test_a_larger_weight_gives_a_column_more_say():
    base = fitted().explain(named(NEW))
    light = fitted({"a": 1.0, "b": 1.0, "c": 0.1}).explain(named(NEW))
    assert np.abs(light[:, 2]).mean() < 0.3 * np.abs(base[:, 2]).mean()


def test_the_order_of_weights_and_of_columns_changes_nothing():
    one = fitted(GIVEN).uncertainty(named(NEW))
    other = fitted(dict(reversed(GIVEN.items()))).uncertainty(named(NEW))
    npt.assert_array_equal(one, other)
    turned = fitted(GIVEN, rows=ROWS[:, ::-1], names=NAMES[::-1]).uncertainty(named(NEW))
    npt.assert_allclose(turned, one, rtol=1e-9)


weights_of_three = st.tuples(*[st.sampled_from([0.0, 1e-3, 0.1, 0.5, 1.0])] * 3).filter(any)


@settings(max_examples=15)
@given(weights_of_three, st.sampled_from(["featurewise", "global", "quantile"]), st.integers(0, 2))
def test_raising_a_column_never_lowers_the_score(numbers, scaling, column):
    model = fitted(dict(zip(NAMES, numbers, strict=True)), rows=ROWS[:200], scaling=scaling, n_targets=64)
    ways = np.repeat(NEW[:40, None], 12, axis=1)
    ways[:, :, column] = np.sort(np.r_[-50.0, -1.0, np.linspace(0.0, 9.0, 8), 40.0, 1e4])
    scores = model.uncertainty(named(ways.reshape(-1, 3))).reshape(40, 12)
    assert falls(scores).max() <= 1e-9
    assert model.diagnostics_.monotone_violations == 0


@pytest.mark.parametrize("weights", [GIVEN, {"a": 1.0, "b": 0.05, "c": 0.0}])
def test_the_order_is_proven_monotone_with_weights_too(weights):
    assert is_proven_monotone(fitted(weights).ranker_)


@pytest.mark.parametrize("solver", ["separable", "dense", "sketch"])
def test_all_ways_to_solve_agree_with_weights(solver):
    known = fitted(GIVEN, n_targets=125, tol=1e-11, solver="separable").uncertainty(named(NEW))
    npt.assert_allclose(
        fitted(GIVEN, n_targets=125, tol=1e-11, solver=solver).uncertainty(named(NEW)), known, atol=1e-8
    )


def test_streams_sketches_and_chunks_take_weights():
    table = ScoreTable.of(named(ROWS), columns=NAMES, flip=())
    chosen = Settings(weights=GIVEN, n_targets=125, holdback=0.0)
    exact = fit_ranker(table, chosen)
    parts = [ScoreTable(NAMES, part) for part in np.split(ROWS, 4)]
    npt.assert_allclose(fit_stream(lambda: iter(parts), chosen).uncertainty(NEW), exact.uncertainty(NEW), atol=1e-7)
    none_held = Settings(weights={**GIVEN, "b": 0.0}, n_targets=125, holdback=0.0)
    of_sketch = PartialFit(settings=none_held, n_rows=10**6).update(table).fit()
    npt.assert_allclose(of_sketch.uncertainty(NEW), fit_ranker(table, none_held).uncertainty(NEW), atol=1e-7)
    assert VecUQ(weights=GIVEN, columns=list(NAMES), flip=()).partial_fit(named(ROWS)).ranker_.scaler.weights.max() == 1


def test_the_fast_map_in_the_box_agrees_with_the_sum_over_targets():
    ranker = fitted(GIVEN).ranker_
    scaled = ranker.scaler.transform(ROWS)
    npt.assert_allclose(ranker.rank_map(scaled), ranker.rank_map.exactly(scaled), atol=1e-8)


def test_rows_with_missing_values_and_reasons_work_with_weights():
    model = fitted({"a": 1.0, "b": 0.5, "c": 0.0}, missing="marginal")
    lacking = NEW.copy()
    lacking[::2, 0], lacking[::3, 2] = np.nan, np.nan
    scores = model.uncertainty(named(lacking))
    assert np.isfinite(scores).all()
    total = model.explain(named(lacking)).sum(axis=1) + model.baseline_
    npt.assert_allclose(total, scores, atol=1e-9)
    assert all(model.why(named(lacking)))


def test_p_values_are_as_uniform_as_without_weights():
    rng, alarms = np.random.default_rng(2), []
    for seed in range(40):
        model = fitted(GIVEN, rows=rng.gamma(1.0, size=(400, 3)), random_state=seed, n_targets=27)
        alarms.append(model.flag(named(rng.gamma(1.0, size=(400, 3))), 0.1).mean())
    assert np.mean(alarms) < 0.1 + 3 * np.std(alarms) / np.sqrt(len(alarms))


@pytest.mark.parametrize("changes", [{}, {"scaling": "quantile"}, {"scaling": "global"}, {"reference": "ball"}])
@pytest.mark.parametrize("weights", [GIVEN, {"a": 0.0, "b": 1.0, "c": 0.25}])
def test_a_saved_model_keeps_its_weights(weights, changes):
    model = fitted(weights, **changes)
    again = load(model.to_bytes())
    npt.assert_array_equal(again.uncertainty(named(NEW)), model.uncertainty(named(NEW)))
    assert again.settings.weights == model.ranker_.settings.weights
    assert again.describe()["weights"]["columns"] == weights
    assert again.to_bytes() == model.to_bytes()
    assert VecUQ.from_ranker(again).weights == weights


def test_constant_columns_and_weights_of_0_are_told_apart_in_a_file():
    rows = np.column_stack([ROWS, np.full(len(ROWS), 2.0)])
    model = fitted({**GIVEN, "b": 0.0, "d": 1.0}, rows=rows, names=(*NAMES, "d"))
    again = load(model.to_bytes())
    assert again.diagnostics.constant_columns == ("d",)
    assert [one["constant"] for one in again.describe()["columns"]] == [False, False, False, True]
    assert again.active == (0, 2)


def test_the_largest_weight_of_a_constant_column_does_not_shrink_the_others():
    rows = np.column_stack([ROWS[:, :2], np.full(len(ROWS), 2.0)])
    model = fitted({"a": 0.5, "b": 0.25, "c": 1.0}, rows=rows)
    npt.assert_array_equal(model.ranker_.scaler.weights, [1.0, 0.5])


REFUSED = {
    "an unknown column": ({**GIVEN, "d": 1.0}, ColumnError, "lacks .'d'., which have a weight"),
    "a column without a weight": ({"a": 1.0, "b": 1.0}, ColumnError, "`weights` lacks .'c'."),
    "a negative one": ({**GIVEN, "a": -1.0}, SettingError, "weight of 'a' must lie in"),
    "nan": ({**GIVEN, "a": np.nan}, SettingError, "must be finite"),
    "text": ({**GIVEN, "a": "much"}, SettingError, "must be a number"),
    "all 0": (dict.fromkeys(NAMES, 0.0), SettingError, "at least one must be above 0"),
    "nothing": ({}, SettingError, "at least one must be above 0"),
    "no names": ([1.0, 0.5, 0.2], SettingError, "a dict by column name"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_weights_that_make_no_sense_are_refused(name):
    given, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        fitted(given)


def test_only_columns_of_weight_0_that_vary_are_refused():
    rows = np.column_stack([ROWS[:, 0], np.full((len(ROWS), 2), 2.0)])
    with pytest.raises(CalibrationError, match="varies over the calibration rows has the weight 0: a"):
        fitted({"a": 0.0, "b": 1.0, "c": 1.0}, rows=rows)


def test_a_small_epsilon_undoes_weights_and_warns():
    with pytest.warns(CalibrationWarning, match=r"epsilon=0\.2 the transport undoes"):
        fitted(GIVEN, epsilon=0.2)
    fitted(dict.fromkeys(NAMES, 1.0), epsilon=0.2)


def test_scikit_learn_clones_an_estimator_with_weights():
    learned = learn_weights(named(labelled(300, 0)[0]), labelled(300, 0)[1], columns=NAMES, flip=())
    for weights in (GIVEN, learned):
        copy = clone(VecUQ(weights=weights))
        assert copy.weights == weights
    assert repr(VecUQ(weights=GIVEN)).startswith("VecUQ(weights=")


def test_weights_are_a_frozen_mapping_that_prints_itself():
    weights = Weights.of({"a": 4.0, "b": 1.0, "c": 1e-9})
    assert dict(weights) == {"a": 1.0, "b": 0.25, "c": 0.0}
    assert repr(weights) == "Weights(a 1, b 0.25, c 0)"
    assert weights == Weights.of({"c": 0.0, "b": 0.5, "a": 2.0})
    assert hash(weights) == hash(Weights.of({"c": 0.0, "b": 0.5, "a": 2.0}))
    with pytest.raises(KeyError):
        weights["d"]
    with pytest.raises(AttributeError):
        weights.numbers = (1.0,)


# Learned from labels


def test_labels_find_the_columns_that_matter():
    rows, wrong = labelled(2000, 0)
    weights = learn_weights(named(rows), wrong, columns=NAMES, flip=())
    assert weights["a"] == 1.0
    assert weights["b"] < 0.6
    assert weights["c"] < 0.15
    assert (weights.n_labels, weights.n_wrong) == (2000, int(wrong.sum()))
    assert "learned from 2,000 labels" in repr(weights)


@pytest.mark.nightly
def test_learned_weights_order_new_rows_better_and_are_not_worse_without_anything_to_learn():
    """The study on real scores is benchmarks/label_weights.py; this is its quick version."""
    for strength, least in (((3.0, 1.0, 0.0), 0.01), ((1.5, 1.5, 1.5), -0.002)):
        gains = []
        for seed in range(12):
            rows, wrong = labelled(5000, seed, strength)
            weights = learn_weights(named(rows[:200]), wrong[:200], columns=NAMES, flip=())
            plain, ours = (fitted(w, rows=rows[200:1200], n_targets=64) for w in (None, weights))
            judged = named(rows[1200:])
            gains.append(
                roc_auc(ours.uncertainty(judged), wrong[1200:]) - roc_auc(plain.uncertainty(judged), wrong[1200:])
            )
        assert np.mean(gains) > least


@settings(max_examples=20)
@given(st.permutations(range(3)), st.integers(0, 10**6))
def test_the_order_of_rows_and_columns_does_not_matter_to_labels(places, seed):
    rows, wrong = labelled(150, 1)
    known = weights_from_labels(rows, wrong).weights
    shuffled = np.random.default_rng(seed).permutation(150)
    found = weights_from_labels(rows[shuffled][:, places], wrong[shuffled]).weights
    npt.assert_allclose(found / found.max(), known[list(places)] / known.max(), atol=1e-4)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6)), min_size=3, max_size=3))
@settings(max_examples=20)
def test_units_of_columns_do_not_matter_to_labels(units):
    rows, wrong = labelled(150, 1)
    shift, factor = np.array(units).T
    known, found = weights_from_labels(rows, wrong).weights, weights_from_labels(rows * factor + shift, wrong).weights
    npt.assert_allclose(found / found.max(), known / known.max(), atol=1e-3)


def test_the_fit_is_the_minimum_that_an_independent_solver_finds():
    from scipy.optimize import minimize
    from scipy.special import log_expit

    rows, wrong = labelled(120, 3)
    unit = (rows - rows.min(0)) / np.ptp(rows, axis=0)
    spread = unit.std(0)
    z, sign = (unit - unit.mean(0)) / spread, np.where(wrong, 1, -1)
    equal = spread / np.sqrt(np.mean(spread**2))

    def loss(at, penalty):
        # Squares keep the weights and their size from being negative.
        w, s, b = at[:3] ** 2, at[3] ** 2, at[4]
        return -log_expit(sign * (z @ w + b)).sum() + penalty / 2 * ((w - s * equal) ** 2).sum()

    def log_likelihood(w, b):
        return log_expit(sign * (z @ w + b)).sum()

    slow = {"method": "Nelder-Mead", "options": {"maxiter": 40_000, "maxfev": 40_000, "xatol": 1e-9, "fatol": 1e-12}}
    free = minimize(loss, np.full(5, 0.5), args=(7.0,), **slow).x
    tied = minimize(lambda at: -log_likelihood(at[0] ** 2 * equal, at[1]), [0.5, 0.0], **slow).x
    gain = 2 * (log_likelihood(free[:3] ** 2, free[4]) - log_likelihood(tied[0] ** 2 * equal, tied[1]))
    found = weights_from_labels(rows, wrong, penalty=7.0)
    assert found.gain == pytest.approx(gain, abs=1e-4)
    assert found.trust == pytest.approx(gain / (gain + 4), abs=1e-4)
    start = tied[0] ** 2 * equal
    npt.assert_allclose(found.weights * spread, start + found.trust * (free[:3] ** 2 - start), atol=1e-4)


def test_labels_that_the_sum_separates_leave_the_weights_equal():
    rows = np.linspace(0, 1, 80)[:, None] + np.zeros((80, 3))
    weights = learn_weights(rows, rows[:, 0] > 0.5)
    assert set(weights.values()) == {1.0}
    assert weights.learned


def test_a_column_that_does_not_vary_gets_what_all_would_get():
    rows, wrong = labelled(300, 0)
    rows[:, 2] = 4.0
    weights = learn_weights(rows, wrong)
    assert 0 < weights["x2"] < 1


def test_too_few_labels_of_one_kind_leave_the_weights_equal_with_one_warning():
    rows, _ = labelled(200, 0)
    wrong = np.arange(200) < 19
    with pytest.warns(CalibrationWarning, match="200 labels, 19 of them wrong, are too few") as caught:
        weights = learn_weights(rows, wrong)
    assert len(caught) == 1
    assert set(weights.values()) == {1.0}
    plain = VecUQ().fit(ROWS)
    npt.assert_array_equal(VecUQ(weights=weights).fit(ROWS).uncertainty(NEW), plain.uncertainty(NEW))


def test_labels_against_every_column_leave_the_weights_equal_and_ask_for_the_direction():
    rows, wrong = labelled(400, 0, (3.0, 3.0, 3.0))
    with pytest.warns(CalibrationWarning, match="Are the labels inverted"):
        assert set(learn_weights(rows, ~wrong).values()) == {1.0}


BAD_LABELS = {
    "strings": (["yes", "no"] * 100, "wrong must be 0 or 1, or false or true; got 'yes'"),
    "strings of digits": (["1", "0"] * 100, "wrong must be 0 or 1"),
    "strings among numbers": (np.array([1, "no"] * 100, dtype=object), "wrong must be 0 or 1"),
    "nan": ([1.0, np.nan] * 100, "100 of 200 rows have no wrong"),
    "None": ([True, None] * 100, "100 of 200 rows have no wrong"),
    "masked": (np.ma.array(np.arange(200) % 2, mask=np.arange(200) < 3), "3 of 200 rows have no wrong"),
    "qualities": (np.linspace(0, 1, 200), "wrong must be 0 or 1, or false or true; got 0.005"),
    "all right": (np.zeros(200), "got 200 rows, all right"),
    "all wrong": (np.ones(200, dtype=bool), "got 200 rows, all wrong"),
    "other length": (np.arange(150) % 2, "one label for each of 200 rows; got shape .150,."),
    "a matrix": (np.zeros((200, 2)), "one label for each of 200 rows"),
    "lists of lists": ([[1], [1, 0]] * 100, "lists of several lengths"),
}


@pytest.mark.parametrize("name", BAD_LABELS)
def test_bad_labels_are_refused_in_one_line(name):
    labels, message = BAD_LABELS[name]
    with pytest.raises(TableError, match=message) as caught:
        learn_weights(labelled(200, 0)[0], labels)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [list, np.asarray, "pandas", "polars", "pyarrow"])
def test_labels_come_in_any_kind_of_column(kind):
    rows, wrong = labelled(300, 0)
    known = learn_weights(rows, wrong)
    if isinstance(kind, str):
        module = pytest.importorskip(kind)
        kind = module.array if kind == "pyarrow" else module.Series
    assert learn_weights(rows, kind(wrong)) == known
    assert learn_weights(rows, kind(wrong.astype(int))) == known


def test_labelled_rows_with_gaps_or_without_differences_are_refused():
    rows, wrong = labelled(200, 0)
    rows[3, 1] = np.nan
    with pytest.raises(CalibrationError, match=r"1 of 200 have some \('x1': 1\)"):
        learn_weights(rows, wrong)
    with pytest.raises(CalibrationError, match="the same scores"):
        learn_weights(np.ones((200, 2)), wrong)


def test_learned_weights_need_the_same_columns_directions_and_scaling():
    rows, wrong = labelled(300, 0)
    weights = learn_weights(named(rows), wrong, columns=NAMES, flip=["b"])
    with pytest.raises(ColumnError, match=r"direction of .'b'. differs"):
        fitted(weights)
    with pytest.raises(SettingError, match="belong to scaling='featurewise'"):
        Settings(weights=weights, scaling="global")
    assert VecUQ(weights=weights, columns=list(NAMES), flip=["b"]).fit(named(ROWS)).ranker_.settings.weights is weights


def test_a_saved_model_keeps_where_its_weights_come_from():
    rows, wrong = labelled(300, 0)
    weights = learn_weights(named(rows), wrong, columns=NAMES, flip=["b"])
    model = VecUQ(weights=weights, columns=list(NAMES), flip=["b"]).fit(named(ROWS))
    again = load(model.to_bytes())
    found = again.settings.weights
    assert (found, found.n_labels, found.n_wrong, found.flipped) == (weights, 300, int(wrong.sum()), {"b"})
    npt.assert_array_equal(found.prints.hashes, weights.prints.hashes)
    assert again.describe()["weights"] == {"columns": dict(weights), "labels": 300, "wrong": int(wrong.sum())}


# Which rows a model was made of


def test_a_ranker_knows_the_rows_of_its_map_and_those_held_back():
    model = fitted()
    again = load(model.to_bytes())
    for ranker in (model.ranker_, again):
        found = ranker.overlap(named(ROWS))
        assert found.map_rows.sum() == 600
        npt.assert_array_equal(found.map_rows, ~found.held)
        assert found.share == 0.5
        assert found.usual == 0.0
        assert found.map.unusual
        other = ranker.overlap(named(NEW))
        assert not other.map_rows.any()
        assert not other.map.unusual


def test_discrete_scores_match_honestly():
    rng = np.random.default_rng(3)
    draw = lambda n: rng.integers(0, 5, size=(n, 3)) / 4  # noqa: E731
    ranker = fit_ranker(draw(2000))
    found = ranker.overlap(draw(500))
    assert found.share > 0.95
    assert abs(found.share - found.usual) < 0.03
    assert not found.map.unusual


def test_discrete_scores_with_copies_of_the_maps_rows_are_found():
    rng = np.random.default_rng(3)
    draw = lambda n: np.round(rng.gamma(1.0, size=(n, 3)), 1)  # noqa: E731
    rows = draw(2000)
    ranker = fit_ranker(rows)
    copied = np.concatenate([rows[:250], draw(250)])
    assert not ranker.overlap(draw(500)).map.unusual
    assert ranker.overlap(copied).map.unusual


@pytest.mark.parametrize("holdback", [0.5, 0.0])
def test_models_of_many_rows_and_of_sketches_know_a_sample(holdback):
    rows = np.random.default_rng(5).random((20_000, 2))
    chosen = Settings(holdback=holdback, n_targets=64)
    parts = [ScoreTable(("x0", "x1"), part) for part in np.split(rows, 4)]
    streamed = fit_stream(lambda: iter(parts), chosen)
    whole = fit_ranker(ScoreTable(("x0", "x1"), rows), chosen)
    if not holdback:  # else other rows are held back
        npt.assert_array_equal(streamed.prints.hashes, whole.prints.hashes)
    found = streamed.overlap(rows[:2000])
    assert abs(found.share - (1 - holdback)) < 0.1
    assert 0 < found.map.decided.sum() < 2000
    assert found.map.unusual
    assert found.held.mean() == pytest.approx(holdback, abs=0.05)


def test_a_partial_fit_remembers_its_rows():
    made = PartialFit(settings=Settings(holdback=0.0), n_rows=10**6).update(ROWS)
    assert load(made.to_bytes()).fit().overlap(ROWS).map_rows.all()
    chunks = np.split(ROWS, 3)
    model = VecUQ(ranges=np.array([[0.0, 30.0]] * 3))
    for chunk in chunks:
        model.partial_fit(chunk)
    assert model.ranker_.overlap(ROWS).share == pytest.approx(0.5)


def test_a_model_knows_the_rows_that_its_weights_were_learned_from_in_any_order_of_columns():
    rows, wrong = labelled(300, 0)
    weights = learn_weights(named(rows), wrong, columns=["c", "a", "b"], flip=["b"])
    model = VecUQ(weights=weights, columns=list(NAMES), flip=["b"]).fit(named(ROWS)).ranker_
    both = np.concatenate([rows[:100], labelled(300, 9)[0]])
    found = model.overlap(named(both))
    npt.assert_array_equal(found.weight_rows, np.arange(400) < 100)
    assert found.weights.unusual
    assert not model.overlap(named(NEW)).weights.unusual
    assert not fitted().ranker_.overlap(named(rows)).weight_rows.any()


def test_models_saved_by_0_1_0_know_no_rows(pytestconfig):
    ranker = load(pytestconfig.rootpath / "tests" / "golden" / "saved" / "ranker.vecuq")
    found = ranker.overlap({name: np.zeros(3) for name in ranker.columns})
    assert not found.map.decided.any()
    assert found.map.usual_share is None
    assert not found.map.unusual

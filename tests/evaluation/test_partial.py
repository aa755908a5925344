"""Evaluation from counts: parts add up in any order, and the exact value of every metric lies within the bounds."""

import math
from itertools import chain, permutations, product

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq import load
from vecuq.conformal import Cells, keys_of
from vecuq.errors import ModelFileError, SettingError, TableError
from vecuq.evaluation import (
    METRICS,
    Bootstrap,
    Bounded,
    Metric,
    PartialEvaluation,
    evaluate,
    rejection_ratio,
    roc_auc,
    selective_curves,
)
from vecuq.evaluation.adding_up import AddingUp
from vecuq.evaluation.many_rows import ManyRows, harmonic_growth
from vecuq.evaluation.tally import Tally

FEW = Bootstrap(resamples=0)
# Counts keep a quality in steps: two that differ by less than any step are one to them.
SHARE = st.floats(0, 1).map(lambda share: round(share, 6))
ROW = st.tuples(st.floats(-10, 10) | st.integers(0, 3), st.booleans(), st.booleans(), SHARE)


def drawn(n, seed, spread=1.0):
    rng = np.random.default_rng(seed)
    score = rng.gamma(2.0, size=n) * spread
    chance = 1 / (1 + np.exp(4 - score / spread))
    labels = {"error": rng.random(n) < chance, "ood": rng.random(n) < 0.1}
    quality = np.clip(1 - score / (8 * spread) + 0.2 * rng.normal(size=n), 0, 1)
    return {"smooth": score, "rounded": np.round(score, 1)}, {**labels, "quality": quality, "p_wrong": chance}


def counted(scores, labels, *, parts=1, order=1, **how):
    n = len(next(iter(scores.values())))
    made = []
    for rows in np.array_split(np.arange(n), parts)[::order]:
        some = {name: values[rows] for name, values in labels.items()}
        made.append(PartialEvaluation(**how).update({name: one[rows] for name, one in scores.items()}, **some))
    return sum(made)


def assert_within(found, exact, slack=1e-9):
    for mine, row in zip(found.rows(), exact.rows(), strict=True):
        assert (mine["method"], mine["metric"], mine["n"]) == (row["method"], row["metric"], row["n"])
        if math.isnan(row["value"]):
            assert math.isnan(mine["value"])
            assert mine["reason"] == row["reason"]
        else:
            assert mine["lowest"] - slack <= row["value"] <= mine["highest"] + slack, (mine, row["value"])
            assert mine["lowest"] <= mine["value"] <= mine["highest"]


@given(rows=st.lists(ROW, min_size=1, max_size=80), cells=st.sampled_from([16, 40, 2**18]))
def test_the_exact_value_of_every_metric_lies_within_the_bounds(rows, cells):
    score, error, ood, quality = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
    labels = {"error": error, "ood": ood, "quality": quality}
    found = counted({"score": score}, labels, cells=cells).evaluate(bootstrap=FEW)
    exact = evaluate({"score": score}, **labels, bootstrap=FEW)
    # Where quality hardly varies, rounding is all that a ratio of its gains has.
    assert_within(found, exact, slack=1e-7)


@pytest.mark.parametrize("cells", [64, 1_000, 2**18])
@pytest.mark.parametrize("spread", [1e-300, 1.0, 1e250])
def test_bounds_hold_and_tighten_on_scores_of_any_size(cells, spread):
    scores, labels = drawn(5_000, 0, spread)
    found = counted(scores, labels, parts=4, cells=cells).evaluate(bootstrap=FEW)
    exact = evaluate(scores, **labels, bootstrap=FEW)
    assert_within(found, exact)
    area = found.estimate("smooth", "error roc_auc")
    assert area.error < 3 / cells + 1e-15
    npt.assert_allclose(found.calibration.brier, exact.calibration.brier, atol=1e-11)
    assert abs(found.calibration.ece - exact.calibration.ece) <= found.calibration_error + 1e-11


def test_with_as_many_cells_as_scores_everything_is_exact():
    scores, labels = drawn(3_000, 1)
    found = counted(scores, labels, parts=7).evaluate(bootstrap=FEW)
    exact = evaluate(scores, **labels, bootstrap=FEW)
    values = [row["value"] for row in found.rows()], [row["value"] for row in exact.rows()]
    npt.assert_allclose(*values, rtol=0, atol=1e-10)
    assert found.error < 1e-10
    assert found.calibration_error == 0.0
    npt.assert_allclose(found.calibration.curve.wrong, exact.calibration.curve.wrong, atol=1e-12)
    npt.assert_allclose(found.calibration.curve.high, exact.calibration.curve.high, atol=1e-12)


@given(rows=st.lists(ROW, min_size=2, max_size=60), parts=st.integers(1, 5), cells=st.sampled_from([16, 2**10]))
def test_parts_in_any_order_give_the_same_bytes(rows, parts, cells):
    score, error, ood, quality = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
    labels = {"error": error, "ood": ood, "quality": quality, "p_wrong": quality}
    how = {"cells": cells}
    whole = counted({"score": score}, labels, **how).to_bytes()
    assert counted({"score": score}, labels, parts=parts, order=-1, **how).to_bytes() == whole
    again = np.random.default_rng(0).permutation(len(score))
    shuffled = {name: values[again] for name, values in labels.items()}
    assert counted({"score": score[again]}, shuffled, parts=parts, **how).to_bytes() == whole


def test_many_small_batches_are_one_large_one():
    scores, labels = drawn(2_000, 2)
    partial = PartialEvaluation(cells=64)
    for row in range(2_000):
        some = {name: values[row : row + 1] for name, values in labels.items()}
        partial.update({name: one[row : row + 1] for name, one in scores.items()}, **some)
    assert partial.to_bytes() == counted(scores, labels, cells=64).to_bytes()


def orders_inside(cells):
    return [list(chain(*parts)) for parts in product(*(permutations(cell) for cell in cells))]


LABELS = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=3), min_size=2, max_size=3)


@given(cells=LABELS.filter(lambda cells: len({label for cell in cells for label in cell}) == 2))
def test_bounds_are_the_extremes_over_every_order_inside_the_cells(cells):
    """By brute force: no tighter bounds are true."""
    labels = [np.array(order) for order in orders_inside(cells)]
    n, places = len(labels[0]), np.arange(len(labels[0]), dtype=float)
    coarse = PartialEvaluation()
    coarse.methods, coarse.n_rows, coarse.without_score = ("score",), n, {"score": 0}
    counts = np.array([[cell.count(0), cell.count(1)] for cell in cells])
    made = Cells(keys_of(np.arange(1.0, len(cells) + 1)) >> np.uint64(40), counts, 40)
    coarse.counted["score", "error"] = AddingUp(made)
    names = [one.key for one in METRICS if one.task in ("error", "selective") and not one.fewest]
    found = coarse.evaluate(names, bootstrap=FEW)
    for key in names:
        exact = [
            evaluate({"score": places}, error=one, metrics=[key], bootstrap=FEW).estimate("score", key).value
            for one in labels
        ]
        bounds = found.estimate("score", key)
        npt.assert_allclose([bounds.lowest, bounds.highest], [min(exact), max(exact)], atol=1e-9)


def test_the_error_of_an_area_is_half_the_pairs_that_share_a_cell():
    scores, labels = drawn(20_000, 3)
    partial = counted({"score": scores["smooth"]}, {"error": labels["error"]}, cells=500)
    right, wrong = partial.cells_of("score", "error").counts.astype(float).T
    error = partial.evaluate(["error roc_auc"], bootstrap=FEW).estimate("score", "error roc_auc").error
    assert error == pytest.approx(0.5 * (right @ wrong) / (right.sum() * wrong.sum()), rel=1e-6)


def test_a_trillion_rows_are_counted_exactly():
    million = np.repeat([0.1, 0.4, 0.35, 0.8], 250_000)
    part = PartialEvaluation().update(million, error=np.repeat([0, 0, 1, 1], 250_000))
    for _ in range(20):
        part = part + part
    assert part.n_rows == 2**20 * 10**6
    found = part.evaluate(bootstrap=Bootstrap(resamples=20))
    area = found.estimate("uncertainty", "error roc_auc")
    assert (area.value, area.error) == (0.75, 0.0)
    assert area.high - area.low < 1e-5
    exact = evaluate({"uncertainty": million}, error=np.repeat([0, 0, 1, 1], 250_000), bootstrap=FEW)
    for one in exact.comparisons:
        npt.assert_allclose(found.estimate("uncertainty", one.metric.key).value, one.values[0], atol=2e-5)
    assert load(part.to_bytes()).to_bytes() == part.to_bytes()


def doubled(part, times):
    for _ in range(times):
        part = part + part
    return part


SUMMED = [{"quality": [1.0, 1.0, 0.5, 0.5]}, {"error": [0, 0, 1, 1], "p_wrong": [0.9] * 4}]


@pytest.mark.parametrize("labels", SUMMED, ids=["quality", "p_wrong"])
def test_qualities_and_probabilities_add_up_to_the_last_row_that_fits_and_not_beyond(labels):
    few = PartialEvaluation().update([0.1, 0.2, 0.3, 0.4], **labels)
    most = doubled(few, 38)
    assert most.n_rows == 2**40
    expected, found = (one.evaluate(bootstrap=FEW) for one in (few, most))
    for mine, row in zip(found.rows(), expected.rows(), strict=True):
        if row["task"] == "generation":
            assert mine["value"] == pytest.approx(row["value"], abs=1e-9)
    if "p_wrong" in labels:
        assert found.calibration.brier == pytest.approx((0.81 + 0.01) / 2)
    assert load(most.to_bytes()).to_bytes() == most.to_bytes()
    with pytest.raises(
        TableError, match=r"quality or p_wrong counts at most 1,099,511,627,776 rows.*2,199,023,255,552"
    ):
        most + most
    with pytest.raises(TableError, match="counts at most"):
        most.update([0.1, 0.2, 0.3, 0.4], **labels)
    assert most.to_bytes() == doubled(few, 38).to_bytes()


def test_errors_alone_are_counted_up_to_two_to_the_power_of_53():
    most = doubled(PartialEvaluation().update([0.1, 0.2], error=[0, 1]), 52)
    assert most.evaluate(["roc_auc"], bootstrap=FEW).estimate("uncertainty", "error roc_auc").value == 1.0
    with pytest.raises(TableError, match="A summary counts at most 9,007,199,254,740,992 rows"):
        most + most


def test_a_file_that_states_more_rows_than_can_be_summed_is_refused():
    part = PartialEvaluation().update([0.1, 0.2], quality=[0, 1])
    part.n_rows = 2**40 + 1
    with pytest.raises(ModelFileError, match="counts at most"):
        load(part.to_bytes())


def test_intervals_are_those_of_the_exact_evaluation():
    scores, labels = drawn(4_000, 4)
    only = {name: labels[name] for name in ("error", "ood")}
    found = counted(scores, only, parts=3).evaluate()
    exact = evaluate(scores, **only)
    for mine, row in zip(found.rows(), exact.rows(), strict=True):
        assert math.isnan(mine["low"]) == math.isnan(row["low"])
        if "roc_auc" in row["metric"]:
            npt.assert_allclose([mine["low"], mine["high"]], [row["low"], row["high"]], atol=1e-9)
        elif not math.isnan(row["low"]):
            width = row["high"] - row["low"]
            npt.assert_allclose([mine["low"], mine["high"]], [row["low"], row["high"]], atol=0.2 * width)


@pytest.mark.slow
def test_intervals_of_counts_hold_the_truth_as_often_as_they_say():
    """The share of normal scores with error rate 1/2 and distance 1: ROC-AUC and AURC of endless rows are known."""
    rng, truth, held = np.random.default_rng(5), {}, {}
    endless = np.concatenate([rng.normal(size=2 * 10**6), rng.normal(1.0, size=2 * 10**6)])
    wrong = np.repeat([0, 1], 2 * 10**6)
    names = ["error roc_auc", "selective aurc", "error average_precision"]
    for row in PartialEvaluation().update(endless, error=wrong).evaluate(names, bootstrap=FEW).rows():
        truth[row["metric"]] = row["value"]
    for _ in range(400):
        error = rng.random(400) < 0.5
        found = PartialEvaluation(cells=64).update(rng.normal(size=400) + error, error=error)
        for row in found.evaluate(names, bootstrap=Bootstrap(resamples=200)).rows():
            held.setdefault(row["metric"], []).append(row["low"] <= truth[row["metric"]] <= row["high"])
    assert all(np.mean(one) > 0.91 for one in held.values()), {name: np.mean(one) for name, one in held.items()}


def test_curves_are_those_of_the_rows():
    scores, labels = drawn(3_000, 6)
    only = {name: labels[name] for name in ("error", "quality")}
    exact = {one.task: one for one in selective_curves(scores, **only)}
    for curve in counted(scores, only, parts=2).curves(points=200):
        rows = exact[curve.task]
        assert len(curve.share) == 200
        for name, values in curve.lines().items():
            expected = np.interp(curve.share, rows.share, rows.lines()[name])
            npt.assert_allclose(values[2:-2], expected[2:-2], atol=2e-3)
        assert curve.chance == pytest.approx(rows.chance)


def test_a_quality_on_another_scale_gives_the_same_ratio():
    scores, labels = drawn(2_000, 7)
    unit = counted(scores, {"quality": labels["quality"]}).evaluate()
    scaled = counted(scores, {"quality": 200 * labels["quality"] - 50}, quality_range=(-60, 400)).evaluate()
    key = "generation prediction_rejection_ratio"
    npt.assert_allclose(scaled.estimate("smooth", key).value, unit.estimate("smooth", key).value, atol=1e-9)
    with pytest.raises(TableError, match=r"quality_range=\(0, 1\).*got 7"):
        PartialEvaluation().update([0.1, 0.2], quality=[7.0, 0.5])


def test_other_shares_of_rejection_are_metrics_too():
    scores, labels = drawn(500, 8)
    third = rejection_ratio(1 / 3)
    found = counted(scores, {"quality": labels["quality"]}).evaluate([third])
    assert found.estimate("smooth", third.key).value == pytest.approx(
        third.function(scores["smooth"], labels["quality"]), abs=1e-9
    )


def test_rows_without_a_score_or_a_label_are_left_out_as_in_the_exact_evaluation():
    scores, labels = drawn(400, 9)
    scores["smooth"][:20] = np.nan
    scores["rounded"][10:50] = np.nan
    labels["error"] = np.where(np.arange(400) % 7 == 0, np.nan, labels["error"])
    partial = counted(scores, labels, parts=3)
    found, exact = partial.evaluate(bootstrap=FEW), evaluate(scores, **labels, bootstrap=FEW)
    assert (found.n_left_out, found.without_score) == (exact.n_left_out, exact.without_score)
    assert_within(found, exact)
    assert found.calibration.n == exact.calibration.n


def test_what_does_not_fit_together_is_refused_with_a_reason():
    one = PartialEvaluation().update([0.1, 0.2], error=[0, 1])
    with pytest.raises(TableError, match="same methods"):
        one + PartialEvaluation().update({"other": [0.1]}, error=[0])
    with pytest.raises(TableError, match="same labels"):
        one + PartialEvaluation().update([0.1], ood=[0])
    with pytest.raises(SettingError, match="same cells="):
        one + PartialEvaluation(cells=20).update([0.1], error=[0])
    with pytest.raises(TableError, match="Every part needs"):
        one.update([0.1], error=[0], ood=[1])
    with pytest.raises(TableError, match="rows of"):
        one.update({"other": [0.1]}, error=[0])
    with pytest.raises(TableError, match="no rows yet"):
        PartialEvaluation().evaluate()
    with pytest.raises(SettingError, match="error="):
        PartialEvaluation().update([0.1], ood=[0], p_wrong=[0.5])
    with pytest.raises(SettingError, match="lower one first"):
        PartialEvaluation(quality_range=(1, 0))
    with pytest.raises(SettingError, match="labels that are not there"):
        one.evaluate(["ood roc_auc"])
    mine = Metric("mine", "error", roc_auc, True, "", kernel=METRICS[0].kernel)
    with pytest.raises(SettingError, match="'error mine' cannot be computed from counts"):
        one.evaluate([mine])
    with pytest.raises(TypeError):
        one + 1


def test_an_empty_part_changes_nothing():
    one = PartialEvaluation().update([0.1, 0.2], error=[0, 1])
    for total in (one + PartialEvaluation(), PartialEvaluation() + one, sum([one]), one):
        assert total.to_bytes() == one.to_bytes()
    none = PartialEvaluation().update([], error=[])
    assert (one + none).to_bytes() == one.to_bytes()
    assert load(PartialEvaluation().to_bytes()).n_rows == 0


def test_an_empty_part_with_other_settings_is_refused_and_loses_no_rows():
    coarse = PartialEvaluation(cells=1_000).update([0.1, 0.2], error=[0, 1])
    wide = PartialEvaluation(quality_range=(0, 10)).update([0.1, 0.2], quality=[3, 7])
    for one in (coarse, wide):
        for pair in ((PartialEvaluation(), one), (one, PartialEvaluation())):
            with pytest.raises(SettingError, match=r"same cells= and quality_range= add up; got cells=.* and cells="):
                sum(pair)


def test_a_number_is_printed_with_what_may_be_off():
    assert str(Bounded(0.5, 0.5, 0.5)) == "0.500"
    assert str(Bounded(0.51234567, 0.51234467, 0.51234567)) == "0.512346 ± 1e-06"
    assert str(Bounded(0.5, 0.4, 0.52, 0.3, 0.6)) == "0.500 ± 1e-01 [0.300, 0.600]"


@given(first=st.integers(0, 10**13), grown=st.integers(0, 10**6))
def test_harmonic_numbers_grow_as_their_sum(first, grown):
    found = float(harmonic_growth(np.array([first]), np.array([first + grown]))[0])
    plain = np.sum(1.0 / np.arange(first + 1, first + grown + 1))
    assert found == pytest.approx(plain, rel=1e-11, abs=1e-15)
    assert float(harmonic_growth(np.array([first + grown]), np.array([first]))[0]) == pytest.approx(-found, rel=1e-11)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=30))
def test_a_tally_of_many_rows_gives_every_metric_of_a_plain_one(cells):
    zeros, ones = np.array(cells, dtype=float).T[:, :, None]
    if not (zeros.any() and ones.any()):
        return
    ideal = [np.stack([ones.sum(axis=0), zeros.sum(axis=0)]), np.stack([ones.sum(axis=0), [0.0]])]
    plain = Tally(zeros + ones, ones, Tally(*ideal), whole=True)
    many = ManyRows(zeros + ones, ones, ManyRows(*ideal))
    for metric in METRICS:
        npt.assert_allclose(metric.kernel(many), metric.kernel(plain), rtol=1e-12, atol=1e-12)

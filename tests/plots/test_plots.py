"""Every plot draws the numbers of the library, shows names as text, and says in one line what it cannot draw."""

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import numpy.testing as npt
import pytest
from matplotlib.figure import Figure
from scipy.stats import betabinom

import vecuq
from vecuq import Gate, LiveGate, Settings, VecUQ, VecUQPipeline, fit_ranker, plots
from vecuq._draw import inline_svg, to_png
from vecuq.errors import SettingError, TableError
from vecuq.evaluation import reliability_curve
from vecuq.table import ScoreTable

HOSTILE = ("预测熵的一个很长很长的名字它不会停止也不会结束也不会中断", "$x^{ <script>alert(1)</script> & more of it")


def rows(n, seed=0, names=("entropy", "knn"), scale=1.0):
    rng = np.random.default_rng(seed)
    return {name: scale * rng.gamma(1.0 + k % 3, size=n) for k, name in enumerate(names)}


@pytest.fixture(scope="module")
def ranker():
    return fit_ranker(rows(200))


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(3)
    found = rng.gamma(1.0, size=(900, 2))
    return found, rng.random(900) > found.sum(axis=1) / 10


@pytest.fixture(scope="module")
def gate(labelled):
    model = VecUQ().fit(np.random.default_rng(4).gamma(1.0, size=(400, 2)))
    return Gate(model, accuracy=0.85).fit(*labelled)


def names_in(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def said(axes):
    return [text.get_text() for text in axes.texts]


def pixels(axes):
    """Draw a picture, coarsely: that is enough to see that it can be drawn, and whether two are equal."""
    axes.figure.set_dpi(40)
    return to_png(axes.figure)


# All of them


def test_every_function_draws_on_the_axes_that_it_is_given_and_returns_them(gate, labelled):
    new, correct = labelled
    wrong, scores = (~correct).astype(float), {"uncertainty": gate.uncertainty(new)}
    calls = [
        lambda ax: plots.histogram(gate.model, new, ax=ax),
        lambda ax: plots.score_map(gate.model, new, ax=ax),
        lambda ax: plots.risk_coverage(scores, wrong, ax=ax),
        lambda ax: plots.rejection(scores, 1.0 - wrong, ax=ax),
        lambda ax: plots.reliability(gate.p_wrong(new), wrong, ax=ax),
        lambda ax: plots.coverage_accuracy(gate, new, ax=ax),
        lambda ax: plots.contributions(gate.model, new[:1], ax=ax),
        lambda ax: plots.p_values(gate.model, new, ax=ax),
    ]
    figure = Figure(figsize=(24, 10))
    for call, axes in zip(calls, figure.subplots(2, 4).ravel(), strict=True):
        assert call(axes) is axes
        assert axes.has_data()


def test_plots_need_no_pyplot_and_the_room_no_matplotlib():
    code = (
        "import sys, vecuq, vecuq.plots, vecuq.report; assert 'matplotlib' not in sys.modules; "
        "vecuq.plots.histogram; assert 'matplotlib.pyplot' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("given", [np.empty((0, 2)), np.full((3, 2), np.nan), np.ones((1, 2)), np.full((2, 2), np.inf)])
def test_empty_missing_and_single_rows_can_be_drawn(ranker, given):
    for draw in (plots.histogram, plots.score_map, plots.p_values):
        assert pixels(draw(ranker, given)).startswith(b"\x89PNG")


@pytest.mark.parametrize(("scale", "offset"), [(1e306, 0.0), (1e-300, 0.0), (1.0, 1e15)])
def test_columns_of_any_size_can_be_drawn(scale, offset):
    known, new = (np.random.default_rng(seed).gamma(1.0, size=(80, 2)) * scale + offset for seed in (0, 1))
    assert inline_svg(plots.score_map(fit_ranker(known), new).figure, title="x").startswith("<svg")


def test_a_model_that_is_none_is_refused_in_words():
    with pytest.raises(TableError, match=r"a Gate around one; got dict\. Fit it first"):
        plots.histogram({}, np.ones((1, 2)))


@pytest.mark.parametrize("draw", [plots.histogram, plots.score_map])
def test_names_in_any_script_are_text_and_short(draw):
    model = VecUQ().fit(rows(200, names=HOSTILE))
    svg = inline_svg(draw(model, rows(60, 1, HOSTILE, 1.5)).figure, title=HOSTILE[1])
    assert "<script" not in svg
    if draw is plots.score_map:
        assert "预测熵" in svg
        assert "$x^{ &lt;script&gt;" in svg
        assert max(map(len, re.findall(r">([^<>]*)</text>", svg))) < 80


def test_twelve_columns_and_more_can_be_drawn():
    names = [f"column {k} 距离" for k in range(14)]
    model = VecUQ().fit(rows(300, names=names))
    new = rows(50, 1, names, 1.4)
    assert plots.score_map(model, new).get_xlabel() in names
    axes = plots.contributions(model, {name: column[:1] for name, column in new.items()})
    assert [tick.get_text() for tick in axes.get_yticklabels()][-1] == "2 other columns"


# Histogram


def test_the_shares_of_a_histogram_add_up_with_far_rows_in_the_last_bar(ranker):
    far = {"entropy": [0.5, 1e9, np.nan, 0.7], "knn": [1.0, 1.0, 1.0, 2.0]}
    axes = plots.histogram(ranker, far)
    shares = [stair.get_data().values for stair in axes.patches]
    assert [share.sum() for share in shares] == pytest.approx([100.0] * len(shares))
    assert shares[-1][-1] == pytest.approx(100 / 3)
    assert "1 beyond in the last bar" in axes.get_xlabel()


def test_a_histogram_of_a_ranking_is_that_of_its_rows(ranker):
    new = rows(80, 1)
    one, other = plots.histogram(ranker, new), plots.histogram(ranker, ranker.rank(new))
    assert pixels(one) == pixels(other)


@pytest.mark.parametrize("alpha", [None, 0.2])
def test_the_dashed_line_is_the_threshold(ranker, alpha):
    axes = plots.histogram(ranker, rows(50, 1), alpha=alpha)
    assert axes.lines[-1].get_xdata()[0] == ranker.threshold(alpha)
    assert names_in(axes)[-1] == f"threshold {ranker.threshold(alpha):.3g}"


def test_the_line_of_a_gate_is_what_it_accepts_up_to(gate, labelled):
    assert f"accepted up to {gate.threshold_:.3g}" in names_in(plots.histogram(gate, labelled[0]))


def test_without_held_back_rows_the_legend_says_which_rows_are_drawn():
    bare = VecUQ(holdback=0).fit(rows(100))
    assert names_in(plots.histogram(bare, rows(20, 1)))[0] == "rows of the map (100)"


def test_several_maps_have_no_threshold_to_draw():
    cross = VecUQ(holdback="cross").fit(rows(100))
    for draw in (plots.histogram, plots.score_map):
        assert not any("threshold" in name for name in names_in(draw(cross, rows(20, 1))))


# Score map


def contour_at(axes, level):
    """Return the points of the line of one level."""
    (found,) = [one for one in axes.collections if list(getattr(one, "levels", [])) == [level]]
    return np.concatenate([path.vertices for path in found.get_paths()])


@pytest.mark.parametrize("flip", [[], ["knn"]])
@pytest.mark.parametrize(
    "settings", [Settings(), Settings(scaling="quantile"), Settings(reference="ball", n_targets=200)]
)
def test_the_bold_line_joins_places_whose_uncertainty_is_the_threshold(settings, flip):
    ranker = fit_ranker(ScoreTable.of(rows(300), flip=flip), settings)
    axes = plots.score_map(ranker, ScoreTable.of(rows(50, 1, scale=2.0), flip=flip))
    points = dict(zip((axes.get_xlabel(), axes.get_ylabel()), contour_at(axes, ranker.threshold()).T, strict=True))
    by_name = {name.split(" (")[0]: column for name, column in points.items()}
    found = ranker.uncertainty(ScoreTable.of(by_name, flip=flip))
    spread = np.ptp(ranker.calibration_scores)
    npt.assert_allclose(found, ranker.threshold(), atol=0.04 * spread)


def test_the_other_columns_of_the_level_lines_are_at_their_medians():
    names = ("a", "b", "c", "d")
    ranker = fit_ranker(rows(300, names=names), Settings(alpha=0.3))
    axes = plots.score_map(ranker, rows(50, 1, names), columns=["d", "b"])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("d", "b")
    d, b = contour_at(axes, ranker.threshold()).T
    centre = dict(zip(names, ranker.centre, strict=True))
    full = {"a": np.full(len(d), centre["a"]), "b": b, "c": np.full(len(d), centre["c"]), "d": d}
    npt.assert_allclose(ranker.uncertainty(full), ranker.threshold(), atol=0.04 * np.ptp(ranker.calibration_scores))
    assert "equal uncertainty, others at median" in names_in(axes)


def test_the_box_is_the_range_of_the_rows_that_fitted_the_map():
    known = rows(200)
    for scaling in ("featurewise", "global", "identity", "quantile"):
        ranker = fit_ranker(known, Settings(holdback=0.0, scaling=scaling, weights={"entropy": 1.0, "knn": 0.5}))
        (box,) = plots.score_map(ranker, rows(9, 1), columns=["entropy", "knn"]).patches
        npt.assert_allclose(box.get_xy(), [known["entropy"].min(), known["knn"].min()], atol=1e-9)
        npt.assert_allclose([box.get_width(), box.get_height()], [np.ptp(known["entropy"]), np.ptp(known["knn"])])


def test_rows_above_the_threshold_are_diamonds(ranker):
    new = rows(100, 1, scale=1.6)
    axes = plots.score_map(ranker, new)
    below, above = axes.collections[-2:]
    found = ranker.uncertainty(new)
    assert len(above.get_offsets()) == (found > ranker.threshold()).sum() > 0
    npt.assert_allclose(np.sort(below.get_array()), np.sort(found[found <= ranker.threshold()]))
    assert len(below.get_paths()[0].vertices) != len(above.get_paths()[0].vertices)


def test_far_rows_are_drawn_at_the_edge_and_counted(ranker):
    far = {"entropy": [0.5, 1e9, 0.1], "knn": [1.0, 1.0, -1e9]}
    axes = plots.score_map(ranker, far, columns=["entropy", "knn"])
    assert "2 rows further out, at the edge" in names_in(axes)
    spots = np.concatenate([one.get_offsets() for one in axes.collections[-2:]])
    assert spots[:, 0].max() <= max(axes.get_xlim())
    assert spots[:, 1].min() >= min(axes.get_ylim())


def test_a_flipped_column_is_drawn_as_it_came_with_the_uncertain_side_to_the_right():
    known = {"confidence": 1 / (1 + rows(200)["entropy"]), "knn": rows(200)["knn"]}
    model = VecUQ(flip=["confidence"], columns=["confidence", "knn"]).fit(known)
    axes = plots.score_map(model, known, columns=["confidence", "knn"])
    assert axes.get_xlabel() == "confidence (higher is more confident)"
    first, last = axes.get_xlim()
    assert 1.2 > first > last > -1.0


def test_one_column_is_drawn_against_the_uncertainty():
    model = VecUQ().fit({"only": rows(200)["entropy"]})
    new = {"only": rows(30, 1)["entropy"]}
    axes = plots.score_map(model, new)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("only", "uncertainty")
    spots = np.concatenate([one.get_offsets() for one in axes.collections])
    npt.assert_allclose(np.sort(spots[:, 1]), np.sort(model.uncertainty(new)))


def test_a_model_without_medians_has_no_level_lines(ranker):
    old = replace(ranker, kept=replace(ranker.kept, centre=np.full(2, np.nan)))
    assert "calibration box" in names_in(plots.score_map(old, rows(20, 1)))
    assert not any("equal" in name for name in names_in(plots.score_map(old, rows(20, 1))))


@pytest.mark.parametrize("columns", [["entropy"], ["entropy", "entropy"], ["entropy", "knn", "knn"]])
def test_a_map_of_other_than_two_columns_is_refused(ranker, columns):
    with pytest.raises(SettingError, match="two different columns"):
        plots.score_map(ranker, rows(5), columns=columns)


def test_of_very_many_rows_a_fixed_sample_is_drawn(ranker):
    many = rows(plots.MOST_POINTS + 500, 1)
    axes = plots.score_map(ranker, many)
    first, again = (
        [one.get_offsets() for one in drawn.collections[-2:]] for drawn in (axes, plots.score_map(ranker, many))
    )
    assert sum(map(len, first)) == plots.MOST_POINTS
    npt.assert_array_equal(np.concatenate(first), np.concatenate(again))


def test_models_with_column_groups_and_pipelines_have_a_map():
    names = [f"x{k}" for k in range(4)]
    grouped = VecUQ(column_groups=[["x0", "x1"], ["x2", "x3"]]).fit(rows(200, names=names))
    assert plots.score_map(grouped, rows(20, 1, names)).has_data()
    logits = np.random.default_rng(0).normal(size=(300, 4))
    pipeline = VecUQPipeline(measures=["msp", "entropy"]).fit(logits)
    assert plots.score_map(pipeline, logits).get_xlabel() in ("msp", "entropy")
    assert plots.histogram(pipeline, logits).has_data()


# Curves: more of them in test_curves.py


def band_of(axes):
    (found,) = [one for one in axes.collections if "interval" in str(one.get_label())]
    return found.get_paths()[0].vertices


def test_the_band_lies_around_the_bold_line_and_the_others_have_none():
    rng = np.random.default_rng(0)
    wrong = (rng.random(400) < 0.3).astype(float)
    scores = {"knn": rng.random(400), "uncertainty": wrong + rng.normal(0, 0.8, 400)}
    axes = plots.risk_coverage(scores, wrong)
    bold = next(line for line in axes.lines if line.get_linewidth() > 3)
    assert bold.get_label() == "uncertainty"
    inside = band_of(axes)
    for x, y in zip(bold.get_xdata()[20::40], bold.get_ydata()[20::40], strict=True):
        near = inside[np.abs(inside[:, 0] - x) < 0.02][:, 1]
        assert near.min() <= y <= near.max()


def test_without_ours_the_first_score_is_bold():
    axes = plots.risk_coverage({"knn": [0.1, 0.2, 0.3]}, [0, 1, 1])
    assert names_in(axes)[0] == "knn"
    assert axes.lines[0].get_linewidth() > 3


def test_rows_without_labels_are_left_out_of_the_band_too():
    wrong = np.array([0.0, 1.0, np.nan] * 20)
    axes = plots.risk_coverage({"a": np.arange(60.0)}, wrong, groups=np.arange(60) // 2)
    assert "40 rows" in axes.get_title(loc="left")
    assert np.isfinite(band_of(axes)).any()


def test_of_many_scores_ten_are_drawn_and_that_is_said_beside_the_panel():
    rng = np.random.default_rng(0)
    axes = plots.rejection({f"s{k}": rng.random(50) for k in range(14)}, rng.random(50))
    assert axes.get_legend().get_title().get_text() == "10 of 14 scores are drawn"
    assert pixels(axes)


def test_long_names_of_many_scores_leave_the_curves_their_width():
    rng = np.random.default_rng(0)
    names = [f"distance_to_the_nearest_centroid_of_layer_{k}_of_the_network" for k in range(8)]
    axes = plots.risk_coverage({name: rng.random(50) for name in names}, np.arange(50) % 2)
    figure = axes.figure
    figure.draw_without_rendering()
    assert axes.get_position().width > 0.75
    assert axes.get_position().height > 0.4
    under = axes.xaxis.label.get_window_extent().y0
    for place in (text.get_window_extent() for text in axes.get_legend().get_texts()):
        assert 0 <= place.x0 < place.x1 <= figure.bbox.width
        assert 0 <= place.y0 < place.y1 < under


def test_no_label_at_all_is_said():
    assert said(plots.rejection({"a": [0.1]}, [np.nan])) == ["no row to judge"]
    assert said(plots.reliability([np.nan], [1.0])) == ["no row has both a probability and a label"]


# Reliability


def test_the_points_and_intervals_are_those_of_the_reliability_curve():
    rng = np.random.default_rng(0)
    p_wrong = rng.random(300)
    wrong = (rng.random(300) < p_wrong).astype(float)
    p_wrong[:5] = np.nan
    axes = plots.reliability(p_wrong, wrong, bins=6, level=0.8)
    curve = reliability_curve(p_wrong[5:], wrong[5:], bins=6, level=0.8)
    (bars,) = axes.containers
    npt.assert_allclose(bars.lines[0].get_xydata(), np.column_stack([curve.probability, curve.wrong]))
    ends = np.array([segment[:, 1] for segment in bars.lines[2][0].get_segments()])
    npt.assert_allclose(ends, np.column_stack([curve.low, curve.high]))


# P-values


def test_the_line_is_the_share_flagged_at_every_alpha(ranker):
    new = rows(70, 2, scale=1.5)
    axes = plots.p_values(ranker, new)
    x, y = axes.lines[-1].get_data()
    for alpha in (0.05, 0.1, 0.5, 0.9):
        place = int(np.argmin(np.abs(x - alpha)))
        assert y[place] == pytest.approx(ranker.flag(new, alpha).mean())


def test_the_band_is_the_beta_binomial_law(ranker):
    axes = plots.p_values(ranker, rows(70, 2), level=0.8)
    inside = axes.collections[0].get_paths()[0].vertices
    at = inside[np.abs(inside[:, 0] - 0.2) < 1e-9][:, 1]
    k = int(0.2 * (ranker.held.count + 1))
    law = betabinom(70, k, ranker.held.count + 1 - k)
    npt.assert_allclose([at.min(), at.max()], [law.ppf(0.1) / 70, law.ppf(0.9) / 70])


def test_groups_and_several_maps_have_no_band_and_no_held_back_rows_no_line():
    grouped = VecUQ().fit(rows(200), groups=np.arange(200) // 4)
    cross = VecUQ(holdback="cross").fit(rows(100))
    for model in (grouped, cross):
        assert not plots.p_values(model, rows(30, 1)).collections
    assert said(plots.p_values(VecUQ(holdback=0).fit(rows(60)), rows(5))) == ["no p-values: no rows were held back"]


# Contributions


def test_the_bars_lead_from_the_baseline_to_the_uncertainty_of_the_row():
    names = ("a", "b", "c")
    ranker = fit_ranker(rows(200, names=names))
    row = {name: column[:1] for name, column in rows(3, 5, names, 2.0).items()}
    axes = plots.contributions(ranker, row)
    parts = ranker.explain(row)[0]
    bars = axes.patches
    assert [bar.get_width() for bar in bars] == pytest.approx(sorted(parts, key=abs, reverse=True))
    assert bars[0].get_x() == pytest.approx(ranker.baseline)
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(ranker.uncertainty(row)[0])
    assert [text for text in said(axes) if text[0] not in "+-"] == []


def test_a_missing_column_contributes_what_its_absence_changes():
    model = VecUQ(missing="marginal").fit(rows(200))
    row = {"entropy": [np.nan], "knn": [9.0]}
    bars = plots.contributions(model, row).patches
    assert sum(bar.get_width() for bar in bars) == pytest.approx(model.uncertainty(row)[0] - model.ranker_.baseline)


def test_a_row_may_come_as_a_plain_vector_and_several_are_refused(ranker):
    one, other = plots.contributions(ranker, np.array([1.0, 2.0])), plots.contributions(ranker, np.array([[1.0, 2.0]]))
    assert pixels(one) == pixels(other)
    with pytest.raises(TableError, match="draws one row; got 2"):
        plots.contributions(ranker, np.ones((2, 2)))


def test_a_row_that_cannot_be_explained_is_said(ranker):
    assert said(plots.contributions(ranker, np.array([np.nan, 1.0])))[0].startswith("this row has no score")
    old = replace(ranker, kept=replace(ranker.kept, centre=np.full(2, np.nan)))
    assert said(plots.contributions(old, np.ones((1, 2))))[0].startswith("this model keeps no calibration medians")


# Coverage against certified accuracy


def test_lines_and_squares_are_what_the_gate_certifies(gate, labelled):
    axes = plots.coverage_accuracy(gate, labelled[0])
    drawn = {line.get_label(): line for line in axes.lines}
    npt.assert_array_equal(drawn["model (used)"].get_xydata(), gate.coverage_lines(labelled[0])["model"])
    squares = [(line["accuracy"], line["coverage"]) for line in gate.table_]
    npt.assert_array_equal(drawn["certified, all at once"].get_xydata(), squares)
    assert drawn["target 0.85"].get_xdata()[0] == 0.85


def test_a_gate_without_its_rows_shows_the_line_of_its_own_order(gate, labelled):
    loaded = vecuq.load(gate.to_bytes())
    drawn = {line.get_label(): line for line in plots.coverage_accuracy(loaded, labelled[0]).lines}
    assert list(drawn) == ["model (used)", "certified, all at once", "target 0.85"]
    npt.assert_array_equal(drawn["model (used)"].get_xydata(), gate.coverage_lines(labelled[0])["model"])
    live = LiveGate(gate, audit=0.5)
    assert plots.coverage_accuracy(live).has_data()


def test_the_labels_of_a_gate_certify_nothing_about_other_rows(gate, labelled):
    rows = labelled[0]
    for others in (rows[::-1], rows[:-1]):
        with pytest.raises(TableError, match="not the 900 labelled rows that the gate was fitted on"):
            plots.coverage_accuracy(gate, others)


def test_gates_by_category_have_no_threshold_and_a_picture_of_all(gate, labelled):
    new, correct = labelled
    by = Gate(gate.model, accuracy=0.8).fit(new, correct, by=np.arange(len(new)) % 2)
    assert "deferred" not in names_in(plots.score_map(by, new))
    assert "model (used)" in names_in(plots.coverage_accuracy(by, new))


def test_the_old_names_of_the_report_are_the_same_functions():
    from vecuq import report

    assert report.picture_of is plots.picture_of
    assert report.draw_curves is plots.draw_curves
    assert report.coverage_picture is plots.coverage_picture
    with pytest.raises(AttributeError, match="nothing_like_it"):
        report.nothing_like_it  # noqa: B018


def test_what_cannot_be_drawn_is_refused_in_plain_words(ranker, gate):
    rows = np.random.default_rng(5).gamma(1.0, size=(20, 2))
    for level in (0.0, 2, "most"):
        with pytest.raises(SettingError, match="level must"):
            plots.p_values(ranker, rows, level=level)
    with pytest.raises(TableError, match="Every row needs its probability and its label"):
        plots.reliability([0.5, 0.6], [1])
    with pytest.raises(TableError, match="a fitted Gate certifies; got VecUQ"):
        plots.coverage_accuracy(gate.model)

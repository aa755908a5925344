"""The pictures of a report draw the numbers of the library, and show names as text."""

import re
from dataclasses import replace

import numpy as np
import numpy.testing as npt
import pytest

from vecuq import Settings, fit_ranker
from vecuq._draw import inline_svg
from vecuq.report.counts import Counts
from vecuq.report.histogram import Line, draw_histogram
from vecuq.report.pictures import MOST_POINTS, histogram_section, map_section
from vecuq.report.score_map import draw_map
from vecuq.report.sides import drawn_columns
from vecuq.table import ScoreTable


def names_in(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def mapped(ranker, new, columns=("entropy", "knn")):
    """Draw the score map of rows as a report does."""
    values = ranker.values_of(new)
    return draw_map(ranker, columns, values, ranker.rank_complete(values)[1], ranker.threshold())


# Histogram


def test_the_histogram_says_what_the_rate_means_for_this_calibration_set(ranker, new_rows, subject, text_of):
    made = subject(ranker, new_rows())
    text = text_of(histogram_section(made, Counts(made)).body)
    low, high = ranker.held.interval(0.05)
    assert "Of ten sets of 100 held-back rows, nine flag between" in text
    assert f"{100 * low:.1f} %" in text
    assert f"{high:.0%}".rstrip("%") in text


def test_a_gate_draws_up_to_where_it_accepts(ranker, gate, decided, subject, text_of):
    made = subject(ranker, decided(100, 8), gate=gate)
    text = text_of(histogram_section(made, Counts(made)).body)
    assert f"accepted up to {gate.threshold_:.3g}" in text
    assert "Rows up to the dashed line are accepted." in text


def test_the_shares_of_a_histogram_add_up_with_far_rows_in_the_last_bar(ranker):
    new = np.array([0.5, 1e9, 0.7])
    axes = draw_histogram(ranker.calibration_scores, new, Line(1.0, "threshold"), known="held-back rows")
    shares = [stair.get_data().values for stair in axes.patches]
    assert [share.sum() for share in shares] == pytest.approx([100.0] * len(shares))
    assert shares[-1][-1] == pytest.approx(100 / 3)
    assert "1 beyond in the last bar" in axes.get_xlabel()
    assert names_in(axes) == ["held-back rows (100)", "new rows (3)", "threshold 1"]


def test_the_legend_says_which_rows_are_drawn_and_where_the_threshold_lies(ranker, known, new_rows, subject, text_of):
    bare = fit_ranker(known(), Settings(holdback=0))
    for model, words in ((ranker, "held-back rows (100)"), (bare, "rows of the map (200)")):
        made = subject(model, new_rows())
        text = text_of(histogram_section(made, Counts(made)).body)
        assert words in text
        assert f"{model.threshold():.3g}" in text


# Score map


def contour_at(axes, level):
    """Return the points of the line of one level."""
    (found,) = [one for one in axes.collections if list(getattr(one, "levels", [])) == [level]]
    return np.concatenate([path.vertices for path in found.get_paths()])


@pytest.mark.parametrize("flip", [[], ["knn"]])
@pytest.mark.parametrize(
    "settings", [Settings(), Settings(scaling="quantile"), Settings(reference="ball", n_targets=200)]
)
def test_the_bold_line_joins_places_whose_uncertainty_is_the_threshold(known, settings, flip):
    ranker = fit_ranker(ScoreTable.of(known(300), flip=flip), settings)
    axes = mapped(ranker, ScoreTable.of(known(50, seed=1), flip=flip))
    points = dict(zip((axes.get_xlabel(), axes.get_ylabel()), contour_at(axes, ranker.threshold()).T, strict=True))
    by_name = {name.split(" (")[0]: column for name, column in points.items()}
    found = ranker.uncertainty(ScoreTable.of(by_name, flip=flip))
    npt.assert_allclose(found, ranker.threshold(), atol=0.04 * np.ptp(ranker.calibration_scores))


def test_the_other_columns_of_the_level_lines_are_at_their_medians(known):
    names = ("a", "b", "c", "d")
    ranker = fit_ranker(known(300, names), Settings(alpha=0.3))
    axes = mapped(ranker, known(50, names, 1), ("d", "b"))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("d", "b")
    d, b = contour_at(axes, ranker.threshold()).T
    centre = dict(zip(names, ranker.centre, strict=True))
    full = {"a": np.full(len(d), centre["a"]), "b": b, "c": np.full(len(d), centre["c"]), "d": d}
    npt.assert_allclose(ranker.uncertainty(full), ranker.threshold(), atol=0.04 * np.ptp(ranker.calibration_scores))
    assert "equal uncertainty, others at median" in names_in(axes)


def test_the_box_is_the_range_of_the_rows_that_fitted_the_map(known):
    rows = known(200)
    for scaling in ("featurewise", "global", "identity", "quantile"):
        ranker = fit_ranker(rows, Settings(holdback=0.0, scaling=scaling, weights={"entropy": 1.0, "knn": 0.5}))
        (box,) = mapped(ranker, known(9, seed=1)).patches
        npt.assert_allclose(box.get_xy(), [rows["entropy"].min(), rows["knn"].min()], atol=1e-9)
        npt.assert_allclose([box.get_width(), box.get_height()], [np.ptp(rows["entropy"]), np.ptp(rows["knn"])])


def test_rows_above_the_threshold_are_diamonds(ranker, new_rows):
    new = new_rows(100)
    below, above = mapped(ranker, new).collections[-2:]
    found = ranker.uncertainty(new)
    assert len(above.get_offsets()) == (found > ranker.threshold()).sum() > 0
    npt.assert_allclose(np.sort(below.get_array()), np.sort(found[found <= ranker.threshold()]))
    assert len(below.get_paths()[0].vertices) != len(above.get_paths()[0].vertices)


def test_far_rows_are_drawn_at_the_edge_and_counted(ranker):
    axes = mapped(ranker, {"entropy": [0.5, 1e9, 0.1], "knn": [1.0, 1.0, -1e9]})
    assert "2 rows further out, at the edge" in names_in(axes)
    spots = np.concatenate([one.get_offsets() for one in axes.collections[-2:]])
    assert spots[:, 0].max() <= max(axes.get_xlim())
    assert spots[:, 1].min() >= min(axes.get_ylim())


def test_a_flipped_column_is_drawn_as_it_came_with_the_uncertain_side_to_the_right(known):
    rows = ScoreTable.of(
        {"confidence": 1 / (1 + known()["entropy"]), "knn": known()["knn"]},
        flip=["confidence"],
        columns=["confidence", "knn"],
    )
    axes = mapped(fit_ranker(rows), rows, ("confidence", "knn"))
    assert axes.get_xlabel() == "confidence (higher is more confident)"
    first, last = axes.get_xlim()
    assert 1.2 > first > last > -1.0


def test_one_column_is_drawn_against_the_uncertainty(known):
    ranker = fit_ranker(known(names=("only",)))
    new = known(30, ("only",), 1)
    axes = mapped(ranker, new, ("only",))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("only", "uncertainty")
    spots = np.concatenate([one.get_offsets() for one in axes.collections])
    npt.assert_allclose(np.sort(spots[:, 1]), np.sort(ranker.uncertainty(new)))


def test_a_model_without_medians_has_no_level_lines(ranker, known):
    old = replace(ranker, kept=replace(ranker.kept, centre=np.full(2, np.nan)))
    names = names_in(mapped(old, known(20, seed=1)))
    assert "calibration box" in names
    assert not any("equal" in name for name in names)


def test_the_two_least_correlated_columns_are_drawn_and_constant_ones_last():
    rng = np.random.default_rng(0)
    a, b = rng.gamma(1.0, size=(2, 200))
    ranker = fit_ranker({"a": a, "twice a": 2 * a + 0.01 * b, "b": b})
    assert drawn_columns(ranker, ranker.values_of({"a": a, "twice a": 2 * a, "b": b}))[1] == "b"
    assert set(drawn_columns(ranker, ranker.values_of({"a": a, "twice a": 2 * a, "b": 0 * b}))) == {"a", "twice a"}


def test_of_very_many_rows_a_sample_is_drawn_and_said(ranker, new_rows, subject, text_of):
    text = text_of(map_section(subject(ranker, new_rows(MOST_POINTS + 500))).body)
    assert "A random draw of 4,000 rows is shown." in text
    assert "rows (4,000)" in text


@pytest.mark.parametrize("name", ["<b>x", "预测熵", "عدم اليقين", "$x_1$", "a\nb", "long " * 40, "", "_hidden"])
def test_any_column_name_can_be_drawn_and_stays_short_text(known, new_rows, subject, name):
    names = (name, "knn")
    body = map_section(subject(fit_ranker(known(names=names)), new_rows(20, names))).body
    assert "<b>" not in body
    assert "<bdi" in body
    assert max(map(len, re.findall(r">([^<>]*)</text>", body))) < 80


@pytest.mark.parametrize(("scale", "offset"), [(1e306, 0.0), (1e-300, 0.0), (1.0, 1e15)])
def test_columns_of_any_size_can_be_drawn(known, scale, offset):
    rows, new = ({name: scale * column + offset for name, column in known(80, seed=seed).items()} for seed in (0, 1))
    assert inline_svg(mapped(fit_ranker(rows), new).figure, title="x").startswith("<svg")


def test_where_only_incomplete_rows_have_a_score_the_map_is_empty(ranker, subject, new_rows):
    new = new_rows(3).set_column(0, "entropy", [[None, None, None]])
    assert "no row has a score" in map_section(subject(ranker, new, missing="marginal")).body

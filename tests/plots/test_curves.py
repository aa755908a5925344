"""Curves of selective use: the library's numbers on the rows of an evaluation, and a picture that can be read."""

from xml.etree import ElementTree

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq._draw import PALETTE, to_png, to_svg
from vecuq.errors import SettingError, TableError
from vecuq.evaluation import (
    Bootstrap,
    aurc,
    evaluate,
    prediction_rejection_area,
    prediction_rejection_curve,
    risk_coverage_curve,
    selective_curves,
)
from vecuq.plots.curves import MOST_LINES, MOST_POINTS
from vecuq.report import draw_curves, picture_of

NO_INTERVALS = Bootstrap(0)


def rows(n=60, n_scores=3, seed=0):
    """Scores that know less and less of the quality, an uncertainty among them, and labels."""
    rng = np.random.default_rng(seed)
    quality = rng.random(n)
    names = [f"score {k}" for k in range(n_scores - 1)] + ["uncertainty"]
    scores = {name: -quality + rng.normal(0.0, 0.1 + 0.2 * k, n) for k, name in enumerate(names)}
    return scores, {"quality": quality, "error": (rng.random(n) > quality).astype(float)}


def drawn(figure, panel=0):
    """Every line of a panel by its label."""
    return {line.get_label(): line for line in figure.axes[panel].lines}


def test_the_curves_are_those_of_the_library():
    scores, labels = rows()
    gained, lost = selective_curves(scores, **labels)
    assert (gained.task, lost.task) == ("generation", "selective")
    for name, score in scores.items():
        for found, curve in (
            (gained, prediction_rejection_curve(score, labels["quality"])),
            (lost, risk_coverage_curve(score, 1.0 - labels["error"])),
        ):
            npt.assert_array_equal(found.share, curve[0])
            npt.assert_array_equal(found.values[name], curve[1])


def test_the_best_order_and_chance_are_what_they_say():
    scores, labels = rows()
    gained, lost = selective_curves(scores, **labels)
    kept = np.arange(60, 0, -1)
    best_first = np.sort(labels["quality"])[::-1]
    npt.assert_allclose(gained.best, [best_first[:k].mean() for k in kept], rtol=1e-12)
    npt.assert_allclose(gained.chance, labels["quality"].mean(), rtol=1e-12)
    n_errors = int(labels["error"].sum())
    npt.assert_allclose(lost.best, [max(k - (60 - n_errors), 0) / k for k in range(1, 61)], atol=1e-12)
    npt.assert_allclose(lost.chance, n_errors / 60, rtol=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(-1e3, 1e3), st.booleans()), min_size=1),
)
def test_no_order_beats_the_best_and_all_end_at_chance(cells):
    one, two, quality, error = (np.array(column, dtype=float) for column in zip(*cells, strict=True))
    gained, lost = selective_curves({"one": one, "two": two}, quality=quality, error=error)
    for values in gained.values.values():
        assert (values <= gained.best + 1e-9 * (1.0 + np.abs(quality).max())).all()
        npt.assert_allclose(values[0], gained.chance, atol=1e-9)
    for values in lost.values.values():
        assert (values >= lost.best - 1e-9).all()
        npt.assert_allclose(values[-1], lost.chance, atol=1e-9)


def test_the_rows_are_those_of_the_evaluation():
    scores, labels = rows(200)
    scores["score 0"][:7] = np.nan
    labels["quality"][5:20] = np.nan
    labels["error"][15:40] = np.nan
    ood = np.where(np.arange(200) < 150, 0.0, 1.0)
    gained, lost = selective_curves(scores, ood=ood, **labels)
    done = evaluate(scores, ood=ood, **labels, bootstrap=NO_INTERVALS)
    assert len(gained.share) == done.comparison("generation prediction_rejection_ratio").n == 180
    assert len(lost.share) == done.comparison("selective aurc").n == 118
    for name in scores:
        npt.assert_allclose(lost.values[name].mean(), done.estimate(name, "selective aurc").value, rtol=1e-10)


def test_the_order_of_the_rows_changes_no_bit_where_nothing_is_tied():
    scores, labels = rows(500)
    order = np.random.default_rng(1).permutation(500)
    moved = {name: one[order] for name, one in scores.items()}, {name: one[order] for name, one in labels.items()}
    for one, other in zip(selective_curves(scores, **labels), selective_curves(moved[0], **moved[1]), strict=True):
        assert one.chance == other.chance
        for name, values in one.lines().items():
            npt.assert_array_equal(other.lines()[name], values)
    assert to_png(draw_curves(scores, **labels)) == to_png(draw_curves(moved[0], **moved[1]))


def test_a_score_that_is_called_like_a_line_stays_apart_from_it():
    scores, labels = rows()
    odd = dict(zip(("chance", "best order", "chance (column)"), scores.values(), strict=True))
    (found,) = selective_curves(odd, error=labels["error"])
    lines = found.lines()
    assert list(lines) == ["chance (column) (column)", "best order (column)", "chance (column)", "best order", "chance"]
    npt.assert_array_equal(lines["chance (column) (column)"], found.values["chance"])
    npt.assert_array_equal(lines["chance"], np.full(60, found.chance))
    assert set(drawn(draw_curves(odd, error=labels["error"]))) == set(lines)


def test_scores_that_are_called_like_labels_are_scores():
    scores, labels = rows()
    odd = dict(zip(("quality", "error", "task"), scores.values(), strict=True))
    gained, _ = selective_curves(odd, **labels)
    npt.assert_array_equal(gained.values["error"], prediction_rejection_curve(odd["error"], labels["quality"]).quality)


# The picture


def test_there_is_one_panel_for_each_label():
    scores, labels = rows()
    assert [axes.get_ylabel() for axes in draw_curves(scores, **labels).axes] == [
        "mean quality of the answers kept",
        "error rate of the rows kept",
    ]
    assert len(draw_curves(scores, error=labels["error"]).axes) == 1
    assert len(draw_curves(scores, quality=labels["quality"]).axes) == 1


def test_the_lines_are_the_curves():
    scores, labels = rows()
    (curves,) = selective_curves(scores, error=labels["error"])
    lines = drawn(picture_of([curves]))
    assert next(iter(lines)) == "uncertainty"
    for name, values in {**curves.values, "best order": curves.best}.items():
        npt.assert_array_equal(lines[name].get_xdata(), curves.share)
        npt.assert_array_equal(lines[name].get_ydata(), values)
    npt.assert_array_equal(lines["chance"].get_ydata(), [curves.chance] * 2)


def test_ours_is_thick_and_the_others_differ_in_colour_or_stroke():
    scores, labels = rows(n_scores=40)
    figure = draw_curves(scores, **labels)
    for panel in (0, 1):
        lines = drawn(figure, panel)
        ours = lines.pop("uncertainty")
        assert ours.get_color() == PALETTE[0]
        assert ours.get_linewidth() >= 2 * max(line.get_linewidth() for line in lines.values())
        looks = [(line.get_color(), line.get_linestyle()) for line in lines.values()]
        assert len(set(looks)) == len(lines)
        assert ours.get_color() not in {colour for colour, _ in looks}


def test_a_score_looks_alike_in_both_panels():
    scores, labels = rows(n_scores=6)
    figure = draw_curves(scores, **labels)
    one, other = (
        {name: (line.get_color(), line.get_linestyle()) for name, line in drawn(figure, panel).items()}
        for panel in (0, 1)
    )
    assert one == other


@pytest.mark.parametrize("task", ["quality", "error"])
def test_of_many_scores_ours_and_the_best_are_drawn_and_that_is_said(task):
    scores, labels = rows(300, n_scores=30)  # the uncertainty is the worst of them
    figure = draw_curves(scores, **{task: labels[task]})
    lines = list(drawn(figure))
    assert len(lines) == MOST_LINES
    area = {
        name: -aurc(one, 1.0 - labels["error"])
        if task == "error"
        else prediction_rejection_area(one, labels["quality"], 1.0)
        for name, one in scores.items()
        if name != "uncertainty"
    }
    best = sorted(area, key=area.__getitem__, reverse=True)[: MOST_LINES - 3]
    assert lines == ["uncertainty", *best, "best order", "chance"]
    assert figure.legends[0].get_title().get_text() == "10 of 30 scores are drawn"


def test_without_ours_all_lines_are_thin():
    scores, labels = rows()
    lines = drawn(draw_curves(scores, error=labels["error"], ours="nothing of the kind"))
    assert max(line.get_linewidth() for line in lines.values()) < 2.0
    chosen = drawn(draw_curves(scores, error=labels["error"], ours="score 1"))
    assert next(iter(chosen)) == "score 1"


def test_names_are_shown_as_they_are_even_if_they_look_like_commands():
    scores, labels = rows()
    names = ("_hidden", "$x^{", "a\nvery long name of a score, which would fill the whole picture")
    odd = dict(zip(names, scores.values(), strict=True))
    figure = draw_curves(odd, error=labels["error"])
    assert to_svg(figure).endswith(b"</svg>\n")
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {" _hidden", "$x^{", "a very long name of a…le picture"} < set(told)


def read_svg(svg):
    """Every element of a picture, with its text."""
    return [(one.tag, "".join(one.itertext())) for one in ElementTree.fromstring(svg).iter()]  # noqa: S314 - our own


@pytest.mark.parametrize("name", ["预测熵", "عدم اليقين", "\N{FIRE} entropy", "a < b & c"])
def test_a_name_in_any_script_is_text_in_an_svg(name):
    scores, labels = rows()
    svg = to_svg(draw_curves({name: scores["score 0"]}, error=labels["error"]))
    assert name in [text for element, text in read_svg(svg) if element.endswith("}text")]


def test_a_letter_that_an_svg_cannot_hold_is_replaced():
    scores, labels = rows()
    svg = to_svg(draw_curves({"a\x00\x1b[31mb": scores["score 0"]}, error=labels["error"]))
    assert b"\x1b" not in svg
    assert "a\N{REPLACEMENT CHARACTER}" in "".join(text for _, text in read_svg(svg))


def test_of_very_many_rows_few_points_are_drawn_and_both_ends_among_them():
    scores, labels = rows(20_000)
    (curves,) = selective_curves(scores, error=labels["error"])
    line = drawn(picture_of([curves]))["uncertainty"]
    assert len(line.get_xdata()) == MOST_POINTS
    npt.assert_array_equal(line.get_xdata()[[0, -1]], curves.share[[0, -1]])
    npt.assert_array_equal(line.get_ydata()[[0, -1]], curves.values["uncertainty"][[0, -1]])


def test_noise_of_the_first_rows_does_not_set_the_height_of_a_panel():
    wrong = (np.arange(1_000) % 10 == 0).astype(float)  # the first row is wrong: an error rate of 1 there
    axes = draw_curves({"a": np.arange(1_000)}, error=wrong).axes[0]
    assert axes.get_ylim()[1] < 0.2


@pytest.mark.parametrize("labels", [{"error": [np.nan] * 3}, {"quality": [np.nan] * 3}])
def test_no_row_to_judge_gives_a_picture_that_says_so(labels):
    figure = draw_curves({"a": [0.1, 0.2, 0.3]}, **labels)
    assert [text.get_text() for text in figure.axes[0].texts] == ["no row to judge"]
    assert to_png(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "labels", [{"error": [0]}, {"quality": [2.0]}, {"quality": [0.0]}, {"quality": [1e300]}, {"quality": [-1e-300]}]
)
def test_a_flat_curve_can_be_drawn(labels):
    assert to_png(draw_curves({"a": [0.1]}, **labels)).startswith(b"\x89PNG")


def test_what_cannot_be_averaged_is_refused_without_a_warning():
    with pytest.raises(TableError, match="too large"):  # a warning would be an error here
        selective_curves({"a": [0.1, 0.2]}, quality=[1.5e308, 1.6e308])


@pytest.mark.parametrize("labels", [{}, {"ood": [0, 1]}])
def test_without_quality_and_errors_there_are_no_curves(labels):
    with pytest.raises(SettingError, match="quality of each answer, or which predictions are wrong"):
        draw_curves({"a": [0.1, 0.2]}, **labels)

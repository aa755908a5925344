"""Every plot draws the numbers of the library, shows names as text, and says in one line what it cannot draw."""

import subprocess
import sys

import numpy as np
import numpy.testing as npt
import pytest
from matplotlib.figure import Figure

import vecuq
from vecuq import Gate, LiveGate, VecUQ, plots
from vecuq._draw import to_png
from vecuq.errors import TableError
from vecuq.evaluation import reliability_curve


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


# All of them


def test_every_function_draws_on_the_axes_that_it_is_given_and_returns_them(gate, labelled):
    new, correct = labelled
    wrong, scores = (~correct).astype(float), {"uncertainty": gate.uncertainty(new)}
    calls = [
        lambda ax: plots.risk_coverage(scores, wrong, ax=ax),
        lambda ax: plots.rejection(scores, 1.0 - wrong, ax=ax),
        lambda ax: plots.reliability(gate.p_wrong(new), wrong, ax=ax),
        lambda ax: plots.coverage_accuracy(gate, new, ax=ax),
    ]
    figure = Figure(figsize=(12, 10))
    for call, axes in zip(calls, figure.subplots(2, 2).ravel(), strict=True):
        assert call(axes) is axes
        assert axes.has_data()


def test_plots_need_no_pyplot_and_the_room_no_matplotlib():
    code = (
        "import sys, vecuq, vecuq.plots, vecuq.report; assert 'matplotlib' not in sys.modules; "
        "vecuq.plots.rejection; assert 'matplotlib.pyplot' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


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
    assert to_png(axes.figure)


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
        with pytest.raises(TableError):
            plots.coverage_accuracy(gate, others)


def test_a_gate_by_category_has_one_line_for_all(gate, labelled):
    new, correct = labelled
    by = Gate(gate.model, accuracy=0.8).fit(new, correct, by=np.arange(len(new)) % 2)
    assert "model (used)" in names_in(plots.coverage_accuracy(by, new))


def test_the_old_names_of_the_report_are_the_same_functions():
    from vecuq import report

    assert report.picture_of is plots.picture_of
    assert report.draw_curves is plots.draw_curves
    assert report.coverage_picture is plots.coverage_picture
    with pytest.raises(AttributeError, match="nothing_like_it"):
        report.nothing_like_it  # noqa: B018


def test_what_cannot_be_drawn_is_refused(gate):
    with pytest.raises(TableError):
        plots.reliability([0.5, 0.6], [1])
    with pytest.raises(TableError):
        plots.coverage_accuracy(gate.model)

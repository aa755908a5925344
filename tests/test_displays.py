"""What notebooks show: the facts of the thing, as text, without a plotting library."""

import re
import subprocess
import sys

import numpy as np
import pytest

from vecuq import Gate, LiveGate, Ranking, VecUQ
from vecuq.evaluation import Bootstrap, evaluate, evaluation_section
from vecuq.gate import certificate_section
from vecuq.ranker import model_section, ranking_section

HOSTILE = "<script>alert(1)</script>"


def text_of(html):
    plain = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", plain).split())


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(1).gamma(1.0, size=(600, 2))


@pytest.fixture(scope="module")
def model():
    return VecUQ().fit({name: np.random.default_rng(k).gamma(1.0, size=300) for k, name in enumerate(("a", HOSTILE))})


@pytest.fixture(scope="module")
def correct(rows):
    return np.random.default_rng(2).random(600) > rows.sum(axis=1) / 10


@pytest.fixture(scope="module")
def gate(model, rows, correct):
    return Gate(model.ranker_, accuracy=0.85).fit(rows, correct, by=np.array(["x", HOSTILE])[np.arange(600) % 2])


def test_a_model_shows_its_columns_rows_and_thresholds(model):
    shown = text_of(model._repr_mimebundle_()["text/html"])
    assert "columns a, &lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "150 fitted the map, 150 held back" in shown
    assert f"{model.threshold(0.05):.4g} at alpha 0.05" in shown
    assert "the dashed line is the threshold" in shown


def test_a_model_without_held_back_rows_draws_those_of_the_map(rows):
    assert "rows that the map was fitted on" in model_section(VecUQ(holdback=0).fit(rows).ranker_).body
    cross = VecUQ(holdback="cross").fit(rows[:100]).ranker_
    assert "dashed" not in model_section(cross).body


def test_a_ranking_shows_how_many_rows_are_flagged_and_the_most_uncertain(model, rows):
    ranking = model.ranker_.rank(rows)
    shown = text_of(ranking._repr_html_())
    assert f"p-value up to 0.05 {(ranking.p_values <= 0.05).sum()} rows; at most about 30 if all" in shown
    worst = int(ranking.uncertainty.argmax())
    assert f"row uncertainty p-value {worst} {ranking.uncertainty[worst]:.4f}" in shown
    assert ranking_section(ranking).body.count("<tr>") == 3 + 1 + 10


def test_a_ranking_says_what_it_lacks():
    some = Ranking(np.array([np.nan, 0.5]), np.zeros((2, 1)), None)
    shown = text_of(some._repr_html_())
    assert "without a score 1 (values are missing or infinite)" in shown
    assert "p-values none: no rows were held back" in shown
    assert "The most uncertain row." in shown
    none = Ranking(np.empty(0), np.empty((0, 1)), np.empty(0))
    assert "rows 0" in text_of(none._repr_html_())


def test_a_gate_shows_its_promise_assumption_and_every_category(gate):
    certificate = gate.certificate()
    for html in (gate._repr_html_(), certificate._repr_html_(), certificate_section(certificate).body):
        shown = text_of(html)
        assert certificate.promise.partition("<")[0] in shown
        assert certificate.assumption in shown
        assert "&lt;script&gt;alert(1)&lt;/script&gt; 300" in shown
    assert "Other targets" in text_of(gate._repr_html_())


def test_a_live_gate_shows_its_state_and_the_certificate(gate):
    shown = text_of(LiveGate(gate, audit=0.5)._repr_html_())
    assert "state unproven" in shown
    assert gate.certificate().assumption in shown


def test_an_unfitted_gate_is_one_line(model):
    assert Gate(model)._repr_html_() == "<code>Gate(accuracy 0.95, confidence 0.9, not fitted)</code>"


def test_an_evaluation_shows_intervals_and_marks_the_best(rows, correct):
    scores = {"sum": rows.sum(axis=1), HOSTILE: -rows[:, 0]}
    done = evaluate(scores, error=~correct, metrics=["roc_auc"], bootstrap=Bootstrap(30))
    best = done.estimate("sum", "error roc_auc")
    body = evaluation_section(done).body
    assert f'vq-best">{best.value:.3f} [{best.low:.3f}, {best.high:.3f}]' in body
    shown = text_of(done._repr_html_())
    assert "600 rows. In brackets: 95 % intervals by resampling. Bold: best" in shown
    assert "&lt;script&gt;" in shown


def test_no_best_is_marked_while_a_direction_is_in_doubt(rows, correct):
    from dataclasses import replace

    done = evaluate({"a": rows[:, 0], "b": -rows[:, 1]}, error=~correct, metrics=["roc_auc"], bootstrap=Bootstrap(0))
    body = evaluation_section(replace(done, doubted=("b",))).body
    assert "vq-best" not in body
    assert "the direction of b is in doubt" in body
    assert "In brackets" not in body


def test_a_display_imports_no_plotting_library():
    code = (
        "import sys, numpy as np; from vecuq import VecUQ; m = VecUQ().fit(np.random.default_rng(0).random((50, 2)));"
        "m._repr_mimebundle_(); m.ranker_.rank(np.ones((2, 2)))._repr_html_(); assert 'matplotlib' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

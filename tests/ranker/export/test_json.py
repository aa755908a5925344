"""The scorer in JavaScript scores as the ranker does, and refuses a document that makes no sense."""

import json
from copy import deepcopy
from dataclasses import replace

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models_to_export import SignedGrid, assert_agree, fitted, models, new_rows, ranking_of

from vecuq import ScoreTable, VecUQ, load
from vecuq.ranker import scorer_source
from vecuq.ranker.rows import Kept
from vecuq.transport import GridMap

pytestmark = pytest.mark.filterwarnings("ignore::vecuq.VecuqWarning")


def columns_of(scores):
    """Return uncertainty and p-values as arrays; None where no row has a p-value."""
    found = (np.array([one[name] for one in scores], dtype=float) for name in ("uncertainty", "pValue"))
    uncertainty, p_values = found
    return uncertainty, None if np.isnan(p_values).all() else p_values


def agree(node, ranker, rows):
    assert_agree(ranker, ranking_of(ranker, rows), *columns_of(node(ranker.to_json(), rows)["scores"]))


@settings(max_examples=40)
@given(model=models(), seed=st.integers(0, 99))
def test_the_script_scores_as_the_ranker_does(node, model, seed):
    ranker, rows = model
    agree(node, ranker, new_rows(rows, seed))


@pytest.mark.parametrize("n_columns", range(7, 11))
def test_many_columns_can_be_exported(node, n_columns):
    ranker, rows = fitted(n_columns, n_rows=1500, anchor_mass=0.3)
    agree(node, ranker, new_rows(rows))


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4])
def test_the_short_sum_inside_of_the_box_is_exported_too(node, n_columns):
    ranker, rows = fitted(n_columns, n_targets=10_000)
    assert json.loads(ranker.to_json())["map"]["box"] is not None
    agree(node, ranker, new_rows(rows))


@pytest.mark.parametrize("n_columns", [1, 2])
def test_a_small_epsilon_needs_many_cells_and_has_them(node, n_columns):
    ranker, rows = fitted(n_columns, epsilon=3e-4, on_failure="warn", max_iter=300, reference=SignedGrid())
    assert json.loads(ranker.to_json())["map"]["half"] is not None
    agree(node, ranker, new_rows(rows))


def test_one_column_and_two_points_give_the_closed_form(node):
    ranker, _ = fitted(1, overshoot=0.0)
    two = replace(ranker, rank_map=GridMap((np.array([0.2, 0.9]),), np.zeros(2), 0.3))
    rows = np.linspace(-1.0, 3.0, 50)[:, None] * ranker.scaler.span + ranker.scaler.lower
    z = ranker.scaler.transform(rows)[:, 0]
    share = 1.0 / (1.0 + np.exp(((z - 0.9) ** 2 - (z - 0.2) ** 2) / 0.3))
    npt.assert_allclose(columns_of(node(two.to_json(), rows)["scores"])[0], 0.2 + 0.7 * share, rtol=1e-13)


@settings(max_examples=15)
@given(model=models(), seed=st.integers(0, 99))
def test_contributions_and_what_if_are_those_of_the_ranker(node, model, seed):
    ranker, rows = model
    few = new_rows(rows, seed)[::25]
    found = node(ranker.to_json(), few, {"c0": float(rows[0, 0])})
    changed = few.copy()
    changed[:, 0] = rows[0, 0]
    assert_agree(ranker, ranking_of(ranker, changed), *columns_of(found["changed"]))
    wanted = ranker.explain(ScoreTable(ranker.columns, few).flip(ranker.flipped))
    got = [[np.nan] * few.shape[1] if one is None else one for one in found["contributions"]]
    for ours, theirs in zip(wanted, got, strict=True):
        npt.assert_allclose(theirs, ours, rtol=0, atol=1e-12 * max(1.0, np.abs(ours).max(initial=0.0)))
    npt.assert_allclose(found["baseline"], ranker.baseline, rtol=1e-12)


def test_rows_come_as_lists_or_by_name_and_what_is_missing_has_no_score(node):
    ranker, _ = fitted(2, flip=["c1"])
    by_place, by_name, *lost = node(
        ranker.to_json(),
        [[1.5, 2.5], {"c1": 2.5, "c0": 1.5, "more": "text"}, {"c0": 1.5}, [None, 1.0], {"c0": None, "c1": 2}],
    )["scores"]
    assert by_place == by_name
    assert by_place["uncertainty"] == pytest.approx(ranking_of(ranker, np.array([[1.5, 2.5]])).uncertainty[0], 1e-12)
    assert lost == [{"uncertainty": None, "pValue": None}] * 3


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ([1.0], "a row must have 2 values, c0, c1; it has 1."),
        ({"a": 1.0}, "a row must have the columns c0, c1; it has a."),
        (["1", 2.0], 'c0 must be a number; it is "1".'),
        (7, "a row must be a list of numbers or an object by column name."),
        (None, "a row must be a list of numbers or an object by column name."),
    ],
)
def test_a_row_that_makes_no_sense_is_refused(node, row, said):
    assert node(fitted(2)[0].to_json(), [row])["error"] == f"vecuq: {said}"


def test_a_model_without_medians_scores_and_says_why_it_cannot_explain(node):
    """Such as those that vecuq saved before it kept them."""
    ranker, rows = fitted(2)
    old = replace(ranker, kept=Kept.nothing(2))
    assert node(old.to_json(), rows[:3])["scores"] == node(ranker.to_json(), rows[:3])["scores"]
    assert "keeps no medians" in node(old.to_json(), rows[:3], {"c0": 1.0})["error"]


def test_an_unknown_column_cannot_be_changed(node):
    assert 'no column "x"' in node(fitted(2)[0].to_json(), [[1.0, 2.0]], {"x": 1.0})["error"]


def nodes_of(found, path=()):
    """Yield the path of everything inside of a document but entries of long lists of numbers."""
    yield path
    inside = found.items() if isinstance(found, dict) else enumerate(found[:2]) if isinstance(found, list) else ()
    for key, value in inside:
        yield from nodes_of(value, (*path, key))


def changed_document(document, path, value):
    changed = deepcopy(document)
    inside = changed
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return changed


DOCUMENT = json.loads(fitted(2, n_targets=5000, flip=["c0"])[0].to_json())
JUNK = [None, -1, 0, 0.5, 1e999, "text", True, [], {}, [1.0], [[1.0]], [3.0, 1.0, 2.0], {"at": 1}]


@pytest.mark.parametrize("name", [name for name in DOCUMENT if name not in ("settings", "vecuq")])
def test_a_document_without_one_of_its_parts_is_refused(node, name):
    cut = {key: value for key, value in DOCUMENT.items() if key != name}
    assert node(json.dumps(cut), [[1.0, 2.0]])["error"].startswith("vecuq: ")


@settings(max_examples=60)
@given(
    path=st.sampled_from([path for path in nodes_of(DOCUMENT) if path]),
    value=st.sampled_from(JUNK),
)
def test_a_document_with_junk_in_it_is_refused_or_scores(node, path, value):
    changed = changed_document(DOCUMENT, path, value)
    found = node(json.dumps(changed).replace("Infinity", "1e999"), [[1.0, 2.0], [5.0, -1.0]])
    if "error" in found:
        assert found["error"].startswith("vecuq: ")
    else:
        assert len(found["scores"]) == 2


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("kind",), "model", "this is no model that vecuq exported as JSON."),
        (("version",), 2, "this script reads version 1 of the format; the model has 2."),
        (("columns",), ["a", "a"], '"columns" must be a list of different names.'),
        (("active",), [0, 7], '"active" must hold places of columns.'),
        (("map", "epsilon"), 0, '"map.epsilon" must be above 0.'),
        (("map", "potentials"), [1.0], '"map.potentials" must have 5041 entries; it has 1.'),
        (("scaling", "span"), [1, 0], '"scaling.span" must be above 0.'),
        (("held", "scores"), [2, 1], '"held.scores" must be increasing.'),
        (("held", "count"), 3, '"held.count" does not fit.'),
    ],
)
def test_what_is_wrong_with_a_document_is_said(node, path, value, said):
    assert node(json.dumps(changed_document(DOCUMENT, path, value)), [])["error"] == f"vecuq: {said}"


@pytest.mark.parametrize("text", ["", "{", "nul", "[]", "null", "7", '"text"'])
def test_what_is_no_document_is_refused(node, text):
    assert node(text, [])["error"].startswith("vecuq: this is no")


def test_a_document_may_stand_inside_of_a_web_page():
    rows = np.random.default_rng(0).gamma(1.0, size=(50, 1))
    made = VecUQ().fit(rows).ranker_
    text = replace(made, columns=("</script><b>",)).to_json()
    assert "<" not in text
    assert json.loads(text)["columns"] == ["</script><b>"]


def test_numbers_keep_every_digit():
    ranker, _ = fitted(3)
    found = json.loads(ranker.to_json())
    npt.assert_array_equal(found["map"]["potentials"], ranker.rank_map.log_v.ravel())
    npt.assert_array_equal(found["held"]["scores"], ranker.calibration_scores)
    assert load(ranker.to_bytes()).to_json() == ranker.to_json()
    assert json.loads(ranker.to_json(p_values=False))["held"] is None


def test_the_estimator_writes_the_document_of_its_ranker():
    est = VecUQ().fit(np.random.default_rng(0).gamma(1.0, size=(100, 2)))
    assert est.to_json() == est.ranker_.to_json()


def test_the_source_of_the_script_comes_with_the_package():
    assert "export function load(json)" in scorer_source()

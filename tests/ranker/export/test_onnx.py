"""An exported graph scores as the ranker does: the same uncertainty to 1e-12, the same p-values."""

import json
import sys
from dataclasses import replace

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models_to_export import SignedGrid, assert_agree, fitted, models, new_rows, ranking_of

import vecuq
from vecuq import VecUQ, load
from vecuq.errors import SettingError, TableError
from vecuq.transport import GridMap

pytestmark = pytest.mark.filterwarnings("ignore::vecuq.VecuqWarning")


def agree(onnx, ranker, rows):
    found = onnx(ranker, rows)
    assert_agree(ranker, ranking_of(ranker, rows), found["uncertainty"], found.get("p_value"))


@settings(max_examples=40)
@given(model=models(), seed=st.integers(0, 99))
def test_a_graph_scores_as_the_ranker_does(onnx_runner, model, seed):
    ranker, rows = model
    agree(onnx_runner, ranker, new_rows(rows, seed))


@pytest.mark.parametrize("n_columns", range(1, 11))
def test_any_number_of_columns_can_be_exported(onnx_runner, n_columns):
    ranker, rows = fitted(n_columns, n_rows=120 if n_columns < 8 else 1500, anchor_mass=0.3)
    agree(onnx_runner, ranker, new_rows(rows))


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4])
def test_the_short_sum_inside_of_the_box_is_exported_too(onnx_runner, n_columns):
    ranker, rows = fitted(n_columns, n_targets=10_000)
    assert ranker.rank_map._in_box is not None
    agree(onnx_runner, ranker, new_rows(rows))


@pytest.mark.parametrize("n_columns", [1, 2])
def test_a_small_epsilon_needs_many_cells_and_has_them(onnx_runner, n_columns):
    ranker, rows = fitted(n_columns, epsilon=3e-4, on_failure="warn", max_iter=300, reference=SignedGrid())
    assert np.isfinite(ranker.rank_map._cells.half).all()
    agree(onnx_runner, ranker, new_rows(rows))


@pytest.mark.parametrize("scale", [1e-60, 1e-7, 1.0 + 1e-9, 1e60])
def test_no_number_is_taken_for_zero_or_one(onnx_runner, scale):
    """What onnxruntime did to single constants whose nearest float32 is 0 or 1: lower end, width and tie factor."""
    rows = np.linspace(scale, 2.0 * scale, 60)[:, None]
    ranker = vecuq.fit_ranker(rows, vecuq.Settings(epsilon=2.0 - 1e-8, overshoot=1.0 - 1e-9))
    agree(onnx_runner, ranker, np.concatenate([rows, rows * 5.0, -rows]))


def test_one_column_and_two_points_give_the_closed_form(onnx_runner):
    ranker, _ = fitted(1, overshoot=0.0)
    axis, epsilon = np.array([0.2, 0.9]), 0.3
    two = replace(ranker, rank_map=GridMap((axis,), np.zeros(2), epsilon))
    rows = np.linspace(-1.0, 3.0, 50)[:, None] * ranker.scaler.span + ranker.scaler.lower
    z = ranker.scaler.transform(rows)[:, 0]
    share = 1.0 / (1.0 + np.exp(((z - 0.9) ** 2 - (z - 0.2) ** 2) / epsilon))
    npt.assert_allclose(onnx_runner(two, rows)["uncertainty"], 0.2 + 0.7 * share, rtol=1e-13)


def test_one_column_keeps_its_order(onnx_runner):
    ranker, rows = fitted(1)
    increasing = np.unique(np.concatenate([rows.ravel(), rows.max() * np.geomspace(1.1, 1e9, 40)]))
    assert (np.diff(onnx_runner(ranker, increasing[:, None])["uncertainty"]) > 0).all()


def test_every_row_is_scored_by_itself_and_no_rows_give_no_scores(onnx_runner):
    ranker, rows = fitted(3)
    one_by_one = [onnx_runner(ranker, row[None])["uncertainty"][0] for row in rows[:5]]
    npt.assert_allclose(one_by_one, onnx_runner(ranker, rows[:5])["uncertainty"], rtol=1e-15)
    assert onnx_runner(ranker, rows[:0])["p_value"].shape == (0,)


def test_p_values_are_left_out_on_request_and_where_no_rows_were_held_back(onnx_runner):
    ranker, rows = fitted(2)
    assert list(onnx_runner(ranker, rows, p_values=False)) == ["uncertainty"]
    assert list(onnx_runner(fitted(2, holdback=0.0)[0], rows)) == ["uncertainty"]
    assert list(onnx_runner(ranker, rows)) == ["uncertainty", "p_value"]


def test_the_file_says_what_it_is(tmp_path):
    onnx = pytest.importorskip("onnx")
    ranker, _ = fitted(2, flip=["c1"], epsilon=0.75)
    ranker.to_onnx(tmp_path / "model.onnx")
    model = onnx.load(tmp_path / "model.onnx")
    facts = {each.key: each.value for each in model.metadata_props}
    assert facts["vecuq"] == vecuq.__version__
    assert json.loads(facts["columns"]) == ["c0", "c1"]
    assert json.loads(facts["flipped"]) == ["c1"]
    assert json.loads(facts["settings"])["epsilon"] == 0.75
    assert [each.version for each in model.opset_import] == [18]


def test_every_node_has_a_name_of_its_own(tmp_path):
    """The onnxruntime 1.20 names nodes that it makes after those that it found, and refuses two of one name."""
    onnx = pytest.importorskip("onnx")
    fitted(2)[0].to_onnx(tmp_path / "model.onnx")
    names = [node.name for node in onnx.load(tmp_path / "model.onnx").graph.node]
    assert "" not in names
    assert len(set(names)) == len(names)


def test_an_estimator_and_a_loaded_model_write_the_same_file(tmp_path):
    pytest.importorskip("onnx")
    rows = np.random.default_rng(0).gamma(1.0, size=(100, 2))
    est = VecUQ().fit(rows)
    est.to_onnx(tmp_path / "a.onnx")
    load(est.to_bytes()).to_onnx(tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_without_the_package_onnx_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(SettingError, match=r"pip install 'vecuq\[onnx\]'"):
        fitted(1)[0].to_onnx(tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_an_error_in_one_line(tmp_path):
    pytest.importorskip("onnx")
    with pytest.raises(TableError, match="there is no folder"):
        fitted(1)[0].to_onnx(tmp_path / "gone" / "model.onnx")

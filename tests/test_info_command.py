"""`vecuq info`: what a saved file holds."""

import json
from pathlib import Path

import numpy as np
import pytest

from vecuq import Monitor, PartialFit, VecUQPipeline, load

SAVED = Path(__file__).parent / "golden" / "saved"


def test_a_model_shows_columns_thresholds_settings_and_where_it_came_from(run, model):
    shown = run("info", model).stdout
    ranker = load(model)
    assert "column entropy" in shown
    assert f"alpha 0.05: {ranker.threshold(0.05):.6g}" in shown
    assert "alpha 0.01: too few held-back rows" in shown
    assert "map: 60, held back: 60" in shown
    assert "epsilon: 0.5" in shown
    for name in ("checksum", "saved by", "date"):
        assert name in shown


def test_json_has_the_same_facts(run, model):
    found = json.loads(run("info", model, "--json").stdout)
    assert found["kind"] == "model"
    assert found["thresholds"]["0.05"] == load(model).threshold(0.05)
    assert found["bytes"] == model.stat().st_size
    assert [column["name"] for column in found["columns"]] == ["entropy", "knn"]


def test_every_saved_kind_is_shown(run, ranker, calibration_table, tmp_path):
    logits = np.random.default_rng(1).normal(size=(3, 200, 4))
    things = {
        "partial": PartialFit().update(calibration_table),
        "pipeline": VecUQPipeline(measures="bayes_rules").fit(logits),
        "monitor": Monitor(ranker),
    }
    for kind, thing in things.items():
        thing.save(tmp_path / kind)
        result = run("info", tmp_path / kind)
        assert result.exit_code == 0
        assert f"{kind}\n" in result.stdout
        assert json.loads(run("info", tmp_path / kind, "--json").stdout)["kind"] == kind


@pytest.mark.parametrize("kind", ["ranker", "cloud", "pipeline", "monitor"])
def test_files_of_vecuq_0_1_0_are_shown(run, kind):
    result = run("info", SAVED / f"{kind}.vecuq")
    assert result.exit_code == 0
    assert "vecuq 0.1.0" in result.stdout


def test_what_was_not_saved_by_vecuq_is_refused(refused, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    assert "It is a table: `vecuq doctor`" in refused("info", tmp_path / "rows.csv")
    assert "There is no file" in refused("info", tmp_path / "nothing.vecuq")
    cut = tmp_path / "cut.vecuq"
    cut.write_bytes((SAVED / "ranker.vecuq").read_bytes()[:-10])
    assert "cut or damaged" in refused("info", cut)

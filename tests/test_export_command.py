"""`vecuq export`: a saved model for other programs, and nothing that was there is lost."""

import json
import subprocess

import numpy as np
import pyarrow as pa
import pytest

from vecuq import Gate, LiveGate, Settings, VecUQPipeline, fit_ranker, load


@pytest.fixture
def gate(ranker, make_rows):
    rows = pa.table(make_rows(2000, 5))
    total = rows["entropy"].to_numpy() + rows["knn"].to_numpy()
    return Gate(ranker, accuracy=0.8).fit(rows, total < np.quantile(total, 0.95))


def test_the_ending_of_the_name_says_how_and_one_line_how_to_use_it(run, model, tmp_path):
    pytest.importorskip("onnx")
    said = {ending: run("export", model, "-o", tmp_path / f"m.{ending}") for ending in ("onnx", "json", "js")}
    assert [one.exit_code for one in said.values()] == [0, 0, 0]
    assert all(one.stdout.startswith("2 columns -> ") and one.stdout.count("\n") == 1 for one in said.values())
    assert "float64 (rows, 2); output uncertainty, p_value" in said["onnx"].stdout
    assert "load(text).score(row)" in said["json"].stdout
    assert 'import { model } from "./m.js"' in said["js"].stdout
    assert (tmp_path / "m.json").read_text("utf-8") == load(model).to_json()


def test_a_script_scores_by_itself(run, model, tmp_path, node_program):
    run("export", model, "-o", tmp_path / "m.js")
    source = 'import { model } from "./m.mjs"; console.log(model.score([1, 2]).uncertainty);'
    (tmp_path / "m.js").rename(tmp_path / "m.mjs")
    (tmp_path / "use.mjs").write_text(source)
    done = subprocess.run([node_program, tmp_path / "use.mjs"], capture_output=True, text=True, check=True)
    assert float(done.stdout) == pytest.approx(load(model).uncertainty([[1.0, 2.0]])[0], rel=1e-12)


def test_json_has_the_facts_and_p_values_are_left_out_on_request(run, model, tmp_path):
    found = json.loads(run("export", model, "-o", tmp_path / "m.json", "--no-p-values", "--json").stdout)
    assert found == {
        "out": str(tmp_path / "m.json"),
        "kind": "scorer",
        "columns": ["entropy", "knn"],
        "p_values": False,
        "note": None,
    }
    assert json.loads((tmp_path / "m.json").read_text("utf-8"))["held"] is None


def test_of_a_gate_the_model_is_exported_and_the_threshold_is_named(run, gate, ranker, tmp_path):
    gate.save(tmp_path / "g.vecuq")
    LiveGate(gate).save(tmp_path / "l.vecuq")
    for name in ("g", "l"):
        done = run("export", tmp_path / f"{name}.vecuq", "-o", tmp_path / "g.json")
        assert "Only the model inside the gate is exported" in done.stderr
        assert f"an uncertainty of at most {gate.threshold_!r}." in " ".join(done.stderr.split())
        assert (tmp_path / "g.json").read_text("utf-8") == ranker.to_json()


def test_a_gate_that_decides_otherwise_names_no_threshold(run, ranker, make_rows, tmp_path):
    rows = pa.table(make_rows(400, 5))
    by_column = Gate(ranker, accuracy=0.8, order="knn").fit(rows, rows["knn"].to_numpy() < 5.0)
    by_column.save(tmp_path / "g.vecuq")
    assert "at most" not in run("export", tmp_path / "g.vecuq", "-o", tmp_path / "g.json").stderr


def test_what_is_no_model_is_refused(refused, tmp_path):
    VecUQPipeline(measures="bayes_rules").fit(np.random.default_rng(0).normal(size=(3, 200, 4))).save(
        tmp_path / "p.vecuq"
    )
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert "holds a pipeline; a model written by `vecuq fit`" in refused("export", tmp_path / "p.vecuq")
    assert "is a table; a model is needed here" in refused("export", tmp_path / "t.csv")
    assert "There is no file" in refused("export", tmp_path / "gone.vecuq")


def test_what_cannot_be_exported_is_refused_in_the_words_of_the_command_line(refused, tmp_path, make_rows):
    fit_ranker(pa.table(make_rows(100, 0)), Settings(reference="ball")).save(tmp_path / "b.vecuq")
    said = refused("export", tmp_path / "b.vecuq", "-o", tmp_path / "b.json")
    assert "Fit with --reference beta and --grid midpoint." in said


@pytest.mark.parametrize("name", ["m.txt", "m.vecuq", "m", "m.csv"])
def test_another_ending_is_refused(refused, model, tmp_path, name):
    assert "must end in .onnx, .json or .js" in refused("export", model, "-o", tmp_path / name)


def test_nothing_of_another_kind_is_replaced_without_force(run, refused, model, tmp_path):
    out = tmp_path / "package.json"
    out.write_text('{"name": "mine"}')
    assert "holds text, not a model exported as JSON" in refused("export", model, "-o", out)
    assert run("export", model, "-o", out, "--force").exit_code == 0
    assert run("export", model, "-o", out).exit_code == 0


def test_the_model_itself_is_never_replaced(refused, ranker, tmp_path):
    ranker.save(tmp_path / "model.json")
    words = "export", tmp_path / "model.json", "-o", tmp_path / "model.json"
    assert "one of the files that this job reads" in refused(*words)

"""Every example runs as it stands, and what it finds is right."""

import re
import runpy
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from vecuq import VecUQ, fit_ranker, read_table
from vecuq.data import DEMO_SCORES, demo_files, load_demo
from vecuq.evaluation import roc_auc
from vecuq.measures import registry

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def example(tmp_path, monkeypatch, capsys):
    """Run an example in an empty folder, warnings as errors; return its names and the lines that it printed."""

    def run(name):
        monkeypatch.chdir(tmp_path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for package in ("dask", "distributed"):  # what they warn each other of is not our matter
                warnings.filterwarnings("ignore", category=DeprecationWarning, module=rf"{package}\.")
            names = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        assert not list(tmp_path.iterdir()), "an example leaves no file behind"
        return names, capsys.readouterr().out.splitlines()

    return run


def test_arrays(example):
    _, (*rows, last) = example("arrays")
    assert last == "the same bits after saving and loading: True"
    p_values = [float(re.search(r"p-value ([\d.]+)", row)[1]) for row in rows]
    flagged = [row.endswith("FLAGGED") for row in rows]
    assert len(rows) == 10
    assert flagged == [p <= 0.05 for p in p_values]
    assert sum(flagged[5:]) >= 3 > sum(flagged[:5])


def test_data_frame(example):
    names, said = example("data_frame")
    ranked = names["ranked"]
    assert ranked["uncertainty"].is_monotonic_decreasing
    assert (ranked["flagged"] == (ranked["p_value"] <= 0.05)).all()
    assert ranked["flagged"][ranked["is_ood"] == 0].mean() < 0.09
    assert said[-1] == f"{ranked['flagged'].sum()} of 720 rows are flagged"


def test_classifier_outputs(example):
    names, said = example("classifier_outputs")
    assert said[0] == "measures: bayes_log_1, excess_log_1_1, total_log_1_1, mahalanobis"
    assert names["flagged"]["rows of known classes"] <= 0.09
    assert names["flagged"]["strange rows"] > 0.95


def test_sklearn_forest(example):
    names, said = example("sklearn_forest")
    assert {"entropy", "mutual_information", "mahalanobis"} <= set(names["model"].measures_)
    assert names["false_alarms"] < 0.1
    assert names["found"] > 0.4
    assert names["errors"] > 0.9
    assert "contributes" in said[-1]


def test_answers_from_a_file(example):
    names, said = example("answers_from_a_file")
    sure, unsure = names["uncertainty"][:5], names["uncertainty"][5:]
    assert sure.max() < unsure.min()
    assert (names["model"].p_values(names["rows"])[5:] <= 0.05).all()
    assert "consistency is high" in said[-1]


def test_judge_inline(example):
    names, said = example("judge_inline")
    assert names["agreeing"].accept
    assert not names["quarrelling"].accept
    assert names["agreeing"].p_wrong < names["quarrelling"].p_wrong
    assert said[0] == "With confidence 90 %, at least 90 % of the accepted rows are right."
    assert [line[:6] for line in said[-2:]] == ["send  ", "review"]


def test_gate_with_certificate(example):
    names, said = example("gate_with_certificate")
    assert said[0] == "With confidence 90 %, at least 95 % of the accepted rows are right."
    assert names["gate"].certificate().coverage > 0.5
    assert 0.4 < names["accepted"].mean() < 0.8
    assert names["right"][names["accepted"]].mean() > 0.95 > names["right"].mean()


def test_gate_by_category(example):
    names, said = example("gate_by_category")
    assert said[0].startswith("2 of 2 categories are certified, all together.")
    accepted, topics, right = names["accepted"], names["later_topics"], names["later_correct"]
    shares = {topic: accepted[topics == topic].mean() for topic in names["HARD"]}
    assert shares["law"] > shares["physics"] > 0.3
    assert all(right[accepted & (topics == topic)].mean() >= 0.9 for topic in shares)


def test_audit_over_time(example):
    names, said = example("audit_over_time")
    states = names["states"]
    assert "broken" not in states[:6]
    assert states[5] == "proven"
    assert states[-1] == "broken"
    assert len(said) == 12


def test_monitor_drift(example):
    names, said = example("monitor_drift")
    assert min(names["alarms"]) >= 6, "there is no drift before"
    assert "knn" in {alarm.stream for found in names["alarms"].values() for alarm in found}
    assert said[-1] == f"alarms on days {sorted(names['alarms'])}"


def test_missing_values(example):
    names, _ = example("missing_values")
    incomplete = names["incomplete"]
    assert (names["no_score"] == incomplete).all()
    assert names["flagged"][incomplete].all()
    assert np.isfinite(names["scored"]).all()
    assert names["alarms"][incomplete].mean() < 0.08
    assert names["alarms"][~incomplete].mean() < 0.08


def test_weights_from_labels(example):
    names, _ = example("weights_from_labels")
    weights = names["weights"]
    assert min(weights["entropy"], weights["knn"]) > max(weights["length"], weights["hour"])
    assert names["areas"]["learned"] > names["areas"]["equal"] + 0.03


def test_many_columns(example):
    names, _ = example("many_columns")
    assert [{name.partition("_")[0] for name in found} for found in names["groups"].values()] == [
        {"risk"},
        {"density"},
        {"agreement"},
    ]
    assert names["flagged"]["same"] < 0.08
    assert names["flagged"]["strange"] > 0.5


def test_parts_that_add_up(example):
    _, (sketched, compared) = example("parts_that_add_up")
    assert sketched.startswith("60,000 rows; 30,0")
    assert float(compared.rpartition(" ")[2]) < 1e-9


def test_dask_cluster(example):
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'vecuq[dask]'")
    names, said = example("dask_cluster")
    assert names["files"] == [f"part-{k}.parquet" for k in range(4)]
    assert names["same"]
    assert names["share"] < 0.07
    assert said[0].startswith("8,000 rows in 4 files")


def test_service_client(example):
    names, said = example("service_client")
    table = names["table"]
    assert len(table) == 220
    assert (table["audit"] == table["accept"]).all()
    assert names["live"].gate.counted == len(names["drawn"]) == table["accept"].sum()
    assert names["live"].gate.state in ("proven", "unproven")
    assert said[0].startswith("accept " if names["verdict"].accept else "review ")


def test_export_onnx(example):
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    names, _ = example("export_onnx")
    assert names["difference"] < 1e-12
    assert names["same_p"]
    assert len(names["rows"]) == 720


def test_own_combiner(example):
    names, _ = example("own_combiner")
    flagged, known = names["flagged"], names["in_distribution"]
    assert flagged[known].mean() < 0.09 < flagged[~known].mean()
    assert names["gate"].certificate().coverage > 0.5
    assert names["model"].uncertainty(names["new"].slice(3, 1)) == names["model"].uncertainty(names["new"])[3]


def test_own_measure(example):
    registry.known_measures.cache_clear()
    try:
        names, said = example("own_measure")
    finally:
        registry.known_measures.cache_clear()
        sys.modules.pop("my_measures", None)
    assert said[0] == "second_guess is known: True"
    assert names["pipeline"].measures_ == ("second_guess", "entropy")
    assert np.isfinite(names["uncertainty"]).all()


def test_the_demo_is_fitted_and_scored_in_three_lines():
    calibration, new = load_demo()
    model = VecUQ().fit(calibration)
    assert model.uncertainty(new).shape == (720,)
    assert tuple(calibration.column_names) == DEMO_SCORES
    assert {"id", "is_error", "is_ood"} == {*new.column_names} - {*DEMO_SCORES}


SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_example_has_a_test_a_line_in_the_table_and_is_short(name):
    assert f"test_{name}" in globals()
    assert f"[{name}.py]({name}.py)" in (EXAMPLES / "README.md").read_text("utf-8")
    lines = (EXAMPLES / f"{name}.py").read_text("utf-8").splitlines()
    assert 20 <= len(lines) <= 60
    assert lines[0].startswith('"""')


def test_the_figures_of_when_it_helps_are_those_of_the_library(capsys):
    runpy.run_path(str(ROOT / "tools" / "when_it_helps.py"), run_name="__main__")
    calibration, new = (read_table(path, columns=DEMO_SCORES) for path in demo_files())
    is_ood = np.asarray(load_demo().new["is_ood"])
    area = roc_auc(fit_ranker(calibration).uncertainty(new), is_ood)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("vecuq, defaults")]
    assert len(lines) == 2
    assert f"{area:.3f}" in lines[1]

"""A judge logged, loaded and used as a scorer by the real MLflow, with a store in a folder."""

import pytest

pytest.importorskip("mlflow", reason="MLflow is not installed; `make test-adapters` does")

import mlflow
import pandas as pd

from vecuq.adapters import judge_scorer, log_judge

ROWS = [
    {"reply": "Paris", "samples": ["Paris"] * 8, "question": "Capital of France?"},
    {"reply": "Paris", "samples": ["Lyon"] * 8, "question": "Capital of France?"},
]


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'store.db'}")
    mlflow.set_experiment("judge")


@pytest.mark.filterwarnings("default")
def test_a_judge_that_is_logged_and_loaded_gives_the_same_verdicts(judge):
    with mlflow.start_run():
        logged = log_judge(judge)
    found = mlflow.pyfunc.load_model(logged.model_uri).predict(pd.DataFrame(ROWS))
    expected = [judge(row["reply"], samples=row["samples"], question=row["question"]) for row in ROWS]
    assert found["uncertainty"].tolist() == [verdict.uncertainty for verdict in expected]
    assert found["accept"].tolist() == [True, False]
    assert found["why"].tolist() == [verdict.why for verdict in expected]


@pytest.mark.filterwarnings("default")
def test_an_evaluation_counts_accepted_answers(judge):
    said = [{"text": row["reply"], "samples": row["samples"]} for row in ROWS]
    data = [{"inputs": {"question": row["question"]}, "outputs": one} for row, one in zip(ROWS, said, strict=True)]
    done = mlflow.genai.evaluate(data=data, scorers=[judge_scorer(judge)])
    assert done.metrics["vecuq_accept/mean"] == 0.5

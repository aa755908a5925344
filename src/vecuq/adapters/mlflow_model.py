"""A judge in MLflow: logged as a model without pickle, loaded as any ``pyfunc`` model, used as a scorer."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mlflow

_COLUMNS = ("uncertainty", "p_value", "p_wrong", "accept", "why")
# MLflow runs this file when it loads the model; the judge is an artifact beside it, read by vecuq.load.
_CODE = Path(__file__).with_name("mlflow_code.py")


def log_judge(judge: Any, name: str = "judge") -> Any:
    """Log a fitted :class:`vecuq.AnswerPipeline` as a model; ``predict`` takes columns reply, samples, question."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "judge.vecuq"
        judge.save(file)
        return mlflow.pyfunc.log_model(name=name, python_model=str(_CODE), artifacts={"judge": str(file)})


def judge_scorer(judge: Any) -> Any:
    """Return a scorer for ``mlflow.genai.evaluate``: 1 for an answer that the judge accepts, else 0."""

    @mlflow.genai.scorer(name="vecuq_accept")  # type: ignore[untyped-decorator]
    def vecuq_accept(inputs: dict[str, Any], outputs: Any) -> bool:
        return bool(judge(outputs, question=inputs.get("question")).accept)

    return vecuq_accept


def as_row(judge: Any, row: dict[str, Any]) -> dict[str, Any]:
    """Return the verdict on one row of a frame, by column."""
    verdict = judge(row["reply"], samples=row.get("samples") or (), question=row.get("question"))
    return {name: getattr(verdict, name) for name in _COLUMNS}

"""The model that MLflow logs: it loads the judge with :func:`vecuq.load`, so nothing is unpickled."""

from __future__ import annotations

from typing import Any

import mlflow
import pandas as pd

from vecuq import load
from vecuq.adapters.mlflow_model import as_row


class JudgeModel(mlflow.pyfunc.PythonModel):  # type: ignore[misc]
    """Verdicts on rows with the columns reply, samples and question."""

    def load_context(self, context: Any) -> None:
        """Read the judge that was logged."""
        self.judge = load(context.artifacts["judge"])

    def predict(self, context: Any, model_input: pd.DataFrame, params: Any = None) -> pd.DataFrame:
        """Return one verdict per row."""
        return pd.DataFrame([as_row(self.judge, row) for row in model_input.to_dict("records")])


mlflow.models.set_model(JudgeModel())

"""Weights from a table of labelled rows, for a table of calibration rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vecuq._check import finite_rows
from vecuq.errors import SettingError
from vecuq.ranker import Settings, learn_weights
from vecuq.table import ScoreTable, TableLike, TableReader
from vecuq.workflows.labels import Labels, label_columns


@dataclass(frozen=True)
class Labelled:
    """A table of labelled rows, and the name of its 0/1 column that says where the answer was wrong."""

    table: TableLike
    wrong: str

    def weigh(self, calibration: ScoreTable, settings: Settings, *, drop: bool = False) -> Settings:
        """Return the settings with weights for the columns of the calibration rows; ``drop`` leaves gaps out."""
        if settings.weights is not None:
            raise SettingError("Weights are given or learned, not both: leave out weights=, or the labelled rows.")
        whole = TableReader(self.table).whole()
        labels = label_columns(whole, Labels(error=self.wrong), scores=calibration.columns)["error"]
        rows = ScoreTable.of(whole, columns=calibration.columns, flip=sorted(calibration.flipped))
        if drop:
            complete = finite_rows(rows.values)
            rows, labels = replace(rows, values=rows.values[complete], others=None), labels[complete]
        return replace(settings, weights=learn_weights(rows, labels))

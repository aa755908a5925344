"""Selective generation over many splits: a quarter of the rows fits the map, the rest is evaluated."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq._draw import Sheet, Spread
from vecuq.errors import CalibrationWarning
from vecuq.evaluation import prediction_rejection_ratio
from vecuq.ranker import Settings, fit_ranker

OURS = {"VecUQ-OT (Beta, FW)": "beta", "VecUQ-OT (Exp, FW)": "exponential"}
N_SPLITS, FITTED_SHARE = 20, 0.25
MEAN = "Mean"


@dataclass(frozen=True, eq=False)
class JudgedScores:
    """Scores of one model's answers to one task, (answers,) each, higher = more uncertain, and how good they are."""

    scores: Mapping[str, Array]
    quality: Array
    n_left_out: int = 0

    def __len__(self) -> int:
        return len(self.quality)

    def stacked(self, names: Sequence[str]) -> Array:
        """Return the named scores as (answers, names)."""
        return np.column_stack([self.scores[name] for name in names])


@dataclass(frozen=True)
class Ratios:
    """PRR at 50 % by column of the table, method and split."""

    values: Mapping[str, Mapping[str, Sequence[float]]]

    @property
    def methods(self) -> tuple[str, ...]:
        """The lines of the table."""
        return tuple(next(iter(self.values.values())))

    def means(self) -> dict[str, dict[str, float]]:
        """Return the mean over splits, by column and method."""
        return {
            column: {name: float(np.mean(found)) for name, found in lines.items()}
            for column, lines in self.values.items()
        }

    def average(self, method: str) -> Spread:
        """Return the mean over columns, and how it varies over splits."""
        found = np.mean([lines[method] for lines in self.values.values()], axis=0)
        return Spread.of([float(one) for one in found])

    def sheet(self, name: str, title: str) -> Sheet:
        """Return the table as the paper prints it: a line per method, the mean last."""
        rows: list[dict[str, Any]] = [
            {"Method": method}
            | {column: Spread.of(list(lines[method])) for column, lines in self.values.items()}
            | {MEAN: self.average(method)}
            for method in self.methods
        ]
        return Sheet(name, title, tuple(rows), down=dict.fromkeys((*self.values, MEAN), True))


def over_splits(subjects: Mapping[str, Sequence[JudgedScores]], components: Sequence[str]) -> Ratios:
    """Return the PRR of our two references over the components, and of every score alone, on the same splits.

    Where a subject has several runs, the splits take them in turn.
    """
    return Ratios({column: _ratios(runs, components) for column, runs in subjects.items()})


def _ratios(runs: Sequence[JudgedScores], components: Sequence[str]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in (*OURS, *runs[0].scores)}
    for split in range(N_SPLITS):
        judged = runs[split % len(runs)]
        vectors = judged.stacked(components)
        order = np.random.default_rng(split).permutation(len(judged))
        fit, rest = np.split(order, [round(FITTED_SHARE * len(judged))])
        tried = {name: _ranked(vectors[fit], vectors[rest], reference) for name, reference in OURS.items()}
        tried |= {name: column[rest] for name, column in judged.scores.items()}
        for name, uncertainty in tried.items():
            found[name].append(prediction_rejection_ratio(uncertainty, judged.quality[rest]))
    return found


def _ranked(calibration: Array, new: Array, reference: str) -> Array:
    with warnings.catch_warnings():
        # Few rows share the mass with the anchors: that is the paper's method on a quarter of a small set.
        warnings.simplefilter("ignore", CalibrationWarning)
        ranker = fit_ranker(calibration, Settings.paper(reference=reference))
    return np.asarray(ranker.uncertainty(new))

"""Where the reference points lie: the paper's grid, the points of the authors' code, and its other two choices.

Random and Sobol points are references of this study, not settings of the library (docs/adr/0018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq._draw import Sheet, Spread
from vecuq.measures import compositions
from vecuq.paper.ensembles import APPENDIX_MEMBERS, GroupScores, group_scores, n_groups
from vecuq.paper.tasks import NAMES, ood_auc
from vecuq.ranker import Ranker, Settings, fit_ranker
from vecuq.transport import Beta, Cloud

_PAIR = ("cifar10", "tinyimagenet")
_COMPOSITION = "eat_m"
_FALLS = "Not monotone (%)"
# Scattered points need the dense solver, whose time is rows x points: half of the rows take a quarter of it.
ROWS = 1_000


@dataclass(frozen=True)
class Scattered:
    """The Beta law by independent points of equal weight, random (seed 42) or of a scrambled Sobol sequence."""

    sobol: bool
    signed = False

    def targets(self, n_columns: int, n_targets: int) -> Cloud:
        """Return the quantiles of so many points of the unit cube."""
        points = Beta().quantile(self._levels(n_columns, n_targets))
        return Cloud(np.asarray(points), np.full(n_targets, 1.0 / n_targets))

    def _levels(self, n_columns: int, n_targets: int) -> Array:
        rng = np.random.default_rng(42)
        if not self.sobol:
            return rng.random((n_targets, n_columns))
        from scipy.stats.qmc import Sobol

        # A whole power of two is drawn and cut: the same points, without a warning about their balance.
        power = int(np.ceil(np.log2(n_targets)))
        return np.asarray(Sobol(n_columns, rng=rng).random_base2(power)[:n_targets])


# Names of the lines; settings that differ from the paper's; how many times as many points as rows and anchors.
_PLACEMENTS: dict[str, tuple[dict[str, Any], int]] = {
    "Cartesian grid, midpoints": ({}, 1),
    "Cartesian grid, midpoints, x 5": ({}, 5),
    "authors' grid (Latin hypercube)": ({"grid": "authors"}, 1),
    "authors' grid (Latin hypercube), x 2": ({"grid": "authors"}, 2),
    "random": ({"reference": Scattered(sobol=False)}, 1),
    "Sobol": ({"reference": Scattered(sobol=True)}, 1),
}


def placement_sheet() -> Sheet:
    """Return one line per placement: ROC-AUC, points, and how often a higher score gives a lower rank."""
    groups = [
        group_scores(_PAIR[0], group, APPENDIX_MEMBERS).select(compositions[_COMPOSITION])
        for group in range(n_groups(_PAIR[0], APPENDIX_MEMBERS))
    ]
    rows = tuple(_row(name, groups) for name in _PLACEMENTS)
    pair = " vs. ".join(NAMES[name] for name in _PAIR)
    title = f"{pair}, composition {_COMPOSITION}: where the reference points lie ({ROWS:,} calibration rows)"
    return Sheet("ablation_placement", title, rows, decimals=6)


def _row(name: str, groups: list[GroupScores]) -> dict[str, Any]:
    rankers = [_fit(name, scores) for scores in groups]
    found = [ood_auc(ranker.uncertainty, scores, _PAIR[1]) for ranker, scores in zip(rankers, groups, strict=True)]
    falls = np.mean([ranker.diagnostics.monotone_violations for ranker in rankers])
    return {
        "InD": NAMES[_PAIR[0]],
        "OOD": NAMES[_PAIR[1]],
        "ROC AUC": Spread.of(found),
        "Placement": name,
        "Points": rankers[0].diagnostics.n_targets,
        _FALLS: f"{100 * falls:.1f}",
    }


def _fit(name: str, scores: GroupScores) -> Ranker:
    changes, times = _PLACEMENTS[name]
    rows = scores.calibration[:ROWS]
    n_targets = times * (len(rows) + 2 ** len(scores.columns) - 1)
    return fit_ranker(rows, Settings.paper(n_targets=n_targets, **changes))


def placement_claim(sheet: Sheet) -> str:
    """Return how little the placement changes, and which placements are monotone."""
    found = [row["ROC AUC"].mean for row in sheet.rows]
    falling = [f"{row['Placement']} {row[_FALLS]} %" for row in sheet.rows if float(row[_FALLS]) > 0]
    return (
        f"Where the reference points lie changes the ROC-AUC by at most {max(found) - min(found):.4f} "
        f"({sheet.title.partition(':')[0]}). Trial steps at which a higher score gives a lower rank: "
        f"{'; '.join(falling) or 'none'}."
    )

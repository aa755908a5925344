"""The paper's three limitations (its appendix), each as a table: OOD rows in calibration, other costs, direction."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from vecuq._draw import Spread
from vecuq.paper.direction import LABELLED, LENGTH, Found, direction, direction_claim, direction_sheet
from vecuq.paper.drawings import dots
from vecuq.paper.images import COMPONENTS, DIFFERS
from vecuq.paper.ood_calibration import ood_calibration, ood_claim, ood_sheet
from vecuq.paper.other_costs import cost_claim, cost_sheet, other_costs
from vecuq.paper.study import Picture, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = {
    "length": LENGTH,
    "Mahalanobis": "mahalanobis",
    "direction, Mahalanobis": "direction, mahalanobis",
    "direction, with labels": f"{LABELLED}, direction",
    "four scores, with labels": f"{LABELLED}, scores",
}


def reproduce_limitations() -> Study:
    """Measure what the paper names as limitations and leaves open."""
    mixed, costs, directions = ood_calibration(), other_costs(), direction()
    return Study(
        name="limitations",
        title="The paper's three limitations, measured: OOD rows in calibration, other costs, direction",
        sheets=(ood_sheet(mixed), cost_sheet(costs), direction_sheet(directions)),
        figures={
            "ood rows": mixed,
            "costs": {f"power {power:g}, epsilon {kind}": lines for (power, kind), lines in costs.items()},
            "direction": directions,
        },
        differs=f"{DIFFERS} The paper names these limitations and prints no numbers. The four scores are those of its "
        f"main tables ({', '.join(COMPONENTS)}).",
        pictures=(
            Picture(
                "direction",
                "OOD rows against own errors among flagged rows: bars are one deviation over groups.",
                partial(_draw, directions),
            ),
        ),
        claims=(ood_claim(mixed), cost_claim(costs), direction_claim(directions)),
    )


def _draw(found: Found) -> Figure:
    lines = {pair: {short: Spread.of(lines[name]) for short, name in _SHOWN.items()} for pair, lines in found.items()}
    return dots(lines, "ROC-AUC")

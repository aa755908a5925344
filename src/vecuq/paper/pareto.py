"""The Pareto shares: ours, those of the means that the paper prints, and those that it prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._draw import Ranged, Sheet, Spread
from vecuq.evaluation import pareto_share
from vecuq.paper.drawings import bars
from vecuq.paper.study import printed_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The authors' additive baseline: the plain sum of the scores as they come.
ADDITIVE = "sum()"
SHARE = "At Pareto Front (%)"
WITH_ADDITIVE = "with the additive baseline (%)"
RECOMPUTED = "paper's means (%)"
PRINTED = "paper prints (%)"
_TABLES = ("ood", "misclassification", "selective")
# Just below half of the last printed digit: any mean nearer than that is printed alike.
_HALF_DIGIT = 0.000499


def by_method(means: Mapping[Any, Mapping[str, float]], methods: Sequence[str]) -> dict[str, list[float]]:
    """Return the figures of all tasks by method, as :func:`vecuq.evaluation.pareto_share` takes them."""
    return {name: [figures[name] for figures in means.values()] for name in methods}


def printed_means() -> dict[str, list[float]]:
    """Return the means of the paper's three task tables by method, one per line but the averages."""
    rows = [row for name in _TABLES for row in printed_table(name, "").rows if row["In-Dist."] != "Avg"]
    return {name: [float(row[name]) for row in rows] for name in rows[0] if isinstance(rows[0][name], Spread)}


def rounding_range(means: Mapping[str, Sequence[float]], method: str) -> tuple[float, float]:
    """Return the smallest and the largest share that a method can have had before its table was rounded.

    A method stays on a front when it rises and when others fall, so the ends are reached where every one of its own
    means is rounded one way and every other the other way.
    """

    def share(shift: float) -> float:
        moved = {name: np.array(found) + (shift if name == method else -shift) for name, found in means.items()}
        return pareto_share(moved)[method]

    return share(-_HALF_DIGIT), share(_HALF_DIGIT)


def recomputed_shares() -> dict[str, Ranged]:
    """Return the shares, in percent, that the paper's printed means give by our definition, with their range."""
    means = printed_means()
    found = pareto_share(means)
    return {name: Ranged(*(100.0 * value for value in (found[name], *rounding_range(means, name)))) for name in found}


def pareto_sheet(means: Mapping[Any, Mapping[str, float]], methods: Sequence[str]) -> Sheet:
    """Return our shares, without and with the additive baseline, beside both of the paper's; ours comes first."""
    alone, together = (pareto_share(by_method(means, names)) for names in (methods, (*methods, ADDITIVE)))
    recomputed = recomputed_shares()
    printed = {row["Method"]: row[SHARE] for row in printed_table("pareto", "").rows}
    rows = []
    for place, name in enumerate((*methods, ADDITIVE)):
        theirs = name if place else "Ours"
        rows.append(
            {
                "Method": name if name in alone else f"{name}, additive",
                SHARE: 100.0 * alone[name] if name in alone else None,
                WITH_ADDITIVE: 100.0 * together[name],
                RECOMPUTED: recomputed.get(theirs),
                PRINTED: printed.get(theirs),
            }
        )
    title = (
        "Share of task pairs on whose Pareto front a method lies; the paper's printed means by the same definition, "
        "with the range that their rounding allows; and what the paper prints"
    )
    down = dict.fromkeys((SHARE, WITH_ADDITIVE, RECOMPUTED, PRINTED), True)
    return Sheet("images_pareto", title, tuple(rows), down=down, decimals=1)


def pareto_claim(sheet: Sheet) -> str:
    """Return who is most often on the front: on our networks, by the paper's printed means, and as it prints."""
    ours = sheet.rows[0]
    place, theirs, printed = (_place(sheet, head) for head in (SHARE, RECOMPUTED, PRINTED))
    first = max((row for row in sheet.rows if row[RECOMPUTED] is not None), key=lambda row: float(row[RECOMPUTED]))
    found: Ranged = ours[RECOMPUTED]
    return (
        f"Most often on the Pareto front: {ours['Method']} {ours[SHARE]:.1f} %, number {place} of "
        f"{sum(row[SHARE] is not None for row in sheet.rows)}. The paper prints {ours[PRINTED]:.1f} %, number "
        f"{printed}; its own printed means give {found.value:.1f} % by the same definition, number {theirs} (first: "
        f"{first['Method']} with {float(first[RECOMPUTED]):.1f} %), and their rounding allows {found.low:.1f} to "
        f"{found.high:.1f} %."
    )


def _place(sheet: Sheet, head: str) -> int:
    """Return the place of the first line in a column, 1 for the best."""
    return 1 + sum(float(row[head]) > float(sheet.rows[0][head]) for row in sheet.rows if row[head] is not None)


def draw_pareto(sheet: Sheet) -> Figure:
    """Draw our shares as bars."""
    shown = [row for row in sheet.rows if row[SHARE] is not None]
    return bars({row["Method"]: Spread(row[SHARE], float("nan")) for row in shown}, "task pairs on the Pareto front, %")

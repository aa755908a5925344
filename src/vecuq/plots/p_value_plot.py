"""How often p-values are small, beside what in-distribution rows would give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import PercentFormatter

from vecuq._check import Array, in_range
from vecuq._draw import GREY, VERMILION
from vecuq.plots.panels import axis_names, legend, panel, say
from vecuq.plots.scored import ranked, ranker_in
from vecuq.ranker import CrossRanker, Ranker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# So many alphas are drawn.
_POINTS = 400


def p_values(model: Any, rows: Any, *, level: float = 0.9, ax: Axes | None = None) -> Axes:
    """Draw the share of rows with a p-value of at most alpha, for every alpha: what ``flag`` flags at each.

    In-distribution rows follow the diagonal on average over calibration sets. The band is where a share ``level`` of
    calibration sets of this size would put as many in-distribution rows, at each alpha by itself (beta-binomial law,
    exact without ties). It is left out where rows come in groups, and for ``holdback="cross"``, for which that law
    does not hold. A line far above the band near 0 says that many rows are unusual.

    Parameters
    ----------
    model
        A fitted model with held-back rows: :class:`vecuq.VecUQ`, :class:`vecuq.Ranker`, a pipeline, or a gate.
    rows
        New rows, as the model takes them, or the :class:`vecuq.Ranking` of them; rows without a p-value are left out.
    level
        The share of calibration sets inside the band, in (0, 1).
    ax
        Axes to draw on; new ones without.

    Examples
    --------
    >>> from vecuq import VecUQ, plots
    >>> from vecuq.data import load_demo
    >>> calibration, new = load_demo()
    >>> axes = plots.p_values(VecUQ().fit(calibration), new)
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('alpha', 'share of rows with p-value up to alpha')
    """
    in_range("level", level, 0.0, 1.0, ends="()")
    ranker, axes = ranker_in(model), panel(ax)
    found = ranked(model, rows).p_values
    if found is None:
        return say(axes, "no p-values: no rows were held back")
    known = np.sort(found[np.isfinite(found)])
    if not len(known):
        return say(axes, "no row has a p-value")
    alphas = np.linspace(0.0, 1.0, _POINTS + 1)
    if not isinstance(ranker, CrossRanker) and ranker.n_groups is None:
        low, high = _band(ranker, alphas, len(known), level)
        words = f"where {100 * level:g} % of calibration sets put them"
        axes.fill_between(alphas, low, high, color=GREY, alpha=0.22, lw=0, label=words)
    axes.plot([0.0, 1.0], [0.0, 1.0], color=GREY, lw=1.2, linestyle=":", label="in-distribution rows, on average")
    share = np.searchsorted(known, alphas * (1 + 1e-12), side="right") / len(known)
    axes.step(alphas, share, where="post", color=VERMILION, lw=2.2, label=f"these rows ({len(known):,})")
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.02))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axis_names(axes, "alpha", "share of rows with p-value up to alpha")
    legend(axes)
    return axes


def _band(ranker: Ranker, alphas: Array, n_rows: int, level: float) -> tuple[Array, Array]:
    """Return between which shares in-distribution rows lie: k of n + 1 ranks are flagged, beta-binomial in number."""
    from scipy.stats import betabinom

    n_held = ranker.held.count
    ranks = np.floor(alphas * (n_held + 1) * (1 + 1e-12))
    some = (ranks > 0) & (ranks <= n_held)
    law = betabinom(n_rows, np.where(some, ranks, 1.0), np.where(some, n_held + 1 - ranks, 1.0))
    ends = (law.ppf(share) / n_rows for share in (0.5 - level / 2, 0.5 + level / 2))
    low, high = (np.where(some, end, np.where(ranks > 0, 1.0, 0.0)) for end in ends)
    return low, high

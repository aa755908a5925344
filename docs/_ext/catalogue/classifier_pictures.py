"""Pictures of classifier measures, each computed by the registry's own function."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from catalogue.canvas import GREY, SHADES, VERMILION, figure, named
from catalogue.entries import Entry
from vecuq.measures import known_measures


def simplex(entry: Entry) -> Figure:
    """Draw a measure of one prediction over all predictions of three classes."""
    grid = 60
    points = np.array([(a, b, grid - a - b) for a in range(grid + 1) for b in range(grid + 1 - a)]) / grid
    values = entry.made_of.compute(np.log(np.maximum(points, 1e-12)))
    x, y = points[:, 1] + points[:, 2] / 2, points[:, 2] * np.sqrt(3) / 2
    made, axes = figure()
    one = axes[0, 0]
    drawn = one.tricontourf(x, y, values, levels=12, cmap=SHADES)
    one.set(aspect="equal", xlim=(-0.1, 1.1), ylim=(-0.14, 1.0))
    one.set_axis_off()
    for label, place, way in (("class 1", (0, -0.03), "top"), ("2", (1, -0.03), "top"), ("3", (0.5, 0.89), "bottom")):
        one.annotate(label, place, ha="center", va=way, fontsize=7)
    _bar(made, drawn, one)
    return made


def members(entry: Entry) -> Figure:
    """Draw a measure of two members over their probabilities of one of two classes."""
    made, axes = figure()
    _over_members(axes[0, 0], entry.made_of.compute, made)
    named(axes[0, 0], "member 1: P(class 1)", "member 2: P(class 1)")
    return made


def logits(entry: Entry) -> Figure:
    """Draw a measure over the two logits of one model."""
    side = np.linspace(-4, 4, 61)
    grid = np.stack(np.meshgrid(side, side), axis=-1)
    values = np.asarray(entry.made_of.compute(grid.reshape(-1, 2))).reshape(61, 61)
    made, axes = figure()
    _shaded(axes[0, 0], side, values, made)
    named(axes[0, 0], "logit of class 1", "logit of class 2")
    return made


def plane(entry: Entry) -> Figure:
    """Draw a distance over the plane of embeddings, with the training rows of two classes."""
    rows, labels = _training()
    fitted = entry.made_of.compute.fit(rows, labels)
    side = np.linspace(-4, 6, 61)
    grid = np.stack(np.meshgrid(side, side), axis=-1)
    values = fitted.score(grid.reshape(-1, 2)).reshape(61, 61)
    made, axes = figure()
    one = axes[0, 0]
    _shaded(one, side, values, made)
    one.scatter(*rows[labels == 0].T, s=2, color="white", marker="o", linewidths=0)
    one.scatter(*rows[labels == 1].T, s=4, color=VERMILION, marker="^", linewidths=0)
    named(one, "embedding 1", "embedding 2")
    return made


def risks(kind: str, rule: str) -> Figure:
    """Draw all approximations of a risk, truth by row and prediction by column, over two members."""
    spelt = rule.replace("-", "_")
    known = known_measures("classifier")
    if kind == "bayes":
        made, axes = figure(3, 1, width=4.8, height=1.75)
        names = [[f"bayes_{spelt}_{i}" for i in (1, 2, 3)]]
    else:
        made, axes = figure(3, 3, width=4.8, height=4.3)
        names = [[f"{kind}_{spelt}_{i}_{j}" for j in (1, 2, 3)] for i in (1, 2, 3)]
    highest = max(float(np.max(_of_members(known[name].compute)[1])) for line in names for name in line)
    for line, of_line in zip(names, axes, strict=True):
        for name, one in zip(line, of_line, strict=True):
            _over_members(one, known[name].compute, None, highest)
            one.set_title(name, fontsize=6, color=GREY)
            one.set_xticks([0, 1])
            one.set_yticks([0, 1])
            one.tick_params(labelsize=5, length=2)
    made.colorbar(axes[0, 0].images[0], ax=axes, shrink=0.8).ax.tick_params(labelsize=6)
    return made


@lru_cache(maxsize=1)
def _training() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal((0.0, 1.0), (0.5, 0.9), (60, 2)), rng.normal((2.5, 2.0), (0.9, 0.4), (60, 2))])
    return rows, np.repeat([0, 1], 60)


def _of_members(compute: Any) -> tuple[Any, Any]:
    side = np.linspace(0.01, 0.99, 41)
    first, second = (one.ravel() for one in np.meshgrid(side, side))
    both = np.log([np.stack([p, 1 - p], axis=-1) for p in (first, second)])
    return side, np.asarray(compute(both)).reshape(len(side), len(side))


def _over_members(axes: Any, compute: Any, made: Figure | None, highest: float | None = None) -> None:
    side, values = _of_members(compute)
    _shaded(axes, side, values, made, highest)


def _shaded(axes: Any, side: Any, values: Any, made: Figure | None, highest: float | None = None) -> None:
    ends, low = (side[0], side[-1]), None if highest is None else 0.0
    box = (*ends, *ends)
    drawn = axes.imshow(
        values, cmap=SHADES, extent=box, origin="lower", interpolation="bilinear", vmin=low, vmax=highest
    )
    if made is not None:
        _bar(made, drawn, axes)


def _bar(made: Figure, drawn: Any, axes: Any) -> None:
    made.colorbar(drawn, ax=axes, shrink=0.85).ax.tick_params(labelsize=6)

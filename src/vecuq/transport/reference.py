"""Reference laws, the points that stand for them, and the outer anchors."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, runtime_checkable

import numpy as np

from vecuq._check import Array, in_range, one_of
from vecuq.errors import SettingError
from vecuq.transport.targets import Cloud, Corners, Grid

GRIDS = ("midpoint", "authors")
MAX_COLUMNS = 10

# Points per axis that "auto" takes at epsilon >= 0.5, by number of columns (measured in docs/adr/0004).
_AUTO = {1: 64, 2: 16, 3: 8, 4: 6, 5: 5, 6: 4, 7: 4, 8: 3, 9: 3, 10: 2}
_AUTO_MOST = 20_000


@runtime_checkable
class Reference(Protocol):
    """All that a law must offer to serve as a reference: its points, and whether it has negative ones.

    ``signed`` laws are symmetric about the origin: scores are scaled to [-1, 1] and ranked centre-outward.
    """

    @property
    def signed(self) -> bool:
        """Whether the law is symmetric about the origin."""

    def targets(self, n_columns: int, n_targets: int) -> Grid | Cloud:
        """Return about ``n_targets`` weighted points in ``n_columns`` dimensions, weights summing to one."""


class ProductLaw:
    """A law with independent, equal columns, given by the quantile function of one column."""

    signed = False

    def quantile(self, level: Array) -> Array:
        """Return the inverse distribution function of one column."""
        raise TypeError(f"{type(self).__name__} must define quantile(level).")

    def targets(self, n_columns: int, n_targets: int) -> Grid:
        """Return the paper's Cartesian grid, at the midpoints of equal cells of probability."""
        per_axis = points_per_axis(n_targets, n_columns)
        levels = np.asarray(self.quantile((np.arange(per_axis) + 0.5) / per_axis), dtype=float)
        # A law with nearly all mass at its ends has equal quantiles; they become one point of more weight.
        axis, count = np.unique(levels, return_counts=True)
        weights = np.ones(())
        for _ in range(n_columns):
            weights = np.multiply.outer(weights, count / per_axis)
        return Grid((axis,) * n_columns, weights)


@dataclass(frozen=True)
class Beta(ProductLaw):
    """Independent Beta columns on [0, 1]; Beta(1, 1), the uniform law, is the paper's default."""

    alpha: float = 1.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        in_range("alpha of the beta reference", self.alpha, 0.0, ends="()")
        in_range("beta of the beta reference", self.beta, 0.0, ends="()")

    def quantile(self, level: Array) -> Array:
        """Return the inverse of the regularised incomplete beta function."""
        from scipy.special import betaincinv

        return np.asarray(betaincinv(self.alpha, self.beta, level))


@dataclass(frozen=True)
class Exponential(ProductLaw):
    """Independent exponential columns on [0, inf); the rate 2.3 is the authors' default."""

    rate: float = 2.3

    def __post_init__(self) -> None:
        in_range("rate of the exponential reference", self.rate, 0.0, ends="()")

    def quantile(self, level: Array) -> Array:
        """Return -log(1 - level) / rate."""
        return np.asarray(-np.log1p(-level) / self.rate)


@dataclass(frozen=True)
class Ball:
    """The uniform law on the unit ball, for signed scores: the rank grows from the centre outwards."""

    signed: bool = field(default=True, init=False)

    def targets(self, n_columns: int, n_targets: int) -> Grid:
        """Return the midpoint grid of [-1, 1] in every column, with the points outside the ball left out."""
        per_axis = points_per_axis(n_targets, n_columns)
        grid = _ball_grid(n_columns, per_axis)
        while grid is None or (grid.size < n_targets and (per_axis + 1) ** n_columns <= _BALL_MOST):
            per_axis += 1
            grid = _ball_grid(n_columns, per_axis)
        return grid


def _ball_grid(n_columns: int, per_axis: int) -> Grid | None:
    axis = (2.0 * np.arange(per_axis) + 1.0) / per_axis - 1.0
    squares = np.zeros((per_axis,) * n_columns)
    for k in range(n_columns):
        squares += (axis**2).reshape([-1 if j == k else 1 for j in range(n_columns)])
    inside = squares <= 1.0
    count = np.count_nonzero(inside)
    return Grid((axis,) * n_columns, inside / count) if count > n_columns else None


# A ball fills ever less of its cube; beyond this many grid points most would carry no weight.
_BALL_MOST = 500_000

_NAMED: dict[str, Any] = {"beta": Beta, "exponential": Exponential, "ball": Ball}


def named_reference(reference: str | Reference) -> Reference:
    """Return the reference for a name such as ``"beta"`` or ``"exponential(1.5)"``; an object passes through.

    Examples
    --------
    >>> named_reference("beta(2, 5)")
    Beta(alpha=2.0, beta=5.0)
    """
    if not isinstance(reference, str):
        if isinstance(reference, Reference):
            return reference
        raise SettingError(
            f"reference must be one of {', '.join(map(repr, _NAMED))} or an object with `signed` and "
            f"`targets(n_columns, n_targets)`; got {reference!r}."
        )
    called = re.fullmatch(r"\s*([a-z]+)\s*(?:\(([^()]*)\))?\s*", reference)
    name = one_of("reference", called.group(1) if called else reference, tuple(_NAMED))
    texts = [part for part in (called.group(2) or "").split(",") if part.strip()] if called else []
    try:
        made: Reference = _NAMED[name](*map(float, texts))
    except (TypeError, ValueError) as error:
        if isinstance(error, SettingError):
            raise
        raise SettingError(
            f"reference {reference!r} has wrong parameters; write beta(alpha, beta), exponential(rate) or ball."
        ) from None
    return made


def reference_name(reference: Reference) -> str:
    """Return the name under which :func:`named_reference` finds this law again, or its representation.

    Examples
    --------
    >>> reference_name(Exponential(1.5))
    'exponential(1.5)'
    """
    for name, kind in _NAMED.items():
        if type(reference) is kind:
            values = [str(float(getattr(reference, f.name))) for f in fields(reference) if f.init]  # type: ignore[arg-type]
            return f"{name}({', '.join(values)})" if values else name
    return repr(reference)


def check_targets(targets: Grid | Cloud, n_columns: int) -> Grid | Cloud:
    """Return what a reference gave, once it is known to be a grid or a cloud of the right size and total weight."""
    if not isinstance(targets, Grid | Cloud):
        raise SettingError(f"A reference must return a Grid or a Cloud; got {type(targets).__name__}.")
    if isinstance(targets, Grid):
        rising = all(axis.ndim == 1 and len(axis) > 1 and (np.diff(axis) > 0).all() for axis in targets.axes)
        fits = len(targets.axes) == n_columns and targets.weights.shape == tuple(map(len, targets.axes))
    else:
        rising = bool(np.isfinite(targets.points).all())
        fits = targets.points.shape == (len(targets.weights), n_columns)
    weights = targets.weights
    if not (rising and fits and np.isfinite(weights).all() and (weights >= 0).all() and abs(weights.sum() - 1) < 1e-6):
        raise SettingError(
            f"The reference's points are not usable: {n_columns} columns, axes of at least two increasing values, one "
            f"weight per point, none negative, summing to 1, are needed."
        )
    return targets


def points_per_axis(n_targets: int, n_columns: int) -> int:
    """Return the smallest whole g, at least 2, with g to the power of ``n_columns`` at least ``n_targets``."""
    g: int = max(2, round(float(n_targets) ** (1.0 / n_columns)))
    while g > 2 and (g - 1) ** n_columns >= n_targets:
        g -= 1
    while g**n_columns < n_targets:
        g += 1
    return g


def auto_targets(n_columns: int, epsilon: float) -> int:
    """Return how many reference points change nothing that matters; it does not depend on the number of rows.

    The kernel is as wide as the square root of epsilon, so a smaller epsilon asks for a finer grid.
    """
    finer = _AUTO[n_columns] * max(1.0, 0.5 / epsilon) ** 0.5
    affordable = _AUTO_MOST ** (1.0 / n_columns)
    return int(max(_AUTO[n_columns], int(min(finer, affordable))) ** n_columns)


def authors_targets(reference: Reference, n_columns: int, n_targets: int) -> Grid | Cloud:
    """Return the points that the authors' code uses, for their printed digits.

    Two columns: a grid from 0.01 to 0.99, from which as many points are drawn as needed (seed 42). Three or
    more: a scrambled Latin hypercube. One: equally spaced points.
    """
    if not isinstance(reference, ProductLaw):
        raise SettingError(f"grid='authors' needs the beta or the exponential reference; got {reference!r}.")
    if n_columns > 2:
        from scipy.stats.qmc import LatinHypercube

        levels = 0.01 + 0.98 * LatinHypercube(n_columns, rng=np.random.default_rng(42)).random(n_targets)
        return Cloud(np.asarray(reference.quantile(levels)), np.full(n_targets, 1.0 / n_targets))
    per_axis = points_per_axis(n_targets, n_columns)
    axis = np.asarray(reference.quantile(np.linspace(0.01, 0.99, per_axis)))
    weights = np.zeros(per_axis**n_columns)
    kept = np.random.default_rng(42).choice(len(weights), n_targets, replace=False)
    weights[kept] = 1.0 / n_targets
    # Their points run along the first column first, ours along the last: hence the transpose.
    return Grid((axis,) * n_columns, np.ascontiguousarray(weights.reshape((per_axis,) * n_columns).T))


def outer_anchors(low: Array, high: Array, gamma: float, *, signed: bool = False) -> Corners | None:
    """Return the paper's outer anchors: the corners of a box ``gamma`` times as large as the calibration rows'.

    For positive scores the corners of {0, gamma M_k} but the origin; for signed ones those of {-gamma M_k,
    gamma M_k}, with M_k the largest (absolute) scaled value of column k, known from the smallest and largest
    values ``low`` and ``high``. ``gamma = 0`` gives none.
    """
    if gamma == 0:
        return None
    top = np.maximum(np.abs(low), np.abs(high)) if signed else high
    if not (top > 0).all():
        raise SettingError(
            "Outer anchors need a positive maximum in every column, and scaling='identity' leaves one at or below "
            "zero. Use scaling='featurewise', or anchors=0."
        )
    bottom = -gamma * top if signed else np.zeros_like(top)
    weights = np.ones((2,) * len(top))
    if not signed:
        weights.flat[0] = 0.0
    return Corners(np.column_stack([bottom, gamma * top]), weights)

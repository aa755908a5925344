"""Small transport problems that several tests share."""

import numpy as np

from vecuq.transport import Cloud, Corners, Grid, Sources


def axes_of(g, m):
    return ((np.arange(g) + 0.5) / g,) * m


def full_grid(g, m):
    return Grid(axes_of(g, m), np.full((g,) * m, 1.0 / g**m))


def cloud_of(grid):
    return Cloud(grid.points, grid.weights[grid.weights > 0])


def outer(m, gamma=5.0):
    weights = np.ones((2,) * m)
    weights.flat[0] = 0.0
    return Corners(np.tile([0.0, gamma], (m, 1)), weights)


def sources_of(n, m, seed=0, *, anchors=True):
    rows = np.random.default_rng(seed).gamma(1.0, size=(n, m))
    rows /= rows.max(axis=0)
    return Sources.of(rows, outer(m) if anchors else None)

"""What a map onto a grid is made of, in plain arrays: all that another program needs to compute the same images."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecuq._check import Array
from vecuq.transport.boxmap import BoxMap
from vecuq.transport.maps import GridMap


@dataclass(frozen=True)
class GridParts:
    """The parts of a :class:`GridMap`, in the order in which a row meets them.

    A row inside the box, if there is one, gets its image from the short sum. Any other row is clipped to ``nearest``
    and ``farthest``, beyond which the image is constant, and finds its cell.
    """

    box: BoxMap | None
    nearest: Array  # (columns,)
    farthest: Array  # (columns,)
    origin: Array  # (columns,): the centre of the first cell
    half: Array | None  # (columns,): half the width of a cell; None where one cell holds every row
    axes: tuple[Array, ...]
    log_v: Array
    epsilon: float
    home: Array  # (points of the first half, of the second): weights of the grid points in the first cell
    moments: tuple[Array, Array]  # per half: the coordinates of its grid points, and a row of ones


def grid_parts(rank_map: GridMap) -> GridParts:
    """Return what a map is made of.

    Examples
    --------
    >>> axis = np.array([0.25, 0.75])
    >>> parts = grid_parts(GridMap((axis, axis), np.zeros((2, 2)), epsilon=0.5))
    >>> parts.half is None, parts.home.shape
    (True, (2, 2))
    """
    cells, saturation = rank_map._cells, rank_map._saturation
    return GridParts(
        box=rank_map._in_box,
        nearest=saturation[0],
        farthest=saturation[1],
        origin=cells.origin,
        half=None if np.isinf(cells.half).all() else cells.half,
        axes=rank_map.axes,
        log_v=rank_map.log_v,
        epsilon=rank_map.epsilon,
        home=rank_map._home,
        moments=rank_map._moments,
    )

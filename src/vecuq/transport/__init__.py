"""Entropic optimal transport on arrays: kernels, one solver, maps. Knows nothing of tables or estimators."""

from vecuq.transport.dense import DenseKernel
from vecuq.transport.maps import CloudMap, GridMap, RankMap, rank_map
from vecuq.transport.separable import SeparableKernel
from vecuq.transport.sinkhorn import Potentials, solve
from vecuq.transport.targets import Cloud, Corners, Grid, Sources

__all__ = [
    "Cloud",
    "CloudMap",
    "Corners",
    "DenseKernel",
    "Grid",
    "GridMap",
    "Potentials",
    "RankMap",
    "SeparableKernel",
    "Sources",
    "rank_map",
    "solve",
]

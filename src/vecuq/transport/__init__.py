"""Entropic optimal transport on arrays: kernels, one solver, maps. Knows nothing of tables or estimators."""

from vecuq.transport.dense import DenseKernel
from vecuq.transport.maps import CloudMap, GridMap, RankMap, rank_map
from vecuq.transport.projection import Nodes, ProjectedKernel, chebyshev_moments, nodes_needed
from vecuq.transport.separable import SeparableKernel
from vecuq.transport.sinkhorn import Potentials, solve
from vecuq.transport.targets import Cloud, Corners, Grid, Sources, shared_mass

__all__ = [
    "Cloud",
    "CloudMap",
    "Corners",
    "DenseKernel",
    "Grid",
    "GridMap",
    "Nodes",
    "Potentials",
    "ProjectedKernel",
    "RankMap",
    "SeparableKernel",
    "Sources",
    "chebyshev_moments",
    "nodes_needed",
    "rank_map",
    "shared_mass",
    "solve",
]

"""Entropic optimal transport on arrays: kernels, one solver, maps. Knows nothing of tables or estimators."""

from vecuq.transport.dense import DenseKernel
from vecuq.transport.maps import CloudMap, GridMap, RankMap, lengths, rank_map, sums_of_squares
from vecuq.transport.moments import chebyshev_moments, to_units
from vecuq.transport.projection import Nodes, ProjectedKernel, nodes_needed
from vecuq.transport.reference import (
    GRIDS,
    MAX_COLUMNS,
    Ball,
    Beta,
    Exponential,
    Reference,
    authors_targets,
    auto_targets,
    check_targets,
    named_reference,
    outer_anchors,
    reference_name,
)
from vecuq.transport.scaling import SCALINGS, Scaler, fit_scaler
from vecuq.transport.separable import SeparableKernel
from vecuq.transport.sinkhorn import Potentials, solve
from vecuq.transport.targets import Cloud, Corners, Grid, Sources, shared_mass

__all__ = [
    "GRIDS",
    "MAX_COLUMNS",
    "SCALINGS",
    "Ball",
    "Beta",
    "Cloud",
    "CloudMap",
    "Corners",
    "DenseKernel",
    "Exponential",
    "Grid",
    "GridMap",
    "Nodes",
    "Potentials",
    "ProjectedKernel",
    "RankMap",
    "Reference",
    "Scaler",
    "SeparableKernel",
    "Sources",
    "authors_targets",
    "auto_targets",
    "chebyshev_moments",
    "check_targets",
    "fit_scaler",
    "lengths",
    "named_reference",
    "nodes_needed",
    "outer_anchors",
    "rank_map",
    "reference_name",
    "shared_mass",
    "solve",
    "sums_of_squares",
    "to_units",
]

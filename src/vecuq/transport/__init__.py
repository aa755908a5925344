"""Entropic optimal transport on arrays: kernels, one solver, maps. Knows nothing of tables or estimators."""

from vecuq.transport.boxmap import BoxMap, Half
from vecuq.transport.dense import DenseKernel
from vecuq.transport.grid_parts import GridParts, grid_parts
from vecuq.transport.grouped import FirstLevel, GroupedMap, OneMap, RankMap, maps_in
from vecuq.transport.grouping import MAX_GROUPED, alike_groups, most_in_group
from vecuq.transport.maps import CloudMap, GridMap, lengths, rank_map, sums_of_squares
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
from vecuq.transport.scaling import SCALED_LIMIT, SCALINGS, Scaler, fit_scaler
from vecuq.transport.separable import SeparableKernel
from vecuq.transport.sinkhorn import Potentials, solve
from vecuq.transport.targets import Cloud, Corners, Grid, Sources, shared_mass
from vecuq.transport.widening import widened_moments

__all__ = [
    "GRIDS",
    "MAX_COLUMNS",
    "MAX_GROUPED",
    "SCALED_LIMIT",
    "SCALINGS",
    "Ball",
    "Beta",
    "BoxMap",
    "Cloud",
    "CloudMap",
    "Corners",
    "DenseKernel",
    "Exponential",
    "FirstLevel",
    "Grid",
    "GridMap",
    "GridParts",
    "GroupedMap",
    "Half",
    "Nodes",
    "OneMap",
    "Potentials",
    "ProjectedKernel",
    "RankMap",
    "Reference",
    "Scaler",
    "SeparableKernel",
    "Sources",
    "alike_groups",
    "authors_targets",
    "auto_targets",
    "chebyshev_moments",
    "check_targets",
    "fit_scaler",
    "grid_parts",
    "lengths",
    "maps_in",
    "most_in_group",
    "named_reference",
    "nodes_needed",
    "outer_anchors",
    "rank_map",
    "reference_name",
    "shared_mass",
    "solve",
    "sums_of_squares",
    "to_units",
    "widened_moments",
]

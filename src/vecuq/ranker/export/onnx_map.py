"""The rank map as ONNX nodes: scaled rows in, rank images out, by the very steps of :mod:`vecuq.transport`."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array
from vecuq.ranker.export.onnx_nodes import Graph, whole
from vecuq.transport import BoxMap, GridParts, Half


def images(graph: Graph, parts: GridParts, scaled: str) -> str:
    """Return the rank images, (rows, columns)."""
    near = graph("Max", graph("Min", scaled, parts.farthest), parts.nearest)
    found = _one_cell(graph, parts, near) if parts.half is None else _own_cells(graph, parts, near)
    if parts.box is None:
        return found
    away = graph("Abs", graph("Sub", scaled, parts.box.centre))
    inside = graph("ReduceMin", graph("Cast", graph("LessOrEqual", away, parts.box.half), to=_INT32), whole(1))
    return graph("Where", graph("Cast", inside, to=_BOOL), _in_box(graph, parts.box, scaled), found)


def _one_cell(graph: Graph, parts: GridParts, near: str) -> str:
    """Return the images by two matrix products with the weights of the grid, as in :class:`vecuq.transport.GridMap`."""
    slopes = graph("Mul", graph("Sub", near, parts.origin), 2.0 / parts.epsilon)
    factors = [graph("Exp", each) for each in _falls(graph, parts, slopes)]
    half, sizes = len(factors) // 2, [len(axis) for axis in parts.axes]
    Q = _products(graph, factors[half:], sizes[half:])
    first, second = (moments.T for moments in parts.moments)
    if not half:
        return _ratio(graph, graph("MatMul", graph("Mul", Q, parts.home), second), len(sizes))
    P = _products(graph, factors[:half], sizes[:half])
    left = graph("MatMul", graph("Mul", P, graph("MatMul", Q, parts.home.T)), first)
    right = graph("MatMul", graph("Mul", Q, graph("MatMul", P, parts.home)), second)
    return graph("Concat", _ratio(graph, left, half), _ratio(graph, right, len(sizes) - half), axis=1)


def _own_cells(graph: Graph, parts: GridParts, near: str) -> str:
    """Return the images with the weights of each row's own cell, all grid points at once: for a small epsilon."""
    half = np.asarray(parts.half)
    place = graph("Round", graph("Div", graph("Sub", near, parts.origin), 2.0 * half))
    centre = graph("Add", graph("Mul", place, np.where(np.isinf(half), 0.0, 2.0 * half)), parts.origin)
    slopes = graph("Mul", graph("Sub", near, centre), 2.0 / parts.epsilon)
    tilt = _over_grid(graph, parts, _tilts(graph, parts, centre))
    level = graph("Add", tilt, parts.log_v.reshape(1, -1))
    level = graph("Sub", level, graph("ReduceMax", level, whole(1)))
    weights = graph("Exp", graph("Add", level, _over_grid(graph, parts, _falls(graph, parts, slopes))))
    mesh = np.stack(np.meshgrid(*parts.axes, indexing="ij"), axis=-1).reshape(-1, len(parts.axes))
    return _ratio(graph, graph("MatMul", weights, np.column_stack([mesh, np.ones(len(mesh))])), len(parts.axes))


def _falls(graph: Graph, parts: GridParts, slopes: str) -> list[str]:
    """Return (t - e) slope per column, (rows, points on the axis), with the edge e where it is largest, 0."""
    found = []
    for k, axis in enumerate(parts.axes):
        slope = graph.columns(slopes, k, k + 1)
        edge = graph("Where", graph("Greater", slope, 0.0), axis[-1:], axis[:1])
        found.append(graph("Mul", graph("Sub", axis[None], edge), slope))
    return found


def _tilts(graph: Graph, parts: GridParts, centre: str) -> list[str]:
    """Return -(c - t)^2 / epsilon per column, (rows, points on the axis), the largest 0."""
    found = []
    for k, axis in enumerate(parts.axes):
        away = graph("Sub", graph.columns(centre, k, k + 1), axis[None])
        part = graph("Div", graph("Neg", graph("Mul", away, away)), parts.epsilon)
        found.append(graph("Sub", part, graph("ReduceMax", part, whole(1))))
    return found


def _over_grid(graph: Graph, parts: GridParts, columns: list[str]) -> str:
    """Return the sums over columns at every point of the grid, (rows, points)."""
    total, size = columns[0], len(parts.axes[0])
    for column, axis in zip(columns[1:], parts.axes[1:], strict=True):
        size *= len(axis)
        total = graph.outer("Add", total, column, size)
    return total


def _products(graph: Graph, factors: list[str], sizes: list[int]) -> str:
    total, size = factors[0], sizes[0]
    for factor, more in zip(factors[1:], sizes[1:], strict=True):
        size *= more
        total = graph.outer("Mul", total, factor, size)
    return total


def _ratio(graph: Graph, sums: str, count: int) -> str:
    """Return the first columns divided by the one behind them."""
    return graph("Div", graph.columns(sums, 0, count), graph.columns(sums, count, count + 1))


def _in_box(graph: Graph, box: BoxMap, scaled: str) -> str:
    """Return the images of rows inside of the box, by the short sum of :class:`vecuq.transport.BoxMap`."""
    units = graph("Div", graph("Sub", scaled, box.centre), box.half)
    m, split = len(box.bases), len(box.bases) // 2
    tables = [_functions(graph, graph.columns(units, k, k + 1), basis) for k, basis in enumerate(box.bases)]
    f, g = _half(graph, box.first, tables[:split]), _half(graph, box.second, tables[split:])
    value = graph.sums(graph("Mul", f[0], g[0]))
    slopes = [graph.sums(graph("Mul", f[1 + k], g[0])) for k in range(split)]
    slopes += [graph.sums(graph("Mul", g[1 + k], f[0])) for k in range(m - split)]
    return graph("Add", graph("Div", graph("Concat", *slopes, axis=1), value), box.middle)


def _functions(graph: Graph, unit: str, basis: Array) -> str:
    """Return the functions of one column, (rows, functions), from Chebyshev polynomials, two degrees after another."""
    powers = [graph("Add", graph("Mul", unit, 0.0), 1.0), unit]
    twice = graph("Mul", unit, 2.0)
    while len(powers) < basis.shape[1]:
        powers.append(graph("Sub", graph("Mul", twice, powers[-1]), powers[-2]))
    return graph("MatMul", graph("Concat", *powers[: basis.shape[1]], axis=1), basis.T)


def _half(graph: Graph, half: Half, tables: list[str]) -> list[str]:
    """Return the values, then the slopes, of one half of the columns, (rows, terms) each."""
    if not tables:  # one column in all
        return [graph("Add", half.matrix[0, :, 0][None], 0.0)]
    products = tables[0] if len(tables) == 1 else _staircase(graph, half.stairs, tables)
    return [graph("MatMul", products, layer.T) for layer in half.matrix]


def _staircase(graph: Graph, stairs: tuple[int, ...], tables: list[str]) -> str:
    """Return every function of the first column times the first few of the last, (rows, products)."""
    rows = np.repeat(np.arange(len(stairs)), stairs).astype(np.int64)
    columns = np.concatenate([np.arange(count) for count in stairs]).astype(np.int64)
    return graph("Mul", graph("Gather", tables[0], rows, axis=1), graph("Gather", tables[1], columns, axis=1))


# Types, as ONNX numbers them.
_INT32, _BOOL = 6, 9

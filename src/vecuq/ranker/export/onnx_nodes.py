"""An ONNX graph under construction: every call adds one node and returns the name of its result."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.errors import SettingError

# What the graph is written in: onnx 1.13 and all later ones read it.
OPSET, FORMAT = 18, 8
Input = str | float | Array | NDArray[np.int64]


class Graph:
    """Nodes and constants, in float64; a number or an array among the inputs of a node becomes a constant.

    ``rows`` is the name of the graph's one input, and ``n_columns`` how many columns it has.
    """

    def __init__(self, rows: str, n_columns: int) -> None:
        self.rows, self._n_columns = rows, n_columns
        try:
            import onnx
            from onnx import helper, numpy_helper
        except ImportError:
            raise SettingError("An ONNX file is written by the package onnx: pip install 'vecuq[onnx]'.") from None
        self._onnx, self._helper, self._numpy_helper = onnx, helper, numpy_helper
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def __call__(self, operator: str, *inputs: Input, **attributes: Any) -> str:
        """Add a node; return the name of its result."""
        name = f"{operator}_{len(self._nodes)}"
        given = [each if isinstance(each, str) else self._given(operator, each) for each in inputs]
        # Without names of their own, nodes that onnxruntime 1.20 makes of two of them share one, and are refused.
        self._nodes.append(self._helper.make_node(operator, given, [name], name=name, **attributes))
        return name

    def _given(self, operator: str, value: float | NDArray[Any]) -> str:
        """Return a constant. One that onnxruntime would take for 0 or 1, and drop, depends on the input for show.

        It looks at the nearest float32 (as of 1.31), and a factor of 1 - 1e-9 decides about ties.
        """
        name = self._constant(value)
        if operator not in ("Add", "Sub", "Mul", "Div") or not _looks_neutral(value):
            return name
        size = self("Size", self.rows)
        return self("Where", self("Equal", size, size), name, name)

    def _constant(self, value: float | NDArray[Any]) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(self._numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def columns(self, table: str, start: int, stop: int) -> str:
        """Return the columns from ``start`` to before ``stop``, (rows, columns)."""
        return self("Slice", table, whole(start), whole(stop), whole(1))

    def sums(self, table: str) -> str:
        """Return the sum of every row, (rows, 1)."""
        return self("ReduceSum", table, whole(1))

    def outer(self, operator: str, left: str, right: str, size: int) -> str:
        """Return the operator's result for every pair of columns of two tables, (rows, size), the last one fastest."""
        pairs = self(operator, self("Unsqueeze", left, whole(2)), self("Unsqueeze", right, whole(1)))
        return self("Reshape", pairs, whole(0, size))

    def below(self, sorted_numbers: Array, values: str, *, equal: bool = False) -> str:
        """Return how many of some increasing numbers lie below each value, (rows,); ``equal``: or at it.

        A bisection without branches: the numbers are filled up with infinity to one less than a power of two. An
        infinite value may be above these too, hence the minimum.
        """
        steps = len(sorted_numbers).bit_length()
        filled = np.append(sorted_numbers, np.full(2**steps - 1 - len(sorted_numbers), np.inf))
        table, place = self._constant(filled), self._constant(whole(0))
        for step in (2**power for power in reversed(range(steps))):
            probed = self("Gather", table, self("Add", place, whole(step - 1)))
            passed = self("LessOrEqual" if equal else "Less", probed, values)
            place = self("Where", passed, self("Add", place, whole(step)), place)
        return self("Min", place, whole(len(sorted_numbers)))

    def model(self, outputs: dict[str, str], facts: dict[str, str]) -> bytes:
        """Return the file, given its outputs by name and node, and facts about the model."""
        helper, double = self._helper, self._onnx.TensorProto.DOUBLE
        for name, node in outputs.items():
            self._nodes.append(helper.make_node("Identity", [node], [name], name=name))
        taken = [helper.make_tensor_value_info(self.rows, double, ["rows", self._n_columns])]
        given = [helper.make_tensor_value_info(name, double, ["rows"]) for name in outputs]
        graph = helper.make_graph(self._nodes, "vecuq", taken, given, self._constants)
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=FORMAT, producer_name="vecuq")
        helper.set_model_props(model, facts)
        self._onnx.checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString())


def whole(*numbers: int) -> NDArray[np.int64]:
    """Return whole numbers as ONNX takes sizes and places."""
    return np.array(numbers, dtype=np.int64)


def _looks_neutral(value: float | NDArray[Any]) -> bool:
    """Whether a single number is nearly, but not quite, 0 or 1."""
    if np.size(value) != 1 or np.asarray(value).dtype != float:
        return False
    number = float(np.asarray(value).item())
    return number not in (0.0, 1.0) and (abs(number) < 1e-30 or abs(number - 1.0) < 1e-6)

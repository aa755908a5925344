"""The first rows of a data frame, by which its score columns are found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vecuq._check import wanted_columns
from vecuq.cluster.spark.column_names import quoted
from vecuq.errors import ColumnError

if TYPE_CHECKING:
    import pyarrow as pa

# Enough to see an id, a label or a confidence, and mostly in the first partition.
_ENOUGH = 1_000
# How the types of Spark that can hold scores are called in Arrow; a decimal number is read as any other.
_KINDS = {
    **dict.fromkeys(("double", "float", "decimal"), "float64"),
    **dict.fromkeys(("byte", "tinyint", "short", "smallint", "integer", "int", "long", "bigint"), "int64"),
    "boolean": "bool",
    "string": "string",
}


def first_rows(df: Any, columns: Sequence[str] | None, *, but: str | None, count: int | None = None) -> pa.Table:
    """Return the first rows, with those columns that can hold scores; 0 rows cost nothing.

    By ``take``, which runs the first partitions only; a limit in Arrow would begin all of them.
    """
    import pyarrow as pa

    kinds = {field.name: _KINDS.get(field.dataType.typeName()) for field in df.schema.fields}
    can_be = {name: kind for name, kind in kinds.items() if kind is not None and name != but}
    chosen = can_be if columns is None else {name: _kind_of(name, kinds) for name in columns}
    n_rows = _ENOUGH if count is None else count
    read = [_read(name, kind) for name, kind in chosen.items()]
    rows = df.selectExpr(*read).take(n_rows) if n_rows and read else []
    return pa.table(
        {
            name: pa.array([row[k] for row in rows], type=pa.type_for_alias(kind))
            for k, (name, kind) in enumerate(chosen.items())
        }
    )


def _read(name: str, kind: str) -> str:
    """Return how a column is selected: numbers with a fixed number of decimals as plain ones."""
    return f"cast({quoted(name)} as double)" if kind == "float64" else quoted(name)


def _kind_of(name: str, kinds: dict[str, str | None]) -> str:
    """Return the type of a column that was named as a score."""
    wanted_columns([name], list(kinds), purpose="needed as score columns")
    kind = kinds[name]
    if kind is None:
        raise ColumnError(f"The column {name!r} holds no numbers, and cannot be a score. Name others by `columns`.")
    return kind

"""Tables in memory, of whatever library: what their columns are called, and all of them at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vecuq._check import unique_names, warn_user
from vecuq.errors import TableError, VecuqWarning


def names_of(data: Any) -> list[Any] | None:
    """Return the column names of a frame, a mapping or records, without looking at rows; None for an array."""
    if isinstance(data, Mapping):
        return list(data)
    if is_records(data):
        return list(dict.fromkeys(name for row in data for name in row))
    if not _is_frame(data):
        return None
    frame = data if is_arrow(data) else _narwhals(data)
    # A lazy frame has no columns until its schema is worked out.
    return list(frame.schema.names if is_arrow(frame) else frame.collect_schema().names())


def at_hand(data: Any) -> Any:
    """Return a frame as a narwhals, or a pyarrow table or batch, in memory; records and mappings as columns by name.

    A lazy frame is collected, with a warning. Anything else, such as an array, gives None.
    """
    if isinstance(data, Mapping):
        return dict(data)
    if is_records(data):
        return {name: [row.get(name) for row in data] for name in names_of(data) or ()}
    if not _is_frame(data):
        return None
    if is_arrow(data):
        return data.read_all() if hasattr(data, "read_all") else data
    return _collected(_narwhals(data))


def is_records(data: Any) -> bool:
    """Whether data are a list of mappings, one per row."""
    if not isinstance(data, Sequence) or isinstance(data, str) or not len(data) or not isinstance(data[0], Mapping):
        return False
    if not all(isinstance(row, Mapping) for row in data):
        raise TableError("Some of these rows are records with names and some are not; give one kind only.")
    return True


def is_arrow(data: Any) -> bool:
    """Whether a table or a column is pyarrow's own, which needs no detour."""
    return type(data).__module__.partition(".")[0] == "pyarrow"


def _is_frame(data: Any) -> bool:
    # Looked up in the type: a lazy frame warns when its own attributes are read.
    kind = type(data)
    streams = hasattr(kind, "__arrow_c_stream__") and not hasattr(kind, "__array__")
    return streams or any(hasattr(kind, part) for part in ("columns", "column_names", "read_all"))


def _narwhals(data: Any) -> Any:
    """Return a frame that narwhals knows, or an Arrow table of one that can only be streamed."""
    import narwhals as nw
    import pyarrow as pa

    try:
        return nw.from_native(data)
    except ValueError:
        # narwhals refuses doubled names too, but does not say what to do.
        unique_names(data.columns)
        raise
    except TypeError:
        if hasattr(type(data), "__arrow_c_stream__"):
            return pa.table(data)
        verb = _loading_verb(data)
        first = f"Call its {verb}() first, or give" if verb else "Give"
        raise TableError(
            f"A {_kind(data)} is not a table that vecuq reads. {first} a NumPy array, a frame of pandas, polars, "
            f"pyarrow or another library that narwhals knows, a list of dicts, or a ScoreTable."
        ) from None


def _kind(data: Any) -> str:
    """Return what data are and of which library, such as ``dask DataFrame``."""
    return f"{type(data).__module__.partition('.')[0]} {type(data).__name__}"


def _loading_verb(data: Any) -> str:
    """Return the method that brings a lazy or distributed frame into memory; nothing if there is none."""
    verbs = ("compute", "collect", "toPandas", "to_pandas", "to_arrow")
    return next((verb for verb in verbs if hasattr(type(data), verb)), "")


def _collected(frame: Any) -> Any:
    import narwhals as nw

    if not isinstance(frame, nw.LazyFrame):
        return frame
    native = frame.to_native()
    warn_user(
        f"A {_kind(native)} was collected, so all its columns are in memory now. To load less, select the columns and "
        f"{_loading_verb(native) or 'collect'} it yourself first.",
        VecuqWarning,
    )
    return frame.collect()

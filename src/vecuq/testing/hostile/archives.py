"""Archives of arrays (npz) whose headers lie: shapes, types, names, sizes, pickles, and archives within."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

_TYPES = (
    "<f8",
    ">f8",
    "<f4",
    "<f2",
    "<i8",
    "<u8",
    "|b1",
    "<c16",
    "<U3",
    "|S2",
    "|V4",
    "<M8[s]",
    "<m8[ns]",
    "|O",
    "f8,f8",
)
_SHAPES = ("(2,)", "()", "(0,)", "(4, 1)", "(-1,)", "(1000000000000,)", "(2, 2, 2)", "(True,)", "2", "(2.0,)", "('x',)")


def arrays_of(table: pa.Table) -> dict[str, Any]:
    """Return the columns of a table as arrays that npz can hold; what it cannot hold is left as objects."""
    return {name: _array(table[name]) for name in table.column_names}


def _array(column: pa.ChunkedArray) -> Any:
    array = column.to_numpy()
    # Texts as NumPy keeps them; what has no type of its own stays an object, which npz keeps as a pickle.
    return np.array(array.tolist()) if array.dtype == object and not column.null_count and len(column) else array


def spelt(draw: st.DrawFn, table: pa.Table) -> bytes:
    """Write a table as npz: arrays by name or one matrix, packed or not, objects as pickles."""
    arrays = arrays_of(table)
    members = {name: _npy(array) for name, array in arrays.items()}
    if draw(st.integers(0, 9)) == 0:
        members = {"scores": _npy(draw(_matrices())), "columns": _npy(np.array(table.column_names))}
    if draw(st.integers(0, 5)) == 0:
        name = draw(st.sampled_from(sorted(members) or ["x"]))
        members[name] = draw(lying_array())
    return _zipped(members, packed=draw(st.booleans()), doubled=draw(st.integers(0, 9)) == 0)


def _matrices() -> st.SearchStrategy[Any]:
    shapes = st.sampled_from(((2, 2), (0, 2), (2, 0), (2,), (), (1, 2, 2)))
    return shapes.map(lambda shape: np.full(shape, 0.5))


def _npy(array: Any) -> bytes:
    sink = io.BytesIO()
    np.lib.format.write_array(sink, np.asarray(array), allow_pickle=True)
    return sink.getvalue()


@st.composite
def lying_array(draw: st.DrawFn) -> bytes:
    """Return a strategy of npy arrays whose header says something else than what follows."""
    descr = draw(st.sampled_from(_TYPES))
    fortran, shape = draw(st.sampled_from(("False", "True", "None", "0"))), draw(st.sampled_from(_SHAPES))
    text = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}"
    text = draw(st.sampled_from((text, text, text, text[:-3], "[" * 500, "{}", text.replace("shape", "shap"))))
    version = draw(st.sampled_from(((1, 0), (2, 0), (3, 0), (9, 9))))
    size = struct.pack("<H" if version == (1, 0) else "<I", draw(st.sampled_from((len(text) + 1, 0, 60000))))
    return b"\x93NUMPY" + bytes(version) + size + text.encode() + b"\n" + draw(st.binary(max_size=40))


def _zipped(members: dict[str, bytes], *, packed: bool, doubled: bool) -> bytes:
    sink = io.BytesIO()
    how = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(sink, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content, how)
    # A second directory of the same archive behind the first: which one counts?
    return sink.getvalue() * (2 if doubled else 1)

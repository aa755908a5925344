"""In which direction the score columns of a scored table were read: kept with each column, where the format can.

Parquet and Arrow files keep it as metadata of the column; a csv, npz or jsonl file has no place for it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_HIGHER_MEANS = b"vecuq:higher_means"
_CONFIDENT, _UNCERTAIN = b"more confident", b"more uncertain"


def with_directions(batch: pa.RecordBatch, columns: Collection[str], flipped: Collection[str]) -> pa.RecordBatch:
    """Return a batch whose score columns say whether higher means more confident (those that were flipped)."""
    import pyarrow as pa

    fields = [
        field.with_metadata(
            {**(field.metadata or {}), _HIGHER_MEANS: _CONFIDENT if field.name in flipped else _UNCERTAIN}
        )
        if field.name in columns
        else field
        for field in batch.schema
    ]
    return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields, metadata=batch.schema.metadata))


def recorded_directions(schema: pa.Schema) -> dict[str, bool]:
    """Return for each column that says so whether higher means more confident in it."""
    said = {field.name: (field.metadata or {}).get(_HIGHER_MEANS) for field in schema}
    return {name: word == _CONFIDENT for name, word in said.items() if word in (_CONFIDENT, _UNCERTAIN)}

"""Texts that a spreadsheet would run as a formula, made plain: an apostrophe in front, as spreadsheets have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from vecuq.table.text import NUMBER, as_text, is_text

if TYPE_CHECKING:
    import pyarrow as pa

# How a formula may begin (owasp.org, CSV Injection), also in wide letters. -0.5 begins so too, and is a number.
_BEGINS = "^\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20]|^[\\t\\r]"


def without_formulas(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows; texts and column names that begin like a formula get an apostrophe in front.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.RecordBatch.from_pydict({"=note": ["=1+1", "-0.5", "plain"], "knn": [-0.5, 1.0, 2.0]})
    >>> next(without_formulas([rows])).to_pydict()
    {"'=note": ["'=1+1", '-0.5', 'plain'], 'knn': [-0.5, 1.0, 2.0]}
    """
    return map(_plain, batches)


def plain_names(names: Iterable[str]) -> list[str]:
    """Return names, an apostrophe in front of those that begin like a formula."""
    import pyarrow as pa

    return list(_plain_cells(pa.array(list(names), pa.large_string())).to_pylist())


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa

    columns = [_plain_cells(column) if _holds_text(column.type) else column for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=plain_names(batch.schema.names))


def _holds_text(kind: Any) -> bool:
    import pyarrow.types as pt

    return is_text(kind.value_type if pt.is_dictionary(kind) else kind)


def _plain_cells(column: Any) -> Any:
    import pyarrow.compute as pc

    text = as_text(column).combine_chunks()
    runs = pc.and_(pc.match_substring_regex(text, _BEGINS), pc.invert(pc.match_substring_regex(text, NUMBER)))
    return pc.if_else(runs, pc.replace_substring_regex(text, "^", "'", max_replacements=1), text)

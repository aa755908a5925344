"""Tables as csv and tsv: numbers to the last bit, and every other cell as the text that it is."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from vecuq._check import one_line, unique_names
from vecuq._files import ROW_BYTES, refuse_width
from vecuq.errors import ColumnError, TableError
from vecuq.table.source import BATCH_ROWS, PartFile
from vecuq.table.text import MISSING, as_text, text_as_floats

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = ROW_BYTES
_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)
# What may separate cells; where two are equally frequent in the header, the first one does.
_SEPARATORS = (",", ";", "\t", "|")


def schemas(parts: Sequence[PartFile], columns: Sequence[str], *, typed: bool = True) -> list[pa.Schema]:
    """Return the columns of each file: scores as float64, the others as text.

    With ``typed``, a column of others becomes numbers or truth values if that loses nothing in any file: 007 stays
    text, as do 2024-01-31 and 1.50. A csv file has no types, so this takes one more pass over it.
    """
    import pyarrow as pa

    headers = [_header(part) for part in parts]
    others = [name for name in dict.fromkeys(name for names in headers for name in names) if name not in columns]
    types = {**_types_of(parts, others, typed=typed), **dict.fromkeys(columns, pa.float64())}
    return [pa.schema([(name, types[name]) for name in names]) for names in headers]


def read(part: PartFile, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the columns of ``schema``, as its types, block by block."""
    import pyarrow as pa

    try:
        yield from _blocks(part, dict(zip(schema.names, schema.types, strict=True)))
    except pa.ArrowInvalid as error:
        scores = [field.name for field in schema if field.type == pa.float64()]
        if scores and "conversion error" in str(error):
            _refuse_bad_cell(part, scores)
        raise _explained(part, error) from None


def _blocks(part: PartFile, types: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    with _open(part, column_types=types, include_columns=list(types)) as reader:
        yield from reader


def _open(part: PartFile, **convert: Any) -> Any:
    import pyarrow.csv as pc

    return pc.open_csv(
        _stream(part),
        # One thread, for then errors name the row; a text may hold line breaks.
        read_options=pc.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
        parse_options=pc.ParseOptions(newlines_in_values=True, delimiter=_separator(part)),
        convert_options=pc.ConvertOptions(null_values=list(MISSING), **convert),
    )


def _stream(part: PartFile) -> Any:
    import pyarrow as pa

    return pa.input_stream(str(part.path), compression="gzip" if part.is_packed else None)


def _separator(part: PartFile) -> str:
    """Return what separates the cells: a tab in a tsv, otherwise the most frequent mark outside quotes."""
    bare = _bare_header(part)
    found = "\t" if part.kind.startswith(".tsv") else max(_SEPARATORS, key=bare.count)
    # Before Arrow makes a column of each.
    refuse_width(part, bare.count(found) + 1)
    return found


def _bare_header(part: PartFile) -> str:
    """Return the header line without what stands in quotes."""
    for n_bytes in (2**16, BLOCK_BYTES):
        with _stream(part) as file:
            start = file.read(n_bytes).removeprefix(BOM_UTF8).lstrip(b"\r\n")
        line, *rest = re.split(rb"[\r\n]", re.sub(rb'"[^"]*"', b"", start), maxsplit=1)
        if rest or len(start) < n_bytes - len(BOM_UTF8):
            break
    else:
        raise TableError(f"{part} has a header of more than {BLOCK_BYTES // 2**20} MiB; is there a quote never closed?")
    return getincrementaldecoder("utf-8")().decode(line)


def _header(part: PartFile) -> tuple[str, ...]:
    import pyarrow as pa

    try:
        with _open(part) as reader:
            return unique_names(reader.schema.names)
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise _explained(part, error) from None
    except ColumnError as error:
        raise ColumnError(f"{part}: {error}") from None


def _explained(part: PartFile, error: Exception) -> TableError:
    """Return Arrow's error in words that say what to do."""
    reason = str(error)
    if isinstance(error, UnicodeDecodeError) or "UTF8" in reason:
        return TableError(f"{part} is not text in UTF-8. Save it as UTF-8 (in a spreadsheet: 'CSV UTF-8').")
    if "Empty CSV" in reason:
        return TableError(f"{part} is empty; a header line with column names and rows below it were expected.")
    if "straddling" in reason:
        return TableError(f"{part} has a row of more than {BLOCK_BYTES // 2**20} MiB; is there a quote never closed?")
    if ragged := _RAGGED.search(reason):
        # Arrow counts from 1, and the header too.
        row, wanted, found = int(ragged[1]) - 2, int(ragged[2]), int(ragged[3])
        what = f"row {row:,} (counting from 0) has {found:,} cell{'' if found == 1 else 's'}, the header {wanted:,}"
        return TableError(f"{part}: {what}. Correct that row: {one_line(ragged[4], most=60)}")
    return TableError(f"{part} cannot be read as csv: {one_line(reason.removeprefix('CSV parse error: '))}")


def _refuse_bad_cell(part: PartFile, scores: Sequence[str]) -> None:
    """Read the score columns as text and raise for the first cell that is no number."""
    import pyarrow as pa

    first_row = 0
    for block in _blocks(part, dict.fromkeys(scores, pa.string())):
        for name in scores:
            text_as_floats(as_text(block[name]), name, first_row)
        first_row += len(block)


def _types_of(parts: Sequence[PartFile], names: Sequence[str], *, typed: bool) -> dict[str, Any]:
    """Return for each column the first type that gives all its cells back as they are, text at the last."""
    import pyarrow as pa

    if not typed or not names:
        return dict.fromkeys(names, pa.string())
    possible = {name: [pa.int64(), pa.float64(), pa.bool_()] for name in names}
    filled: set[str] = set()
    for part in parts:
        try:
            _narrow(part, [name for name in _header(part) if name in possible], possible, filled)
        except pa.ArrowInvalid as error:
            raise _explained(part, error) from None
    return {name: types[0] if types and name in filled else pa.string() for name, types in possible.items()}


def _narrow(part: PartFile, names: Sequence[str], possible: dict[str, list[Any]], filled: set[str]) -> None:
    """Strike out the types that do not give the cells of one file back."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for block in _blocks(part, dict.fromkeys(names, pa.string())):
        for name in names:
            cells = block[name].filter(pc.not_equal(block[name], ""))
            filled |= {name} if len(cells) else set()
            possible[name] = [kind for kind in possible[name] if _comes_back(cells, kind)]


def _comes_back(cells: pa.StringArray, kind: pa.DataType) -> bool:
    """Say whether text that is read as ``kind`` and written again is the same text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == pa.bool_():
        # Python writes True, Arrow and JSON true.
        known = pa.array(["True", "False", "true", "false"])
        return bool(pc.all(pc.is_in(cells, value_set=known), min_count=0).as_py())
    try:
        back = pc.cast(pc.cast(cells, kind), pa.string())
    except pa.ArrowInvalid:
        return False
    changed = cells.filter(pc.not_equal(back, cells)).to_pylist()
    # Python writes 1.0 and 1e-05 where Arrow writes 1 and 0.00001: the same number in its shortest form.
    return not changed or (kind == pa.float64() and all(repr(float(cell)) == cell for cell in changed))


def write(file: BinaryIO, kind: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write the batches one by one; floats in their shortest form that reads back to the same bits."""
    import pyarrow as pa
    import pyarrow.csv as pc

    nested = [field.name for field in schema if pa.types.is_nested(field.type)]
    if nested:
        raise TableError(f"csv cannot hold the lists or records in {nested}; write parquet or jsonl instead.")
    # Many rows at a time: every piece of text is one call of the file.
    options = pc.WriteOptions(batch_size=BATCH_ROWS, delimiter="\t" if kind.startswith(".tsv") else ",")
    with pc.CSVWriter(file, schema, write_options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)

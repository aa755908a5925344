"""Tables as csv: numbers to the last bit, and every other cell as the text that it is."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq._check import one_line, unique_names
from vecuq.errors import TableError
from vecuq.table.text import MISSING, as_text, text_as_floats

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 4 * 2**20


def read(path: Path, columns: Sequence[str], *, typed: bool = True, alone: bool = False) -> Iterator[pa.RecordBatch]:
    """Yield the file block by block: score columns as float64, the others as text.

    With ``typed``, a column of others becomes numbers or truth values if that loses nothing: 007 stays text, as do
    2024-01-31 and 1.50. A csv file has no types, so this takes one more pass over it.
    """
    import pyarrow as pa

    names = _header(path)
    scores = [name for name in names if name in columns]
    try:
        others = _types_of(path, [name for name in names if name not in columns], typed=typed)
        yield from _blocks(path, {name: others.get(name, pa.float64()) for name in names})
    except pa.ArrowInvalid as error:
        if scores and "conversion error" in str(error):
            _refuse_bad_cell(path, scores)
        raise _explained(path, error) from None


def _blocks(path: Path, types: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    """Yield the columns of ``types``, as these types, in the order of the file; no rows give one empty block."""
    import pyarrow as pa

    n_rows = 0
    with _open(path, column_types=types, include_columns=list(types)) as reader:
        for block in reader:
            n_rows += len(block)
            yield block
        if not n_rows:
            yield pa.RecordBatch.from_pylist([], schema=reader.schema)


def _open(path: Path, **convert: Any) -> Any:
    import pyarrow.csv as pc

    return pc.open_csv(
        path,
        # One thread, for then errors name the row; a text may hold line breaks.
        read_options=pc.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
        parse_options=pc.ParseOptions(newlines_in_values=True),
        convert_options=pc.ConvertOptions(null_values=list(MISSING), **convert),
    )


def _header(path: Path) -> tuple[str, ...]:
    import pyarrow as pa

    try:
        _refuse_other_marks(path)
        with _open(path) as reader:
            return unique_names(reader.schema.names)
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise _explained(path, error) from None


def _refuse_other_marks(path: Path) -> None:
    """Raise if the cells are separated by anything but commas."""
    with path.open("rb") as file:
        line = getincrementaldecoder("utf-8")().decode(file.readline(2**16))
    mark = next((mark for mark in ";\t|" if mark in line), None)
    if mark and "," not in line:
        raise TableError(f"{path} has its cells separated by {mark!r}; save it with commas, or as parquet.")


def _explained(path: Path, error: Exception) -> TableError:
    """Return Arrow's error in words that say what to do."""
    told = str(error)
    if isinstance(error, UnicodeDecodeError) or "UTF8" in told:
        return TableError(f"{path} is not text in UTF-8. Save it as UTF-8 (in a spreadsheet: 'CSV UTF-8').")
    if "Empty CSV" in told:
        return TableError(f"{path} is empty; a header line with column names and rows below it were expected.")
    if "straddling" in told:
        return TableError(f"{path} has a row of more than {BLOCK_BYTES // 2**20} MiB; is there a quote never closed?")
    return TableError(f"{path} cannot be read as csv: {one_line(told.removeprefix('CSV parse error: '))}")


def _refuse_bad_cell(path: Path, scores: Sequence[str]) -> None:
    """Read the score columns as text and raise for the first cell that is no number."""
    import pyarrow as pa

    first_row = 0
    for block in _blocks(path, dict.fromkeys(scores, pa.string())):
        for name in scores:
            text_as_floats(as_text(block[name]), name, first_row)
        first_row += len(block)


def _types_of(path: Path, names: Sequence[str], *, typed: bool) -> dict[str, Any]:
    """Return for each column the first type that gives all its cells back as they are, text at the last."""
    import pyarrow as pa
    import pyarrow.compute as pc

    possible = {name: [pa.int64(), pa.float64(), pa.bool_()] if typed else [] for name in names}
    filled = set()
    for block in _blocks(path, dict.fromkeys(names, pa.string())) if typed and names else ():
        for name, types in possible.items():
            cells = block[name].filter(pc.not_equal(block[name], ""))
            filled |= {name} if len(cells) else set()
            possible[name] = [kind for kind in types if _comes_back(cells, kind)]
    return {name: types[0] if types and name in filled else pa.string() for name, types in possible.items()}


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


def write(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write the batches one by one; floats in their shortest form that reads back to the same bits."""
    import pyarrow as pa
    import pyarrow.csv as pc

    nested = [field.name for field in schema if pa.types.is_nested(field.type)]
    if nested:
        raise TableError(f"csv cannot hold the lists or records in {nested}; write parquet or jsonl instead.")
    with pc.CSVWriter(path, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)

"""What goes over the wire as JSON: the body of a request, one row of the answer, and how both are coded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vecuq._files import LONGEST_NAME
from vecuq.options import Missing, ScoreOptions

ID, LONGEST_ID = "id", 200
RowId = Annotated[str, Meta(max_length=LONGEST_ID)] | int
Name = Annotated[str, Meta(max_length=LONGEST_NAME)]  # of a field; names are remembered, so they are bounded
_LONGEST_MAP = 20_000
# The value of a column that a row leaves out: JSON has no NaN, so null stays different from it.
ABSENT = float("nan")


class Options(ScoreOptions, frozen=True, kw_only=True):
    """What a request asks for, beside what `vecuq score` takes; the same names in a body and in the query string."""

    id: str = ID  # the field with the id
    record: bool = True
    texts: bool = False  # whether a table of answers has the texts too
    map: str | None = None  # which fields of a file of answers hold what, as in "answer=reply,samples=drawn"


PLAIN = Options()


class GivenOptions(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Options as they came; None is not given."""

    alpha: float | None = None
    explain: bool | None = None
    missing: Missing | None = None
    confidence: float | None = None
    by: Name | None = None
    id: Name | None = None
    record: bool | None = None
    replace: bool | None = None
    texts: bool | None = None
    map: Annotated[str, Meta(max_length=_LONGEST_MAP)] | None = None


OPTION_NAMES = GivenOptions.__struct_fields__
_options_of, _NOTHING = attrgetter(*OPTION_NAMES), (None,) * len(OPTION_NAMES)


def given_in(body: GivenOptions) -> dict[str, Any]:
    """Return the options that came with a body, by name."""
    found = _options_of(body)
    if found == _NOTHING:
        return {}
    return {name: value for name, value in zip(OPTION_NAMES, found, strict=True) if value is not None}


class AnyBody(GivenOptions, kw_only=True):
    """A body whose rows are looked at later: answers, or rows for a table."""

    rows: list[msgspec.Raw]


class RowOut(msgspec.Struct, gc=False):
    """One row of an answer; what the model does not give, or nobody asked for, is left out."""

    id: str | UnsetType = UNSET
    uncertainty: float | None = None
    p_value: float | UnsetType | None = UNSET
    flagged: bool | UnsetType = UNSET
    accept: bool | UnsetType = UNSET
    p_wrong: float | UnsetType | None = UNSET
    refused: str | UnsetType = UNSET
    audit: bool | UnsetType = UNSET
    why: str | UnsetType | None = UNSET
    contributions: dict[str, float | None] | UnsetType = UNSET


class ScoreOut(msgspec.Struct):
    """The answer to rows as JSON."""

    model: str
    checksum: str
    rows: list[RowOut]


class RowCoder:
    """Reads rows of a model's columns from JSON: a decoder that knows every name, and how its rows become numbers."""

    def __init__(self, columns: tuple[str, ...], id_name: str | None, by_name: str | None) -> None:
        self.names, self.fields = _fields(columns, id_name, by_name)
        cells = attrgetter(*(f"c{k}" for k in range(len(columns))))
        self.cells = cells if len(columns) > 1 else lambda row: (cells(row),)
        self.id_of = None if id_name is None else attrgetter("row_id")
        self.category_of = None if by_name is None else attrgetter("category")
        self.decode, self.decode_row = self.decoders()

    def decoders(self) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        """Return what reads a body, and what reads one row."""
        row = msgspec.defstruct("Row", self.fields, rename=self.names, gc=False)
        body = msgspec.defstruct("Body", [("rows", list[row])], bases=(GivenOptions,), kw_only=True, gc=False)  # type: ignore[valid-type]
        return msgspec.json.Decoder(body).decode, msgspec.json.Decoder(row).decode


class OddRowCoder(RowCoder):
    """Reads rows with names that no field can have, as those with a quote, or with one name for two fields."""

    def decoders(self) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        """Return what reads a body, and what reads one row, cell by cell."""
        make = msgspec.defstruct("Row", self.fields, gc=False)
        readers = {key: msgspec.json.Decoder(kind).decode for key, kind, _ in self.fields}
        in_cells = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

        def decode_row(content: Any) -> Any:
            cells = in_cells(content)
            return make(
                **{key: _cell(readers[key], cells[name], name) for key, name in self.names.items() if name in cells}
            )

        def decode(content: Any) -> Any:
            body: Any = decode_any(content)
            body.rows = [_placed(decode_row, row, k) for k, row in enumerate(body.rows)]
            return body

        return decode, decode_row


def _fields(
    columns: tuple[str, ...], id_name: str | None, by_name: str | None
) -> tuple[dict[str, str], list[tuple[str, Any, Any]]]:
    """Return the names of columns, id and category by field, and the fields."""
    names = {f"c{k}": name for k, name in enumerate(columns)}
    fields: list[tuple[str, Any, Any]] = [(key, float | None, ABSENT) for key in names]
    more = (("row_id", id_name, RowId | None), ("category", by_name, str | int | float | bool | None))
    for key, name, kind in more:
        if name is not None:
            fields.append((key, kind, None))
            names[key] = name
    return names, fields


def _cell(read: Callable[[Any], Any], content: Any, name: str) -> Any:
    try:
        return read(content)
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(f"{error} - at `$.{name}`") from None


def _placed(read: Callable[[Any], Any], content: Any, row: int) -> Any:
    try:
        return read(content)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        raise msgspec.ValidationError(f"{what} - at `$.rows[{row}]{place or '`'}") from None


@lru_cache(maxsize=256)
def row_coder(columns: tuple[str, ...], id_name: str | None, by_name: str | None) -> RowCoder:
    """Return the coder of a model's columns; making one takes a millisecond."""
    try:
        return RowCoder(columns, id_name, by_name)
    except ValueError:  # msgspec refuses the names
        return OddRowCoder(columns, id_name, by_name)


decode_any = msgspec.json.Decoder(AnyBody).decode
encode = msgspec.json.Encoder().encode


def envelope(model: str, checksum: str) -> tuple[bytes, bytes]:
    """Return what stands before and after the rows of an answer."""
    return b'{"model":%s,"checksum":%s,"rows":' % (encode(model), encode(checksum)), b"}"


def texts_of(ids: Sequence[Any]) -> list[str | None]:
    """Return ids as texts: in answers, in the store and in feedback they are compared as such."""
    return [None if one is None else one if type(one) is str else str(one) for one in ids]

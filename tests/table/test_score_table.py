"""A score table holds the same numbers whatever they came in, and says clearly what it cannot hold."""

import datetime
import decimal
import sys

import numpy as np
import numpy.testing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from vecuq import ScoreTable, VecUQ
from vecuq.errors import ColumnError, TableError, VecuqWarning
from vecuq.table import Matching
from vecuq.table.matching import is_named

VALUES = np.array([[0.25, 3.0], [0.5, 1.0], [0.125, 2.0]])
NAMES = ["entropy", "knn"]


def read_only(array):
    array.flags.writeable = False
    return array


def every_other_row(array):
    return np.repeat(array, 2, axis=0)[::2]


SAME_VALUES = {
    "float64": VALUES,
    "float32": VALUES.astype(np.float32),
    "float16": VALUES.astype(np.float16),
    "Fortran order": np.asfortranarray(VALUES),
    "read-only": read_only(VALUES.copy()),
    "not contiguous": every_other_row(VALUES),
    "big-endian": VALUES.astype(">f8"),
    "objects": VALUES.astype(object),
    "text": VALUES.astype(str),
    "lists": VALUES.tolist(),
    "tuples": tuple(map(tuple, VALUES)),
    "masked array": np.ma.masked_array(VALUES),
}


@pytest.mark.parametrize("data", SAME_VALUES.values(), ids=SAME_VALUES)
def test_arrays_of_any_layout_give_the_same_values(data):
    table = ScoreTable.of(data)
    npt.assert_array_equal(table.values, VALUES)
    assert table.values.dtype in (np.float64, np.float32)
    assert table.columns == ("x0", "x1")


def test_whole_numbers_and_booleans_in_arrays_are_scores():
    npt.assert_array_equal(ScoreTable.of(np.array([[1, 2], [3, 4]])).values, [[1.0, 2.0], [3.0, 4.0]])
    npt.assert_array_equal(ScoreTable.of(np.array([[True], [False]])).values, [[1.0], [0.0]])


COLUMNS = {"id": ["007", "008", "009"], "entropy": [0.25, 0.5, 0.125], "knn": [3.0, 1.0, 2.0]}
FRAMES = {
    "dict": COLUMNS,
    "dict of arrays": {name: np.array(cells) for name, cells in COLUMNS.items()},
    "pandas": pd.DataFrame(COLUMNS),
    "pandas nullable": pd.DataFrame(COLUMNS).convert_dtypes().astype({"knn": "Float64"}),
    "pandas on pyarrow": pd.DataFrame(COLUMNS).astype({"entropy": "float64[pyarrow]"}),
    "pandas objects": pd.DataFrame({**COLUMNS, "entropy": pd.Series(COLUMNS["entropy"], dtype=object)}),
    "pandas decimals": pd.DataFrame({**COLUMNS, "knn": pd.Series([3.0, 1.0, 2.0], dtype="float32")}),
    "polars": pl.DataFrame(COLUMNS),
    "polars decimals": pl.DataFrame(COLUMNS).with_columns(pl.col("entropy").cast(pl.Decimal(10, 3))),
    "pyarrow": pa.table(COLUMNS),
    "list of dicts": pd.DataFrame(COLUMNS).to_dict("records"),
    "pyarrow record batch": pa.RecordBatch.from_pydict(COLUMNS),
    "pyarrow decimals": pa.table({**COLUMNS, "entropy": [decimal.Decimal(str(x)) for x in COLUMNS["entropy"]]}),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames_of_every_library_give_the_same_values_and_set_ids_aside(frame):
    table = ScoreTable.of(frame)
    assert table.columns == ("entropy", "knn")
    npt.assert_array_equal(table.values, VALUES)
    assert len(table) == 3
    assert list(table.others["id"]) == COLUMNS["id"] or table.others["id"].to_pylist() == COLUMNS["id"]


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_named_columns_come_in_the_order_of_their_names(frame):
    npt.assert_array_equal(ScoreTable.of(frame, columns=["knn", "entropy"]).values, VALUES[:, ::-1])


MISSING = {
    "pandas NaN": pd.DataFrame({"a": [1.5, np.nan], "b": [1, 2]}),
    "pandas Float64": pd.DataFrame({"a": pd.array([1.5, None], dtype="Float64"), "b": [1, 2]}),
    "pandas object with NA": pd.DataFrame({"a": pd.Series([1.5, pd.NA], dtype=object), "b": [1, 2]}),
    "polars null": pl.DataFrame({"a": [1.5, None], "b": [1, 2]}),
    "pyarrow null": pa.table({"a": [1.5, None], "b": [1, 2]}),
    "dict with None": {"a": [1.5, None], "b": [1, 2]},
    "text": {"a": ["1.5", "NA"], "b": [1, 2]},
}


@pytest.mark.parametrize("frame", MISSING.values(), ids=MISSING)
def test_missing_values_are_allowed_and_counted_by_column(frame):
    table = ScoreTable.of(frame, columns=["a", "b"])
    npt.assert_array_equal(table.values, [[1.5, 1.0], [np.nan, 2.0]])
    assert table.missing == {"a": 1}


def test_nullable_whole_numbers_become_floats_with_nan():
    for frame in (pd.DataFrame({"i": pd.array([3, None], dtype="Int64")}), pl.DataFrame({"i": [3, None]})):
        npt.assert_array_equal(ScoreTable.of(frame).values, [[3.0], [np.nan]])


def test_a_masked_value_is_missing_and_not_what_lies_under_the_mask():
    table = ScoreTable.of(np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]]))
    npt.assert_array_equal(table.values, [[1.0, np.nan], [3.0, 4.0]])


def test_whole_numbers_beside_decimal_ones_are_taken_for_labels():
    table = ScoreTable.of({"label": [0, 1], "entropy": [0.5, 0.25], "flag": [True, False]})
    assert table.columns == ("entropy",)
    assert set(table.others) == {"label", "flag"}


def test_without_decimal_numbers_whole_ones_are_scores():
    assert ScoreTable.of({"id": ["a", "b"], "votes": [3, 4]}).columns == ("votes",)


def test_what_vecuq_adds_is_never_taken_for_a_score_unless_named():
    ranked = {"entropy": [0.5], "uncertainty": [0.1], "p_value": [0.2]}
    assert ScoreTable.of(ranked).columns == ("entropy",)
    assert ScoreTable.of(ranked, columns=["uncertainty"]).columns == ("uncertainty",)


def test_other_columns_stay_a_frame_of_their_library_untouched():
    frame = pd.DataFrame({"id": ["007"], "when": [pd.Timestamp("2024-01-31")], "a": [0.5]}, index=["row"])
    pd.testing.assert_frame_equal(ScoreTable.of(frame).others, frame[["id", "when"]])


def test_numbered_columns_of_pandas_are_known_by_their_numbers():
    frame = pd.DataFrame([[0.5, 1.5, "x"]])
    table = ScoreTable.of(frame)
    assert table.columns == ("0", "1")
    assert list(table.others.columns) == [2]
    assert ScoreTable.of(frame, columns=[1]).values.tolist() == [[1.5]]


def test_a_confidence_column_is_negated_by_name_only():
    table = ScoreTable.of({"entropy": [0.5], "confidence": [0.75]}, flip=["confidence"])
    npt.assert_array_equal(table.values, [[0.5, -0.75]])
    assert table.flipped == {"confidence"}
    npt.assert_array_equal(table.flip("confidence").values, [[0.5, 0.75]])


def test_one_name_may_come_without_a_list_around_it():
    table = ScoreTable.of({"entropy": [0.5], "confidence": [0.75]}, columns="confidence", flip="confidence")
    assert table.columns == ("confidence",)


def test_flipping_a_column_that_is_not_there_names_the_nearest():
    with pytest.raises(
        ColumnError, match=r"lacks \['confidense'\], which should be flipped.*Did you mean 'confidence'"
    ):
        ScoreTable.of({"entropy": [0.5], "confidence": [0.75]}, flip=["confidense"])


def test_a_wanted_column_that_is_not_there_names_the_nearest():
    with pytest.raises(ColumnError, match=r"lacks \['entropi'\].*has \['entropy', 'knn'\].*Did you mean 'entropy'"):
        ScoreTable.of({"entropy": [0.5], "knn": [1.0]}, columns=["entropi"])


DOUBLED = {
    "pandas": pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]),
    "pandas 1 and '1'": pd.DataFrame([[1.0, 2.0]], columns=[1, "1"]),
    "pyarrow": pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]),
}


@pytest.mark.parametrize("frame", DOUBLED.values(), ids=DOUBLED)
def test_names_that_come_twice_are_refused(frame):
    with pytest.raises(ColumnError, match=r"must be unique; these come twice: \['[a1]'\]"):
        ScoreTable.of(frame)


def test_names_for_an_array_must_be_unique_and_as_many_as_its_columns():
    with pytest.raises(ColumnError, match="come twice"):
        ScoreTable.of(VALUES, columns=["a", "a"])
    with pytest.raises(ColumnError, match="3 column names were given for an array of 2 columns"):
        ScoreTable.of(VALUES, columns=["a", "b", "c"])


NOT_NUMERIC = {
    "text": (["0.5", "0.25", "oops"], "'oops'"),
    "Python's underscore": (["0.5", "0.25", "1_000"], "'1_000'"),
    "a date": ([0.5, 0.25, datetime.date(2024, 1, 31)], "datetime.date"),
    "a list": ([0.5, 0.25, [1]], r"\[1\]"),
    "a complex number": ([0.5, 0.25, 1j], "1j"),
}


@pytest.mark.parametrize(("cells", "shown"), NOT_NUMERIC.values(), ids=NOT_NUMERIC)
def test_a_cell_that_is_no_number_is_named_with_its_column_and_row(cells, shown):
    frame = pd.DataFrame({"b": [1.0, 2.0, 3.0], "a": pd.Series(cells, dtype=object)})
    with pytest.raises(ColumnError, match=rf"'a' is not numeric: row 2 \(counting from 0\) holds {shown}"):
        ScoreTable.of(frame, columns=["a", "b"])


def test_a_stray_cell_in_a_column_of_numbers_is_an_error_even_if_the_column_is_not_named():
    for frame in (pd.DataFrame, pl.DataFrame, pa.table, dict):
        with pytest.raises(ColumnError, match=r"'a' is not numeric: row 1 .* holds 'oops'"):
            ScoreTable.of(frame({"a": ["0.5", "oops", "0.25"], "b": [1.0, 2.0, 3.0]}))


def test_ids_that_are_mostly_digits_are_no_spoilt_scores():
    table = ScoreTable.of({"id": ["1001", "1002", "X17"], "a": [0.5, 0.25, 0.125]})
    assert table.columns == ("a",)
    with pytest.raises(ColumnError, match="'a' is not numeric: row 1"):
        ScoreTable.of({"a": ["1", "x", "3"], "b": ["1", "2", "3"]})


LATE = pa.array([None, 2**60], pa.timestamp("s"))
BEYOND = {
    "a timestamp": LATE,
    "a date": pa.array([None, 2**31 - 1], pa.date32()),
    "a date in milliseconds": pa.array([None, 2**36 * 86_400_000], pa.date64()),
    "a list of timestamps": pa.array([None, [2**60]], pa.list_(pa.timestamp("s"))),
    "timestamps by number": LATE.dictionary_encode(),
}
HANDED = {
    "pyarrow": lambda table: table,
    "polars": pl.from_arrow,
    "pandas": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
}


@pytest.mark.parametrize("library", HANDED)
@pytest.mark.parametrize("cells", BEYOND.values(), ids=BEYOND)
def test_a_time_beyond_the_years_of_python_is_refused_with_its_row(cells, library):
    try:
        frame = HANDED[library](pa.table({"a": cells}))
    except pl.exceptions.ComputeError:
        pytest.skip("polars 1.0 has no place for numbered timestamps")
    with pytest.raises(ColumnError, match=r"'a' is not numeric: row 1 .* holds "):
        ScoreTable.of(frame, columns=["a"])


@pytest.mark.parametrize("library", HANDED)
def test_decimals_are_the_nearest_float(library):
    cells = [decimal.Decimal(seed * 982_451_653 % 10**11).scaleb(-6) for seed in range(2_000)]
    frame = HANDED[library](pa.table({"a": pa.array(cells, pa.decimal128(20, 6))}))
    npt.assert_array_equal(ScoreTable.of(frame).values[:, 0], [float(cell) for cell in cells])


@pytest.mark.parametrize("kind", ["datetime64[ns]", "timedelta64[s]", "complex128"])
def test_dates_and_complex_numbers_in_arrays_are_no_scores(kind):
    with pytest.raises(ColumnError, match="'x0' is not numeric: row 0"):
        ScoreTable.of(np.zeros((2, 1), dtype=kind))


def test_lists_of_several_lengths_in_a_column_are_no_scores():
    with pytest.raises(ColumnError, match=r"'a' is not numeric: row 0 .* holds \[1\]"):
        ScoreTable.of({"a": [[1], [1, 2]], "b": [0.5, 0.25]}, columns=["a"])


class Distributed:
    """A frame as of a library that narwhals does not know."""

    columns = ("a",)

    def compute(self):
        raise AssertionError


class SimpleNamespaceWithColumns:
    columns = ("a",)


NO_TABLE = {
    "one dimension": (np.ones(3), "must be a table of rows and columns.*reshape"),
    "three dimensions": (np.ones((2, 2, 2)), "must be a table of rows and columns"),
    "no columns": (np.ones((2, 0)), "must be a table of rows and columns"),
    "nothing": (None, "must be a table of rows and columns"),
    "ragged lists": ([[1, 2], [3]], "these rows differ in length"),
    "a file name": ("scores.csv", "'scores.csv' is a name, not a table.*read_table"),
    "records and rows": ([{"a": 1.0}, [1.0]], "Some of these rows are records with names and some are not"),
    "what has columns only": (SimpleNamespaceWithColumns(), "is not a table that vecuq reads"),
    "a frame elsewhere": (Distributed(), r"Distributed is not a table that vecuq reads\. Call its compute\(\) first"),
    "columns of two lengths": ({"a": [1.0], "b": [1.0, 2.0]}, "same number of rows; got {'a': 1, 'b': 2}"),
    "a matrix as column": ({"a": np.ones((2, 2))}, "'a' must be one-dimensional"),
    "only texts": ({"a": ["x", "y"]}, "None of the columns .* holds numbers"),
    "no columns at all": ({}, "None of the columns"),
}


@pytest.mark.parametrize(("data", "told"), NO_TABLE.values(), ids=NO_TABLE)
def test_what_is_no_table_of_scores_is_refused_with_the_reason(data, told):
    with pytest.raises(TableError, match=told):
        ScoreTable.of(data)


def test_naming_no_column_at_all_is_refused():
    with pytest.raises(ColumnError, match="At least one score column is needed"):
        ScoreTable.of({"a": [1.0]}, columns=[])


def test_a_table_of_a_table_selects_and_keeps_directions():
    table = ScoreTable.of({"a": [1.0], "b": [2.0], "c": [3.0]}, flip=["b"])
    chosen = ScoreTable.of(table, columns=["c", "b"])
    npt.assert_array_equal(chosen.values, [[3.0, -2.0]])
    assert chosen.flipped == {"b"}
    assert table.select(["a"]).flipped == frozenset()


def test_no_rows_make_an_empty_table_in_memory():
    assert ScoreTable.of(np.empty((0, 2))).values.shape == (0, 2)
    assert ScoreTable.of(pd.DataFrame({"a": [0.5]})[:0]).values.shape == (0, 1)


# What is read once or not yet computed ------------------------------------------------------------------------------


def reader_of(columns):
    table = pa.table(columns)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=2))


def test_a_reader_of_record_batches_is_read_to_its_end():
    table = ScoreTable.of(reader_of(COLUMNS))
    npt.assert_array_equal(table.values, VALUES)
    assert table.others["id"].to_pylist() == COLUMNS["id"]


class StreamOnly:
    """A frame of a library that narwhals does not know, and that can hand its rows over."""

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)


def test_whatever_streams_arrow_data_is_a_table():
    npt.assert_array_equal(ScoreTable.of(StreamOnly()).values, VALUES)
    assert is_named(StreamOnly())


def test_a_lazy_frame_is_collected_with_one_warning():
    lazy = pl.DataFrame(COLUMNS).lazy()
    with pytest.warns(
        VecuqWarning, match=r"A polars LazyFrame was collected.*select the columns and collect"
    ) as caught:
        table = ScoreTable.of(lazy)
    assert len(caught) == 1
    npt.assert_array_equal(table.values, VALUES)
    assert isinstance(table.others, pl.DataFrame)


def test_records_may_leave_out_what_is_missing():
    table = ScoreTable.of([{"a": 0.5, "b": 1.5}, {"b": 2.5, "id": "x"}])
    assert table.columns == ("a", "b")
    npt.assert_array_equal(table.values, [[0.5, 1.5], [np.nan, 2.5]])
    assert table.others["id"].tolist() == [None, "x"]


NAMED = {
    "dict": COLUMNS,
    "records": [{"entropy": 0.5}],
    "reader": reader_of(COLUMNS),
    "lazy": pl.DataFrame(COLUMNS).lazy(),
    "pandas": pd.DataFrame(COLUMNS),
    "batch": pa.RecordBatch.from_pydict(COLUMNS),
}


@pytest.mark.parametrize("data", NAMED.values(), ids=NAMED)
def test_names_are_known_without_reading_or_collecting(data):
    assert is_named(data)
    matching = Matching(("entropy", "gone"), named=True, flipped=frozenset())
    assert matching.absent_from(data) == ["gone"]


def test_arrays_and_numbered_frames_have_no_names():
    assert not is_named(VALUES)
    assert not is_named(VALUES.tolist())
    assert not is_named(pd.DataFrame(VALUES))


def test_flipping_none_flips_nothing():
    assert ScoreTable.of(COLUMNS, flip=None).flipped == frozenset()


def test_single_precision_is_kept_in_one_array_only():
    assert ScoreTable.of(VALUES.astype(np.float32)).values.dtype == np.float32
    assert ScoreTable.of(pd.DataFrame(VALUES.astype(np.float32))).values.dtype == np.float64


def test_a_batch_of_floats_is_converted_without_narwhals(monkeypatch):
    monkeypatch.setitem(sys.modules, "narwhals", None)
    batch = pa.RecordBatch.from_pydict(COLUMNS)
    npt.assert_array_equal(ScoreTable.of(batch, columns=NAMES).values, VALUES)
    npt.assert_array_equal(ScoreTable.of(pa.table(batch)).values, VALUES)


ODD_NUMBERS = {
    "decimal commas": ["0,5", "1,5", "2,5"],
    "thousands": ["1,234.5", "0.5", "12,345,678.25"],
    "percentages": ["5 %", "0.5%", "7%"],
    "thousands of several groups": ["1,234,567", "2,345", "3,456,789"],
    "thousands with points": ["1.234,5", "0,5", "12.345.678,25"],
    "thousands with gaps": ["1 234.5", "1'234.5", "1\N{NARROW NO-BREAK SPACE}234,5"],
    "printed minus signs": ["\N{MINUS SIGN}0.5", "\N{MINUS SIGN}3", "1.5"],
}


@pytest.mark.parametrize("cells", ODD_NUMBERS.values(), ids=ODD_NUMBERS)
def test_numbers_that_are_written_oddly_are_an_error_and_never_set_aside(cells):
    with pytest.raises(ColumnError, match=r"'a' is not numeric.*Write numbers with a decimal point and nothing else"):
        ScoreTable.of({"a": cells, "b": [0.5, 0.25, 0.125]})


def test_dates_versions_and_texts_with_digits_are_no_odd_numbers():
    cells = {"when": ["31.1.2024", "1.2.2024"], "version": ["1.2.3", "1.10.0"], "text": ["5, 6", "a,b"]}
    cells["phone"] = ["555 123 456", "75 001"]
    assert ScoreTable.of({**cells, "a": [0.5, 0.25]}).columns == ("a",)


TAKEN = {
    "records": lambda columns: pd.DataFrame(columns).to_dict("records"),
    "dict": dict,
    "reader": reader_of,
    "batch": pa.RecordBatch.from_pydict,
}


@pytest.mark.parametrize("make", TAKEN.values(), ids=TAKEN)
def test_an_estimator_takes_whatever_a_table_can_be_made_of(make):
    columns = {name: np.random.default_rng(k).gamma(1.0, size=100) for k, name in enumerate(NAMES)}
    plain = VecUQ(flip=None).fit(pd.DataFrame(columns))
    model = VecUQ(flip=None).fit(make(columns))
    npt.assert_array_equal(model.uncertainty(make(columns)), plain.uncertainty(pd.DataFrame(columns)))
    npt.assert_array_equal(model.explain(make(columns)), plain.explain(pd.DataFrame(columns)))


def test_an_estimator_collects_a_lazy_frame_once_per_call():
    columns = {name: np.random.default_rng(k).gamma(1.0, size=100) for k, name in enumerate(NAMES)}
    lazy = pl.DataFrame(columns).lazy()
    with pytest.warns(VecuqWarning, match="was collected") as caught:
        model = VecUQ().fit(lazy)
    assert len(caught) == 1
    with pytest.warns(VecuqWarning, match="was collected") as caught:
        found = model.p_values(lazy)
    assert len(caught) == 1
    npt.assert_array_equal(found, VecUQ().fit(columns).p_values(columns))

"""Tables to be looked at."""

import csv
import io
import math

import numpy as np
import pytest

from vecuq._draw import Ranged, Sheet, Spread, as_csv, as_latex, as_markdown, marked_rows


def sheet(**more):
    rows = (
        {"task": "a_1", "x": 0.9001, "y": 0.9004, "z": 0.8},
        {"task": "50 %", "x": Spread(0.7, 0.01), "y": None, "z": 0.6},
    )
    return Sheet("name", "A title with $ and _", rows, **more)


def marks(table):
    return [[cell.mark for cell in row] for row in marked_rows(table)]


def test_a_spread_is_the_mean_and_the_sample_deviation():
    values = [0.2, 0.9, 0.4]
    found = Spread.of(values)
    assert float(found) == pytest.approx(np.mean(values), abs=1e-15)
    assert found.std == pytest.approx(np.std(values, ddof=1), abs=1e-15)


def test_one_repetition_has_no_deviation_and_prints_none():
    assert math.isnan(Spread.of([0.25]).std)
    assert str(Spread.of([0.25])) == "0.250"


def test_cells_that_print_alike_share_the_mark_within_a_row():
    assert marks(sheet(across=("x", "y", "z"))) == [["", "best", "best", "second"], ["", "best", "", "second"]]


def test_more_decimals_tell_more_cells_apart():
    assert marks(sheet(across=("x", "y", "z"), decimals=4))[0] == ["", "second", "best", ""]


def test_columns_compete_downwards_in_the_direction_that_is_better():
    assert marks(sheet(down={"x": True, "z": False})) == [["", "best", "", "second"], ["", "second", "", "best"]]


def test_nothing_is_marked_where_all_print_alike():
    same = Sheet("s", "t", ({"a": 0.5, "b": 0.5001},), across=("a", "b"))
    assert marks(same) == [["", ""]]


def test_csv_keeps_full_precision_and_splits_a_spread():
    lines = list(csv.DictReader(io.StringIO(as_csv(sheet()))))
    assert float(lines[0]["x"]) == 0.9001
    assert (float(lines[1]["x"]), float(lines[1]["x std"])) == (0.7, 0.01)
    assert lines[0]["x std"] == ""


def test_markdown_marks_and_keeps_its_columns_apart():
    table = as_markdown(Sheet("s", "t", ({"a|b": "c|d", "x": 0.5, "y": 0.4},), across=("x", "y")))
    assert table.splitlines()[0] == r"| a\|b | x | y |"
    assert table.splitlines()[2] == r"| c\|d | **0.500** | *0.400* |"


def test_latex_escapes_what_latex_would_read():
    table = as_latex(sheet(across=("x", "y", "z")))
    assert r"a\_1 & \textbf{0.900} & \textbf{0.900} & \underline{0.800} \\" in table
    assert r"50 \% & \textbf{0.700 $\pm$ 0.010} & -- & \underline{0.600} \\" in table
    assert r"\caption{A title with \$ and \_}" in table
    assert table.count("{") == table.count("}")


def test_truth_values_are_words_and_nan_is_a_dash():
    row = next(marked_rows(Sheet("s", "t", ({"kept": True, "lost": False, "n": 3, "none": math.nan},))))
    assert [cell.text for cell in row] == ["yes", "no", "3", "\N{EN DASH}"]


def test_names_are_neither_tags_nor_links_in_markdown():
    table = as_markdown(Sheet("s", "t", ({"<b>&": "[a](javascript:b)\n\x1b", "x": Ranged(0.5, 0.4, 0.6)},)))
    assert table.splitlines()[0] == "| &lt;b&gt;&amp; | x |"
    assert table.splitlines()[2] == "| [a]\\(javascript:b) \N{REPLACEMENT CHARACTER} | 0.500 [0.400, 0.600] |"


def test_a_letter_that_latex_cannot_hold_is_replaced():
    assert "a\N{REPLACEMENT CHARACTER}b" in as_latex(Sheet("s", "t", ({"x": "a\x1bb"},)))


def test_csv_without_formulas_keeps_numbers_and_quotes_texts():
    rows = ({"=x": "@sum", "n": -0.5, "text": "-0.5"},)
    assert as_csv(Sheet("s", "t", rows), formulas=False).splitlines() == ["'=x,n,text", "'@sum,-0.5,-0.5"]
    assert as_csv(Sheet("s", "t", rows)).splitlines()[0] == "=x,n,text"

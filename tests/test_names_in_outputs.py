"""Columns may be called anything: what is made for people shows names and cells, and obeys none of them."""

import csv
import json
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pytest

from vecuq.cli.options import listed
from vecuq.cli.wording import as_options, printable
from vecuq.table import read_batches, write_batches

ESCAPE = "\x1b[31mred\x07\u202e"
SCRIPT = "<script>alert(1)</script>|[a](http://b)"
FORMULA = "=cmd|' /C calc'!A0"
OPTIONS = ("--resamples", "0")


@pytest.fixture
def odd(tmp_path, make_rows):
    """Tables with hostile names: their folder."""
    for name, seed in (("c", 0), ("n", 1)):
        rows = make_rows(120, seed, names=("entropy", ESCAPE, SCRIPT, FORMULA))
        note = ["=1+1", "-0.5", "+1 really", "plain", None, "\t=2", "@x", "1e5"] * 15
        table = pa.table({**rows, "is_ood": np.arange(120) % 2, "note": pa.array(note)})
        write_batches(tmp_path / f"{name}.parquet", table.to_batches())
    return tmp_path


@pytest.fixture
def shown(run, odd, monkeypatch):
    """Run a command among these tables, and return all that it prints."""
    monkeypatch.chdir(odd)

    def invoke(*words):
        result = run(*words)
        assert result.exit_code == 0, result.stderr
        return result.stdout + result.stderr

    return invoke


def test_no_command_prints_what_a_terminal_obeys(shown):
    shown("fit", "c.parquet", "-o", "m.vecuq")
    for words in (
        ("fit", "c.parquet", "-o", "m.vecuq"),
        ("info", "m.vecuq"),
        ("card", "m.vecuq", "-o", "-"),
        ("doctor", "c.parquet", "n.parquet"),
        ("score", "m.vecuq", "n.parquet", "-o", "o.parquet"),
        ("monitor", "m.vecuq", "n.parquet"),
        ("evaluate", "n.parquet", "--ood", "is_ood", *OPTIONS),
        ("compare", "c.parquet", "n.parquet", "--ood", "is_ood", *OPTIONS),
    ):
        said = shown(*words)
        assert "red" in said or words[0] == "score", words
        assert printable(said) == said, words


def test_markdown_and_latex_show_names_and_run_none(shown, odd):
    for ending in ("md", "tex"):
        shown("evaluate", "n.parquet", "--ood", "is_ood", *OPTIONS, "-o", f"o.{ending}")
    markdown, latex = (odd / "o.md").read_text(), (odd / "o.tex").read_text()
    assert "| &lt;script&gt;alert(1)&lt;/script&gt;\\|[a]\\(http://b) |" in markdown
    assert "\N{REPLACEMENT CHARACTER}[31mred" in markdown
    assert "\N{REPLACEMENT CHARACTER}[31mred" in latex
    assert "\x1b" not in markdown + latex


def cells(path, separator=","):
    with path.open(newline="") as file:
        return list(csv.reader(file, delimiter=separator))


def test_tables_keep_names_and_cells_as_they_are_unless_no_formula_may_stay(shown, odd):
    shown("fit", "c.parquet", "-o", "m.vecuq")
    shown("score", "m.vecuq", "n.parquet", "-o", "o.csv")
    head, *rows = cells(odd / "o.csv")
    assert FORMULA in head
    assert [row[head.index("note")] for row in rows[:8]] == [
        "=1+1",
        "-0.5",
        "+1 really",
        "plain",
        "",
        "\t=2",
        "@x",
        "1e5",
    ]
    shown("score", "m.vecuq", "n.parquet", "--no-formulas", "-o", "o.tsv")
    head, *rows = cells(odd / "o.tsv", "\t")
    assert f"'{FORMULA}" in head
    noted = [row[head.index("note")] for row in rows[:8]]
    assert noted == ["'=1+1", "-0.5", "'+1 really", "plain", "", "'\t=2", "'@x", "1e5"]


def test_every_command_that_writes_csv_can_do_without_formulas(shown, odd):
    write_batches(odd / "n.csv", read_batches(odd / "n.parquet"))
    with_option = ("--ood", "is_ood", *OPTIONS, "--no-formulas", "-o")
    shown("evaluate", "n.parquet", *with_option, "e.csv")
    shown("compare", "c.parquet", "n.parquet", *with_option, "k.csv")
    np.savez(odd / "l.npz", logits=np.random.default_rng(0).normal(size=(3, 5, 4)), ids=["=a", "b", "c", "d", "e"])
    shown("measure", "l.npz", "--measures", "entropy", "--no-formulas", "-o", "s.csv")
    for place in ("e.csv", "k.csv", "s.csv"):
        found = {cell for row in cells(odd / place) for cell in row}
        assert any(cell.startswith("'=") for cell in found), place
        assert not any(cell.startswith("=") for cell in found), place


@pytest.mark.parametrize(
    "names", [["logit [0]", "knn"], ["a,b", 'say "x"'], ["it's", "x"], ["$HOME", "`id`"], ["plain", "confidence"]]
)
def test_an_option_that_a_message_suggests_can_be_typed_as_it_is(names):
    said = as_options(f"Name the score columns, as in columns={names}; or not.")
    option = said.removeprefix("Name the score columns, as in ").removesuffix("; or not.")
    assert listed(shlex.split(option)[1]) == names


@pytest.fixture
def late(tmp_path, make_rows):
    """A table with times beyond the years of Python."""
    when = pa.array([2**60] * 20, pa.timestamp("s"))
    pyarrow.feather.write_feather(pa.table({**make_rows(20, 1), "when": when}), tmp_path / "late.feather")
    return tmp_path / "late.feather"


def test_times_beyond_the_years_of_python_are_written_as_text(run, model, late, tmp_path):
    assert run("score", model, late, "-o", tmp_path / "o.jsonl").exit_code == 0
    first = json.loads((tmp_path / "o.jsonl").read_text().splitlines()[0])
    assert first["when"] == f"<value out of range: {2**60}>"
    assert run("report", model, late, "-o", tmp_path / "o.html").exit_code == 0
    assert f"&lt;value out of range: {2**60}&gt;" in (tmp_path / "o.html").read_text()


def test_a_model_in_place_of_a_table_is_named(refused, model, tmp_path, calibration_table):
    write_batches(tmp_path / "c.csv", calibration_table.to_batches())
    for words in (("doctor", model), ("doctor", tmp_path / "c.csv", model), ("score", model, model)):
        assert "has the name of a model or a state, and a table is needed here" in refused(*words)

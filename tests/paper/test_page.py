"""The page on the paper keeps its word: what it names exists, and its commands are known."""

import re
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

from vecuq.paper.pareto import recomputed_shares
from vecuq.workflows import STUDY_NAMES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "paper.md").read_text("utf-8")
NAMES = sorted(set(re.findall(r"`(vecuq(?:\.\w+)+)`", PAGE)))
COMMANDS = re.findall(r"`vecuq reproduce (\w+)`", PAGE)


def resolved(name):
    """Return the object that a dotted name leads to: modules first, attributes after them."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[length:]:
            found = getattr(found, attribute)
        return found
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_the_page_exists(name):
    assert resolved(name) is not None


def test_a_name_that_does_not_exist_would_be_seen():
    with pytest.raises(AttributeError):
        resolved("vecuq.transport.no_such_function")


def test_the_pages_quote_the_shares_that_the_code_gives():
    shares = recomputed_shares()
    ours, total = shares["Ours"], shares["total_log_1_1"]
    assert f"give {ours.value:.1f} %, second to total\n  risk with {total.value:.1f} %" in PAGE
    assert f"allows {ours.low:.1f} to {ours.high:.1f} %" in PAGE
    other = (DOCS / "when-it-helps.md").read_text("utf-8")
    assert f"give {ours.value:.0f} % by the same definition,\n  second to total risk with {total.value:.0f} %" in other
    assert f"allows {ours.low:.0f} to {ours.high:.0f} %" in other


def test_the_commands_of_the_page_are_the_studies_that_exist():
    assert set(COMMANDS) == {*STUDY_NAMES, "all"}


def test_every_printed_table_has_its_row_with_a_label_and_a_command():
    rows = re.findall(r"^\| [^|]+ \| `(tab:\w+)` \| `(\w+)` \| `vecuq reproduce (\w+)` \|$", PAGE, re.MULTILINE)
    printed = {Path(entry.name).stem for entry in (files("vecuq.paper") / "tables").iterdir()}
    assert sorted(table for _, table, _ in rows) == sorted(printed)
    assert len({label for label, _, _ in rows}) == len(rows)
    assert {study for *_, study in rows} <= set(STUDY_NAMES)

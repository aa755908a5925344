"""Pages of reports, written once, and a browser to open them with."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))
from facts_by_hand import facts_of, fitted, new_rows

import in_browser
from vecuq.report.html import render_report

browser, expect, tab = in_browser.browser, in_browser.expect, in_browser.tab
GATE_LIMIT = 1.0


@pytest.fixture(scope="session")
def model():
    """A ranker of three columns, one of them flipped, and the rows that it was fitted on."""
    return fitted()


@pytest.fixture(scope="session")
def facts(model):
    """Facts of 120 rows that a gate decided, with labels; two values are missing."""
    found = facts_of(*model, new_rows(), gate_limit=GATE_LIMIT)
    for place in (3, 70):
        found["rows"]["rows"][place]["scores"][0] = None
        found["rows"]["rows"][place]["percentiles"][0] = None
    return found


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Write a page once by its name: written("name", facts); returns its address."""
    folder = tmp_path_factory.mktemp("reports")

    def write(name, facts):
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(render_report(facts), encoding="utf-8")
        return path.as_uri()

    return write


@pytest.fixture
def report(tab, written, facts):
    """Open the report of the rows that a gate decided: report(width=400)."""
    return lambda **how: tab(written("gate", facts), **how)


@pytest.fixture
def ids():
    """Return the ids of the rows that a page shows, from the top."""
    return lambda page: page.locator("#rows-table tbody:visible th").all_inner_texts()

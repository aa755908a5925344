"""The report of the demo, as `vecuq demo` makes it, in a browser: real facts, real pictures."""

import pyarrow.csv as pc
import pytest

from in_browser import axe
from vecuq import fit_ranker
from vecuq.data import demo_files
from vecuq.report import build_report
from vecuq.table import ScoreTable


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    known, new = map(pc.read_csv, demo_files())
    ranker = fit_ranker(ScoreTable.of(known, columns=["entropy", "mutual_information", "mahalanobis", "knn"]))
    path = tmp_path_factory.mktemp("demo") / "report.html"
    path.write_text(build_report(ranker, new, ranker.rank(new), title="Digits"), encoding="utf-8")
    return ranker, new, path.as_uri()


def test_all_flagged_rows_of_the_demo_are_shown_and_can_be_tried(tab, demo):
    ranker, new, address = demo
    page = tab(address, width=400)
    assert page.locator("#rows-table tbody").count() == int(ranker.flag(new).sum())
    page.locator(".choose").first.click()
    page.get_by_label("knn, number").fill("1.5")
    page.wait_for_selector(".result small")
    row = new.filter((ranker.uncertainty(new) == ranker.uncertainty(new).max()).tolist())
    changed = {name: row[name].to_pylist() for name in ranker.columns} | {"knn": [1.5]}
    said = float(page.locator(".result data").first.get_attribute("value"))
    assert said == pytest.approx(ranker.uncertainty(changed)[0], abs=1e-9)


def test_every_section_of_the_demo_is_accessible(tab, demo):
    page = tab(demo[2], width=400)
    assert page.locator(".sections svg").count() >= 2
    page.fill("input[type=search]", "no such row")  # the rows are looked at elsewhere
    assert axe(page, "demo") == []

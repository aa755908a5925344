"""Marks and downloads: one key each, an undo, reviews in the store, and the table with marks."""

import csv
import io
import json
import urllib.request

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet


def reviews(service):
    with urllib.request.urlopen(f"{service}/feedback?format=jsonl&kind=review") as answer:  # noqa: S310 - our own service
        return {one["id"]: one for one in map(json.loads, answer.read().decode().splitlines())}


def marks(page):
    """Which rows of the table bear a mark, by id."""
    found = page.locator(".grid-body [role=row]:has(.marked)")
    return {
        row.locator("[role=gridcell]:nth-child(2)").inner_text(): row.locator(".marked").get_attribute("aria-label")
        for row in found.all()
    }


def pasted(tab, service, ids, **how):
    page = tab(service, **how)
    page.wait_for_selector(".drop")
    lines = [f"{name},{3 - 0.1 * k},{9 - 0.3 * k},{0.1 + 0.05 * k}" for k, name in enumerate(ids)]
    page.fill(".paste textarea", "\n".join(["id,entropy,knn,confidence", *lines]))
    page.click("text=Score pasted rows")
    page.wait_for_selector(".grid [role=gridcell]")
    return page


def test_one_key_marks_a_row_and_u_takes_it_back(tab, service):
    page = pasted(tab, service, ["one", "two", "three"])
    page.focus(".grid")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("r")
    page.keyboard.press("w")  # of the next row, as in the queue
    page.wait_for_selector(".toast:has-text('two marked wrong')")
    assert page.locator(".toast").count() == 1
    assert page.inner_text(".row-title") == "three"
    assert marks(page) == {"one": "right", "two": "wrong"}
    page.click(".chip:has-text('Marked')")
    assert page.get_attribute(".grid", "aria-rowcount") == "3"
    page.click(".toast >> text=Undo")
    page.wait_for_selector(".grid[aria-rowcount='2']")
    page.keyboard.press("u")
    page.wait_for_selector("text=No rows to show")


def test_the_same_key_again_keeps_the_mark_and_u_goes_back_to_its_row(tab, service):
    page = pasted(tab, service, ["k1", "k2"])
    page.click("#row-0")
    page.keyboard.press("r")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("r")
    assert marks(page) == {"k1": "right"}
    assert page.inner_text(".row-title") == "k2"
    page.keyboard.press("u")
    page.wait_for_selector(".row-title:text-is('k1')")
    assert marks(page) == {}


def test_a_button_is_a_switch(tab, service):
    page = pasted(tab, service, ["b1", "b2"])
    page.click("#row-0")
    page.click("button:has-text('Right')")
    assert marks(page) == {"b1": "right"}
    page.click("button:has-text('Wrong')")
    assert marks(page) == {"b1": "wrong"}
    page.click("button:has-text('Wrong')")
    assert marks(page) == {}


def test_marks_are_reviews_in_the_store_once_they_can_no_longer_be_undone(tab, service):
    page = pasted(tab, service, ["m1", "m2", "m3"])
    page.clock.install()
    page.focus(".grid")
    for key in ("ArrowDown", "r", "w", "w", "u"):
        page.keyboard.press(key)
    assert "m1" not in reviews(service)
    page.clock.fast_forward(9_000)
    page.wait_for_selector("text=2 marks sent")
    found = reviews(service)
    assert (found["m1"]["correct"], found["m2"]["correct"]) == (True, False)
    assert "m3" not in found
    page.click("#row-0")
    page.click("button:has-text('Right')")  # it is in the store, and cannot be taken out
    page.wait_for_selector(".toast:has-text('sent already')")
    assert marks(page)["m1"] == "right"


def test_marks_that_wait_are_sent_when_the_page_is_left(tab, service):
    page = pasted(tab, service, ["left"])
    page.focus(".grid")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("w")
    with page.expect_request("**/feedback"):
        page.click("text=Other rows")
    page.wait_for_selector(".drop")
    page.wait_for_timeout(200)
    assert reviews(service)["left"]["correct"] is False


def test_rows_without_an_id_keep_their_marks_in_the_page(tab, service):
    page = tab(service)
    page.on("request", lambda asked: pytest.fail("sent") if "feedback" in asked.url else None)
    page.fill(".paste textarea", "entropy,knn,confidence\n1,2,0.5\n2,4,0.2\n")
    page.click("text=Score pasted rows")
    page.wait_for_selector(".grid [role=gridcell]")
    page.click("#row-0")
    page.keyboard.press("w")
    page.click("text=Other rows")
    page.wait_for_selector(".drop")


def download(page, kind):
    with page.expect_download() as waiting:
        page.select_option(".download", kind)
    return waiting.value


def test_the_csv_has_scores_decision_and_marks_and_no_formulas(tab, service):
    page = pasted(tab, service, ["=1+1", "plain", '"say ""a,b"""'])
    page.click("#row-0")
    page.keyboard.press("w")
    saved = download(page, "csv")
    assert saved.suggested_filename == "pasted rows-scored.csv"
    rows = list(csv.DictReader(io.StringIO(saved.path().read_text("utf-8"), newline="")))
    assert [row["id"] for row in rows] == ["'=1+1", "plain", 'say "a,b"']
    assert [row["mark"] for row in rows] == ["wrong", "", ""]
    assert {row["decision"] for row in rows} <= {"flagged", "not flagged"}
    assert float(rows[0]["uncertainty"]) > float(rows[1]["uncertainty"])


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_other_downloads_have_every_bit_of_the_scores(scored, known, kind):
    page = scored()
    page.click("#row-1")
    page.keyboard.press("r")
    saved = download(page, kind)
    if kind == "arrow":
        table = pa.ipc.open_stream(saved.path().read_bytes()).read_all()
    else:
        table = parquet.read_table(saved.path())
    np.testing.assert_array_equal(table["uncertainty"].to_numpy(), known.uncertainty)
    np.testing.assert_array_equal(table["p_value"].to_numpy(), known.p_value)
    marked = table["mark"].to_pylist()
    assert [row for row, mark in enumerate(marked) if mark] == [known.order[1]]
    assert saved.suggested_filename == f"rows-scored.{'arrows' if kind == 'arrow' else kind}"

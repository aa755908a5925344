"""The table: order, search, filters, keys, and only the visible rows in the page."""

import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

HOSTILE = "<img src=x onerror=alert(1)>"
CELLS = ".grid-body [role=row] [role=gridcell]:nth-child({})"


def column(page, place):
    return page.locator(CELLS.format(place)).all_inner_texts()


def ids(page, n=4):
    return column(page, 2)[:n]


def test_every_column_sorts_both_ways_and_rows_without_a_value_stay_last(scored, files, expect):
    page = scored()
    knn = files.rows["knn"].to_pylist()
    known = sorted((value, row) for row, value in enumerate(knn) if value is not None)
    page.click("[role=columnheader] >> text=knn")
    assert page.get_attribute("[role=columnheader]:has-text('knn')", "aria-sort") == "descending"
    expect(page.locator(CELLS.format(2)).first).to_have_text(f"q{known[-1][1]}")
    assert ids(page) == [f"q{row}" for _, row in known[:-5:-1]]
    page.click("[role=columnheader] >> text=knn")
    expect(page.locator(CELLS.format(2)).first).to_have_text(f"q{known[0][1]}")
    assert ids(page) == [f"q{row}" for _, row in known[:4]]
    page.focus(".grid")
    page.keyboard.press("End")
    expect(page.locator(CELLS.format(2)).last).to_have_text("q7")
    page.click("[role=columnheader] >> text=id")
    expect(page.locator(CELLS.format(2)).first).to_have_text("q0")
    assert ids(page) == ["q0", "q1", "q10", "q100"]


def test_search_finds_texts_numbers_and_rules(scored, files, known, expect):
    page = scored()
    page.keyboard.press("/")
    page.keyboard.type("Q39")
    expect(page.locator(".grid")).to_have_attribute("aria-rowcount", "12")
    assert set(column(page, 2)) == {"q39", *(f"q{k}" for k in range(390, 400))}
    page.fill(".search", "knn > 5")
    above = int(np.sum(files.rows["knn"].to_numpy() > 5))
    expect(page.locator(".grid")).to_have_attribute("aria-rowcount", f"{above + 1}")
    value = str(known.uncertainty[known.order[3]])[:6]  # as far as somebody types it
    page.fill(".search", value)
    expect(page.locator(".grid")).not_to_have_attribute("aria-rowcount", f"{above + 1}")
    assert known.ids[3] in column(page, 2)
    page.fill(".search", "nowhere to be found")
    page.wait_for_selector("text=No rows to show")
    page.press(".search", "Escape")
    expect(page.locator(".grid")).to_have_attribute("aria-rowcount", "401")


def test_a_rule_that_cannot_be_followed_says_why(scored, expect):
    page = scored()
    example = page.get_attribute(".search", "placeholder").removeprefix("Search, or ")
    assert re.fullmatch(r"entropy > 0\.\d+", example)
    for typed, words in (
        ("foo > 3", "There is no column 'foo'."),
        ("knn > many", f"Write a rule as: {example}"),
        ("id > 3", "The column 'id' holds no numbers."),
        ("knn > 1000", "Nothing matches the search and the filter."),
    ):
        page.fill(".search", typed)
        expect(page.locator(".empty")).to_contain_text(words)
    page.fill(".search", example)
    expect(page.locator(".grid")).to_be_visible()


def test_on_a_phone_long_ids_keep_both_ends_and_filters_stay_on_the_screen(tab, service):
    page = tab(service, width=400)
    page.wait_for_selector(".drop")
    lines = [f"customer-answers-2026-{k:06d},1.{k},2,0.5" for k in range(9)]
    page.fill(".paste textarea", "\n".join(["id,entropy,knn,confidence", *lines]))
    page.click("text=Score pasted rows")
    page.wait_for_selector(".grid .middle")
    end = page.locator(".middle").first.locator("span").last
    assert end.text_content() == "000008"
    box, cell = end.bounding_box(), page.locator("[role=gridcell]:has(.middle)").first.bounding_box()
    assert box["x"] + box["width"] <= cell["x"] + cell["width"]
    for chip in page.locator(".chips .chip").all():
        found = chip.bounding_box()
        assert found["x"] >= 0
        assert found["x"] + found["width"] <= 400


def test_filters_show_what_they_count(scored, known, expect):
    page = scored()
    flagged = int(np.sum(~(known.p_value > 0.05)))
    page.click(".chip:has-text('Flagged')")
    expect(page.locator(".grid")).to_have_attribute("aria-rowcount", str(flagged + 1))
    assert page.inner_text(".chip:has-text('Flagged') .number") == str(flagged)
    assert page.get_attribute(".chip:has-text('Flagged')", "aria-pressed") == "true"
    page.click(".chip:has-text('Missing')")
    expect(page.locator(CELLS.format(2))).to_have_text(["q7"])
    page.click(".chip:has-text('Marked')")
    page.wait_for_selector("text=No rows to show")
    page.click(".chip:has-text('All')")
    expect(page.locator(".grid")).to_have_attribute("aria-rowcount", "401")


def test_a_gate_has_accepted_and_deferred_rows(scored, known, expect):
    page = scored("gate")
    page.click(".chip:has-text('Accepted')")
    expect(page.locator(".grid")).to_have_attribute("aria-rowcount", str(1 + known.accept.sum()))
    page.click(".chip:has-text('Deferred')")
    expect(page.locator(".grid")).to_have_attribute("aria-rowcount", str(401 - known.accept.sum()))


def test_keys_move_the_cursor_and_enter_opens_the_row(scored, known):
    page = scored()
    selected = lambda: page.get_attribute(".grid [aria-selected=true]", "id")  # noqa: E731
    page.focus(".grid")
    for key, place in (("ArrowDown", 0), ("ArrowDown", 1), ("ArrowUp", 0), ("End", 399), ("Home", 0)):
        page.keyboard.press(key)
        page.wait_for_selector(f"#row-{place}[aria-selected=true]")
    assert page.get_attribute(".grid", "aria-activedescendant") == "row-0"
    page.keyboard.press("PageDown")
    page.wait_for_selector("#row-0:not([aria-selected=true])", state="attached")
    below = int(selected().removeprefix("row-"))
    assert 10 < below < 40
    page.keyboard.press("Enter")
    assert page.inner_text(".row-title") == known.ids[below]
    page.keyboard.press("PageUp")
    page.wait_for_selector("#row-0[aria-selected=true]")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowDown")  # also where nothing has the focus
    page.wait_for_selector("#row-1[aria-selected=true]")
    assert page.inner_text(".row-title") == known.ids[1]


def test_the_cursor_stays_on_its_row_when_the_slider_moves(scored, known, expect):
    page = scored()
    page.click(".chip:has-text('Flagged')")
    page.click("[role=columnheader] >> text=id")
    page.click("#row-2")
    name = page.inner_text(".row-title")
    page.click("#panel-decision")
    page.fill("input[aria-label=alpha]", "0.5")
    page.evaluate("document.activeElement.blur()")
    expect(page.locator(".grid")).to_have_attribute("aria-rowcount", f"{1 + int((~(known.p_value > 0.5)).sum())}")
    page.click("#panel-row")
    assert page.inner_text(".row-title") == name
    assert page.inner_text("[aria-selected=true] [role=gridcell]:nth-child(2)") == name


def test_only_visible_rows_are_in_the_page_and_every_row_can_be_reached(tab, service, tmp_path):
    n = 100_000
    rng = np.random.default_rng(0)
    rows = {"entropy": rng.gamma(1.0, size=n), "knn": rng.gamma(2.0, size=n), "confidence": rng.random(n)}
    parquet.write_table(pa.table(rows), tmp_path / "many.parquet")
    page = tab(service)
    page.wait_for_selector(".drop")
    page.set_input_files("input[type=file]", tmp_path / "many.parquet")
    page.wait_for_selector(".grid [role=gridcell]")
    assert page.locator(".grid-body [role=row]").count() < 40
    page.focus(".grid")
    page.keyboard.press("End")
    page.wait_for_selector("#row-99999[aria-selected=true]")
    assert column(page, 1)[-1] == "100,000"
    page.evaluate("document.querySelector('.grid').scrollTop = 50000 * 34")
    page.wait_for_selector("#row-50000")
    assert page.locator(".grid-body [role=row]").count() < 40


def test_names_and_texts_are_text_whatever_they_look_like(tab, service, tmp_path):
    long, cjk = "w" * 190, "不確定性" * 40
    rows = pa.table(
        {
            "id": [HOSTILE, long, cjk, "=1+1"],
            "entropy": [3.0, 2.0, 1.0, 0.5],
            "knn": [9.0, 5.0, 2.0, 1.0],
            "confidence": [0.1, 0.3, 0.5, 0.9],
            HOSTILE: [HOSTILE, "<script>alert(2)</script>", long, cjk],
            cjk: [1, 0, 1, 0],
        }
    )
    csv.write_csv(rows, tmp_path / f"{'x' * 120}.csv")
    for width in (1280, 400):
        page = tab(service, width=width)
        page.wait_for_selector(".drop")
        page.on("dialog", lambda dialog: pytest.fail("a script ran"))
        page.set_input_files("input[type=file]", tmp_path / f"{'x' * 120}.csv")
        page.wait_for_selector(".grid [role=gridcell]")
        assert ids(page)[0] == HOSTILE
        for place in range(3):
            page.click(f"#row-{place}")
            page.wait_for_selector(".reason:not(:text-is('…'))")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert page.evaluate("(box => box.scrollWidth <= box.clientWidth)(document.querySelector('.panel-body'))")
        assert page.locator("img[src=x]").count() == 0

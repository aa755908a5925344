"""The table of rows in a browser: search, sort, filter, more rows, copy and download."""

import csv
import io

import pytest


def by(facts, key, *, descending=False):
    """Ids of the first hundred rows by a key, those without a value last; equal ones most uncertain first."""
    rows = facts["rows"]["rows"]
    with_value = sorted((row for row in rows if key(row) is not None), key=key, reverse=descending)
    return [row["others"][0] for row in [*with_value, *(row for row in rows if key(row) is None)]][:100]


def those(facts, test):
    return [row["others"][0] for row in facts["rows"]["rows"] if test(row)]


def chooser(page, name):
    return page.locator(f".filters label:has(bdi:text-is('{name}')) select")


def test_a_hundred_rows_are_shown_and_more_on_request(report, ids, expect):
    page = report()
    assert len(ids(page)) == 100
    page.click("text=Show 20 more")
    assert len(ids(page)) == 120
    expect(page.locator(".more")).to_be_hidden()


def test_a_click_on_a_heading_sorts_by_it_and_another_turns_the_order_around(report, ids, facts):
    page = report()
    head = page.locator("#rows-table thead th", has_text="confidence")
    head.locator("button").click()
    assert ids(page) == by(facts, lambda row: row["scores"][2], descending=True)
    assert head.get_attribute("aria-sort") == "descending"
    head.locator("button").click()
    assert ids(page) == by(facts, lambda row: row["scores"][2])
    assert head.get_attribute("aria-sort") == "ascending"
    page.click("#rows-table thead th:first-child button")
    assert head.get_attribute("aria-sort") is None
    assert ids(page) == sorted(those(facts, lambda row: True), key=lambda name: int(name[1:]))[:100]


def test_rows_without_a_value_come_last_in_both_directions(report, ids, facts):
    page = report()
    page.click("text=Show 20 more")
    missing = those(facts, lambda row: row["scores"][0] is None)
    for _ in range(2):
        page.click("#rows-table thead th:has-text('entropy') button")
        page.click("text=Show 20 more")
        assert ids(page)[-2:] == missing


def test_every_column_can_be_sorted_with_the_keyboard(report, ids):
    page = report()
    buttons = page.locator("#rows-table thead button")
    assert buttons.count() == page.locator("#rows-table thead th").count()
    for k in range(buttons.count()):
        buttons.nth(k).focus()
        page.keyboard.press("Enter")
        assert page.locator("#rows-table thead [aria-sort]").count() == 1
        assert buttons.nth(k).locator("xpath=..").get_attribute("aria-sort") is not None


SEARCHES = {
    "q10": lambda row: "q10" in row["others"][0],
    "NIGHT Q1": lambda row: row["others"][1] == "night" and "q1" in row["others"][0],
    "knn > 5.5": lambda row: row["scores"][1] > 5.5,
    "Entropy<=0.7": lambda row: row["scores"][0] is not None and row["scores"][0] <= 0.7,
    "then entropy": lambda row: "then" in row["why"] and "entropy" in row["why"],
    "row = 7": lambda row: row["row"] == 7,
    "no such thing > 3": lambda row: False,
}


@pytest.mark.everyday
def test_search_finds_words_and_rules(report, ids, facts):
    page = report()
    for typed, test in SEARCHES.items():
        page.fill("input[type=search]", typed)
        found = those(facts, test)
        assert ids(page) == found[:100], typed
        assert page.inner_text(".shown") == f"{len(found)} of 120 rows"
        assert page.locator("text=Nothing matches").count() == (not found)
    page.fill("input[type=search]", "")
    assert page.inner_text(".shown") == "120 rows"


def test_filters_narrow_the_rows_together(report, ids, facts):
    page = report()
    chooser(page, "label").select_option(label=f"wrong ({len(those(facts, lambda row: row['wrong']))})")
    assert ids(page) == those(facts, lambda row: row["wrong"])
    chooser(page, "group").select_option(index=2)
    assert ids(page) == those(facts, lambda row: row["wrong"] and row["others"][1] == "night")
    chooser(page, "group").select_option(label="all")
    chooser(page, "leading column").select_option(index=1)
    leading = page.locator("#rows-table tbody:visible td:nth-child(8)").all_inner_texts()
    assert len(set(leading)) == 1
    assert ids(page) == those(facts, lambda row: row["wrong"] and row["leading"] == leading[0])


def test_decisions_and_p_values_can_be_filtered(report, ids, facts):
    page = report()
    chooser(page, "decision").select_option(index=2)
    word = page.locator("#rows-table tbody:visible td:nth-child(4)").first.inner_text()
    assert ids(page) == those(facts, lambda row: row["accept"] == (word == "accepted"))[:100]
    chooser(page, "decision").select_option(index=0)
    chooser(page, "flagged").select_option(index=2)
    assert ids(page) == those(facts, lambda row: row["flagged"])[:100]
    chooser(page, "flagged").select_option(index=0)
    page.get_by_label("p-value up to").fill("0.01")
    assert ids(page) == those(facts, lambda row: row["p_value"] <= 0.01)
    page.get_by_label("p-value up to").fill("")
    assert len(ids(page)) == 100


def test_the_ids_of_the_chosen_rows_are_copied_also_those_not_on_the_screen(report, facts, expect):
    page = report()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("text=Copy id")
    expect(page.locator("text=Copied 120")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").split("\n") == those(facts, lambda row: True)
    expect(page.locator("#status")).to_have_text("120 rows: copied")
    page.fill("input[type=search]", "q11")
    page.locator(".tools button").first.click()
    expect(page.locator("#status")).to_have_text("11 rows: copied")
    assert page.evaluate("navigator.clipboard.readText()").split("\n") == those(
        facts, lambda r: "q11" in r["others"][0]
    )


def test_a_command_is_copied_even_where_the_browser_has_no_clipboard(report, expect):
    page = report()
    page.evaluate("addEventListener('copy', () => (window.copied = document.activeElement.value))")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    page.click(".copy >> nth=0")
    expect(page.locator(".copy").first).to_have_text("Copied")
    assert page.evaluate("window.copied") == "vecuq sample new.csv model.vecuq -n 50 -o sample.csv"
    expect(page.locator(".copy").first).to_have_text("Copy")


def downloaded(page):
    with page.expect_download() as saved:
        page.click("text=Download csv")
    assert saved.value.suggested_filename == "rows.csv"
    with open(saved.value.path(), encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(io.StringIO(file.read())))


def test_the_chosen_rows_are_downloaded_with_every_digit(report, facts):
    page = report()
    page.click("#rows-table thead th:has-text('knn') button")
    page.fill("input[type=search]", "night")
    saved = downloaded(page)
    rows = [row for row in facts["rows"]["rows"] if row["others"][1] == "night"]
    rows.sort(key=lambda row: -row["scores"][1])
    assert [row["id"] for row in saved] == [row["others"][0] for row in rows]
    for line, row in zip(saved, rows, strict=True):
        assert float(line["uncertainty"]) == row["uncertainty"]
        assert [float(line[name]) if line[name] else None for name in ("entropy", "knn", "confidence")] == row["scores"]
        assert line["why"] == row["why"]


def test_percentiles_are_read_aloud_always_and_shown_on_request(report):
    page = report()
    cell = page.locator("#rows-table tbody:visible td:has(i)").first
    assert " P" in cell.text_content()
    assert cell.locator("i").bounding_box()["width"] <= 1
    page.check("text=show percentiles")
    assert cell.locator("i").bounding_box()["width"] > 10

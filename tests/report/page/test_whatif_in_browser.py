"""What if: the panel of a row computes in the page what the library computes in Python."""

import re

import numpy as np
import pytest
from facts_by_hand import facts_of, fitted, new_rows

from vecuq import Settings

NAMES = ("entropy", "knn", "confidence")


def open_row(page, place=0):
    page.locator("#rows-table tbody:visible .choose").nth(place).click()
    return page.locator(".panel")


def exact(panel, name):
    """The number that the panel says, with every digit."""
    found = panel.locator(f".result span:has-text('{name}') data").get_attribute("value")
    return None if found == "null" else float(found)


def put(panel, name, value):
    panel.get_by_label(f"{name}, number").fill(f"{value!r}")


def settled(page):
    """Wait for the next frame, in which the panel is drawn again."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.mark.everyday
def test_other_scores_give_what_python_computes(report, model, facts):
    ranker, _ = model
    page = report()
    panel = open_row(page)
    assert exact(panel, "uncertainty") == facts["rows"]["rows"][0]["uncertainty"]
    for values in ([0.3, 0.7, 0.9], [2.0, 5.0, 0.2], [9.0, 0.1, 0.001], [1e6, -3.0, 1.5]):
        for name, value in zip(NAMES, values, strict=True):
            put(panel, name, value)
        settled(page)
        row = {name: [value] for name, value in zip(NAMES, values, strict=True)}
        ranking = ranker.rank(row)
        assert exact(panel, "uncertainty") == pytest.approx(ranking.uncertainty[0], abs=1e-9, rel=1e-9)
        assert exact(panel, "p-value") == pytest.approx(ranking.p_values[0], abs=1e-9)
        shares = [float(each.get_attribute("value")) for each in panel.locator(".bars data").all()]
        np.testing.assert_allclose(shares, ranker.explain(row)[0], atol=1e-9, rtol=1e-9)
        words = panel.locator(".result .badge").all_inner_texts()
        flagged, accepted = ranking.uncertainty[0] > ranker.threshold(), ranking.uncertainty[0] <= 1.0
        assert words == ["flagged" if flagged else "not flagged", "accepted" if accepted else "not accepted"]


def test_a_slider_moves_its_number_and_the_score_and_reset_takes_it_back(report, facts, expect):
    page = report()
    panel = open_row(page)
    reset = panel.get_by_role("button", name="Reset")
    expect(reset).to_be_disabled()
    slider = panel.get_by_label("knn", exact=True)
    slider.focus()
    for _ in range(3):
        page.keyboard.press("PageDown")
    settled(page)
    assert exact(panel, "uncertainty") < facts["rows"]["rows"][0]["uncertainty"]
    number = float(panel.get_by_label("knn, number").input_value())
    assert number == pytest.approx(float(slider.input_value()), rel=1e-4)
    assert f"was {facts['rows']['rows'][0]['uncertainty']:.4g}"[:8] in panel.locator(".result").inner_text()
    reset.click()
    assert exact(panel, "uncertainty") == facts["rows"]["rows"][0]["uncertainty"]
    assert "was" not in panel.locator(".result").inner_text()
    expect(reset).to_be_disabled()


def test_typical_puts_a_score_at_its_median_also_in_a_flipped_column(report, model):
    ranker, calibration = model
    page = report()
    panel = open_row(page)
    for name in NAMES:
        panel.get_by_role("button", name=f"{name} at its median").click()
    settled(page)
    median = {name: [-c if name == "confidence" else c] for name, c in zip(NAMES, ranker.centre, strict=True)}
    assert exact(panel, "uncertainty") == pytest.approx(ranker.uncertainty(median)[0], abs=1e-9)
    low, high = (float(panel.get_by_label("confidence", exact=True).get_attribute(end)) for end in ("min", "max"))
    assert low < calibration["confidence"].min() < calibration["confidence"].max() < high < 2.0


def test_a_missing_score_is_said_and_can_be_given(report, model, facts):
    page = report()
    place = next(k for k, row in enumerate(facts["rows"]["rows"]) if row["scores"][0] is None)
    panel = open_row(page, place)
    assert panel.get_by_label("entropy, number").get_attribute("placeholder") == "missing"
    put(panel, "knn", 1.0)
    settled(page)
    assert exact(panel, "uncertainty") is None
    assert "needs a value in every score" in panel.locator(".result").inner_text()
    put(panel, "entropy", 1.0)
    settled(page)
    row = {"entropy": [1.0], "knn": [1.0], "confidence": [facts["rows"]["rows"][place]["scores"][2]]}
    assert exact(panel, "uncertainty") == pytest.approx(model[0].uncertainty(row)[0], abs=1e-9)


def test_the_panel_is_used_with_the_keyboard_alone(report, facts, expect):
    page = report()
    first = page.locator("#rows-table tbody:visible .choose").first
    first.focus()
    page.keyboard.press("Enter")
    panel = page.locator(".panel")
    expect(panel.locator("h3")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # next row
    expect(panel.locator("h3")).to_have_text(facts["rows"]["rows"][1]["others"][0])
    expect(panel.locator("p:not(.result)").first).to_have_text(facts["rows"]["rows"][1]["why"])
    panel.get_by_role("button", name="Row before").click()
    expect(panel.locator("h3")).to_have_text(facts["rows"]["rows"][0]["others"][0])
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(first).to_be_focused()


def test_next_row_goes_on_beyond_the_rows_that_are_shown(report, facts, expect):
    page = report()
    panel = open_row(page, 99)
    panel.get_by_role("button", name="Next row").click()
    expect(panel.locator("h3")).to_have_text(facts["rows"]["rows"][100]["others"][0])


def test_the_panel_follows_the_order_and_the_filter(report, facts, expect):
    page = report()
    page.fill("input[type=search]", "night")
    night = [row["others"][0] for row in facts["rows"]["rows"] if row["others"][1] == "night"]
    panel = open_row(page)
    panel.get_by_role("button", name="Next row").click()
    expect(panel.locator("h3")).to_have_text(night[1])


def test_what_is_decided_alike_about_all_rows_has_no_column_and_stands_in_the_panel(tab, written, facts, expect):
    rows = [{**row, "accept": False, "flagged": True} for row in facts["rows"]["rows"]]
    unlimited = {**facts["whatif"], "accept_up_to": None}
    alike = {**facts, "rows": {**facts["rows"], "rows": rows, "headed": False}, "whatif": unlimited}
    page = tab(written("alike", alike))
    expect(page.get_by_role("columnheader", name="decision")).to_have_count(0)
    page.locator(".choose").first.click()
    expect(page.locator(".result .badge")).to_have_text(["flagged", "not accepted"])
    expect(page.locator(".panel h3")).to_have_text(f"row {rows[0]['row']}")


def test_where_a_model_cannot_be_exported_the_panel_says_why(tab, written, model, expect):
    facts = facts_of(*model, new_rows(n_rows=5))
    facts["whatif"] = {**facts["whatif"], "model": None, "why_not": "It has five maps, and cannot be exported."}
    page = tab(written("no-model", facts))
    panel = open_row(page)
    expect(panel).to_contain_text("No what-if here: It has five maps, and cannot be exported.")
    expect(panel.locator("input")).to_have_count(0)
    assert exact(panel, "uncertainty") == facts["rows"]["rows"][0]["uncertainty"]


def test_without_held_back_rows_there_is_no_p_value(tab, written):
    names = ("only",)
    ranker, calibration = fitted(names, (), settings=Settings(holdback=0.0))
    facts = facts_of(ranker, calibration, new_rows(names, (), 6), others={}, labels=False)
    facts["whatif"]["why_no_p"] = "No calibration rows were held back."
    page = tab(written("no-p", facts))
    assert page.locator("text=p-value").count() == 0
    panel = open_row(page)
    put(panel, "only", 2.5)
    settled(page)
    assert exact(panel, "uncertainty") == pytest.approx(ranker.uncertainty({"only": [2.5]})[0], abs=1e-9)
    assert "No calibration rows were held back." in panel.inner_text()
    assert re.fullmatch(r"row \d+", panel.locator("h3").inner_text())  # without ids, the number of the row

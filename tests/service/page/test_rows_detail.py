"""One row: its reason, its columns, its place, what if; the same numbers as in Python."""

import numpy as np
import pytest


def opened(page, place=0):
    page.click(f"#row-{place}")
    page.wait_for_selector(".reason:not(:text-is('…'))")
    return page


def row_of(files, page):
    name = page.inner_text(".row-title")
    return next(k for k, one in enumerate(files.rows["id"].to_pylist()) if one == name)


def test_a_row_has_the_reason_and_the_contributions_of_the_library(scored, models, files):
    page = opened(scored())
    k = row_of(files, page)
    parts = models.rank.explain(files.rows.slice(k, 1))[0]
    shown = page.locator(".bars .bar-value").all_inner_texts()
    assert [float(text.replace("−", "-")) for text in shown] == [pytest.approx(part, rel=6e-3) for part in parts]
    assert page.inner_text(".reason").startswith(("entropy", "knn", "confidence"))
    assert "contributes" in page.inner_text(".reason")


def test_a_row_without_a_score_says_what_is_missing(scored):
    page = scored()
    page.click(".chip:has-text('Missing')")
    opened(page)
    assert page.inner_text(".row-title") == "q7"
    assert "missing or infinite in knn" in page.inner_text(".reason")
    assert page.inner_text(".detail .badge") == "no score"
    assert "missing" in page.inner_text(".strips li:nth-child(2)")


def test_each_column_is_placed_among_the_calibration_rows(scored, models, files):
    page = opened(scored(height=1200), 20)
    k = row_of(files, page)
    held = models.rank.ranker_.kept.held
    for place, (name, sign) in enumerate((("entropy", 1), ("knn", 1), ("confidence", -1))):
        value = files.rows[name][k].as_py()
        share = 100 * np.mean(sign * held[:, place] < value)
        words = page.inner_text(f".strips li:nth-child({place + 1}) .strip-words")
        assert name in page.inner_text(f".strips li:nth-child({place + 1})")
        assert float(words.removeprefix("higher than ").removesuffix(" %")) == pytest.approx(share, abs=1.1)


@pytest.mark.parametrize("model", ["rank", "cross"])
def test_what_if_gives_the_score_of_the_changed_row(scored, models, files, model):
    """In the page for a model that can be exported, by the service for the other one."""
    page = opened(scored(model))
    page.click("summary:has-text('What if')")
    page.wait_for_selector(".what-if")
    assert ("Computed in this page" if model == "rank" else "Computed by the service") in page.inner_text(".what-if")
    page.evaluate(SLIDE, ["knn", 2.5])
    page.wait_for_selector(".what-if :text('was ')")
    k = row_of(files, page)
    row = {name: [files.rows[name][k].as_py()] for name in ("entropy", "knn", "confidence")}
    changed = getattr(models, model).uncertainty({**row, "knn": [2.5]})[0]
    assert float(page.inner_text(".what-if strong >> nth=0")) == pytest.approx(changed, rel=6e-4)
    page.click(".what-if button:has-text('Reset')")
    page.wait_for_selector(".what-if :text('was ')", state="detached")


def test_what_if_of_a_gate_says_its_decision_too(scored, models, files, expect):
    page = opened(scored("gate"))
    page.click("summary:has-text('What if')")
    expect(page.locator(".verdict")).to_have_text("deferred")
    for name, value in (("knn", 1.0), ("entropy", 0.2), ("confidence", 0.9)):
        page.evaluate(SLIDE, [name, value])
    row = {"knn": [1.0], "entropy": [0.2], "confidence": [0.9]}
    assert models.gate.accept(row)[0]
    expect(page.locator(".verdict")).to_have_text("accepted")
    expect(page.locator(".what-if")).to_contain_text(f"p wrong {round(100 * models.gate.p_wrong(row)[0], 1):g} %")


SLIDE = """([name, value]) => {
  const line = [...document.querySelectorAll(".what-if .slider-line")].find((each) => each.textContent.includes(name));
  const slider = line.querySelector("input");
  slider.value = value;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def test_the_score_map_marks_the_row_and_a_click_opens_its_neighbour(scored):
    page = opened(scored(height=1400))
    before = page.inner_text(".row-title")
    canvas = page.locator(".score-map canvas")
    assert "this row is marked" in canvas.get_attribute("aria-label")
    box = canvas.bounding_box()
    for part in (0.25, 0.3, 0.35, 0.2):  # where rows are dense
        page.mouse.click(box["x"] + box["width"] * part, box["y"] + box["height"] * (0.85 - part))
        if page.inner_text(".row-title") != before:
            break
    assert page.inner_text(".row-title") != before
    page.select_option(".score-map select >> nth=1", "uncertainty")
    page.wait_for_selector("canvas[aria-label*='entropy and uncertainty']")


def test_a_contour_of_a_cone_is_a_circle(tab, site):
    """Marching squares beside the closed form."""
    page = tab(site, allowed=["404"])
    pieces = np.array(
        page.evaluate(
            """async () => {
              const { contour } = await import("/page/rows/contours.js");
              const across = 81;
              const height = (_, k) => Math.hypot((k % across) - 40, Math.floor(k / across) - 40);
              const heights = Float64Array.from({ length: across * across }, height);
              return contour(heights, across, 25.3);
            }"""
        )
    )
    ends = pieces.reshape(-1, 2)
    np.testing.assert_allclose(np.hypot(*(ends - 40).T), 25.3, atol=0.02)
    length = np.hypot(*(pieces[:, :2] - pieces[:, 2:]).T).sum()
    assert length == pytest.approx(2 * np.pi * 25.3, rel=2e-3)


def test_shares_and_quantiles_of_the_page_are_those_of_numpy(tab, site):
    rng = np.random.default_rng(3)
    quantiles = np.quantile(rng.gamma(2.0, size=500), np.linspace(0, 1, 101))
    values = [*rng.gamma(2.0, size=40), quantiles[0], quantiles[60], quantiles[-1], -1.0, 99.0]
    page = tab(site, allowed=["404"])
    found = page.evaluate(
        """async ([q, values]) => {
          const { share, at } = await import("/page/rows/quantiles.js");
          return [values.map((each) => share(q, each)), [0, 0.123, 0.5, 1].map((part) => at(q, part))];
        }""",
        [quantiles.tolist(), [float(value) for value in values]],
    )
    np.testing.assert_allclose(found[0], np.interp(values, quantiles, np.linspace(0, 1, 101)), atol=1e-12)
    np.testing.assert_allclose(found[1], np.interp([0, 0.123, 0.5, 1], np.linspace(0, 1, 101), quantiles))


def test_the_other_columns_of_the_file_are_there_too(scored, files):
    page = opened(scored())
    page.click("summary:has-text('Other columns')")
    assert f"correct\n{files.rows['correct'][row_of(files, page)].as_py()}" in page.inner_text(".detail")

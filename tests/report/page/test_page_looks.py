"""The page on a phone, a desk and paper, in the dark, without a script, and with texts that try to break it."""

import copy
from itertools import pairwise

import pytest
from facts_by_hand import facts_of, fitted, new_rows

from in_browser import axe
from vecuq._draw import Section

HOSTILE = ("</script><script>window.broken=1</script>", "<!-- <script>", "预测熵" * 30, "عدم اليقين", "=1+1")
CELLS = (
    "<img src=x onerror=window.broken=1>",
    "a\u2028b",
    "\u202eevil",
    "=HYPERLINK(1)",
    "名前🙂",
    "x" * 400,
    '"`${7*7}',
)


@pytest.fixture(scope="module")
def hostile():
    """Facts in which every name and cell tries to be something else than text."""
    ranker, calibration = fitted(HOSTILE, (), n_rows=600)
    others = {"<b>id</b>": [f"{CELLS[k % 7]}{k}" for k in range(14)], "</script>": [CELLS[k % 2] for k in range(14)]}
    facts = facts_of(ranker, calibration, new_rows(HOSTILE, (), 14), others=others, what="flagged")
    facts["title"] = facts["finding"]["headline"] = "<script>window.broken=1</script>"
    facts["finding"]["actions"][1]["command"] = "vecuq `</code><script>window.broken=1</script>`"
    facts["notes"] = ["`<img src=x onerror=window.broken=1>`"]
    table = "javascript:alert(1)/flagged rows.csv"
    facts["rows"] |= {"n_such": 5000, "n_rows": 9000, "table": table, "link": table}
    facts["provenance"] = [{"name": "<u>file</u>", "value": "</td><script>window.broken=1</script>"}]
    return facts


@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_nothing_with_everything_open(tab, written, model, width):
    facts = facts_of(*model, new_rows(n_rows=8), gate_limit=1.0)  # axe looks at every cell
    page = tab(written("few", facts), width=width)
    page.check("text=show percentiles")
    page.locator(".choose").first.click()
    page.get_by_label("knn, number").fill("0.5")
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    found = axe(page, "everything open")
    page.get_by_role("button", name="Close").click()
    page.fill("input[type=search]", "nowhere")
    assert found + axe(page, "nothing found") == []


@pytest.mark.everyday
def test_hostile_texts_stay_texts(tab, written, hostile):
    page = tab(written("hostile", hostile), width=400)
    assert page.evaluate("window.broken") is None
    assert page.inner_text("h1") == "<script>window.broken=1</script>"
    assert page.locator("#rows-table img, #rows-table b, #rows-table script").count() == 0
    assert page.locator(".about a").get_attribute("href") == "./javascript%3Aalert%281%29/flagged%20rows.csv"
    page.locator(".choose").first.click()
    assert page.locator(".panel img, .panel script").count() == 0
    assert HOSTILE[0] in page.inner_text(".panel")
    assert page.evaluate("window.broken") is None
    assert axe(page, "hostile") == []


def test_a_spreadsheet_computes_nothing_of_a_download(tab, written, hostile):
    page = tab(written("hostile", hostile))
    with page.expect_download() as saved:
        page.click("text=Download csv")
    with open(saved.value.path(), encoding="utf-8-sig", newline="") as file:
        text = file.read()
    assert "'=1+1" in text.split("\r\n")[0]
    assert "'=HYPERLINK(1)" in text
    assert ",=" not in text
    assert "\n=" not in text


@pytest.mark.parametrize(("width", "height"), [(400, 800), (1280, 800)])
def test_the_first_screen_holds_what_was_found_and_what_to_do(report, width, height):
    page = report(width=width, height=height)
    for part in ("h1", ".detail", ".actions", ".tiles"):
        box = page.locator(part).bounding_box()
        assert 0 <= box["y"] <= box["y"] + box["height"] <= height, part


def test_without_a_script_all_rows_are_there_and_no_dead_control(tab, written, facts):
    page = tab(written("gate", facts), script=False)
    assert page.locator("#rows-table tbody").count() == 120
    assert page.locator("#rows-table tbody >> nth=119").is_visible()
    assert page.locator("button:visible, input:visible, select:visible").count() == 0
    assert page.locator("#rows-table i >> nth=0").bounding_box()["width"] > 5
    page.locator("summary:has-text('Settings')").click()
    assert page.locator("text=How smooth the map is.").is_visible()


def test_paper_shows_what_is_folded_and_hides_what_only_a_screen_can_use(report):
    page = report(scheme="dark")
    page.locator(".choose").first.click()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for hidden in (".contents", ".tools", ".panel", ".copy >> nth=0"):
        assert not page.locator(hidden).is_visible(), hidden
    for shown in ("text=How smooth the map is.", "text=Of it.", "#rows-table i >> nth=0", "text=these are printed"):
        assert page.locator(shown).is_visible(), shown
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(27, 31, 36)"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 1


def test_headings_on_paper_are_no_larger_than_the_cells_below_them(report):
    page = report(width=700)
    page.emulate_media(media="print")
    size = "element => getComputedStyle(element).fontSize"
    assert page.eval_on_selector("#rows-table thead th", size) == page.eval_on_selector("#rows-table td", size)


def test_the_headings_of_the_table_are_printed_on_every_page(report):
    page = report()
    page.emulate_media(media="print")
    displays = page.eval_on_selector_all(".sort", "all => all.map((each) => getComputedStyle(each).display)")
    assert set(displays) == {"contents"}  # Chromium paints no button in a heading that it repeats


def test_the_navigation_leads_to_every_section_and_opens_what_is_folded(report, expect):
    page = report(width=400)
    links = page.locator(".contents a")
    targets = [link.get_attribute("href") for link in links.all()]
    assert targets == ["#finding", "#rows", "#order", "#groups", "#provenance", "#settings"]
    links.last.click()
    expect(page.locator("#settings")).to_have_attribute("open", "")
    expect(page.locator("text=How smooth the map is.")).to_be_in_viewport()
    page.locator(".actions a").click()
    expect(page.locator("#rows-title")).to_be_in_viewport()


def test_the_first_tab_stop_leads_past_the_navigation(report, expect):
    page = report()
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("input[type=search]")).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize(("motion", "behaviour"), [("reduce", "auto"), ("no-preference", "smooth")])
def test_the_page_scrolls_smoothly_only_for_those_who_like_it(report, motion, behaviour):
    page = report(motion=motion)
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == behaviour


def test_every_shade_can_be_told_from_the_next_and_its_text_be_read(report):
    page = report()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours = page.eval_on_selector_all(".legend span", _COLOURS)
        ink, *shades = ([*map(_luminance, pair)] for pair in [[colours[0][1]] * 2, *colours])
        grounds = [ground for ground, _ in shades]
        assert sorted(grounds, reverse=scheme == "light") == grounds
        ratios = [_contrast(ink[0], ground) for ground in grounds]
        assert min(ratios) >= 4.5
        assert all(_contrast(one, other) >= 1.07 for one, other in pairwise(grounds))


_COLOURS = """all => all.map((each) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const style = getComputedStyle(each);
  return [style.backgroundColor, style.color].map((colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return Array.from(canvas.getImageData(0, 0, 1, 1).data.slice(0, 3));
  });
})"""


def _luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def test_long_commands_are_read_in_full_on_a_phone_and_copied_as_they_are(tab, written, facts):
    command = "vecuq report model.vecuq new.csv --wrong is_wrong --calibration calibration.csv --table review.csv"
    found = copy.deepcopy(facts)
    found["finding"]["actions"][1]["command"] = command
    code = tab(written("long command", found), width=400).locator(".command code").first
    assert code.evaluate("each => each.scrollWidth <= each.clientWidth")
    assert code.evaluate("each => each.textContent") == command


def test_a_comparison_of_several_metrics_is_not_cut_on_a_wide_screen(tab, written, facts):
    found = copy.deepcopy(facts)
    cells = "".join(f'<td style="white-space: nowrap">accuracy over all coverages {k}</td>' for k in range(4))
    table = f'<div class="vq-scroll" tabindex="0"><table class="vq-table"><tr>{cells}</tr></table></div>'
    found["sections"] = [Section("comparison", "Comparison", table)]
    place = tab(written("comparison", found), width=1280).locator("#comparison .vq-scroll")
    assert place.evaluate("each => each.scrollWidth <= each.clientWidth")

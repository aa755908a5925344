"""axe-core finds nothing, in light and dark, wide and narrow, in every view and state; nothing overflows."""

import pytest


@pytest.fixture
def axe():
    """Return what axe-core complains about, in light and, as to colours, in dark too; and what is too wide."""
    from axe_playwright_python.sync_playwright import Axe

    def complaints(page, where):
        found = Axe().run(page).response["violations"]
        page.emulate_media(color_scheme="dark")
        found += Axe().run(page, options={"runOnly": ["color-contrast"]}).response["violations"]
        page.emulate_media(color_scheme="light")
        said = [f"{where}: {one['id']} {[node['html'][:120] for node in one['nodes']][:3]}" for one in found]
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return said if wide <= 0 else [*said, f"{where}: {wide} px too wide"]

    return complaints


SLOW_NARROW = [1280, pytest.param(400, marks=pytest.mark.slow)]
SLOW_WIDE = [pytest.param(1280, marks=pytest.mark.slow), 400]


@pytest.mark.parametrize("width", SLOW_NARROW)
def test_the_rows_are_accessible_in_every_state(scored, axe, width):
    found = []
    page = scored("gate", width=width)

    def look(where):
        found.extend(axe(page, where))

    look("table")
    page.click("#panel-decision") if width == 400 else None
    page.wait_for_selector(".curve .chart svg")
    look("decision")
    page.click("#row-1")
    page.wait_for_selector(".bars li")
    page.click("summary:has-text('What if')")
    page.keyboard.press("w")
    page.wait_for_selector(".toast")
    look("row, mark, what if")
    page.click("#panel-compare")
    page.wait_for_selector(".plain-table td")
    look("compare")
    page.fill(".search", "nowhere")
    page.wait_for_selector("text=No rows to show")
    look("nothing found")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    look("help")
    assert found == []


@pytest.mark.parametrize("width", SLOW_WIDE)
def test_start_progress_and_the_other_views_are_accessible(tab, service, files, axe, width):
    found = []
    page = tab(service, width=width)

    def look(where):
        found.extend(axe(page, where))

    page.wait_for_selector(".drop")
    look("start")
    page.route("**/score?*", lambda route: None)
    page.set_input_files("input[type=file]", files.folder / "rows.csv")
    page.wait_for_selector("progress")
    look("progress")
    page.select_option("select[aria-label=Model]", "gate")
    for view in ("queue", "live", "model"):
        page.click(f"#tab-{view}")
        page.wait_for_selector(f"#view-{view} h2")
        look(view)
    assert found == []


def test_answers_are_accessible(scored, axe):
    page = scored("judge", "answers.jsonl")
    page.click("#row-0")
    page.wait_for_selector(".samples")
    assert axe(page, "answers") == []


def test_the_page_can_be_used_without_a_mouse(tab, service, expect):
    page = tab(service)
    page.wait_for_selector(".drop")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("button:has-text('Choose a file')")).to_be_focused()
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Tab")
    page.keyboard.type("id,entropy,knn,confidence\na,1,2,0.5\nb,2,4,0.2\n")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".grid [role=gridcell]")
    expect(page.locator(".grid")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("w")
    expect(page.locator(".marked")).to_have_count(1)


@pytest.mark.parametrize(("motion", "moves"), [("reduce", False), ("no-preference", True)])
def test_nothing_moves_for_those_who_want_no_motion(tab, service, motion, moves):
    page = tab(service, motion=motion)
    page.wait_for_selector(".drop")
    page.evaluate("addEventListener('animationstart', () => (window.moved = true))")
    page.set_input_files("input[type=file]", {"name": "x.docx", "mimeType": "", "buffer": b"no"})
    page.wait_for_selector(".toast")
    page.wait_for_timeout(200)
    assert page.evaluate("window.moved === true") is moves

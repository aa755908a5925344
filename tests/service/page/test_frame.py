"""The frame: views by address and key, help, theme, the key of the service, and a service that is gone."""

import pytest

VIEWS = ("rows", "queue", "live", "model")


def view(page):
    """Which view is on screen."""
    return page.evaluate("document.querySelector('.view:not([hidden])').id")


def test_every_view_has_a_tab_an_address_and_a_key(tab, service, expect):
    page = tab(f"{service}/#/model")
    page.wait_for_selector("#view-model .card")
    for place, name in enumerate(VIEWS):
        page.click(f"#tab-{name}")
        expect(page.locator(f"#tab-{name}")).to_have_attribute("aria-selected", "true")
        assert page.url.endswith(f"#/{name}")
        assert view(page) == f"view-{name}"
        page.keyboard.press(str((place + 1) % 4 + 1))
        expect(page.locator(f"#tab-{VIEWS[(place + 1) % 4]}")).to_have_attribute("aria-selected", "true")
    page.focus("#tab-rows")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#tab-model")).to_be_focused()
    page.go_back()
    assert view(page) == "view-rows"


def test_a_view_keeps_its_state_while_another_one_is_on_screen(scored, expect):
    page = scored()
    page.fill(".search", "q39")
    expect(page.locator(".grid")).to_have_attribute("aria-rowcount", "12")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("4")
    page.wait_for_selector("#view-model .card")
    page.keyboard.press("1")
    assert page.input_value(".search") == "q39"
    assert page.get_attribute(".grid", "aria-rowcount") == "12"


def test_an_error_goes_away_with_its_view(tab, service):
    page = tab(service, allowed=["422"])
    page.fill(".paste textarea", "height,width\n1,2\n")
    page.click("text=Score pasted rows")
    page.wait_for_selector(".toast.error")
    page.click("#tab-model")
    page.wait_for_selector(".toast", state="detached")


def test_help_lists_the_keys_of_the_view_and_escape_closes_it(tab, service):
    page = tab(service)
    page.wait_for_selector(".drop")
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    assert "mark the row right" in page.inner_text("dialog")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.fill(".paste textarea", "?")  # typed, not pressed
    assert page.locator("dialog").count() == 0


def test_the_switch_changes_the_theme_and_it_is_remembered(tab, service):
    page = tab(service, scheme="light")
    ground = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")  # noqa: E731
    page.wait_for_selector(".drop")
    light = ground()
    page.click("[aria-label='Theme: as the system']")
    page.click("[aria-label='Theme: light']")
    page.wait_for_selector("[aria-label='Theme: dark']")
    assert ground() != light
    page.reload()
    page.wait_for_selector("[aria-label='Theme: dark']")
    assert ground() != light
    page.click("[aria-label='Theme: dark']")
    page.wait_for_selector("[aria-label='Theme: as the system']")
    assert page.evaluate("localStorage.length") == 0


def test_the_model_view_says_what_is_promised(tab, service, models):
    page = tab(f"{service}/#/model")
    page.wait_for_selector("#view-model .card")
    assert "at most a share alpha" in page.inner_text("#view-model")
    assert "higher is more confident" in page.inner_text(".model-columns li:nth-child(3)")
    page.select_option("select[aria-label=Model]", "gate")
    page.wait_for_selector("#view-model :text('certified')")
    shown = page.inner_text("#view-model")
    certificate = models.gate.certificate()
    assert certificate.promise in shown
    assert certificate.assumption in shown
    assert f"{certificate.n_labels:,}" in shown
    page.click("summary:has-text('Settings')")
    assert "epsilon" in page.inner_text("#view-model details")
    page.wait_for_selector("#view-model .chart svg")


def test_every_kind_of_model_can_be_looked_at(tab, service):
    page = tab(f"{service}/#/model")
    for name in ("cross", "plain", "judge"):
        page.select_option("select[aria-label=Model]", name)
        page.wait_for_selector(f"#view-model h2:text-is('{name}')")
        assert page.locator(".model-columns li").count() >= 2


@pytest.fixture(scope="module")
def locked(models, run_service):
    """A service that wants a key, and has no store and one model."""
    return run_service([models.paths[0]], key="sesame")


def test_a_service_with_a_key_asks_for_it_once_and_keeps_it_for_the_tab(tab, locked, files):
    page = tab(locked, allowed=["401"])
    page.wait_for_selector("dialog[open]")
    page.fill("dialog input", "wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog p:has-text('key')")
    page.fill("dialog input", "sesame")
    page.keyboard.press("Enter")
    page.wait_for_selector(".drop")
    assert page.locator("select[aria-label=Model]").count() == 0  # one model needs no choice
    page.set_input_files("input[type=file]", files.folder / "rows.csv")
    page.wait_for_selector(".grid [role=gridcell]")
    page.reload()
    page.wait_for_selector(".drop")
    assert page.evaluate("[sessionStorage.length, localStorage.length, document.cookie]") == [1, 0, ""]


def test_without_the_key_the_page_says_so(tab, locked):
    page = tab(locked, allowed=["401"])
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector(".notice.error >> text=Try again")


def test_without_a_store_marks_stay_in_the_page(tab, locked, files):
    page = tab(locked, allowed=["401", "503"])
    page.fill("dialog input", "sesame")
    page.keyboard.press("Enter")
    page.wait_for_selector(".drop")
    page.set_input_files("input[type=file]", files.folder / "rows.csv")
    page.clock.install()
    page.click("#row-0")
    page.keyboard.press("w")
    page.clock.fast_forward(9_000)
    page.wait_for_selector(".toast:has-text('keeps no feedback')")
    assert page.locator(".marked").count() == 1


def test_a_service_that_is_gone_is_said_so_and_can_be_tried_again(tab, service):
    page = tab(service, allowed=["ERR_FAILED"])
    page.route("**/models", lambda route: route.abort())
    page.reload()
    page.wait_for_selector(".notice.error:has-text('cannot be reached')")
    page.unroute("**/models")
    page.click("text=Try again")
    page.wait_for_selector(".drop")

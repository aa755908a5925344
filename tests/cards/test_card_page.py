"""The page of a card in a browser: readable for all, on a phone and in the dark; nothing in it runs or loads."""

import pytest
from carded import thing

from vecuq.report import card

HOSTILE = "<img src=x onerror=document.title='taken'>" + "一" * 90 + "x" * 300


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    made = card(thing("categories"), title=HOSTILE, owner=HOSTILE, intended_use="Digits.\n\nNo letters.")
    path = tmp_path_factory.mktemp("page") / "card.html"
    path.write_text(made.to_html(), "utf-8")
    return path


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_the_page_has_no_violation_and_fits(browser, page_file, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(page_file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.title().startswith("Model card: <img")
    assert asked == [page_file.as_uri()]
    assert said == []
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"]})
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found.response["violations"]] == []
    context.close()

"""A drawing inside a page: text in the page's letters, colours of the page, no reach beyond itself."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from vecuq._draw import BLUE, GREY, INK, PALETTE, blank, inline_svg, name_axes


def drawing(name="entropy", n=4, colour=BLUE):
    figure, axes = blank(4, 3)
    axes.plot(np.arange(n), color=colour, marker="o", label=name)
    axes.scatter(np.arange(n), np.arange(n), rasterized=True)
    axes.legend()
    axes.set_title("bold words", fontweight="bold")
    name_axes(axes, name, "y")
    return figure


def read(svg):
    return ElementTree.fromstring(svg)  # noqa: S314 - our own


def test_it_is_one_image_with_a_name_that_scales():
    root = read(inline_svg(drawing(), title="Rows & <b>more</b>", about='what "it" shows'))
    assert root.tag == "svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == 'Rows & <b>more</b>. what "it" shows'
    assert root.get("viewBox")
    assert root.get("width") is root.get("height") is None


def test_nothing_in_it_reaches_beyond_it():
    svg = inline_svg(drawing(), title="x")
    assert not re.search(r"<(style|script|metadata|foreignObject|a)\b|@import|https?://|\son\w+=|javascript:", svg)
    assert {link[:10] for link in re.findall(r'href="([^"]*)"', svg) if not link.startswith("#")} == {"data:image"}


def test_names_stay_text_in_the_letters_of_the_page():
    svg = inline_svg(drawing("预测熵 <script>alert(1)</script> $x^{"), title="x")
    texts = ["".join(one.itertext()) for one in read(svg).iter("text")]
    assert texts.count("预测熵 <script>alert(1)</script> $x^{") >= 1
    assert "<script" not in svg
    assert "font-family" not in svg
    assert "DejaVu" not in svg
    bold = next(one for one in read(svg).iter("text") if one.text == "bold words")
    assert re.search(r"font-weight: ?(bold|700)|font: bold|font: 700", bold.get("style"))


@pytest.mark.parametrize(
    ("colour", "variable"), [(BLUE, "--vq-blue"), (INK, "--vq-ink"), (GREY, "--vq-soft"), ("#000000", "--vq-ink")]
)
def test_colours_are_those_of_the_page_with_a_value_where_it_has_none(colour, variable):
    assert re.search(rf"stroke: var\({variable}, #[0-9a-f]{{6}}\)", inline_svg(drawing(colour=colour), title="x"))


def test_a_colour_that_the_page_does_not_name_stays_as_it_is():
    assert f"stroke: {PALETTE[3].lower()}" in inline_svg(drawing(colour=PALETTE[3]), title="x")


def test_every_id_is_used_and_no_other_figure_has_it():
    one, other = (inline_svg(drawing(), title=title) for title in ("one", "other"))
    ids = [set(re.findall(r'\sid="([^"]*)"', svg)) for svg in (one, other)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for svg, own in zip((one, other), ids, strict=True):
        assert set(re.findall(r"url\(#([^)]*)\)", svg)) | set(re.findall(r'href="#([^"]*)"', svg)) == own


def test_the_same_figure_gives_the_same_text_and_is_left_as_it_was():
    figure = drawing()
    assert inline_svg(figure, title="x") == inline_svg(drawing(), title="x")
    assert figure.patch.get_visible()
    assert figure.patch.get_facecolor() == (1.0, 1.0, 1.0, 1.0)


def test_numbers_of_a_path_are_as_long_as_can_be_seen():
    paths = [one.get("d") for one in read(inline_svg(drawing(n=300), title="x")).iter("path")]
    assert max(len(digits) for path in paths for digits in re.findall(r"\.(\d+)", path)) == 2


def test_an_empty_figure_is_an_image_too():
    assert read(inline_svg(Figure(), title="nothing")).get("aria-label") == "nothing"


def test_letters_that_a_page_cannot_hold_are_replaced():
    svg = inline_svg(drawing(), title="a\x00\x1b\N{RIGHT-TO-LEFT OVERRIDE}b", about="\udc80")
    replaced = "\N{REPLACEMENT CHARACTER}"
    assert read(svg).get("aria-label") == f"a{3 * replaced}b. {replaced}"
    assert svg.encode()

"""A figure inside a page: SVG whose colours and letters are those of the page around it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

from vecuq._draw.colours import BLUE, GREEN, GREY, INK, LINE, PAPER, VERMILION
from vecuq._draw.texts import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What a drawing is made with, and what the page calls it. All else keeps its colour on light and dark pages alike.
_VARIABLES = {
    INK: "var(--vq-ink, #1b1f24)",
    "#000000": "var(--vq-ink, #1b1f24)",
    GREY: "var(--vq-soft, #57606a)",
    LINE: "var(--vq-line, #e3e6ea)",
    PAPER: "var(--vq-paper, #ffffff)",
    BLUE: "var(--vq-blue, #0072b2)",
    VERMILION: "var(--vq-vermilion, #b84a00)",
    GREEN: "var(--vq-green, #00734f)",
}
_COLOURS = {colour.lower(): variable for colour, variable in _VARIABLES.items()}
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
# Weight, size and family, as one declaration (before matplotlib 3.11) or as several.
_FONT, _FAMILY = re.compile(r"font: ([^;']*?)([\d.]+px) [^;]*"), re.compile(r"font-family: [^;]*;? ?")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
# Enough for a drawing of half a wide page, and half the bytes of a printed one.
_IMAGE_DPI = 130
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"


def inline_svg(figure: Figure, *, title: str, about: str = "") -> str:
    """Return a figure as ``<svg role="img">`` to put into a page.

    Text stays text, in the page's own letters. Colours are the variables of :func:`vecuq._draw.fragment_css`, with the
    light value where a page has none, so that one drawing is right on light and dark pages. There is no script and no
    style sheet, and every id is the figure's own: two figures of one page share an id only if they are equal.

    Parameters
    ----------
    figure
        Any matplotlib figure; its background is left out.
    title
        What is drawn, in a few words: read out in place of the picture.
    about
        More of it, for those who cannot see the picture.
    """
    root = ElementTree.fromstring(_without_ground(figure))  # noqa: S314 - drawn here, a moment ago
    _strip(root)
    drawing = _Drawing(_signature(root, title, about), _named_again(root))
    for element in root.iter():
        drawing.dress(element)
    _announce(root, printable(title), printable(about))
    return ElementTree.tostring(root, encoding="unicode")


def _without_ground(figure: Figure) -> bytes:
    """Return the SVG of a figure whose background is that of the page; the figure itself stays as it is."""
    from vecuq._draw.figures import to_svg  # brings matplotlib

    before = figure.patch.get_visible()
    figure.patch.set_visible(False)
    try:
        return to_svg(figure, dpi=_IMAGE_DPI)
    finally:
        figure.patch.set_visible(before)


def _strip(root: ElementTree.Element) -> None:
    """Leave out what would reach beyond the drawing, its style sheet, and what only names its maker or fills space."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)
            child.tail = None
        if parent.tag != f"{_SVG}text":
            parent.text = None


def _named_again(root: ElementTree.Element) -> frozenset[str]:
    """Return the ids that some other part of the drawing refers to."""
    links = (element.get(_LINK, "") for element in root.iter())
    clipped = (value for element in root.iter() for value in element.attrib.values())
    return frozenset(link[1:] for link in links if link.startswith("#")) | {
        found for value in clipped for found in _REFERENCE.findall(value)
    }


def _signature(root: ElementTree.Element, title: str, about: str) -> str:
    drawn = ElementTree.tostring(root) + f"{title}\n{about}".encode("utf-8", "replace")
    return "vq" + hashlib.sha256(drawn).hexdigest()[:10]


class _Drawing(NamedTuple):
    """What the ids of one drawing start with, and which of them are needed."""

    mark: str
    needed: frozenset[str]

    def dress(self, element: ElementTree.Element) -> None:
        """Give one element the colours and letters of the page, short numbers, and ids that no other figure has."""
        element.tag = element.tag.removeprefix(_SVG)
        for key, value in list(element.attrib.items()):
            element.attrib[key] = _PUT.get(key, str)(_REFERENCE.sub(rf"url(#{self.mark}-\1)", value))
        name, link = element.attrib.pop("id", ""), element.attrib.pop(_LINK, "")
        if name in self.needed:
            element.attrib["id"] = f"{self.mark}-{name}"
        if link:
            element.attrib["href"] = f"#{self.mark}-{link[1:]}" if link.startswith("#") else link


def _page_style(style: str) -> str:
    """Return a style with the page's colours and font."""
    coloured = _COLOUR.sub(lambda found: _COLOURS.get(found.group().lower(), found.group()), style)
    return _FAMILY.sub("", _FONT.sub(_weight_and_size, coloured))


def _weight_and_size(found: re.Match[str]) -> str:
    weight = "font-weight: 700; " if re.search("bold|700", found.group(1)) else ""
    return f"{weight}font-size: {found.group(2)}"


def _short_numbers(path: str) -> str:
    """Return a path on one line, to a hundredth of a point."""
    return " ".join(_LONG_NUMBER.sub(lambda found: f"{float(found.group()):.2f}", path).split())


_PUT: dict[str, Callable[[str], str]] = {
    "style": _page_style,
    **dict.fromkeys(("d", "x", "y", "transform", "width", "height"), _short_numbers),
}


def _announce(root: ElementTree.Element, title: str, about: str) -> None:
    """Say what is drawn, let the page choose the size, and keep the strokes as they were drawn."""
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.attrib |= {
        "class": "vq-drawing",
        "role": "img",
        "aria-label": f"{title}. {about}" if about else title,
        "style": "stroke-linejoin: round; stroke-linecap: butt",
    }

"""What panels share: the axes to draw on, names as text, and one line where there is nothing to draw."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from matplotlib.figure import Figure

from vecuq._draw.colours import GREY, INK
from vecuq._draw.figures import blank, tidy
from vecuq._draw.texts import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

MOST_NAME = 32
# Width of a letter of a legend in points, and how many letters the line or mark before a name takes.
_LETTER, _HANDLE = 5.5, 5
# Fonts with letters that matplotlib's own lacks; those of them that are installed are used where it has none.
_MORE_FONTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "Microsoft YaHei", "Hiragino Sans", "Noto Emoji")


def panel(ax: Axes | None, *, width: float = 6.4, height: float = 4.4) -> Axes:
    """Return the axes to draw on: those given, or a new figure's own, made without pyplot."""
    return blank(width, height)[1] if ax is None else tidy(ax)


def say(axes: Axes, words: str) -> Axes:
    """Write one line where there is nothing to draw, and return the axes."""
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=GREY, fontsize=12, wrap=True)
    axes.set_xticks([])
    axes.set_yticks([])
    return axes


def label(name: str, most: int = MOST_NAME) -> str:
    """Return a name of one short line; a legend would not show one that starts with an underscore.

    Letters of double width, as Chinese and Japanese have, count twice.
    """
    short, room = named(name, most), most
    while width_of(short) > most:
        room -= 1
        short = named(name, room)
    return f" {short}" if short.startswith("_") else short


def width_of(words: str) -> int:
    """Return how many narrow letters a text is wide."""
    return sum(1 + (east_asian_width(letter) in "WF") for letter in words)


def title(axes: Axes, words: str) -> None:
    """Write what is drawn above a panel; names in it are text."""
    axes.set_title(words, fontsize=13, color=INK, parse_math=False, fontfamily=fonts(), loc="left")


def name_axes(axes: Axes, x: str, y: str) -> None:
    """Name both axes; a name is text, never mathematics, in whatever script."""
    for put, words in ((axes.set_xlabel, x), (axes.set_ylabel, y)):
        put(words, fontsize=13, color=INK, parse_math=False, fontfamily=fonts())


def legend(axes: Axes, **where: Any) -> Legend:
    """Add a legend whose names are text, in whatever script; above the panel, where it hides nothing."""
    names = [one.get_label() for one in where["handles"]] if "handles" in where else axes.get_legend_handles_labels()[1]
    above = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": legend_columns(axes, names)}
    look = {"frameon": False, "fontsize": 10.5, "labelcolor": INK, "columnspacing": 1.2, "handlelength": 1.6}
    made = axes.legend(**{**look, **above, **where})
    as_text(made)
    return made


def legend_columns(axes: Axes, names: Sequence[str]) -> int:
    """Return in how many columns, at most three, the names of a legend fit above a panel."""
    room = _width(axes) / _LETTER
    for count in (3, 2):
        rows = -(-len(names) // count)
        widest = [max(map(width_of, names[k : k + rows])) + _HANDLE for k in range(0, len(names), max(rows, 1))]
        if sum(widest) <= room:
            return count
    return 1


def _width(axes: Axes) -> float:
    """Return how wide a panel is in points, with the colour bar beside it."""
    place, figure = axes.get_subplotspec(), axes.figure
    if place is None or not isinstance(figure, Figure):
        return 72.0 * axes.get_window_extent().width / figure.dpi
    return 72.0 * float(place.get_position(figure).width) * figure.get_figwidth()


def as_text(made: Legend) -> None:
    """Let no name of a legend be read as mathematics."""
    for words in made.get_texts():
        words.set_parse_math(False)
        words.set_fontfamily(fonts())


def fonts() -> list[str]:
    """Return the reader's own fonts, and after them installed ones with more letters."""
    import matplotlib

    return [*matplotlib.rcParams["font.family"], *_more_fonts()]


@cache
def _more_fonts() -> tuple[str, ...]:
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return tuple(name for name in _MORE_FONTS if name in installed)

"""What all plots share: the axes to draw on, names as text, and one line where there is nothing to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vecuq._draw import GREY, INK, blank, named, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

MOST_NAME = 32
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
    """Return a name of one short line; a legend would not show one that starts with an underscore."""
    short = named(name, most)
    return f" {short}" if short.startswith("_") else short


def title(axes: Axes, words: str) -> None:
    """Write what is drawn above a panel; names in it are text."""
    axes.set_title(words, fontsize=13, color=INK, parse_math=False, fontfamily=fonts(), loc="left")


def axis_names(axes: Axes, x: str, y: str) -> None:
    """Name both axes; a name is text, never mathematics, in whatever script."""
    for put, words in ((axes.set_xlabel, x), (axes.set_ylabel, y)):
        put(words, fontsize=13, color=INK, parse_math=False, fontfamily=fonts())


def legend(axes: Axes, **where: Any) -> Legend:
    """Add a legend whose names are text, in whatever script."""
    made = axes.legend(**{"frameon": False, "fontsize": 11, "labelcolor": INK, **where})
    as_text(made)
    return made


def as_text(made: Legend) -> None:
    """Let no name of a legend be read as mathematics."""
    for words in made.get_texts():
        words.set_parse_math(False)
        words.set_fontfamily(fonts())


def fonts() -> list[str]:
    """Return the reader's own fonts, and after them installed ones with more letters."""
    import matplotlib
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return [*matplotlib.rcParams["font.family"], *(name for name in _MORE_FONTS if name in installed)]

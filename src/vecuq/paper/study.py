"""A study: tables and pictures of the paper, computed anew, with the paper's figures beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vecuq._draw import Sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Picture:
    """A drawing that is made when somebody wants to see it."""

    name: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class Study:
    """The outcome of one study.

    Parameters
    ----------
    name, title
        What ``vecuq reproduce`` calls it, and what it is about.
    sheets
        Our tables.
    figures
        The same numbers, unrounded, for programs.
    differs
        What differs from the paper's setting.
    printed
        The paper's tables.
    pictures
        Our drawings.
    claims
        What the paper claims, each with what we found.
    """

    name: str
    title: str
    sheets: tuple[Sheet, ...]
    figures: Mapping[str, Any]
    differs: str
    printed: tuple[Sheet, ...] = ()
    pictures: tuple[Picture, ...] = ()
    claims: tuple[str, ...] = ()

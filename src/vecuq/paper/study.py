"""A study: tables and pictures of the paper, computed again, with the paper's own tables beside them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from vecuq._draw import Sheet, Spread, marked_rows, page_environment
from vecuq._version import __version__

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


def printed_table(name: str, title: str, *, across: tuple[str, ...] = (), decimals: int = 3) -> Sheet:
    """Return one of the paper's tables; ``0.918 ± 0.001`` becomes a spread, other numbers floats.

    Examples
    --------
    >>> printed_table("toy", "The motivating example").rows[0]["1 - MSP"]
    0.766
    """
    text = (files(__name__.rpartition(".")[0]) / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    rows = tuple({head: _value(cell) for head, cell in row.items()} for row in csv.DictReader(text.splitlines()))
    return Sheet(f"paper_{name}", title, rows, across=across, decimals=decimals)


def _value(cell: str) -> Any:
    mean, _, std = cell.partition(" ± ")
    try:
        return Spread(float(mean), float(std)) if std else _number(cell)
    except ValueError:
        return cell


def _number(cell: str) -> int | float:
    return float(cell) if "." in cell else int(cell)


def render_page(studies: Sequence[Study]) -> str:
    """Return one self-contained page with every study; every text is escaped, nothing is loaded and nothing runs."""
    from vecuq._draw import to_data_uri

    environment = page_environment("vecuq.paper")
    environment.filters["marked_rows"] = marked_rows
    pictures = {
        study.name: [(picture.caption, to_data_uri(picture.draw())) for picture in study.pictures] for study in studies
    }
    page = environment.get_template("studies.html.j2")
    return page.render(studies=studies, pictures=pictures, version=__version__)

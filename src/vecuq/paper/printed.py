"""The paper's own tables, as it prints them."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Any

from vecuq._draw import Sheet, Spread


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

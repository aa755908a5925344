"""Tables to be looked at: rows of cells, the best and second best of them marked, as csv, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from vecuq._check import without_formula

NOTHING = "\N{EN DASH}"


@dataclass(frozen=True)
class Spread:
    """A mean over repetitions and their standard deviation, as papers print it.

    Examples
    --------
    >>> print(Spread.of([0.90, 0.91, 0.95]))
    0.920 ± 0.026
    """

    mean: float
    std: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        """Return the mean and the standard deviation (divisor n - 1; missing for one value) of repeated figures."""
        mean = math.fsum(values) / len(values)
        if len(values) < 2:
            return Spread(mean, math.nan)
        return Spread(mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)))

    def __float__(self) -> float:
        return self.mean

    def __format__(self, spec: str) -> str:
        spec = spec or ".3f"
        return f"{self.mean:{spec}}" + ("" if math.isnan(self.std) else f" ± {self.std:{spec}}")

    def __str__(self) -> str:
        return format(self)


@dataclass(frozen=True)
class Ranged:
    """A figure with the ends of its interval, NaN where it has none.

    Examples
    --------
    >>> print(Ranged(0.92, 0.9, 0.94))
    0.920 [0.900, 0.940]
    """

    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        spec = spec or ".3f"
        ends = "" if math.isnan(self.low) else f" [{self.low:{spec}}, {self.high:{spec}}]"
        return f"{self.value:{spec}}{ends}"

    def __str__(self) -> str:
        return format(self)


@dataclass(frozen=True)
class Sheet:
    """A table with a title; all rows have the same keys, which are its heads.

    Parameters
    ----------
    name
        Short, good for a file name.
    title
        One sentence that says what the numbers are.
    rows
        Text, numbers, :class:`Spread`, :class:`Ranged`, or None where there is nothing.
    across
        Heads whose cells compete within a row; higher is better.
    down
        Heads whose cells compete within the column, and whether higher is better there.
    decimals
        How many decimals fractions are printed with, and compared at.
    """

    name: str
    title: str
    rows: tuple[dict[str, Any], ...]
    across: tuple[str, ...] = ()
    down: Mapping[str, bool] = field(default_factory=dict)
    decimals: int = 3

    @property
    def heads(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.rows[0]) if self.rows else ()


@dataclass(frozen=True)
class Marked:
    """A cell as text, and whether it is the ``best`` or the ``second`` of its rivals (else ``mark`` is empty)."""

    text: str
    mark: str = ""


def marked_rows(sheet: Sheet) -> Iterator[tuple[Marked, ...]]:
    """Yield each row as text with marks; cells that print alike share a mark, as in printed tables."""
    columns = {
        head: _marks([row[head] for row in sheet.rows], sheet.decimals, higher=higher)
        for head, higher in sheet.down.items()
    }
    for place, row in enumerate(sheet.rows):
        marks = dict(
            zip(sheet.across, _marks([row[head] for head in sheet.across], sheet.decimals, higher=True), strict=True)
        )
        marks.update({head: found[place] for head, found in columns.items()})
        yield tuple(Marked(_text(value, sheet.decimals), marks.get(head, "")) for head, value in row.items())


def _marks(cells: Sequence[Any], decimals: int, *, higher: bool) -> list[str]:
    shown = [_number(cell, decimals) for cell in cells]
    known = sorted({value for value in shown if value is not None}, reverse=higher)
    if len(known) < 2:  # nothing is better than anything
        return [""] * len(cells)
    word = {known[0]: "best", known[1]: "second"}
    return ["" if value is None else word.get(value, "") for value in shown]


def _number(cell: Any, decimals: int) -> float | None:
    if cell is None or isinstance(cell, str | bool):
        return None
    value = round(float(cell), decimals)
    return None if math.isnan(value) else value


def _text(cell: Any, decimals: int) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return NOTHING
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    return format(cell, f".{decimals}f")


def as_csv(sheet: Sheet, *, formulas: bool = True) -> str:
    """Return the sheet as csv in full precision; a spread becomes mean and deviation, a range three columns.

    Without ``formulas``, texts that a spreadsheet would compute get an apostrophe in front.
    """
    rows = [_flat(row) if formulas else _quoted(_flat(row)) for row in sheet.rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(dict.fromkeys(head for row in rows for head in row)))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for head, cell in row.items():
        if isinstance(cell, Spread):
            flat |= {head: cell.mean, f"{head} std": cell.std}
        elif isinstance(cell, Ranged):
            flat |= {head: cell.value, f"{head} low": cell.low, f"{head} high": cell.high}
        else:
            flat[head] = cell
    return flat


def _quoted(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        without_formula(head): without_formula(cell) if isinstance(cell, str) else cell for head, cell in row.items()
    }


def as_markdown(sheet: Sheet) -> str:
    """Return the sheet as a Markdown table, the best bold, the second best in italics."""
    dress = {"best": "**{}**", "second": "*{}*", "": "{}"}
    lines = [
        "| " + " | ".join(_plain(head) for head in sheet.heads) + " |",
        "|" + "---|" * len(sheet.heads),
    ]
    for row in marked_rows(sheet):
        lines.append("| " + " | ".join(dress[cell.mark].format(_plain(cell.text)) for cell in row) + " |")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Return a text as Markdown shows it: no tag, no link, no letter that steers a terminal."""
    return _legible(escape(text, quote=False)).replace("|", "\\|").replace("](", "]\\(")


def as_latex(sheet: Sheet) -> str:
    """Return the sheet as a LaTeX table (package booktabs), the best bold, the second best underlined."""
    dress = {"best": r"\textbf{%s}", "second": r"\underline{%s}", "": "%s"}
    body = [" & ".join(dress[cell.mark] % _escaped(cell.text) for cell in row) + r" \\" for row in marked_rows(sheet)]
    lines = [
        r"\begin{table}",
        r"  \centering",
        r"  \begin{tabular}{" + "l" * len(sheet.heads) + "}",
        r"    \toprule",
        "    " + " & ".join(map(_escaped, sheet.heads)) + r" \\",
        r"    \midrule",
        *(f"    {line}" for line in body),
        r"    \bottomrule",
        r"  \end{tabular}",
        rf"  \caption{{{_escaped(sheet.title)}}}",
        rf"  \label{{tab:{sheet.name}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "ε": r"$\varepsilon$",
    NOTHING: "--",
    **{letter: "\\" + letter for letter in "&%$#_{}"},
}


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in _legible(text))


def _legible(text: str) -> str:
    """Return a text on one line; what cannot be printed is a replacement character."""
    line = " ".join(text.split())
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line)


FORMATS = {"csv": as_csv, "md": as_markdown, "tex": as_latex}

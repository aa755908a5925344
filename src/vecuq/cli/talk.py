"""How the command line talks: results on stdout, notes, errors and progress on stderr."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from vecuq._check import one_line
from vecuq._draw import Marked, Sheet, marked_rows
from vecuq.errors import SettingError, VecuqError, VecuqWarning
from vecuq.table import count_rows
from vecuq.workflows import Watch

err = Console(stderr=True, highlight=False)


@contextmanager
def friendly_errors() -> Iterator[None]:
    """Turn what we refuse into one line on stderr and exit code 1; show the warnings of what was done as notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VecuqWarning)
        try:
            yield
        except BrokenPipeError:
            raise  # whoever read our output has gone, as `head` does; typer leaves quietly
        except (VecuqError, OSError, MemoryError) as error:
            _say("error:", "bold red", str(error) or "not enough memory")
            raise typer.Exit(1) from None
    for told in caught:
        if issubclass(told.category, VecuqWarning):
            note(told.message)
        else:
            warnings.showwarning(told.message, told.category, told.filename, told.lineno)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn a setting that can never be right into wrong usage, exit code 2."""
    try:
        yield
    except SettingError as error:
        raise typer.BadParameter(str(error)) from None


def note(what: object) -> None:
    """Say something on stderr that the user should know."""
    _say("note:", "yellow", what)


def _say(word: str, style: str, what: object) -> None:
    text = one_line(what, most=2_000)
    if err.is_terminal:
        err.print(Text.assemble((word, style), f" {text}"))  # in one piece, or a bar would come between
    else:
        sys.stderr.write(f"{word} {text}\n")


def print_lines(lines: dict[str, str | None]) -> None:
    """Print one line for each name that has something to say, the values below each other."""
    width = max(map(len, lines))
    for name, text in lines.items():
        if text:
            typer.echo(f"{name:<{width}}  {text}")


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object; a number that JSON does not know is null."""
    typer.echo(json.dumps(_finite(value), indent=2, default=str, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print rows with the same keys as a table."""
    table = Table(title=title, title_justify="left", header_style="bold")
    for name in rows[0]:
        table.add_column(Text(name), justify="left" if isinstance(rows[0][name], str) else "right")
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    # A file or a pipe has no edge to wrap at.
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def print_sheet(sheet: Sheet) -> None:
    """Print a sheet; the best cell is bold and the second best underlined, or with stars where that cannot be seen."""
    table = Table(title=sheet.title, title_justify="left", header_style="bold")
    for head in sheet.heads:
        table.add_column(Text(head), justify="left" if isinstance(sheet.rows[0][head], str) else "right")
    for row in marked_rows(sheet):
        table.add_row(*(_marked_cell(cell) for cell in row))
    Console(width=None if sys.stdout.isatty() else 200).print(table)
    if (sheet.across or sheet.down) and not sys.stdout.isatty():
        typer.echo("** best, * second best")


def _marked_cell(cell: Marked) -> Text:
    """Return a cell with its mark: a style on a terminal, stars in a file."""
    if sys.stdout.isatty():
        return Text(cell.text, style={"best": "bold", "second": "underline", "": ""}[cell.mark])
    return Text(cell.text + {"best": " **", "second": " *", "": ""}[cell.mark])


def _cell(value: Any) -> Text:
    """Return a cell as plain text: names of columns may look like markup."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Text("-")
    if not isinstance(value, float):
        return Text(str(value))
    # No zeros that say more than is known.
    return Text(f"{value:.6f}".rstrip("0").ljust(5, "0"))


@contextmanager
def working() -> Iterator[Callable[[str], None]]:
    """Yield what shows on stderr which long work is going on; nothing is shown when nobody is watching."""
    if not err.is_terminal:
        yield lambda _: None
        return
    with err.status("") as status:
        yield status.update


@contextmanager
def watching(table: Path | None = None, *, rows: str = "scoring") -> Iterator[Watch]:
    """Yield what moves the bars on stderr; nothing moves when nobody is watching."""
    if not err.is_terminal:
        yield Watch()
        return
    parts = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"), TimeElapsedColumn())
    bars = Progress(*parts, console=err, transient=True)
    fitting = bars.add_task("fitting", total=None, visible=False, told="")
    total = count_rows(table) if table is not None else None
    reading = bars.add_task("reading", total=None, visible=False, told="")
    scoring = bars.add_task(rows, total=total, visible=False, told="")

    def sweep(number: int, marginal_error: float) -> None:
        bars.update(fitting, visible=True, told=f"sweep {number:,}, marginal error {marginal_error:.1e}")
        bars.start()

    def count(task: TaskID) -> Callable[[int], None]:
        def told(number: int) -> None:
            done = bars.tasks[task].completed + number
            bars.update(task, visible=True, completed=done, told=f"{done:,.0f} rows")
            bars.start()

        return told

    try:
        yield Watch(sweep, rows=count(scoring), read=count(reading))
    finally:
        bars.stop()

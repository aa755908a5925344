"""How the command line talks: results on stdout, notes, errors and progress on stderr."""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from vecuq.cli.edge import CLOSED_PIPE, STOPPED
from vecuq.cli.wording import as_options, printable
from vecuq.errors import SettingError, VecuqError, VecuqWarning

if TYPE_CHECKING:
    from rich.progress import TaskID
    from rich.text import Text

    from vecuq._draw import Marked, Sheet
    from vecuq.workflows import Watch

err = Console(stderr=True, highlight=False)
# Columns of a table in a file or a pipe, which has no edge of its own.
_NO_TERMINAL = 200
# Whether the traceback of an error is shown.
DEBUG: ContextVar[bool] = ContextVar("DEBUG", default=False)
# What no line on stderr may repeat, and how long it must be: a key such as "x" would blot out every message.
_SECRETS: set[str] = set()
_LEAST_SECRET = 6


def keep_secret(word: str) -> None:
    """Never print this word, whatever message or traceback it comes in."""
    if len(word.strip()) >= _LEAST_SECRET:
        _SECRETS.add(word.strip())


@contextmanager
def last_catch() -> Iterator[None]:
    """Turn whatever is raised into one line on stderr and exit code 1; stop signals and exits go on."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, typer.Abort):
        raise
    except BrokenPipeError:  # whoever read our output has gone, as `head` does
        raise typer.Exit(CLOSED_PIPE) from None
    except BaseException as error:
        # What typer raises has an exit code: wrong usage, or a command that has said all.
        if hasattr(error, "exit_code"):
            raise
        if STOPPED:  # a library has turned the signal into an error of its own
            raise typer.Exit(STOPPED[0]) from None
        _report(error)
        raise typer.Exit(1) from None


def _report(error: BaseException) -> None:
    """Print an error as one line; what nobody foresaw says so."""
    _show_traceback(error)
    words = _masked(str(error)) or ("not enough memory" if isinstance(error, MemoryError) else "")
    if not isinstance(error, VecuqError | OSError | MemoryError):
        remedy = "report it with the traceback" if DEBUG.get() else "run again with --debug and report what it shows"
        words = f"unexpected {type(error).__name__}: {words[:1_000]}; this is a defect of vecuq: {remedy}."
    _say("error:", "bold red", words)


def _show_traceback(error: BaseException) -> None:
    if DEBUG.get():
        from traceback import format_exception

        for line in "".join(format_exception(error)).splitlines():
            _write("".join(letter if letter.isprintable() else "?" for letter in line))


@contextmanager
def friendly_errors() -> Iterator[None]:
    """Turn an error into one line on stderr and exit code 1; show the warnings of what was done as notes, each once."""
    with last_catch(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VecuqWarning)
        yield
    for warning in {str(one.message): one for one in caught}.values():
        if issubclass(warning.category, VecuqWarning):
            note(warning.message)
        else:
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn a setting that can never be right into wrong usage, exit code 2."""
    try:
        yield
    except SettingError as error:
        _show_traceback(error)
        raise typer.BadParameter(as_options(str(error))) from None


def note(what: object) -> None:
    """Print something on stderr that the user should know."""
    _say("note:", "yellow", what)


def _say(word: str, style: str, what: object) -> None:
    from rich.text import Text

    from vecuq._check import one_line

    text = as_options(one_line(_masked(str(what)), most=2_000))
    if err.is_terminal:
        err.print(Text.assemble((word, style), f" {text}"))  # in one piece, or a bar would come between
    else:
        _write(f"{word} {text}")


def _write(line: str) -> None:
    if sys.stderr is not None:  # it may be closed
        sys.stderr.write(f"{_masked(line)}\n")


def _masked(text: str) -> str:
    for secret in _SECRETS:
        text = text.replace(secret, "***")
    return text


def counted(count: int, what: str) -> str:
    """Return a number with its noun: 1 row, 2 rows."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def echo(text: str, *, err: bool = False) -> None:
    """Print a text on stdout; names of columns and files cannot steer the terminal."""
    typer.echo(printable(text), err=err)


def print_lines(lines: dict[str, str | None]) -> None:
    """Print one line for each name that has something to say, the values below each other."""
    width = max(map(len, lines))
    for name, text in lines.items():
        if text:
            echo(f"{name:<{width}}  {text}")


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
    left = [isinstance(value, str) for value in rows[0].values()]
    _print_grid(title, list(rows[0]), [[_cell(value) for value in row.values()] for row in rows], left)


def print_sheet(sheet: Sheet) -> None:
    """Print a sheet; the best cell is bold and the second best underlined, or with stars where that cannot be seen."""
    from vecuq._draw import marked_rows

    left = [isinstance(sheet.rows[0][head], str) for head in sheet.heads]
    _print_grid(sheet.title, sheet.heads, [[_marked_cell(cell) for cell in row] for row in marked_rows(sheet)], left)
    if (sheet.across or sheet.down) and not sys.stdout.isatty():
        echo("** best, * second best")


def table_width(wide: int = _NO_TERMINAL) -> int:
    """Return how many columns a table may take: the terminal's, those of COLUMNS, or ``wide`` in a file or a pipe."""
    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else wide).width


def _print_grid(title: str, heads: Sequence[str], rows: Sequence[Sequence[Text]], left: Sequence[bool]) -> None:
    """Print a table; columns that do not fit follow below, again beside the first one. Nothing is cut."""
    from rich.table import Table
    from rich.text import Text

    width, heads = table_width(), [printable(head) for head in heads]
    sizes = [max(Text(head).cell_len, *(row[k].cell_len for row in rows)) for k, head in enumerate(heads)]
    for number, part in enumerate(_column_parts(sizes, width)):
        table = Table(title=None if number else title, title_justify="left", header_style="bold")
        for k in part:
            table.add_column(Text(heads[k]), justify="left" if left[k] else "right", overflow="fold")
        for row in rows:
            table.add_row(*(row[k] for k in part))
        Console(width=width).print(table)


def _column_parts(sizes: Sequence[int], width: int) -> list[list[int]]:
    """Share columns into tables that fit; the first column is in all of them."""
    # A column takes its text, a blank on either side and a border.
    taken = [size + 3 for size in sizes]
    first = min(taken[0], width // 2)
    parts: list[list[int]] = [[0]]
    room = width - 1 - first
    for k, size in enumerate(taken[1:], start=1):
        if size > room and len(parts[-1]) > 1:
            parts.append([0])
            room = width - 1 - first
        parts[-1].append(k)
        room -= size
    return parts


def _marked_cell(cell: Marked) -> Text:
    """Return a cell with its mark: a style on a terminal, stars in a file."""
    from rich.text import Text

    if sys.stdout.isatty():
        return Text(printable(cell.text), style={"best": "bold", "second": "underline", "": ""}[cell.mark])
    return Text(printable(cell.text) + {"best": " **", "second": " *", "": ""}[cell.mark])


def _cell(value: Any) -> Text:
    """Return a cell as plain text: names of columns may look like markup."""
    from rich.text import Text

    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Text("-")
    if not isinstance(value, float):
        return Text(printable(str(value)))
    # No zeros beyond the known digits.
    return Text(f"{value:.6f}".rstrip("0").ljust(5, "0"))


@contextmanager
def working() -> Iterator[Callable[[str], None]]:
    """Yield what shows on stderr which long work is going on; nothing is shown when nobody is watching."""
    if not err.is_terminal:
        yield lambda _: None
        return
    with err.status("") as status:
        yield status.update


def _rows_to_come(table: Path | Sequence[Path] | None) -> int | None:
    """Return how many rows files have, if they say so; what is wrong with them is the job's to report."""
    from vecuq.table import count_rows

    with suppress(VecuqError):
        return None if table is None else count_rows(table)
    return None


@contextmanager
def watching(table: Path | Sequence[Path] | None = None, *, rows: str = "scoring") -> Iterator[Watch]:
    """Yield what moves the bars on stderr; nothing moves when nobody is watching."""
    from vecuq.workflows import Watch

    if not err.is_terminal:
        yield Watch()
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    parts = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn())
    bars = Progress(*parts, console=err, transient=True)
    fitting = bars.add_task("fitting", total=None, visible=False, state="")
    total = _rows_to_come(table)
    reading = bars.add_task("reading", total=None, visible=False, state="")
    scoring = bars.add_task(rows, total=total, visible=False, state="")

    def sweep(number: int, marginal_error: float) -> None:
        bars.update(fitting, visible=True, state=f"sweep {number:,}, marginal error {marginal_error:.1e}")
        bars.start()

    def count(task: TaskID) -> Callable[[int], None]:
        def advance(number: int) -> None:
            done = bars.tasks[task].completed + number
            bars.update(task, visible=True, completed=done, state=f"{done:,.0f} rows")
            bars.start()

        return advance

    try:
        yield Watch(sweep, rows=count(scoring), read=count(reading))
    finally:
        bars.stop()

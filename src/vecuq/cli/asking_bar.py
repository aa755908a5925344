"""What is seen while questions are asked: a bar with the rate and the time left, and notes that do not tear it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vecuq.cli.talk import err, note

if TYPE_CHECKING:
    from vecuq.workflows import Step

# Seconds that the time left is reckoned from; one question alone may take half a minute.
_RECENT = 600.0


@contextmanager
def asking_bar() -> Iterator[Callable[[Step], None]]:
    """Yield what tells of refused questions, and moves a bar if somebody is watching."""
    if not err.is_terminal:
        yield _tell_refused
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("asking"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, speed_estimate_period=_RECENT) as bars:
        bar = bars.add_task("", total=None, rate="")
        spent = 0

        def told(step: Step) -> None:
            nonlocal spent
            spent += step.tokens
            elapsed = bars.tasks[bar].elapsed or 0.0
            rate = f"{spent / elapsed:,.0f} tokens/s" if spent and elapsed else ""
            bars.update(bar, completed=step.done, total=step.total, rate=rate)
            _tell_refused(step)

        yield told


def _tell_refused(step: Step) -> None:
    if step.refused is not None:
        note(step.refused)

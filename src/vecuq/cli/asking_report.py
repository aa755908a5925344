"""What `vecuq ask` shows: a bar while it runs, and what was done, with tokens and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from vecuq.cli.talk import counted, echo, err, note, print_json
from vecuq.errors import VecuqError

if TYPE_CHECKING:
    from vecuq.workflows import Asked, AskProgress

# Seconds over which the time left is estimated; one question may take half a minute.
_RECENT = 600.0


def print_done(done: Asked, out: Path, *, as_json: bool) -> None:
    """Print what was done; refused questions make it a failure."""
    for reason, number in done.missing.items():
        note(f"{counted(number, 'answer')} without {reason}.")
    if as_json:
        print_json({"out": str(out), **vars(done)})
    else:
        n_before = done.n_questions - done.n_asked - len(done.refused) - done.n_left
        before = f", {n_before:,} before" if n_before else ""
        rate = f", {done.n_tokens / done.seconds:,.0f} tokens/s" if done.n_tokens else ""
        place = f" -> {out}" if out.exists() else ""
        echo(f"{counted(done.n_asked, 'question')} answered{before}{rate}{place}")
        _print_usage(done)
    if done.n_left:
        note(
            f"Stopped at `max_cost` with {counted(done.n_left, 'question')} left; the same command with a new "
            f"`max_cost` continues from there."
        )
    if done.refused:
        raise VecuqError(
            f"{len(done.refused):,} of {done.n_questions:,} questions were refused, see above; the same command tries "
            f"only these again."
        )


def _print_usage(done: Asked) -> None:
    """Print the tokens as the server counts them, and what they cost."""
    used = done.usage
    if not used or not used["replies"]:
        return
    cached = f" ({used['cached']:,} from its cache)" if used["cached"] else ""
    reasoning = f" ({used['reasoning']:,} of reasoning)" if used["reasoning"] else ""
    cost = "" if done.cost is None else f"; cost {done.cost:,.4f}"
    echo(f"tokens: {used['prompt']:,} read{cached}, {used['completion']:,} written{reasoning}{cost}")


@contextmanager
def asking_bar() -> Iterator[Callable[[AskProgress], None]]:
    """Yield what reports refused questions and, on a terminal, moves a bar with the rate and the time left."""
    if not err.is_terminal:
        yield _report_refused
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    rate = TextColumn("{task.fields[rate]}")
    columns = (TextColumn("asking"), BarColumn(), MofNCompleteColumn(), rate, TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=err, transient=True, speed_estimate_period=_RECENT) as bars:
        bar = bars.add_task("", total=None, rate="")
        n_tokens = 0

        def report(now: AskProgress) -> None:
            nonlocal n_tokens
            n_tokens += now.tokens
            elapsed = bars.tasks[bar].elapsed or 0.0
            rate = f"{n_tokens / elapsed:,.0f} tokens/s" if n_tokens and elapsed else ""
            bars.update(bar, completed=now.done, total=now.total, rate=rate)
            _report_refused(now)

        yield report


def _report_refused(now: AskProgress) -> None:
    if now.refused is not None:
        note(now.refused)

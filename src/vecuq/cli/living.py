"""A gate over time: the parts of `vecuq score` and `vecuq audit` that keep a state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq import workflows
from vecuq.cli.talk import echo, print_json
from vecuq.errors import SettingError

_LIVE = "A gate over time"


def _live(text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=_LIVE, show_default=False, **more)


State = Annotated[
    Path | None,
    _live("Keep what was decided, and which rows are drawn for an audit, in this file; adds `audit`.", "--state"),
]
IdColumn = Annotated[str | None, _live("Column with the id of every row, by which labels come back.", "--id")]
AuditShare = Annotated[
    float | None,
    _live("Share of accepted rows that is drawn at random for the audit; 0.05 for a new state.", "--audit"),
]
Overdue = Annotated[
    int | None,
    _live("An audited row without a label counts as wrong after so many later audited rows.", "--overdue"),
]
Recalibrate = Annotated[
    Path | None, _live("Go on with this gate from now on; the promise starts anew.", "--recalibrate", metavar="GATE")
]


def refuse_stray(state: Path | None, **options: Any) -> None:
    """Raise if an option of a state is given without one."""
    stray = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    if state is None and stray:
        raise SettingError(f"{', '.join(stray)} goes with --state, the file that keeps what was decided.")


def decide(
    model: Path, new: list[Path], out: Path, state: Path, ids: str | None, by: str | None, **more: Any
) -> workflows.Decided:
    """Decide rows with a gate and its state; a state alone, without its gate, will do."""
    settings = workflows.LiveSettings(more.pop("audit"), overdue=more.pop("overdue"))
    gate = None if model == state else model
    return workflows.decide_live(gate, new, out, state=state, ids=ids or "id", by=by, settings=settings, **more)


def say_decided(done: workflows.Decided, *, as_json: bool, out: Path, summary: str) -> None:
    """Print what was decided, and how the promise stands."""
    if as_json:
        print_json({"out": str(out), **done.scored.to_dict(), "live": done.live.describe()})
        return
    to_stdout = str(out) == "-"
    echo(f"{summary} -> {'stdout' if to_stdout else out}", err=to_stdout)
    echo(str(done.live), err=to_stdout)


def take_labels(
    state: Path, later: list[Path], labels: workflows.LabelColumns, ids: str | None, *, as_json: bool
) -> None:
    """Hand labels to a live gate, and print how its promise stands."""
    done = workflows.update_live(state, later, labels, ids=ids or "id")
    if as_json:
        print_json({**vars(done.updated), "unlabelled": done.unlabelled, "live": done.live.describe()})
        return
    found = done.updated
    others = {
        "repeated": found.repeated,
        "of rows that were not drawn for the audit": found.unaudited,
        "of rows of an earlier gate": found.closed,
        "of unknown rows": found.unknown,
        "rows without a label": done.unlabelled,
    }
    counts = ", ".join(f"{count:,} {what}" for what, count in others.items() if count)
    echo(f"{found.counted:,} labels counted{f' (left out: {counts})' if counts else ''}.")
    echo(str(done.live))


def recalibrate(state: Path, gate: Path, *, as_json: bool) -> None:
    """Let a live gate go on with another gate."""
    ended, live = workflows.recalibrate_live(state, gate)
    if as_json:
        print_json({"ended": vars(ended), "live": live.describe()})
    else:
        echo(str(live))

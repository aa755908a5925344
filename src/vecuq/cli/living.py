"""A gate over time: `vecuq live`, and the options of `vecuq score` that keep a state."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq import workflows
from vecuq._check import in_range
from vecuq.cli.gating import Correct, Wrong
from vecuq.cli.options import TABLES, AsJson, table_argument
from vecuq.cli.talk import counted, echo, friendly_errors, note, print_json, usage_errors
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
StateFile = Annotated[
    Path, typer.Argument(help="State of a live gate, from `vecuq score --state`.", metavar="LIVE", show_default=False)
]


def live(
    state: StateFile,
    labelled: Annotated[
        list[Path] | None, table_argument(f"Labels of rows that were decided: {TABLES}.", "LABELLED")
    ] = None,
    ids: Annotated[str, typer.Option("--id", help="Column with the id of every row.")] = "id",
    correct: Correct = None,
    wrong: Wrong = None,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Leave out labels of rows that were never decided.")
    ] = False,
    recalibrate: Annotated[
        Path | None, typer.Option(help="Go on with this gate: a new epoch begins.", show_default=False)
    ] = None,
    wait: Annotated[
        float, typer.Option(help="Seconds to wait while another run uses the state.", metavar="SECONDS")
    ] = workflows.DEFAULT_WAIT,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if the promise is broken.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take labels of a gate's audit, by id, and say whether its promise is proven, unproven or broken.

    Only rows that were drawn for the audit count; labels of others are counted apart. Rows without a label are left
    out. A label may come late or again; one that contradicts another is refused. Without labels, shows how it stands.
    """
    with usage_errors():
        in_range("wait", wait, 0.0)
        labels = workflows.LabelColumns(correct, wrong)
    with friendly_errors():
        how: dict[str, Any] = {"wait": wait, "watch": replace(workflows.Watch(), waiting=note)}
        said: dict[str, Any] = {}
        if labelled:
            unknown = "skip" if skip_unknown else "refuse"
            taken = workflows.update_live(state, labelled, labels, ids=ids, unknown=unknown, **how)
            said["taken"] = {**asdict(taken.updated), "unlabelled": taken.unlabelled}
        if recalibrate is not None:
            said["ended"] = asdict(workflows.recalibrate_live(state, recalibrate, **how)[0])
        found = workflows.load_live(state)
        if as_json:
            print_json({**said, **found.describe()})
        else:
            _say(said, str(found))
    if strict and found.state == "broken":
        raise typer.Exit(1)


def _say(said: dict[str, Any], paragraph: str) -> None:
    taken = said.get("taken")
    if taken is not None:
        words = {
            "repeated": "that came again",
            "unaudited": "of rows that were not drawn",
            "closed": "of rows that are closed",
            "unknown": "of rows that were never decided",
        }
        others = [f"{taken[name]:,} {what}" for name, what in words.items() if taken[name]]
        others += [f"{counted(taken['unlabelled'], 'row')} without one"] if taken["unlabelled"] else []
        echo(f"{counted(taken['counted'], 'label')} of audited rows" + "".join(f"; {other}" for other in others))
    echo(paragraph)


def refuse_stray(state: Path | None, **options: Any) -> None:
    """Raise if an option of a state is given without one."""
    stray = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    if state is None and stray:
        raise SettingError(f"{', '.join(stray)} goes with --state, the file that keeps what was decided.")


def decide(model: Path, new: list[Path], out: Path, state: Path, ids: str | None, **more: Any) -> workflows.DecidedLive:
    """Decide rows with a gate and its state; a state alone, without its gate, will do."""
    settings = workflows.LiveSettings(more.pop("audit"), overdue=more.pop("overdue"))
    gate = None if model == state else model
    return workflows.decide_live(gate, new, out, state=state, ids=ids or "id", settings=settings, **more)


def say_decided(done: workflows.DecidedLive, *, as_json: bool, out: Path, summary: str) -> None:
    """Print what was decided, and how the promise stands."""
    if as_json:
        print_json({"out": str(out), **done.scored.to_dict(), "live": done.live.describe()})
        return
    to_stdout = str(out) == "-"
    echo(f"{summary} -> {'stdout' if to_stdout else out}", err=to_stdout)
    echo(str(done.live), err=to_stdout)

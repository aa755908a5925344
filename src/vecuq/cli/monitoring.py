"""`vecuq monitor`: whether, when and in which column a stream of rows drifts from the calibration rows."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vecuq import workflows
from vecuq._check import in_range, whole_number
from vecuq.cli.options import TABLES, AsJson, ModelFile, table_argument
from vecuq.cli.talk import (
    counted,
    echo,
    friendly_errors,
    note,
    print_json,
    print_lines,
    print_table,
    usage_errors,
    watching,
)

if TYPE_CHECKING:
    from vecuq.monitor import Alarm


def monitor(
    model: ModelFile,
    streams: Annotated[list[Path], table_argument(f"Rows in the order in which they came: {TABLES}.", "STREAM")],
    calibration: Annotated[
        Path | None,
        typer.Option(
            help="Rows to compare each column with; by default those that the model keeps, or those of the state."
        ),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            help="Continue from this file if it exists, and update it. It remembers the last 10,000 files by their "
            "content, so that a job that is run again counts none of them twice; stdin is not remembered.",
            show_default=False,
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Count files that --state has counted before.")] = False,
    wait: Annotated[
        float, typer.Option(help="Seconds to wait while another run uses --state.", metavar="SECONDS")
    ] = workflows.DEFAULT_WAIT,
    alpha: Annotated[
        float | None,
        typer.Option(help="Probability of ever raising a false alarm, for independent rows.", show_default="0.01"),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="Column of rows that come together (a session, a document): the first row of each counts.",
            show_default=False,
        ),
    ] = None,
    thin: Annotated[
        int | None,
        typer.Option(
            help="Take every K-th row, if rows depend on those shortly before.", metavar="K", show_default="1"
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with code 1 if drift was detected, or no row of a file could be watched."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Watch a stream of rows for drift from the calibration rows.

    Prints when and in which column it began, and whether to recalibrate. If rows are independent and nothing drifts,
    the probability of ever raising an alarm, in any column, is at most alpha. Rows that follow each other closely, or
    come in sessions, are not independent and raise false alarms: use --thin or --group. Missing values are watched by
    how many rows have them; an infinite value counts as the largest or smallest of its column.
    """
    with usage_errors():
        if alpha is not None:
            in_range("alpha", alpha, 0.0, 1.0, ends="()")
        in_range("wait", wait, 0.0)
        if thin is not None:
            whole_number("thin", thin, 1)
    with friendly_errors():
        with watching(rows="watching") as watch:
            done = workflows.monitor(
                model,
                streams,
                calibration=calibration,
                state=state,
                alpha=alpha,
                thin=thin,
                group=group,
                again=again,
                wait=wait,
                watch=replace(watch, waiting=note),
            )
        if as_json:
            print_json(_as_dict(done))
        else:
            _print_monitored(done, remembering=state is not None)
    if strict and (done.monitor.drifted or done.blind):
        raise typer.Exit(1)


def _as_dict(done: workflows.Monitored) -> dict[str, Any]:
    watcher = done.monitor
    return {
        "rows": watcher.rows,
        "alpha": watcher.alpha,
        "alarm_at": len(watcher.streams) / watcher.alpha,
        "drifted": watcher.drifted,
        "recalibrate": watcher.recalibrate,
        "dependent": watcher.dependent,
        "left_out": watcher.n_skipped,
        "missing": watcher.n_missing,
        "unwatched": [file.path for file in done.unwatched],
        "alarms": [_alarm_as_dict(done, alarm) for alarm in watcher.alarms],
        "evidence": watcher.evidence,
        "files": [asdict(file) for file in done.files],
        "skipped": [{"path": file.path, "counted": file.counted.date} for file in done.skipped],
    }


def _alarm_as_dict(done: workflows.Monitored, alarm: Alarm) -> dict[str, Any]:
    (file, row), (since_file, since_row) = done.place_of(alarm.row), done.place_of(alarm.since)
    return {
        **asdict(alarm),
        "file": file,
        "row_in_file": row if file else None,
        "since_file": since_file,
        "since_row_in_file": since_row if since_file else None,
    }


def _print_monitored(done: workflows.Monitored, *, remembering: bool) -> None:
    watcher = done.monitor
    n_rows = watcher.rows - done.first_row
    before = f", {watcher.rows:,} since the monitor began" if done.first_row else ""
    print_lines(
        {
            "rows": f"{counted(n_rows, 'row')} in {counted(len(done.files), 'file')}{before}",
            "skipped": _skipped(done),
            "not remembered": "standard input: if it comes again, it is counted again"
            if remembering and any(file.is_stdin for file in done.files)
            else None,
            "left out": _left_out(done),
            "missing": _missing(done),
            "infinite": _infinite(done),
            "not watched": _unwatched(done),
            "columns": None if watcher.watches_columns else "not watched; add --calibration to watch them too",
            "false alarms": f"probability of ever raising one, for independent rows: at most {watcher.alpha:g}",
        }
    )
    bar = len(watcher.streams) / watcher.alpha
    evidence = watcher.evidence
    raised = {alarm.stream: alarm for alarm in watcher.alarms}
    print_table(
        f"Evidence for drift (an alarm is raised at {bar:,.0f}, and stays)",
        [_row(done, name, evidence[name], raised.get(name)) for name in evidence],
    )
    echo(f"advice: {advice(done)}")


def _skipped(done: workflows.Monitored) -> str | None:
    """Name files that were counted by an earlier run."""
    if not done.skipped:
        return None
    first, more = done.skipped[0], len(done.skipped) - 1
    others = f" and {counted(more, 'other file')}" if more else ""
    return f"{Path(first.path).name}, counted on {first.counted.date}{others}; --again counts what was counted before"


def _left_out(done: workflows.Monitored) -> str | None:
    """Return how many rows did not count, because they depend on others."""
    n_skipped = sum(file.n_skipped for file in done.files)
    why = "not the first of their group" if done.monitor.groups.seen else f"one in {done.monitor.thin:,} counts"
    return f"{counted(n_skipped, 'row')}: {why}" if n_skipped else None


def _missing(done: workflows.Monitored) -> str | None:
    """Return how many rows lack a value, beside the calibration rows."""
    missing = sum(file.n_missing for file in done.files)
    usual = done.monitor.streams[-1].calibration.scores
    of_rows = f"{missing:,} of {counted(sum(file.n_rows for file in done.files), 'row')}"
    of_usual = f"{int(usual.sum()):,}" if usual.any() else "none"
    return f"{of_rows} lack a value, {of_usual} of {len(usual):,} in calibration" if missing else None


def _infinite(done: workflows.Monitored) -> str | None:
    infinite = sum(file.n_infinite for file in done.files)
    return f"{counted(infinite, 'row')} with an infinite value, taken as the most extreme" if infinite else None


def _unwatched(done: workflows.Monitored) -> str | None:
    """Name the files of which nothing could be watched."""
    why = {
        file.path: f"none of its {counted(file.n_rows, 'row')} has a score" if file.n_rows else "it has no rows"
        for file in done.unwatched
    }
    return "; ".join(f"{Path(path).name}: {reason}" for path, reason in why.items()) or None


def _row(done: workflows.Monitored, name: str, evidence: float, alarm: Alarm | None) -> dict[str, Any]:
    return {
        "stream": name,
        "evidence now": f"{evidence:.3g}",
        "at the alarm": f"{alarm.evidence:.3g}" if alarm else "",
        "drift": alarm.change if alarm else "none detected",
        "detected": _place(done, alarm.row) if alarm else "",
        "since about": _place(done, alarm.since) if alarm else "",
    }


def _place(done: workflows.Monitored, row: int) -> str:
    file, place = done.place_of(row)
    return f"row {place:,} of {Path(file).name}" if file else f"row {place:,} of the stream (an earlier run)"


def advice(done: workflows.Monitored) -> str:
    """Return what to do, in one line."""
    on_scores = _on_dependence if done.monitor.dependent else _on_scores
    parts = [part for part in (on_scores(done), _on_missing(done), _on_unwatched(done)) if part]
    return " ".join(parts) or "nothing to do; no sign that the model's p-values do not hold."


def _on_scores(done: workflows.Monitored) -> str | None:
    """Return what to do about the joint score and the columns."""
    watcher = done.monitor
    columns = [alarm for alarm in watcher.alarms if alarm.stream in watcher.ranker.columns]
    names = ", ".join(alarm.stream for alarm in columns)
    if watcher.recalibrate:
        joint = next(alarm for alarm in watcher.alarms if alarm.stream == watcher.streams[0].name)
        look = f"Look at {names} first. " if columns else ""
        return (
            f"recalibrate. The joint score has drifted, so p-values and thresholds no longer hold "
            f"{_from(done, joint)}. {look}"
            f"If such rows are now in-distribution, fit again with them and begin a new monitor."
        )
    if not columns:
        return None
    surest = max(columns, key=lambda alarm: watcher.evidence[alarm.stream])
    return (
        f"find out what changed in {names} {_from(done, surest)}. The joint score shows no drift, so there is no "
        f"need to recalibrate yet."
    )


def _on_dependence(done: workflows.Monitored) -> str:
    """Return what to do where rows that follow each other are alike, whether there is an alarm or not."""
    share = done.monitor.neighbours.share
    alarm = "an alarm may be that, and no drift" if done.monitor.drifted else "expect false alarms"
    return (
        f"begin a new monitor with --group COLUMN or --thin K. Rows that follow each other are alike (a row is nearer "
        f"to the one before it in {share:.0%} of cases, where 50% is usual), so {alarm}."
    )


def _on_missing(done: workflows.Monitored) -> str | None:
    """Return what to do about rows that lack values."""
    watcher = done.monitor
    name = watcher.streams[-1].name
    raised = next((alarm for alarm in watcher.alarms if alarm.stream == name), None)
    if raised is None:
        return None
    return f"More rows lack a value than in calibration {_from(done, raised)}: find out why."


def _on_unwatched(done: workflows.Monitored) -> str | None:
    """Return what to do about files of which nothing is known."""
    names = ", ".join(Path(file.path).name for file in done.unwatched)
    return f"No row of {names} could be watched, so nothing is known of it: check its score columns." if names else None


def _from(done: workflows.Monitored, alarm: Alarm) -> str:
    return f"from {_place(done, alarm.since)} on"

"""`vecuq monitor`: whether, when and in which column a stream has drifted from the calibration rows."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq import workflows
from vecuq._check import in_range
from vecuq.cli.options import AsJson, ModelFile
from vecuq.cli.talk import friendly_errors, print_json, print_lines, print_table, usage_errors, watching
from vecuq.monitor import Alarm


def monitor(
    model: ModelFile,
    streams: Annotated[
        list[Path],
        typer.Argument(
            help="Rows in the order in which they came: csv, parquet, npz or jsonl.",
            metavar="STREAM",
            show_default=False,
        ),
    ],
    calibration: Annotated[
        Path | None,
        typer.Option(
            help="Rows to compare each column with; by default those that the model keeps. A state keeps its."
        ),
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="Go on from this file if it is there, and renew it.", show_default=False)
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="The chance of ever raising a false alarm; 0.01 unless told.")
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with code 1 if drift was noticed, or no row of a file could be watched."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Watch rows for drift from the calibration rows: when, in which column, and whether to recalibrate.

    While nothing drifts, the chance of an alarm in any column, over all time, is at most alpha. Missing values are
    watched by how many rows have them; an infinite value is the largest or smallest of its column.
    """
    with usage_errors():
        if alpha is not None:
            in_range("alpha", alpha, 0.0, 1.0, ends="()")
    with friendly_errors():
        with watching(rows="watching") as watch:
            done = workflows.monitor(model, streams, calibration=calibration, state=state, alpha=alpha, watch=watch)
        if as_json:
            print_json(_as_dict(done))
        else:
            _tell(done)
    if strict and (done.monitor.drifted or done.unwatched):
        raise typer.Exit(1)


def _as_dict(done: workflows.Monitored) -> dict[str, Any]:
    watcher = done.monitor
    return {
        "rows": watcher.rows,
        "alpha": watcher.alpha,
        "alarm_at": len(watcher.streams) / watcher.alpha,
        "drifted": watcher.drifted,
        "recalibrate": watcher.recalibrate,
        "missing": watcher.n_missing,
        "unwatched": [file.path for file in done.unwatched],
        "alarms": [_alarm_as_dict(done, alarm) for alarm in watcher.alarms],
        "evidence": watcher.evidence,
        "files": [asdict(file) for file in done.files],
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


def _tell(done: workflows.Monitored) -> None:
    watcher = done.monitor
    n_rows = watcher.rows - done.first_row
    before = f", {watcher.rows:,} since the monitor began" if done.first_row else ""
    print_lines(
        {
            "seen": f"{_count(n_rows, 'row')} in {_count(len(done.files), 'file')}{before}",
            "missing": _missing(done),
            "infinite": _infinite(done),
            "not watched": _unwatched(done),
            "columns": None if watcher.watches_columns else "not watched; give the calibration table to watch them too",
            "rate": f"at most {watcher.alpha:g} for a false alarm, ever, in any stream",
        }
    )
    bar = len(watcher.streams) / watcher.alpha
    evidence = watcher.evidence
    raised = {alarm.stream: alarm for alarm in watcher.alarms}
    print_table(
        f"Evidence for drift (an alarm at {bar:,.0f})",
        [_row(done, name, evidence[name], raised.get(name)) for name in evidence],
    )
    typer.echo(f"advice: {_advice(done)}")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _missing(done: workflows.Monitored) -> str | None:
    """Say how many rows lack a value, beside the calibration rows."""
    missing = sum(file.n_missing for file in done.files)
    usual = done.monitor.streams[-1].reference.scores
    of_rows = f"{missing:,} of {_count(sum(file.n_rows for file in done.files), 'row')}"
    of_usual = f"{int(usual.sum()):,}" if usual.any() else "none"
    return f"{of_rows} lack a value, {of_usual} of {len(usual):,} in calibration" if missing else None


def _infinite(done: workflows.Monitored) -> str | None:
    infinite = sum(file.n_infinite for file in done.files)
    return f"{_count(infinite, 'row')} with an infinite value, taken as the most extreme" if infinite else None


def _unwatched(done: workflows.Monitored) -> str | None:
    """Name the files of which nothing could be watched."""
    why = {
        file.path: f"none of its {_count(file.n_rows, 'row')} has a score" if file.n_rows else "it has no rows"
        for file in done.unwatched
    }
    return "; ".join(f"{Path(path).name}: {reason}" for path, reason in why.items()) or None


def _row(done: workflows.Monitored, name: str, evidence: float, alarm: Alarm | None) -> dict[str, Any]:
    return {
        "stream": name,
        "evidence": f"{evidence:.3g}",
        "drift": alarm.change if alarm else "none seen",
        "noticed": _told(done, alarm.row) if alarm else "",
        "since about": _told(done, alarm.since) if alarm else "",
    }


def _told(done: workflows.Monitored, row: int) -> str:
    file, place = done.place_of(row)
    return f"row {place:,} of {Path(file).name}" if file else f"row {place:,} of the stream (an earlier run)"


def _advice(done: workflows.Monitored) -> str:
    """Return what to do, in one line."""
    parts = [part for part in (_on_scores(done), _on_missing(done), _on_unwatched(done)) if part]
    return " ".join(parts) or "nothing to do; the model's p-values hold as far as can be seen."


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
            f"If these rows are what the model should now expect, fit again with them and begin a new monitor."
        )
    if not columns:
        return None
    surest = max(columns, key=lambda alarm: watcher.evidence[alarm.stream])
    return (
        f"look into how {names} comes about {_from(done, surest)}. The joint score has not drifted noticeably, so "
        f"there is no need to recalibrate yet."
    )


def _on_missing(done: workflows.Monitored) -> str | None:
    """Return what to do about rows that lack values."""
    watcher = done.monitor
    name = watcher.streams[-1].name
    raised = next((alarm for alarm in watcher.alarms if alarm.stream == name), None)
    if raised is None:
        return None
    return f"More rows lack a value than in calibration {_from(done, raised)}: see why they do."


def _on_unwatched(done: workflows.Monitored) -> str | None:
    """Return what to do about files of which nothing is known."""
    names = ", ".join(Path(file.path).name for file in done.unwatched)
    return (
        f"No row of {names} could be watched, so nothing is known of it: see where its scores are." if names else None
    )


def _from(done: workflows.Monitored, alarm: Alarm) -> str:
    return f"from {_told(done, alarm.since)} on"

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

__all__ = ["monitor"]


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
        typer.Option(help="Rows to compare each column with, to begin with; by default those that the model keeps."),
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="Go on from this file if it is there, and renew it.", show_default=False)
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="The chance of ever raising a false alarm; 0.01 unless told.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if drift was noticed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Watch rows for drift from the calibration rows: when, in which column, and whether to recalibrate.

    While nothing drifts, the chance of an alarm in any column, over all time, is at most alpha.
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
    if strict and done.monitor.drifted:
        raise typer.Exit(1)


def _as_dict(done: workflows.Monitored) -> dict[str, Any]:
    watcher = done.monitor
    return {
        "rows": watcher.rows,
        "alpha": watcher.alpha,
        "alarm_at": len(watcher.streams) / watcher.alpha,
        "drifted": watcher.drifted,
        "recalibrate": watcher.recalibrate,
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
    n_files, n_rows = len(done.files), watcher.rows - done.first_row
    before = f", {watcher.rows:,} since the monitor began" if done.first_row else ""
    missing = sum(file.n_missing for file in done.files)
    print_lines(
        {
            "watched": f"{n_rows:,} rows in {n_files} file{'s' * (n_files > 1)}{before}",
            "missing": f"{missing:,} rows lack a score and were left out where they do" if missing else None,
            "columns": None
            if len(watcher.streams) > 1
            else "not watched; give the calibration table to watch them too",
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
    watcher = done.monitor
    if not watcher.drifted:
        return "nothing to do; the model's p-values hold as far as can be seen."
    evidence = watcher.evidence
    surest = max(watcher.alarms, key=lambda alarm: evidence[alarm.stream])
    columns = [alarm.stream for alarm in watcher.alarms if alarm.stream in watcher.ranker.columns]
    where = f"from {_told(done, surest.since)} on"
    if watcher.recalibrate:
        look = f"Look at {', '.join(columns)} first. " if columns else ""
        return (
            f"recalibrate. The joint score has drifted, so p-values and thresholds no longer hold {where}. {look}"
            f"If these rows are what the model should now expect, fit again with them and begin a new monitor."
        )
    return (
        f"look into how {', '.join(columns)} comes about {where}. The joint score has not drifted noticeably, so there "
        f"is no need to recalibrate yet."
    )

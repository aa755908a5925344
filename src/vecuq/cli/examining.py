"""`vecuq doctor`: checks calibration rows before they are trusted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from vecuq import workflows
from vecuq.cli.options import (
    AsJson,
    Calibration,
    Columns,
    Epsilon,
    Flip,
    Group,
    Holdback,
    ReferenceName,
    Scaling,
    listed,
)
from vecuq.cli.talk import echo, friendly_errors, print_json, table_width, usage_errors, working
from vecuq.cli.wording import as_options, printable
from vecuq.ranker import Settings

_DEFAULTS = Settings()
_STYLES = {"ok": "green", "note": "cyan", "warning": "yellow", "serious": "bold red"}


def doctor(
    calibration: Calibration,
    new: Annotated[
        Path | None,
        typer.Argument(help="New rows, to compare with calibration.", metavar="NEW", show_default=False),
    ] = None,
    columns: Columns = None,
    flip: Flip = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 1 if any finding is a warning or serious.")
    ] = False,
    holdback: Holdback = _DEFAULTS.share,
    as_json: AsJson = False,
    reference: ReferenceName = "beta",
    scaling: Scaling = _DEFAULTS.scaling,
    epsilon: Epsilon = _DEFAULTS.epsilon,
    group: Group = None,
) -> None:
    """Check calibration rows before you trust them, and new rows for drift from them.

    Size, columns, outliers, out-of-distribution rows, and the fitted order: give the options that you will fit with.
    """
    with usage_errors():
        settings = Settings(reference=reference, epsilon=epsilon, scaling=scaling, holdback=holdback)
    with friendly_errors():
        with working() as show:
            show("checking the rows")
            done = workflows.doctor(
                calibration, new, settings=settings, columns=listed(columns), flip=listed(flip) or (), group=group
            )
        counts = Counter(finding.severity for finding in done.findings)
        if as_json:
            _print_json(done, counts)
        else:
            _print_findings(done, counts)
    if strict and (counts["warning"] or counts["serious"]):
        raise typer.Exit(1)


def _print_json(done: workflows.Examined, counts: Counter[str]) -> None:
    from vecuq.doctor import SEVERITIES

    print_json(
        {
            "columns": list(done.columns),
            "rows": done.n_rows,
            "new_rows": done.n_new,
            "sampled_rows": done.n_sampled,
            "counts": {severity: counts[severity] for severity in SEVERITIES},
            "findings": [finding.to_dict() for finding in done.findings],
        }
    )


def _print_findings(done: workflows.Examined, counts: Counter[str]) -> None:
    """Print the findings as a table: the worst first, and what to do beside each."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from vecuq.doctor import SEVERITIES

    table = Table(header_style="bold")
    for head in ("severity", "check", "finding", "what to do"):
        table.add_column(head, overflow="fold")
    for finding, following in zip(done.findings, (*done.findings[1:], None), strict=True):
        cells = (finding.check, printable(finding.what), printable(as_options(finding.remedy)))
        last = following is not None and following.severity != finding.severity
        style = _STYLES[finding.severity]
        table.add_row(Text(finding.severity, style=style), *map(Text, cells), end_section=last)
    beside = "" if done.n_new is None else f", {done.n_new:,} new rows beside them"
    echo(f"{done.n_rows:,} calibration rows of {', '.join(done.columns)}{beside}")
    Console(width=table_width(160)).print(table)
    if done.n_sampled:
        echo(f"Size, scale and outliers: all rows. Everything else: a random sample of {done.n_sampled:,}.")
    echo(", ".join(f"{counts[severity]} {severity}" for severity in reversed(SEVERITIES)))

"""The application: which commands there are, in the order in which a person meets them."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

from vecuq._version import __version__
from vecuq.cli.asking import ask
from vecuq.cli.evaluating import compare, evaluate
from vecuq.cli.examining import doctor
from vecuq.cli.fitting import fit
from vecuq.cli.measuring import list_measures, measure
from vecuq.cli.monitoring import monitor
from vecuq.cli.ranking import demo, rank, report, score
from vecuq.cli.studies import reproduce

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Many uncertainty scores, one order you can trust.",
)


def main() -> None:
    """Run the command line."""
    # To be stopped is a failure like any other: clean up, leave nothing half-written.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    app()


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vecuq {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Hold the options that stand before any command."""


app.command()(ask)
app.command()(measure)
app.command(name="measures")(list_measures)
for command in (doctor, fit, score, rank, report, evaluate, compare, monitor, demo, reproduce):
    app.command()(command)

"""`vecuq feedback`, and `vecuq audit` on the store of a service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq import workflows
from vecuq._check import one_of
from vecuq.cli.options import AsJson, Force
from vecuq.cli.talk import counted, echo, friendly_errors, print_json, usage_errors
from vecuq.errors import SettingError
from vecuq.service import keeping

_ALL = "all"


def feedback(
    store: Annotated[Path, typer.Argument(help="Database of a service, from `vecuq serve --store`.", metavar="STORE")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where to write it: csv, parquet, feather, arrow or jsonl.")
    ] = Path("feedback.parquet"),
    kind: Annotated[
        str, typer.Option(help="Audits are a random sample, reviews are not.", metavar="audit|review|all")
    ] = _ALL,
    model: Annotated[str | None, typer.Option(help="One of several models, by name.", show_default=False)] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the feedback that a service keeps as a table, with the rows it is about.

    The service may be running. Only audits, rows that were drawn at random, may certify a gate or audit it: take them
    alone with `--kind audit`.
    """
    with usage_errors():
        one_of("kind", kind, (*keeping.KINDS, _ALL))
    with friendly_errors():
        found = keeping.export_store(store, out, kind=None if kind == _ALL else kind, model=model, force=force)
        if as_json:
            print_json({"out": str(out), **{f"{name}s": number for name, number in found.items()}})
        else:
            to_stdout = str(out) == "-"
            said = ", ".join(counted(found[name], name) for name in keeping.KINDS if kind in (name, _ALL))
            echo(f"{said} -> {'stdout' if to_stdout else out}", err=to_stdout)


def say_store_audit(gate_file: Path, store: Path, labels: workflows.LabelColumns, *, as_json: bool) -> None:
    """Check a promise by the audits in a store, and print what they say."""
    if any(vars(labels).values()):
        raise SettingError(
            "The store of a service holds the labels by itself; leave out --correct, --wrong and the like."
        )
    with friendly_errors():
        done, live = keeping.audit_store(gate_file, store)
        if as_json:
            facts: dict[str, Any] = {**done.to_dict(), "live": live.describe()}
            print_json(facts)
        else:
            echo(str(live))

"""`vecuq export`: a saved model for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vecuq import workflows
from vecuq.cli.options import AsJson, Force, ModelOrGate
from vecuq.cli.talk import counted, echo, friendly_errors, note, print_json


def export(
    model: ModelOrGate,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="Where to write it: .onnx, .json, or .js, a script that holds model and scorer."
        ),
    ] = Path("model.onnx"),
    p_values: Annotated[
        bool, typer.Option("--p-values/--no-p-values", help="With p-values, if the model holds rows back.")
    ] = True,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a saved model so that other programs score with it: as ONNX, as JSON, or as a script for browsers."""
    with friendly_errors():
        done = workflows.export(model, out, p_values=p_values, force=force)
        if as_json:
            facts = {"kind": done.kind, "columns": list(done.columns), "p_values": done.p_values, "note": done.note}
            print_json({"out": str(out), **facts})
        else:
            echo(f"{counted(len(done.columns), 'column')} -> {out}: {_use(done, out)}")
        if done.note and not as_json:
            note(done.note)


def _use(done: workflows.Exported, out: Path) -> str:
    """Return in a line how the file is used."""
    if done.kind == "onnx":
        outputs = "uncertainty, p_value" if done.p_values else "uncertainty"
        return f"input `scores`, float64 (rows, {len(done.columns)}); output {outputs}"
    fields = "{uncertainty, pValue}" if done.p_values else "{uncertainty}"
    if done.kind == "script":
        return f'import {{ model }} from "./{out.name}"; model.score(row) is {fields}'
    return f"load(text).score(row) is {fields}, with the script of vecuq.ranker.scorer_source(); or export to .js"

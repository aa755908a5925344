"""`vecuq demo`: the whole job on bundled example data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vecuq import workflows
from vecuq.cli.fitting import fit_as_dict, print_fit
from vecuq.cli.options import AsJson, Force
from vecuq.cli.talk import counted, echo, friendly_errors, print_json, print_table


def demo(
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for model, ranked table and report.")] = Path(
        "demo"
    ),
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Run the whole job on bundled example data: an ensemble on handwritten digits."""
    with friendly_errors():
        done = workflows.demo(folder, force=force)
        if as_json:
            fitted = fit_as_dict(done.fitted, folder / "model.vecuq")
            print_json({**fitted, **done.scored.to_dict(), "evaluation": list(done.evaluation)})
            return
        print_fit(done.fitted, folder / "model.vecuq")
        print_table("How well each score finds what it should", done.evaluation)
    calibration, new = folder / "calibration.csv", folder / "new.csv"
    echo("Errors are looked for among in-distribution rows only.")
    echo(f"{counted(done.scored.n_rows, 'row')} ranked; open {folder / 'report.html'}")
    echo("\nTry next:")
    echo(f"  vecuq doctor {calibration} {new} --flip confidence")
    echo(f"  vecuq score {folder / 'model.vecuq'} {new} --alpha 0.05 --explain -o {folder / 'flagged.csv'}")
    echo(f"  vecuq compare {calibration} {new} --ood is_ood --flip confidence")

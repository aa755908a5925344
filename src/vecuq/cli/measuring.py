"""`vecuq measure` and `vecuq measures`: from a model's outputs to a table of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vecuq import workflows
from vecuq._check import in_range, one_of
from vecuq.cli.catalogue import catalogue, print_catalogue
from vecuq.cli.options import AsJson, listed
from vecuq.cli.talk import friendly_errors, print_json, usage_errors, watching
from vecuq.measures import find_measures
from vecuq.measures.compute import EMBEDDINGS

__all__ = ["list_measures", "measure"]


def measure(
    outputs: Annotated[
        list[Path],
        typer.Argument(
            help="npz of logits or probs, perhaps embeddings, labels, ids; or npy of logits. Several: one per member.",
            metavar="OUTPUTS...",
            show_default=False,
        ),
    ],
    scores: Annotated[Path, typer.Option("--out", "-o", help="Where to write the scores.")] = Path("scores.parquet"),
    train: Annotated[
        list[Path] | None,
        typer.Option(help="Training outputs with labels, for densities; repeat it for one file per member."),
    ] = None,
    measures: Annotated[
        str, typer.Option(help="Measures or compositions, comma-separated; see `vecuq measures`.", metavar="A,B")
    ] = ",".join(workflows.DEFAULT_MEASURES),
    temperature: Annotated[float, typer.Option(help="What logits are divided by.")] = 1.0,
    embedding: Annotated[
        str, typer.Option(help="What densities look at: embeddings, logits, or auto for the first where there are any.")
    ] = "auto",
    as_json: AsJson = False,
) -> None:
    """Turn a classifier's outputs into a table of uncertainty scores; by default the paper's four."""
    with usage_errors():
        find_measures(listed(measures) or ())
        in_range("temperature", temperature, 0.0, ends="()")
        one_of("embedding", embedding, EMBEDDINGS)
    with friendly_errors():
        with watching(rows="measuring") as watch:
            done = workflows.measure(
                outputs,
                scores,
                train=train or (),
                measures=listed(measures) or (),
                temperature=temperature,
                embedding=embedding,
                watch=watch,
            )
        if as_json:
            print_json({"out": str(scores), **vars(done)})
            return
        wrong = "" if done.n_errors is None else f", {done.n_errors:,} predicted wrong"
        typer.echo(f"{done.n_rows:,} rows of {done.n_members} x {done.n_classes:,} outputs measured{wrong} -> {scores}")
        typer.echo(f"columns: {', '.join(done.columns)}")


def list_measures(as_json: AsJson = False) -> None:
    """List everything that `vecuq measure` can compute."""
    with friendly_errors():
        if as_json:
            print_json(catalogue())
        else:
            print_catalogue()

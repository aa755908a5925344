"""Arguments and options that several commands share, so that they read alike everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

METHOD = "The method"


def choice(text: str, panel: str, **more: Any) -> Any:
    """Return an option that the help shows in a panel of its own kind."""
    return typer.Option(help=text, rich_help_panel=panel, **more)


Calibration = Annotated[
    Path,
    typer.Argument(
        help="In-distribution rows of scores: csv, parquet, npz or jsonl.", metavar="CALIBRATION", show_default=False
    ),
]
NewRows = Annotated[
    Path, typer.Argument(help="Rows to rank: csv, parquet, npz or jsonl.", metavar="NEW", show_default=False)
]
ModelFile = Annotated[Path, typer.Argument(help="Model written by `vecuq fit`.", metavar="MODEL", show_default=False)]
Columns = Annotated[
    str | None,
    typer.Option(help="Score columns, comma-separated; without it, the columns of decimal numbers.", metavar="A,B"),
]
Flip = Annotated[
    str | None,
    typer.Option(help="Score columns in which higher means more confident, comma-separated.", metavar="A,B"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
Paper = Annotated[
    bool, typer.Option("--paper", help="The paper's method and nothing else; options that you give still rule.")
]
Holdback = Annotated[float, typer.Option(help="Share of the rows kept out of the map, for p-values; 0 for none.")]
ReferenceName = Annotated[
    str, choice("beta, exponential or ball (signed scores); with parameters as in 'beta(2, 5)'.", METHOD)
]
Scaling = Annotated[str, choice("featurewise, global, identity or quantile.", METHOD)]
Epsilon = Annotated[float, choice("Entropic regularisation, on scaled scores.", METHOD)]
Folder = Annotated[Path, typer.Option("--out", "-o", help="Folder for model, ranked table and report.")]
ErrorColumn = Annotated[
    str | None, typer.Option("--error", help="0/1 column of the new table: the model was wrong there.")
]
OodColumn = Annotated[
    str | None, typer.Option("--ood", help="0/1 column of the new table: the row is out of distribution.")
]


def listed(names: str | None) -> list[str] | None:
    """Return the names of a comma-separated list."""
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def counted(count: int, what: str) -> str:
    """Return a number with its noun: 1 row, 2 rows."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"

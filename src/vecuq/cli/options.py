"""Arguments and options that several commands share, so that they read alike everywhere."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq.errors import SettingError

METHOD = "The method"
KINDS = "csv, tsv, parquet, feather, arrow, npz or jsonl"
ONE_TABLE = f"{KINDS}; a folder of part files, a quoted pattern such as 'parts/*.csv', or - for stdin"
TABLES = f"{KINDS}; several files, a folder of part files, a pattern, or - for stdin"


def choice(text: str, panel: str, **more: Any) -> Any:
    """Return an option that the help shows in a panel of its own kind."""
    return typer.Option(help=text, rich_help_panel=panel, **more)


def table_argument(text: str, metavar: str) -> Any:
    """Return an argument that names a table, or several files of one."""
    return typer.Argument(help=text, metavar=metavar, show_default=False)


Calibration = Annotated[Path, table_argument(f"In-distribution rows of scores: {ONE_TABLE}.", "CALIBRATION")]
CalibrationFiles = Annotated[list[Path], table_argument(f"In-distribution rows of scores: {TABLES}.", "CALIBRATION")]
NewFiles = Annotated[list[Path], table_argument(f"Rows to rank: {TABLES}.", "NEW")]
ModelFile = Annotated[Path, typer.Argument(help="Model written by `vecuq fit`.", metavar="MODEL", show_default=False)]
ModelOrGate = Annotated[
    Path,
    typer.Argument(help="Model written by `vecuq fit`, or gate by `vecuq gate`.", metavar="MODEL", show_default=False),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        help="Score columns, comma-separated or one per option; without it, the columns of decimal numbers.",
        metavar="A,B",
        show_default=False,
    ),
]
Flip = Annotated[
    list[str] | None,
    typer.Option(
        help="Score columns in which higher means more confident, comma-separated or one per option.",
        metavar="A,B",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
Paper = Annotated[
    bool, typer.Option("--paper", help="The paper's method and nothing else; explicit options override it.")
]
HoldbackOrCross = Annotated[
    str,
    typer.Option(
        help="Share of the rows kept out of the map, for p-values; 0 for none. cross, for fewer than about 200 rows: "
        "five maps, each without another fifth."
    ),
]
Holdback = Annotated[float, typer.Option(help="Share of the rows kept out of the map, for p-values; 0 for none.")]
ReferenceName = Annotated[
    str, choice("beta, exponential or ball (signed scores); with parameters as in 'beta(2, 5)'.", METHOD)
]
Scaling = Annotated[str, choice("featurewise, global, identity or quantile.", METHOD)]
ColumnGroupsOption = Annotated[
    list[str] | None,
    choice(
        "Columns that are ranked together before the groups are ranked; without it, more than ten columns are grouped "
        "by their correlations. May be repeated, with one group each time.",
        METHOD,
        metavar="NAME=A,B;NAME=C",
    ),
]
Epsilon = Annotated[float, choice("Entropic regularisation, on scaled scores.", METHOD)]
CorrectColumn = Annotated[
    str | None,
    typer.Option(
        "--correct",
        help="1/0 column of the new table: the prediction is right; or a rule, 'quality>=0.7'.",
        metavar="COLUMN",
    ),
]
ErrorColumn = Annotated[
    str | None, typer.Option("--error", "--wrong", help="0/1 column of the new table: the prediction is wrong.")
]
OodColumn = Annotated[
    str | None, typer.Option("--ood", help="0/1 column of the new table: the row is out of distribution.")
]
Alpha = Annotated[
    float | None, typer.Option(help="Add a column `flagged`: rows whose p-value is at most this false-alarm rate.")
]
Confidence = Annotated[
    float | None,
    typer.Option(
        help="Keep --alpha for this calibration set with this confidence, such as 0.9, instead of on average over "
        "calibration sets; flags fewer rows."
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        help="Column that says which calibration rows come together (session, document): whole groups are held back, "
        "and p-values count groups.",
        metavar="COLUMN",
    ),
]
Explain = Annotated[
    bool,
    typer.Option("--explain", help="Add `contribution_<column>`, and `why` for flagged rows (all, without --alpha)."),
]
Missing = Annotated[
    str,
    typer.Option(
        help="Rows with missing scores: nan (no uncertainty), error, or marginal (from the others; p-values are "
        "valid if what is missing does not depend on the values)."
    ),
]
Select = Annotated[
    str | None,
    typer.Option(
        help="Add a column `selected`: the out-of-distribution rows of the whole table, of which a share of at most "
        "--alpha is wrong on average. bh (Benjamini-Hochberg) or by (Benjamini-Yekutieli). Rows are scored twice.",
        metavar="bh|by",
    ),
]
ByColumn = Annotated[
    str | None, typer.Option("--by", help="Column of categories, for a gate with a certificate per category.")
]
Sort = Annotated[bool, typer.Option("--sort", help="Most uncertain rows first; holds all rows in memory.")]


Top = Annotated[int | None, typer.Option(help="Write only this many rows: the most uncertain ones, highest first.")]
Replace = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Replace the columns of an earlier scoring: uncertainty, p_value, flagged, selected, why, "
        "contribution_...",
    ),
]


NoFormulas = Annotated[
    bool,
    typer.Option(
        "--no-formulas",
        help="In csv and tsv, put an apostrophe before names and texts that a spreadsheet would compute (= + - @).",
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace also a file that this command reads, or one of another kind.")
]


def listed(names: str | Sequence[str] | None) -> list[str] | None:
    """Return the names that an option lists: separated by commas, or as they are if the option was repeated.

    A name with a comma in it may stand in double quotes, as in a csv file.

    Examples
    --------
    >>> listed('a, "b,c"')
    ['a', 'b,c']
    """
    given = [names] if isinstance(names, str) else list(names or ())
    if len(given) > 1:
        return given
    cells = next(csv.reader(given, skipinitialspace=True), [])
    return [name.strip() for name in cells if name.strip()] if given else None


def by_group(given: Sequence[str] | None) -> dict[str, list[str]] | None:
    """Return columns by the name of their group; groups without names are numbered.

    Examples
    --------
    >>> by_group(["risk=entropy,msp; density=knn"])
    {'risk': ['entropy', 'msp'], 'density': ['knn']}
    """
    texts = [part for one in given or () for part in one.split(";") if part.strip()]
    found = {}
    for number, text in enumerate(texts, start=1):
        name, equals, columns = text.partition("=")
        name, listing = (name.strip(), columns) if equals else (f"group {number}", text)
        if not name or name in found:
            raise SettingError(f"column_groups must be NAME=A,B;NAME=C with another name for each; got {text!r}.")
        found[name] = listed(listing) or []
    return found or None


def typed_options(context: typer.Context) -> set[str]:
    """Return the names of the arguments and options that the user gave, whatever their values."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}


def refuse_options(
    context: typer.Context, names: Sequence[str], theirs: str, ours: str, *, remedy: str = "leave it out"
) -> None:
    """Raise if an option was given that is for something else than what the command works on."""
    given = [f"--{name.replace('_', '-')}" for name in names if name in typed_options(context)]
    if given:
        raise SettingError(f"{', '.join(given)}: for {theirs} only, not for {ours}; {remedy}.")

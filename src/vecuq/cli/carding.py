"""`vecuq card`: what one hands to an auditor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq import workflows
from vecuq.cli.gating import By, Correct, Group, Wrong
from vecuq.cli.options import AsJson, Force
from vecuq.cli.talk import counted, echo, friendly_errors, note, print_json, usage_errors
from vecuq.errors import SettingError
from vecuq.report import Card
from vecuq.table import is_stdio

_OWNER, _LABELS = "For the owner", "Labels"


def _said(text: str) -> object:
    return typer.Option(help=text, metavar="TEXT|FILE", rich_help_panel=_OWNER, show_default=False)


def card(
    file: Annotated[
        Path,
        typer.Argument(
            help="A saved model, gate, live gate, Conformal or pipeline.", metavar="FILE", show_default=False
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where to write it: .md or .html; - prints Markdown.")
    ] = Path("card.md"),
    title: Annotated[str | None, typer.Option(help="Heading of the card; by default the name of the file.")] = None,
    owner: Annotated[str | None, _said("Who answers for the file, and how to reach them.")] = None,
    intended_use: Annotated[str | None, _said("What it is to be used for, and what not.")] = None,
    decides: Annotated[str | None, _said("Who decides on rows that are flagged or deferred.")] = None,
    evaluation: Annotated[
        Path | None,
        typer.Option(
            help="Table of other labelled rows, drawn at random: what they show is put beside the promises.",
            rich_help_panel=_LABELS,
            show_default=False,
        ),
    ] = None,
    correct: Correct = None,
    wrong: Wrong = None,
    group: Group = None,
    by: By = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the card of a saved file for an auditor: what it does and promises, its limits, and how to check it."""
    with usage_errors():
        labels = workflows.LabelColumns(correct=correct, wrong=wrong, group=group, by=by)
        if (evaluation is None) != (correct is None and wrong is None):
            raise SettingError("Labelled rows for a card need both evaluation= and correct= or wrong=.")
    with friendly_errors():
        said = workflows.Owner(owner=owner, intended_use=intended_use, decides=decides)
        how: Any = {"title": title, "said": said, "evaluation": evaluation, "labels": labels, "force": force}
        made = workflows.make_card(file, out, **how)
        if as_json:
            print_json(made.to_dict())
        elif is_stdio(out):
            echo(made.to_markdown().rstrip("\n"))
        else:
            echo(f"{_promises(made)}, {counted(len(made.limits), 'limit')} -> {out}")
            _note_open_fields(made)


def _promises(made: Card) -> str:
    return counted(len(made.promises), "promise") if made.promises else "nothing promised"


def _note_open_fields(made: Card) -> None:
    """Say what the owner has still to fill in."""
    left = [blank.name for blank in made.owner if not blank.paragraphs]
    if left:
        note(f"To be filled in by the owner: {', '.join(left)}.")

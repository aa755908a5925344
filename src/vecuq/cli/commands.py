"""The application: which commands there are, in the order in which a person meets them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from vecuq._removed import COMMANDS as REMOVED
from vecuq._removed import OPTIONS
from vecuq._version import __version__
from vecuq.cli.talk import DEBUG, last_catch
from vecuq.cli.wording import PARAMS


class Entry(NamedTuple):
    """Where a command is defined, and its one-line help."""

    place: str  # module:function, in this package
    about: str


# The one-line helps are the first sentences of the docstrings; a test compares them. They stand here so that
# `vecuq --help` need not import the commands.
COMMANDS = {
    "ask": Entry(
        "asking:ask",
        "Ask a language model: one greedy answer and several samples to each question, with log-probs and entropies.",
    ),
    "measure": Entry(
        "measuring:measure",
        "Compute uncertainty scores from the outputs of a classifier or the answers of a language model.",
    ),
    "measures": Entry("measuring:list_measures", "List everything that `vecuq measure` can compute."),
    "doctor": Entry(
        "examining:doctor", "Check calibration rows before you trust them, and new rows for drift from them."
    ),
    "fit": Entry("fitting:fit", "Learn from in-distribution rows how their score vectors lie, and save the model."),
    "score": Entry(
        "ranking:score",
        "Score new rows with a saved model: the same rows, with `uncertainty` and `p_value` added.",
    ),
    "sample": Entry("gating:sample", "Draw rows at random, to be labelled: only such labels certify a gate."),
    "gate": Entry("gating:gate", "Find with labelled rows which answers may be trusted, and save the proof as a gate."),
    "audit": Entry("gating:audit", "Check with later labels whether a gate has kept its promise."),
    "live": Entry(
        "living:live",
        "Take labels of a gate's audit, by id, and say whether its promise is proven, unproven or broken.",
    ),
    "report": Entry(
        "reporting:report", "Write one HTML page about new rows: what was found among them, why, and what to do now."
    ),
    "evaluate": Entry("evaluating:evaluate", "Measure how well each score, and `uncertainty`, does on labelled rows."),
    "compare": Entry(
        "evaluating:compare", "Compare vecuq with every other way to combine the scores, on labelled rows."
    ),
    "info": Entry(
        "informing:info",
        "Show what a saved file holds: columns, directions, thresholds, rows, settings, checksum, version, date.",
    ),
    "card": Entry(
        "carding:card",
        "Write the card of a saved file for an auditor: what it does and promises, its limits, and how to check it.",
    ),
    "export": Entry(
        "exporting:export",
        "Write a saved model so that other programs score with it: as ONNX, as JSON, or as a script for browsers.",
    ),
    "serve": Entry("serving:serve", "Serve saved models over HTTP, with feedback and a page to work in."),
    "feedback": Entry(
        "keeping:feedback", "Write the feedback that a service keeps as a table, with the rows it is about."
    ),
    "monitor": Entry("monitoring:monitor", "Watch a stream of rows for drift from the calibration rows."),
    "demo": Entry(
        "demonstrating:demo", "Run the whole job on bundled example data: an ensemble on handwritten digits."
    ),
    "reproduce": Entry("studies:reproduce", "Compute the paper's tables and figures again, beside the printed ones."),
}


class _PlainFlags:
    """A command whose help shows no type beside an option that takes no value, or beside a file."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
            if param.param_type_name == "argument":
                param.display_type_rich = lambda ctx: None  # the help text says which files
        return params


class _Command(_PlainFlags, TyperCommand):
    """One command, imported."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words behind the command; an option that was removed says what to use instead."""
        try:
            return list(super().parse_args(ctx, args))
        except Exception as error:
            gone = OPTIONS.get(str(self.name), {})
            option = getattr(error, "option_name", None)
            if option in gone:
                ctx.fail(f"{option} was removed: {gone[option]}")
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command; messages name its options meanwhile."""
        before = PARAMS.set(self.params)
        try:
            with last_catch():
                return super().invoke(ctx)
        finally:
            PARAMS.reset(before)


class LazyGroup(_PlainFlags, TyperGroup):
    """The commands by name and one-line help; a command's module is imported when it runs or explains itself."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, entry in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=entry.about)

    def main(self, args: Sequence[str] | None = None, *more: Any, **settings: Any) -> Any:
        """Run the command line; `--debug` counts wherever it stands, also when its command cannot be imported."""
        before = DEBUG.set("--debug" in (sys.argv[1:] if args is None else args))
        try:
            return super().main(args, *more, **settings)
        finally:
            DEBUG.reset(before)

    def make_context(self, *words: Any, **settings: Any) -> Any:
        """Read what stands before the command."""
        with last_catch():
            return super().make_context(*words, **settings)

    def invoke(self, ctx: Any) -> Any:
        """Import the command, read what stands behind it, and run it."""
        with last_catch():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the named command, imported now, and its arguments."""
        if args and args[0] in REMOVED:
            ctx.fail(f"`vecuq {args[0]}` was removed: {REMOVED[args[0]]}")
        name, found, rest = super().resolve_command(ctx, args)
        return name, found and _imported(str(found.name)), rest


def _imported(name: str) -> Any:
    """Import a command's module and return the command."""
    module, function = COMMANDS[name].place.split(":")
    alone = typer.Typer(add_completion=False)
    found = getattr(import_module(f"vecuq.cli.{module}"), function)
    alone.command(name, cls=_Command, help=_paragraphs(found.__doc__))(found)
    command: Any = typer.main.get_command(alone)
    command.params.insert(-1, _debug_option())
    return command


def _debug_option() -> Any:
    """Return `--debug` as an option that the functions of the commands need not know."""
    alone = typer.Typer(add_completion=False)
    alone.command()(_root)
    option: Any = next(one for one in typer.main.get_command(alone).params if one.name == "debug")
    option.expose_value = False
    return option


def _paragraphs(docstring: str) -> str:
    """Return the text without the line breaks of the source, so that it is wrapped for the terminal alone."""
    return "\n\n".join(" ".join(part.split()) for part in docstring.split("\n\n"))


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Many uncertainty scores, one order.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vecuq {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Hold the options that stand before any command."""

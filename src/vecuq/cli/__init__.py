"""The command line: parse, call, say. All work is done in vecuq.workflows."""

from vecuq.cli.edge import main

TYPE_CHECKING = False  # as in typing, whose import takes longer than an interrupt may wait
if TYPE_CHECKING:
    from vecuq.cli.wording import printable

__all__ = ["app", "main", "printable"]


def __getattr__(name: str) -> object:
    """Import the rest on first use: `main` is at work before typer is there, and hears an early interrupt."""
    if name == "app":
        from vecuq.cli.commands import app

        return app
    if name == "printable":
        from vecuq.cli.wording import printable

        return printable
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

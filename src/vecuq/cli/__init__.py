"""The command line: parse, call, say. All work is done in vecuq.workflows."""

from vecuq.cli.edge import main

__all__ = ["app", "main"]


def __getattr__(name: str) -> object:
    """Import the application on first use: `main` is at work before typer is there, and hears an early interrupt."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vecuq.cli.commands import app

    return app

"""The command line: parse, call, say. All work is done in vecuq.workflows."""

from vecuq.cli.app import app, main

__all__ = ["app", "main"]

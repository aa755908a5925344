"""Where a report comes from: model, checksum, files, command, versions, date."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from vecuq._version import __version__
from vecuq.ranker import Diagnostics, Ranker, Settings, meanings_of
from vecuq.report.plain import plain
from vecuq.report.subject import Subject

_PACKAGES = ("numpy", "scipy", "pyarrow", "matplotlib")


def provenance_of(subject: Subject, made: str) -> list[dict[str, str]]:
    """Return name and value of everything that it takes to make the same report again."""
    return [{"name": name, "value": str(value)} for name, value in _facts(subject, made)]


def _facts(subject: Subject, made: str) -> Iterator[tuple[str, str]]:
    origin = subject.beside.origin
    if origin.model is not None:
        yield "model", origin.model
    yield from origin.facts.items()
    if origin.new:
        yield "new rows", f"{', '.join(origin.new)} ({subject.n_rows:,} rows)"
    if origin.calibration is not None:
        yield "calibration rows", origin.calibration
    if subject.beside.table is not None:
        yield "table of rows", subject.beside.table
    if origin.command is not None:
        yield "command", origin.command
    yield "made", made
    yield "versions", ", ".join(_versions())


def _versions() -> Iterator[str]:
    yield f"vecuq {__version__}"
    yield f"Python {platform.python_version()}"
    for name in _PACKAGES:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:  # in a frozen program packages have no metadata
            continue


def settings_of(ranker: Ranker) -> list[dict[str, Any]]:
    """Return every setting of the model with its meaning."""
    return _explained(ranker.settings.to_dict(), meanings_of(Settings))


def diagnostics_of(ranker: Ranker) -> list[dict[str, Any]]:
    """Return how the fit went, each figure with its meaning."""
    return _explained(ranker.diagnostics.to_dict(), meanings_of(Diagnostics))


def _explained(values: dict[str, Any], meanings: dict[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "value": plain(value), "meaning": meanings.get(name, "")} for name, value in values.items()]

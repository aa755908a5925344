"""`vecuq info`: what a saved file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq import workflows
from vecuq.cli.options import AsJson
from vecuq.cli.talk import friendly_errors, print_json, print_lines
from vecuq.service import keeping


def info(
    file: Annotated[
        Path,
        typer.Argument(
            help="A saved model, pipeline, gate, live gate, monitor, Conformal, counts, or a service's store.",
            metavar="FILE",
            show_default=False,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Show what a saved file holds: columns, directions, thresholds, rows, settings, checksum, version, date."""
    with friendly_errors():
        found = keeping.describe_store(file) if keeping.is_store(file) else workflows.info(file)
        if as_json:
            print_json(found)
        else:
            print_lines(_lines(found))


def _lines(found: dict[str, Any], before: str = "") -> dict[str, str | None]:
    """Return one line per fact; nested facts carry the name of what they belong to."""
    lines: dict[str, str | None] = {}
    for name, value in found.items():
        label = f"{before}{name}"
        if name == "thresholds":
            shown = {f"alpha {alpha}": "too few held-back rows" if at is None else at for alpha, at in value.items()}
            lines[label] = (
                ", ".join(f"{key}: {_text(at)}" for key, at in shown.items()) or "none: no rows were held back"
            )
        elif name == "false-alarm rates":
            lines["nine in ten such sets flag"] = _intervals(value)
        elif name == "column groups":
            lines |= {f"{before}ranked together, {group}": ", ".join(columns) for group, columns in value.items()}
        elif isinstance(value, dict) and name in _IN_ONE_LINE:
            lines[label] = ", ".join(f"{key}: {_text(inner)}" for key, inner in value.items()) or "none"
        elif isinstance(value, dict):
            lines |= _lines(value, f"{label} ")
        elif name == "columns" and value and isinstance(value[0], dict):
            lines |= {f"{before}column {one['name']}": _column(one) for one in value}
        elif name == "units" and value:
            lines |= {f"{before}category {one['unit']}": _unit(one) for one in value}
        elif name == "table" and value:
            lines |= {f"{before}accuracy {one['accuracy']:g}": _target(one) for one in value}
        else:
            lines[label] = ", ".join(map(_text, value)) or "none" if isinstance(value, list) else _text(value)
    return lines


_IN_ONE_LINE = ("rows", "split", "comparison", "weights", "settings", "diagnostics", "evidence")


def _intervals(value: dict[str, Any]) -> str | None:
    """Return the false-alarm rates of nine in ten calibration sets, for the alphas that can be had."""
    shown = [f"{_text(ends[0])} to {_text(ends[1])} at alpha {alpha}" for alpha, ends in value.items() if ends]
    return ", ".join(shown) or None


def _column(one: dict[str, Any]) -> str:
    """Return one column in words: its direction, its range if there is one, and whether it is constant."""
    parts = [one["direction"]]
    if "from" in one:
        parts.append(f"{one['from']:g} to {one['to']:g}")
    if one.get("constant"):
        parts.append("constant in calibration, no influence")
    return "; ".join(parts)


def _unit(one: dict[str, Any]) -> str:
    """Return the certificate of one category in a line."""
    proof = f"certified, bound {one['bound']:g}" if one["certified"] else "nothing accepted"
    return f"{one['n_labels']:,} labels, coverage {one['coverage']:.3f}, {proof}"


def _target(one: dict[str, Any]) -> str:
    """Return in a line what is certified at one target."""
    return f"certified for {one['coverage']:.3f} of the rows" if one["accepted"] else "not certified"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return " ".join(f"{key}={_text(inner)}" for key, inner in value.items())
    return (
        "none"
        if value is None
        else f"{value:,}"
        if isinstance(value, int) and not isinstance(value, bool)
        else str(value)
    )

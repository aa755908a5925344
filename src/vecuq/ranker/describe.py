"""What a ranker says of itself: as plain values, as facts, and as one line."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq.ranker.weights import Weights

if TYPE_CHECKING:
    from vecuq.ranker.ranker import Ranker

ALPHAS = (0.01, 0.05, 0.1)


def describe_ranker(ranker: Ranker) -> dict[str, Any]:
    """Return columns with their directions, rows, thresholds per false-alarm rate, settings and diagnostics."""
    return {
        "columns": [
            {
                "name": name,
                "direction": direction_of(name, ranker.flipped),
                "constant": name in ranker.diagnostics.constant_columns,
            }
            for k, name in enumerate(ranker.columns)
        ],
        "rows": {"map": ranker.diagnostics.n_map, "held back": ranker.diagnostics.n_held, **_groups(ranker)},
        "thresholds": thresholds_of(ranker),
        "false-alarm rates": rate_intervals_of(ranker),
        **_weights_of(Weights.of(ranker.settings.weights)),
        **_column_groups_of(ranker),
        "settings": {name: value for name, value in ranker.settings.to_dict().items() if name not in _ELSEWHERE},
        "diagnostics": {name: value for name, value in ranker.diagnostics.to_dict().items() if name not in _ELSEWHERE},
    }


# Settings and diagnostics that are described by themselves.
_ELSEWHERE = ("weights", "column_groups")


def _weights_of(weights: Weights | None) -> dict[str, Any]:
    """Return the weights and the labels that they come from, if there are any."""
    if weights is None:
        return {}
    return {"weights": {"columns": dict(weights), "labels": weights.n_labels, "wrong": weights.n_wrong}}


def _column_groups_of(ranker: Ranker) -> dict[str, Any]:
    """Return the groups in which columns are ranked, if there are any."""
    groups = ranker.diagnostics.column_groups
    return {} if groups is None else {"column groups": groups.to_dict()}


def weights_line(given: Any) -> str:
    """Return weights in one line; nothing where there are none.

    Examples
    --------
    >>> weights_line({"entropy": 1.0, "knn": 0.5})
    'entropy 1, knn 0.5 (given)'
    """
    weights = Weights.of(given)
    if weights is None:
        return ""
    return ", ".join(f"{name} {value:.3g}" for name, value in weights.items()) + f" ({weights.source})"


def direction_of(name: str, flipped: Collection[str]) -> str:
    """Return what a higher value of a column means."""
    return "higher is more confident (flipped)" if name in flipped else "higher is more uncertain"


def meanings_of(kind: type) -> dict[str, str]:
    """Return what each field of a documented dataclass means, read from its docstring.

    Examples
    --------
    >>> from vecuq.ranker import Diagnostics
    >>> meanings_of(Diagnostics)["sweeps"]
    'How many sweeps the solver took.'
    """
    found: dict[str, str] = {}
    name = ""
    for line in (inspect.getdoc(kind) or "").splitlines():
        if line in getattr(kind, "__dataclass_fields__", ()):
            name, found[line] = line, ""
        elif name and line.startswith("    "):
            found[name] = f"{found[name]} {line.strip()}".strip()
        else:
            name = ""
    return {field: text.replace("`", "") for field, text in found.items()}


def thresholds_of(ranker: Ranker) -> dict[str, float | None]:
    """Return the threshold at the usual false-alarm rates; None where the held-back rows are too few."""
    if not ranker.diagnostics.n_held:
        return {}
    found = {alpha: ranker.held.threshold(alpha) for alpha in sorted({*ALPHAS, ranker.settings.alpha})}
    return {f"{alpha:g}": value if np.isfinite(value) else None for alpha, value in found.items()}


def rate_intervals_of(ranker: Ranker) -> dict[str, list[float] | None]:
    """Return between which false-alarm rates nine of ten such calibration sets lie; None where there is no threshold.

    The law of the rate is that of :func:`vecuq.conformal.rate_interval`.
    """
    known = thresholds_of(ranker).items()
    return {alpha: None if at is None else list(ranker.held.interval(float(alpha))) for alpha, at in known}


def _groups(ranker: Ranker) -> dict[str, int]:
    """Return how many groups the held-back rows come in, if they do."""
    return {} if ranker.n_groups is None else {"held-back groups": ranker.n_groups}


def facts_of(ranker: Ranker) -> dict[str, str]:
    """Return the few facts that a card shows first."""
    names = [f"{name} (flipped)" if name in ranker.flipped else name for name in ranker.columns]
    constant = ranker.diagnostics.constant_columns
    shown = [f"{value:.4g} at alpha {alpha}" for alpha, value in thresholds_of(ranker).items() if value is not None]
    weights = weights_line(ranker.settings.weights)
    return {
        "columns": ", ".join(names) + (f"; constant: {', '.join(constant)}" if constant else ""),
        **({"weights": weights} if weights else {}),
        **({} if ranker.diagnostics.column_groups is None else {"groups": str(ranker.diagnostics.column_groups)}),
        "rows": f"{ranker.diagnostics.n_map:,} fitted the map, {held_back(ranker)}",
        "thresholds": ", ".join(shown) or "none: no held-back rows, or too few",
    }


def held_back(ranker: Ranker) -> str:
    """Return how many rows are held back, and in how many groups if they come so, in words."""
    grouped = "" if ranker.n_groups is None else f" in {ranker.n_groups:,} groups"
    return f"{ranker.diagnostics.n_held:,} held back{grouped}"


def line_of(ranker: Ranker) -> str:
    """Return the ranker in one short line."""
    some = ", ".join(ranker.columns[:4]) + (", ..." if len(ranker.columns) > 4 else "")
    n_map, n, groups = ranker.diagnostics.n_map, len(ranker.columns), ranker.diagnostics.column_groups
    some += "" if groups is None else f"; in {len(groups)} group{'' if len(groups) == 1 else 's'}"
    return f"Ranker({n} column{'' if n == 1 else 's'}: {some}; {n_map:,} rows in the map, {held_back(ranker)})"

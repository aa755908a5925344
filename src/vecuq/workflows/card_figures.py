"""What labelled rows show of a saved file, for its card: measured, not promised."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from vecuq._check import existing_file
from vecuq.errors import ModelFileError, TableError
from vecuq.evaluation import Bootstrap, evaluate
from vecuq.gate import Gate
from vecuq.report import CardTable
from vecuq.table import PathLike
from vecuq.workflows.gating import Audited, audit
from vecuq.workflows.labelled_rows import LabelColumns, read_labelled
from vecuq.workflows.places import kind_word, load_any_model

_RATED = ("accuracy", "quality")


def figures_of(file: PathLike, labelled: PathLike, labels: LabelColumns) -> CardTable:
    """Return what other labelled rows show: the error rate of what a gate accepts, how well a model finds errors."""
    table = existing_file(labelled)
    found = load_any_model(file)
    if isinstance(found, Gate) and found.target.kind in _RATED:
        rows = _of_audit(audit(file, table, labels))
    elif hasattr(found, "uncertainty") and not isinstance(found, Gate) and kind_word(found) in ("model", "conformal"):
        rows = _of_order(found, table, labels)
    else:
        raise ModelFileError(
            f"{file} holds a {kind_word(found)}; evaluation= takes a gate with an accuracy or quality, or a model. "
            f"Leave it out."
        )
    return CardTable("Measured on other labelled rows, and not promised", ("what", "figure"), (*_source(table), *rows))


def _source(table: Path) -> tuple[tuple[str, str], ...]:
    """Return which rows these are, so that they can be recognised."""
    return (("file", table.name), ("SHA-256 of the file", hashlib.sha256(table.read_bytes()).hexdigest()))


def _of_audit(done: Audited) -> tuple[tuple[str, str], ...]:
    what = "mean loss" if done.graded else "error rate"
    rate = "unknown: no row was accepted" if done.error_rate is None else f"{done.error_rate:.4f}"
    return (
        ("labelled rows", f"{done.n_labels:,}, {done.n_accepted:,} of them accepted"),
        (f"{what} of accepted rows", rate),
        (f"bounds on it, each at confidence {done.confidence:g}", _outward(done.lower, done.upper)),
        (
            "the promise",
            {"kept": "kept", "broken": "broken", "open": "open: these labels do not settle it"}[done.verdict],
        ),
    )


def _outward(lower: float, upper: float) -> str:
    """Return bounds with four decimals, rounded to the sides on which they stay true."""
    return f"{np.floor(1e4 * lower) / 1e4:.4f} and {np.ceil(1e4 * upper) / 1e4:.4f}"


def _of_order(model: Any, table: Path, labels: LabelColumns) -> tuple[tuple[str, str], ...]:
    """Return how well a model finds errors; rows of one group are drawn together for the interval."""
    if labels.by is not None:
        raise TableError("A model is measured on all rows together, not by category. Leave by= out.")
    rows = read_labelled(model, table, labels)
    wrong = rows.correct < 0.5
    if np.isnan(rows.correct).any() or wrong.all() or not wrong.any():
        raise TableError("A model is measured by rows that all have labels, right ones and wrong ones among them.")
    scores = {"uncertainty": np.asarray(model.uncertainty(rows.rows), dtype=float)}
    drawn = Bootstrap()
    how: Any = {"metrics": ["error roc_auc"], "bootstrap": drawn, "groups": rows.groups}
    done = evaluate(scores, error=wrong, **how)
    found = done.rows()[0]
    units = "rows" if rows.groups is None else "groups"
    return (
        ("labelled rows", f"{len(rows):,}, {int(wrong.sum()):,} of them wrong"),
        *((("left out, without a score", f"{done.n_left_out:,}"),) if done.n_left_out else ()),
        ("ROC-AUC of the uncertainty for errors", f"{found['value']:.3f}"),
        (
            f"its {100 * drawn.level:g} % interval, for independent {units}",
            f"{found['low']:.3f} to {found['high']:.3f}",
        ),
    )

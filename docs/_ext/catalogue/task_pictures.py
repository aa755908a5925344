"""Pictures of metrics and baselines, on the bundled example."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from catalogue.canvas import BLUE, GREEN, GREY, SHADES, VERMILION, figure, named
from catalogue.entries import Entry
from vecuq import VecUQ
from vecuq.data import DEMO_SCORES, load_demo
from vecuq.evaluation import prediction_rejection_curve, risk_coverage_curve


def roc(entry: Entry) -> Figure:
    """Draw the ROC curve, with its area."""
    flagged, found = _rates(entry)
    made, axes = figure()
    axes[0, 0].fill_between(flagged, found, color=BLUE, alpha=0.25, linewidth=0)
    axes[0, 0].plot(flagged, found, color=BLUE)
    axes[0, 0].plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
    return _done(made, axes, entry, "share of other rows flagged", "share of positives flagged")


def fpr(entry: Entry) -> Figure:
    """Draw the ROC curve, with the point where 95 % are found."""
    flagged, found = _rates(entry)
    made, axes = figure()
    axes[0, 0].plot(flagged, found, color=BLUE)
    first = int(np.argmax(found >= 0.95))
    axes[0, 0].axhline(0.95, color=GREY, linestyle=":", linewidth=1)
    axes[0, 0].plot([flagged[first]] * 2, [0, found[first]], color=VERMILION, marker="o", markersize=4)
    return _done(made, axes, entry, "share of other rows flagged", "share of positives flagged")


def precision(entry: Entry) -> Figure:
    """Draw the precision-recall curve, with its area."""
    uncertainty, target = _task(entry)
    hits = np.cumsum(target[np.argsort(-uncertainty, kind="stable")])
    recall, precise = hits / hits[-1], hits / np.arange(1, len(hits) + 1)
    made, axes = figure()
    axes[0, 0].fill_between(recall, precise, color=BLUE, alpha=0.25, linewidth=0)
    axes[0, 0].plot(recall, precise, color=BLUE)
    return _done(made, axes, entry, "share of positives flagged", "share of positives among flagged")


def risk(entry: Entry) -> Figure:
    """Draw the risk-coverage curve, with the area that the metric measures."""
    uncertainty, correct = _task(entry)
    curve, best = risk_coverage_curve(uncertainty, correct), risk_coverage_curve(-correct, correct)
    made, axes = figure()
    one, low = axes[0, 0], best.risk if entry.made_of.name == "excess_aurc" else 0.0
    one.fill_between(curve.coverage, low, curve.risk, color=BLUE, alpha=0.25, linewidth=0)
    one.plot(curve.coverage, curve.risk, color=BLUE)
    one.plot(best.coverage, best.risk, color=GREEN, linestyle="--", linewidth=1, label="best order")
    one.legend(fontsize=6, frameon=False)
    return _done(made, axes, entry, "share of rows kept", "error rate of these")


def accuracy(entry: Entry) -> Figure:
    """Draw the accuracy-coverage curve, with its area."""
    curve = risk_coverage_curve(*_task(entry))
    made, axes = figure()
    axes[0, 0].fill_between(curve.coverage, 1 - curve.risk, color=BLUE, alpha=0.25, linewidth=0)
    axes[0, 0].plot(curve.coverage, 1 - curve.risk, color=BLUE)
    axes[0, 0].set_ylim(0, 1.02)
    return _done(made, axes, entry, "share of rows kept", "accuracy of these")


def coverage(entry: Entry) -> Figure:
    """Draw the risk-coverage curve, with the largest share that keeps the error rate."""
    uncertainty, correct = _task(entry)
    curve = risk_coverage_curve(uncertainty, correct)
    allowed = float(entry.made_of.function.keywords["error"])
    made, axes = figure()
    axes[0, 0].plot(curve.coverage, curve.risk, color=BLUE)
    axes[0, 0].axhline(allowed, color=GREY, linestyle=":", linewidth=1)
    reached = entry.made_of.function(uncertainty, correct)
    axes[0, 0].plot([reached] * 2, [0, allowed], color=VERMILION, marker="o", markersize=4)
    return _done(made, axes, entry, "share of rows kept", "error rate of these")


def rejection(entry: Entry) -> Figure:
    """Draw the prediction-rejection curve between chance and the best order."""
    uncertainty, quality = _task(entry)
    curve, best = (prediction_rejection_curve(one, quality) for one in (uncertainty, -quality))
    made, axes = figure()
    one = axes[0, 0]
    one.plot(best.rejection, best.quality, color=GREEN, linestyle="--", linewidth=1, label="best order")
    one.plot(curve.rejection, curve.quality, color=BLUE, label="vecuq")
    one.fill_between(curve.rejection, quality.mean(), curve.quality, color=BLUE, alpha=0.25, linewidth=0)
    one.axhline(quality.mean(), color=GREY, linestyle=":", linewidth=1, label="chance")
    one.legend(fontsize=6, frameon=False)
    return _done(made, axes, entry, "share of answers rejected", "mean quality of the rest")


def levels(entry: Entry) -> Figure:
    """Draw the level lines of a baseline over two columns of the example, with its calibration rows."""
    calibration, _ = load_demo()
    columns = ["entropy", "mahalanobis"]
    rows = np.column_stack([calibration[name].to_numpy() for name in columns])
    fitted = entry.made_of.make(columns=columns).fit(rows)
    sides = [np.linspace(column.min(), column.max() * 1.3, 60) for column in rows.T]
    grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    values = fitted.uncertainty(grid).reshape(60, 60)
    made, axes = figure()
    one = axes[0, 0]
    drawn = one.contourf(*sides, values, levels=12, cmap=SHADES)
    one.scatter(*rows.T, s=2, color="white", linewidths=0, alpha=0.7)
    made.colorbar(drawn, ax=one).ax.tick_params(labelsize=6)
    named(one, *columns)
    return made


def _done(made: Figure, axes: Any, entry: Entry, x: str, y: str) -> Figure:
    value = entry.made_of.function(*_task(entry))
    named(axes[0, 0], x, y)
    axes[0, 0].set_title(f"on the bundled example: {value:.3f}", fontsize=7, color=GREY)
    return made


def _rates(entry: Entry) -> tuple[Any, Any]:
    """Return the shares of negatives and of positives that are flagged, the most uncertain first."""
    uncertainty, positive = _task(entry)
    ordered = positive[np.argsort(-uncertainty, kind="stable")]
    found, flagged = np.cumsum(ordered), np.cumsum(1 - ordered)
    return np.append(0.0, flagged / flagged[-1]), np.append(0.0, found / found[-1])


def _task(entry: Entry) -> tuple[Any, Any]:
    """Return uncertainty and target of the example, as the metric's task needs them."""
    uncertainty, is_error, is_ood = _example()
    if entry.made_of.task == "ood":
        return uncertainty, is_ood
    inside = is_ood == 0
    wrong = is_error[inside]
    return uncertainty[inside], wrong if entry.made_of.task == "error" else 1.0 - wrong


@lru_cache(maxsize=1)
def _example() -> tuple[Any, Any, Any]:
    calibration, new = load_demo()
    model = VecUQ(columns=list(DEMO_SCORES)).fit(calibration)
    return model.uncertainty(new), *(new[name].to_numpy().astype(float) for name in ("is_error", "is_ood"))

"""What deserves a note, in plain words."""

from __future__ import annotations

from typing import Any

from vecuq.ranker import Diagnostics


def notes_on(summary: dict[str, Any], diagnostics: Diagnostics) -> list[str]:
    """Return what a reader must know before trusting the page, the most serious first."""
    return [*_fit_notes(diagnostics), *_threshold_notes(summary, diagnostics), *_data_notes(summary, diagnostics)]


def _fit_notes(diagnostics: Diagnostics) -> list[str]:
    notes = []
    if not diagnostics.converged:
        notes.append(
            f"The fit did not converge: marginal error {diagnostics.marginal_error:.1e} after {diagnostics.sweeps:,} "
            f"sweeps. Use the scores with care, or fit again with a larger epsilon or max_iter."
        )
    if diagnostics.anchor_mass > 0.2:
        notes.append(
            f"The outer anchors carry {diagnostics.anchor_mass:.0%} of the mass, so they shape the order as much as "
            f"the rows do. Give more calibration rows, or set anchor_mass=0.2."
        )
    if diagnostics.monotone_violations:
        notes.append(
            f"In {diagnostics.monotone_violations:.1%} of trials a higher score in one column lowered the uncertainty. "
            f'grid="midpoint" with a beta reference avoids this.'
        )
    return notes


def _threshold_notes(summary: dict[str, Any], diagnostics: Diagnostics) -> list[str]:
    if not diagnostics.n_held:
        return [
            "No calibration rows were held back, so there are no p-values, and the threshold's false-alarm rate is "
            "not guaranteed. Fit for example with holdback=0.5."
        ]
    if summary["alpha"] * (summary["n_units"] + 1) < 1:
        return [
            f"{summary['n_units']:,} held-back {summary['unit']} are too few for a false-alarm rate of "
            f"{summary['alpha']:g}; the threshold keeps {1 / (summary['n_units'] + 1):.3g}. Give more calibration rows."
        ]
    return []


def _data_notes(summary: dict[str, Any], diagnostics: Diagnostics) -> list[str]:
    notes = []
    if diagnostics.constant_columns:
        notes.append(
            f"Constant in calibration, and therefore without influence: {', '.join(diagnostics.constant_columns)}."
        )
    unscored = summary["n_rows"] - summary["n_scored"]
    if unscored:
        columns = ", ".join(f"{name} in {count:,}" for name, count in summary["missing"].items())
        notes.append(
            f"{unscored:,} of {summary['n_rows']:,} rows have no score: values are missing or infinite ({columns}). "
            f"No count on this page holds them; `vecuq score --alpha` flags them beside the others."
        )
    if not summary["n_rows"]:
        notes.append("The table of new rows is empty.")
    return notes

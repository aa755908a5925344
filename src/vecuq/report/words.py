"""What the settings and diagnostics mean, in plain words, and what deserves a note."""

from __future__ import annotations

from typing import Any

from vecuq.ranker import Diagnostics

SETTINGS = {
    "reference": "The distribution whose outward direction means more uncertain; calibration rows are spread over it.",
    "epsilon": "How much the map is smoothed. Larger follows the calibration rows less closely.",
    "scaling": "How the columns are brought to one scale, from the calibration rows alone.",
    "anchors": "How many times the calibration maximum the outer anchors lie out; 0 for none.",
    "anchor_mass": "The largest share of the mass that the anchors may take; none: as much as that many rows.",
    "overshoot": "Weight of the distance beyond the calibration range, which keeps far rows in order; 0 is the paper.",
    "holdback": "Share of the calibration rows kept out of the map, for p-values and the threshold.",
    "grid": "Where the reference points lie.",
    "n_targets": "How many reference points were requested.",
    "solver": "How the transport problem is solved.",
    "tol": "The largest marginal error that the transport plan may have.",
    "max_iter": "How many sweeps the solver may take.",
    "on_failure": "What happens when the plan misses its tolerance.",
    "alpha": "The false-alarm rate: the share of in-distribution rows flagged, on average over calibration sets.",
    "random_state": "Seed of the split into map rows and held-back rows; none is a fixed seed too.",
}

DIAGNOSTICS = {
    "solver": "The solver that was used.",
    "converged": "Whether the transport plan reached its tolerance.",
    "marginal_error": "How far the plan's margins are from what they should be.",
    "sweeps": "How many sweeps the solver took.",
    "n_map": "Calibration rows that the map was fitted on.",
    "n_held": "Calibration rows held back for p-values and the threshold.",
    "n_targets": "Reference points in use.",
    "n_anchors": "Outer anchors added beyond the calibration rows.",
    "anchor_mass": "Share of the mass that the anchors carry.",
    "constant_columns": "Columns left out because they did not vary in calibration.",
    "monotone_violations": "Share of trial steps at which raising a column lowered the score; none: does not apply.",
}


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
            "not guaranteed. Fit with holdback=0.5, say."
        ]
    if summary["alpha"] * (diagnostics.n_held + 1) < 1:
        return [
            f"{diagnostics.n_held:,} held-back rows are too few for a false-alarm rate of {summary['alpha']:g}; the "
            f"threshold keeps {1 / (diagnostics.n_held + 1):.3g}. Give more calibration rows."
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
            f"{unscored:,} of {summary['n_rows']:,} rows have no score: values are missing or infinite ({columns})."
        )
    if not summary["n_rows"]:
        notes.append("The table of new rows is empty.")
    return notes

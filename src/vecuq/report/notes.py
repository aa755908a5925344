"""What a reader must know before relying on a report, in plain words."""

from __future__ import annotations

from vecuq._check import missing_counts
from vecuq.ranker import Diagnostics
from vecuq.report.audit import Contradiction
from vecuq.report.percentiles import known_rows
from vecuq.report.subject import Subject


def notes_on(subject: Subject, contradiction: Contradiction) -> list[str]:
    """Return what a reader must know before trusting the page, the most serious first."""
    diagnostics = subject.ranker.diagnostics
    return [
        *_gate_notes(subject, contradiction),
        *_fit_notes(diagnostics),
        *_threshold_notes(subject),
        *_data_notes(subject, diagnostics),
    ]


def _gate_notes(subject: Subject, contradiction: Contradiction) -> list[str]:
    if subject.decision is None:
        return []
    gate = subject.decision.gate
    notes = [contradiction.unlike_words] if contradiction.is_broken and contradiction.unlike_words else []
    notes += [contradiction.words] if contradiction.is_own else []
    if not gate.scoring.is_of_model:
        notes.append(
            f"The gate decides by {gate.order_}, not by the model's uncertainty; reasons and p-values are about the "
            f"latter."
        )
    return notes


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


def _threshold_notes(subject: Subject) -> list[str]:
    held, alpha = subject.ranker.held, subject.ranker.settings.alpha
    if not subject.has_held:
        return [
            "No calibration rows were held back, so there are no p-values, and the threshold's false-alarm rate is "
            "not guaranteed. Fit for example with holdback=0.5."
        ]
    if alpha * (held.count + 1) < 1:
        return [
            f"{held.count:,} held-back {held.unit} are too few for a false-alarm rate of {alpha:g}; the threshold "
            f"keeps {1 / (held.count + 1):.3g}. Give more calibration rows."
        ]
    return []


def _data_notes(subject: Subject, diagnostics: Diagnostics) -> list[str]:
    notes = []
    if diagnostics.constant_columns:
        notes.append(
            f"Constant in calibration, and therefore without influence: {', '.join(diagnostics.constant_columns)}."
        )
    unscored = subject.n_rows - subject.n_scored
    if unscored:
        missing = missing_counts(subject.values[~subject.scored], subject.ranker.columns)
        columns = ", ".join(f"{name} in {count:,}" for name, count in missing.items())
        have = "has" if unscored == 1 else "have"
        notes.append(
            f"{unscored:,} of {subject.n_rows:,} rows {have} no score: values are missing or infinite ({columns}). "
            f"{_fate(subject)}"
        )
    if subject.n_scored and known_rows(subject) is None:
        notes.append(
            "The model keeps no calibration rows, so cells are not compared with them. Give the calibration table to "
            "have them shaded."
        )
    return notes


def _fate(subject: Subject) -> str:
    """Return what becomes of rows without a score."""
    if subject.decision is not None:
        return "They are not accepted, and are not among the rows below."
    return "They are not among the rows below; `vecuq score --alpha` flags them beside the others."

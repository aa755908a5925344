"""What a page needs to score a row by itself: the exported model, its threshold, and why where that cannot be."""

from __future__ import annotations

from typing import Any

from vecuq.errors import SettingError
from vecuq.report.plain import finite
from vecuq.report.subject import Subject

# A page stays under 3 MB; a model may take so much of it.
MOST_LETTERS = 1_000_000


def whatif_facts(subject: Subject) -> dict[str, Any]:
    """Return the part ``whatif`` of the facts."""
    model, why_not, why_no_p = _exported(subject)
    up_to, accept_why_not = _accept_up_to(subject)
    return {
        "model": model,
        "why_not": why_not,
        "why_no_p": why_no_p,
        "threshold": finite(subject.threshold),
        "alpha": subject.rate if subject.has_held else None,
        "accept_up_to": up_to,
        "accept_why_not": accept_why_not,
    }


def _exported(subject: Subject) -> tuple[str | None, str | None, str | None]:
    """Return the model as JSON, why there is none, and why it has no p-values."""
    try:
        model = subject.ranker.to_json()
        if len(model) <= MOST_LETTERS:
            return model, None, None if subject.has_held else "No calibration rows were held back."
        model = subject.ranker.to_json(p_values=False)
    except SettingError as error:
        return None, str(error), None
    if len(model) > MOST_LETTERS:
        return None, f"The model takes {len(model) / 1e6:.1f} MB, too much for a page.", None
    return model, None, f"{len(subject.ranker.held.scores):,} held-back scores are too many for a page."


def _accept_up_to(subject: Subject) -> tuple[float | None, str | None]:
    """Return up to which uncertainty the gate accepts, and why there is no such number."""
    if subject.decision is None:
        return None, None
    gate = subject.decision.gate
    if not gate.scoring.is_of_model:
        return None, f"The gate decides by {gate.order_}, not by the model's uncertainty."
    if gate.settings.guard is not None:
        return None, f"The gate also turns away rows whose p-value is below {gate.settings.guard:g}."
    if gate.threshold_ is None:
        return None, "The gate has no one threshold for all rows."
    return finite(gate.threshold_), None if gate.certified_ else "The gate accepts no row."

"""What is printed of a large table that was counted: every number with how far it may be off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vecuq.cli.talk import echo, note, print_json, print_sheet

if TYPE_CHECKING:
    from vecuq.evaluation import SummaryEvaluation


def say_summary(found: SummaryEvaluation, *, as_json: bool) -> None:
    """Print an evaluation from counts, as tables or as JSON."""
    if as_json:
        print_json(_as_dict(found))
        return
    for sheet in found.sheets():
        print_sheet(sheet)
    _say_calibration(found)
    if found.flipped:
        echo(f"flipped: {', '.join(found.flipped)}.")
    echo(
        f"From a summary of {found.n_rows:,} rows: the exact value lies within ± of the one printed, by at most "
        f"{found.error:.1e} for any of these."
        if found.error
        else f"From a summary of {found.n_rows:,} rows that lost nothing: the values are exact."
    )
    if found.level is not None:
        echo(f"[low, high]: {100 * found.level:g} % interval, Newcombe's of roc_auc, else by bootstrap of the counts.")
    _say_gaps(found)


def _as_dict(found: SummaryEvaluation) -> dict[str, Any]:
    return {
        "summary": True,
        "largest_error": found.error,
        "n_rows": found.n_rows,
        "n_left_out": found.n_left_out,
        "flipped": list(found.flipped),
        "calibration": {**found.calibration.to_dict(), "ece_error": found.calibration_error}
        if found.calibration
        else None,
        "estimates": found.rows(),
    }


def _say_calibration(found: SummaryEvaluation) -> None:
    known = found.calibration
    if known is None:
        return
    off = f" ± {found.calibration_error:.1e}" if found.calibration_error else ""
    echo(
        f"p_wrong: expected calibration error {known.ece:.3f}{off} (up to {known.ece_by_chance:.3f} by chance if it is "
        f"right); Brier score {known.brier:.3f} ({known.brier_of_constant:.3f} for the same probability on all rows)."
    )


def _say_gaps(found: SummaryEvaluation) -> None:
    if found.n_left_out:
        who = ", ".join(f"{name} ({count:,})" for name, count in found.without_score.items())
        note(f"{found.n_left_out:,} of {found.n_rows:,} rows were left out for all, having no score from {who}.")
    absent: dict[str, dict[str, None]] = {}
    for row in found.rows():
        if row["reason"]:
            absent.setdefault(f"{row['task']}: {row['reason']}", {})[row["method"]] = None
    for reason, methods in absent.items():
        note(f"{reason}: {', '.join(methods)}")
    for name in found.below_chance():
        remedy = f"leave it out of --flip {name}" if name in found.flipped else f"add --flip {name}"
        note(f"{name}: worse than chance. If its direction is wrong, {remedy}.")

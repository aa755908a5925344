"""What a gate says when labels do not suffice, or when new rows do not look like the labelled ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, warn_user
from vecuq._draw import probability_words
from vecuq.conformal import Ladder, fewest_labels
from vecuq.errors import CalibrationWarning
from vecuq.gate.plan import labels_needed, most_tried
from vecuq.gate.rule import Labelled
from vecuq.gate.settings import GateSettings, Learned

# New rows are compared with the labelled ones in batches of at least so many, at a level that chance hardly reaches.
_FEWEST, _LEVEL = 100, 1e-4


def shortfall(settings: GateSettings, learned: Learned) -> str:
    """Return what is certified instead of the target, and how many labels are missing."""
    had = [line for line in learned.table if line["accepted"]]
    said = ""
    if had:
        instead = ", ".join(f"{line['accuracy']:g} for {line['coverage']:.0%} of the rows" for line in had)
        said = f" What is certified, all at once: accuracy {instead}."
    n_labels = learned.labelled.n_rows
    # All that follows is about a promise with confidence.
    is_sure = settings.promise == "confidence" and settings.target.kind in ("accuracy", "quality")
    if is_sure:
        needed = labels_needed(learned.labelled, settings.target.allowed, settings.delta, settings.seed)
        fewest = fewest_labels(settings.target.allowed, settings.delta)
        said += (
            f" It takes at least {fewest:,} accepted labels without an error."
            if needed is None and n_labels < fewest
            else f" Even {most_tried(learned.labelled):,} labels are not likely to prove it with this order."
            if needed is None
            else f" About {max(needed - n_labels, 1):,} more labels are likely to be enough. Two tries, each "
            f"with confidence {1 - settings.delta:g}, have {max(1 - 2 * settings.delta, 0):g} together."
        )
    return f"The {n_labels:,} labels do not prove {settings.target.words}, so no row is accepted.{said}"


def warn_unlike(learned: Learned, scores: Array, *, accepted: NDArray[np.bool_] | None = None) -> None:
    """Warn if the scores of new rows are not distributed like those of the labelled rows.

    If all of them are ``accepted``, as the rows of an audit are, they are compared with the accepted labelled ones.
    """
    only_accepted = accepted is not None and bool(accepted.all()) and learned.decider.by_threshold
    p_value = resemblance(_accepted(learned) if only_accepted else learned.labelled, scores)
    if p_value is not None and p_value < _LEVEL:
        warn_user(
            f"The scores of these {len(scores):,} rows differ from those of the labelled rows (probability without a "
            f"difference: {probability_words(p_value)}). The promise is about rows like the labelled ones: label a "
            f"random sample of these.",
            CalibrationWarning,
        )


def _accepted(learned: Learned) -> Labelled:
    """Return the labelled rows that the gate accepts, of all units together."""
    found = learned.decider
    kept = [part.only(part.scores <= rule.threshold, "") for part, rule in zip(found.parts, found.rules, strict=True)]
    scores, losses = (np.concatenate([getattr(part, name) for part in kept]) for name in ("scores", "losses"))
    return replace(learned.labelled, scores=scores, losses=losses)


def resemblance(labelled: Labelled, scores: Array) -> float | None:
    """Return the p-value of "new and labelled rows have one distribution of scores" (two-sample Kolmogorov-Smirnov).

    Rows without a score are the most uncertain ones. None where either are too few to be compared, or where labelled
    rows come in groups, for which the test does not hold.
    """
    from scipy.stats import ks_2samp

    if labelled.groups is not None or min(labelled.n_rows, len(scores)) < _FEWEST:
        return None
    known, new = (np.nan_to_num(kept, nan=np.inf, posinf=np.inf) for kept in (labelled.scores, scores))
    ends = ends_of_cells(labelled.ladder)
    if np.isin(known, ends).all():  # so rows lie in a gate that vecuq 0.2 fitted to counts
        new = ends[np.searchsorted(ends, new)]
    return float(ks_2samp(known, new, method="asymp").pvalue)


def ends_of_cells(ladder: Ladder) -> Array:
    """Return where the cells between thresholds end: at each, just beyond the last, and at rows without a score."""
    return np.concatenate([ladder.thresholds, np.nextafter(ladder.thresholds[-1:], np.inf), [np.inf]])

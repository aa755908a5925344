"""Every promise that vecuq makes, on arrays alone: p-values, thresholds, selections, evidence of drift.

Each function states its assumption, its promise and the theorem behind it.
"""

from vecuq.conformal.bets import DIRECTIONS, Bet, Fortune, Played, bets_on, play
from vecuq.conformal.p_values import Seed, conformal_p_values, flagged, seed_of, threshold_at, tie_draws
from vecuq.conformal.selection import SELECTIONS, deliverable, largest_selected, selected
from vecuq.conformal.sequences import Doubt, doubted, running_error_lower, running_error_upper
from vecuq.conformal.ties import after, around, last_equal
from vecuq.conformal.urn import Bins, SortedScores, uniform_ranks

__all__ = [
    "DIRECTIONS",
    "SELECTIONS",
    "Bet",
    "Bins",
    "Doubt",
    "Fortune",
    "Played",
    "Seed",
    "SortedScores",
    "after",
    "around",
    "bets_on",
    "conformal_p_values",
    "deliverable",
    "doubted",
    "flagged",
    "largest_selected",
    "last_equal",
    "play",
    "running_error_lower",
    "running_error_upper",
    "seed_of",
    "selected",
    "threshold_at",
    "tie_draws",
    "uniform_ranks",
]

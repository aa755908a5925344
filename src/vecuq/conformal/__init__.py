"""Every promise that vecuq makes, on arrays alone: p-values, thresholds, selections, evidence of drift.

Each function states its assumption, its promise and the theorem behind it.
"""

from vecuq.conformal.bets import DIRECTIONS, Bet, Fortune, Played, bets_on, play
from vecuq.conformal.bounds import error_rate_lower, error_rate_upper
from vecuq.conformal.p_values import Seed, conformal_p_values, flagged, seed_of, threshold_at, tie_draws
from vecuq.conformal.selection import SELECTIONS, deliverable, largest_selected, selected
from vecuq.conformal.ties import after, around, last_equal
from vecuq.conformal.urn import Bins, SortedScores, uniform_ranks

__all__ = [
    "DIRECTIONS",
    "SELECTIONS",
    "Bet",
    "Bins",
    "Fortune",
    "Played",
    "Seed",
    "SortedScores",
    "after",
    "around",
    "bets_on",
    "conformal_p_values",
    "deliverable",
    "error_rate_lower",
    "error_rate_upper",
    "flagged",
    "largest_selected",
    "last_equal",
    "play",
    "seed_of",
    "selected",
    "threshold_at",
    "tie_draws",
    "uniform_ranks",
]

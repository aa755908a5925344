"""Every promise that vecuq makes, on arrays alone: p-values, thresholds, selections, evidence of drift.

Each function states its assumption, its promise and the theorem behind it.
"""

from vecuq.conformal.bets import DIRECTIONS, Bet, Fortune, Played, bets_on, play
from vecuq.conformal.confidence import held_for_confidence, rate_interval, rate_with_confidence
from vecuq.conformal.cross import cross_p_values
from vecuq.conformal.groups import group_weights, grouped_p_values, grouped_threshold, tail_weights
from vecuq.conformal.held import HeldScores, none_selected, none_selected_of
from vecuq.conformal.p_values import Seed, conformal_p_values, flagged, seed_of, threshold_at, tie_draws
from vecuq.conformal.selection import SELECTIONS, deliverable, largest_selected, rows_needed, selected
from vecuq.conformal.split import MOST_HELD, draw_rows, group_codes, split_groups, split_rows
from vecuq.conformal.ties import after, around, last_equal
from vecuq.conformal.urn import Bins, SortedScores, uniform_ranks

__all__ = [
    "DIRECTIONS",
    "MOST_HELD",
    "SELECTIONS",
    "Bet",
    "Bins",
    "Fortune",
    "HeldScores",
    "Played",
    "Seed",
    "SortedScores",
    "after",
    "around",
    "bets_on",
    "conformal_p_values",
    "cross_p_values",
    "deliverable",
    "draw_rows",
    "flagged",
    "group_codes",
    "group_weights",
    "grouped_p_values",
    "grouped_threshold",
    "held_for_confidence",
    "largest_selected",
    "last_equal",
    "none_selected",
    "none_selected_of",
    "play",
    "rate_interval",
    "rate_with_confidence",
    "rows_needed",
    "seed_of",
    "selected",
    "split_groups",
    "split_rows",
    "tail_weights",
    "threshold_at",
    "tie_draws",
    "uniform_ranks",
]

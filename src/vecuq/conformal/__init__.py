"""Every promise that vecuq makes, on arrays alone: p-values, thresholds, selections, evidence of drift.

Each function states its assumption, its promise and the theorem behind it.
"""

from typing import TYPE_CHECKING

from vecuq.conformal.acceptance import (
    Acceptance,
    Ladder,
    Walk,
    accept_confidently,
    acceptance_p_values,
    accepted_on_average,
    fewest_labels,
    missed_p_values,
    shares_of_delta,
    walk_outwards,
)
from vecuq.conformal.bets import DIRECTIONS, Bet, Fortune, Played, bets_on, play
from vecuq.conformal.beyond import rows_beyond_p_value
from vecuq.conformal.bounds import (
    coverage_margin,
    error_rate_lower,
    error_rate_p_values,
    error_rate_upper,
    mean_loss_p_values,
    mean_loss_upper,
    stakes_for,
)
from vecuq.conformal.confidence import held_for_confidence, rate_interval, rate_with_confidence
from vecuq.conformal.cross import cross_p_values
from vecuq.conformal.groups import group_means, group_weights, grouped_p_values, grouped_threshold, tail_weights
from vecuq.conformal.held import HeldScores, none_selected, none_selected_of
from vecuq.conformal.p_values import Seed, conformal_p_values, flagged, seed_of, threshold_at, tie_draws
from vecuq.conformal.probability import WrongRates, wrong_rates
from vecuq.conformal.selection import SELECTIONS, deliverable, largest_selected, rows_needed, selected
from vecuq.conformal.sequences import Doubt, doubted, running_error_lower, running_error_upper
from vecuq.conformal.split import MOST_HELD, draw_rows, group_codes, split_groups, split_rows
from vecuq.conformal.streams import Discoveries, select_by_e_values, select_by_pooling
from vecuq.conformal.ties import after, around, last_equal
from vecuq.conformal.urn import Bins, SortedScores, uniform_ranks

__all__ = [
    "DIRECTIONS",
    "MOST_HELD",
    "SELECTIONS",
    "Acceptance",
    "Bet",
    "Bins",
    "Discoveries",
    "Doubt",
    "Fortune",
    "HeldScores",
    "Ladder",
    "Played",
    "Seed",
    "SortedScores",
    "Walk",
    "WrongRates",
    "accept_confidently",
    "acceptance_p_values",
    "accepted_on_average",
    "after",
    "around",
    "bets_on",
    "conformal_p_values",
    "coverage_margin",
    "cross_p_values",
    "deliverable",
    "doubted",
    "draw_rows",
    "error_rate_lower",
    "error_rate_p_values",
    "error_rate_upper",
    "fewest_labels",
    "flagged",
    "group_codes",
    "group_means",
    "group_weights",
    "grouped_p_values",
    "grouped_threshold",
    "held_for_confidence",
    "largest_selected",
    "last_equal",
    "mean_loss_p_values",
    "mean_loss_upper",
    "missed_p_values",
    "none_selected",
    "none_selected_of",
    "play",
    "rate_interval",
    "rate_with_confidence",
    "rows_beyond_p_value",
    "rows_needed",
    "running_error_lower",
    "running_error_upper",
    "seed_of",
    "select_by_e_values",
    "select_by_pooling",
    "selected",
    "shares_of_delta",
    "split_groups",
    "split_rows",
    "stakes_for",
    "tail_weights",
    "threshold_at",
    "tie_draws",
    "uniform_ranks",
    "walk_outwards",
    "wrong_rates",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from vecuq._removed import absent

        raise absent(__name__, name)

"""Which measures a pipeline takes when nobody names them."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array
from vecuq.errors import CalibrationError
from vecuq.table import ScoreTable
from vecuq.transport import MAX_COLUMNS

# The order in which measures are taken, all others after these: first those of the paper's text study, then what
# samples say of each other, then what tokens say alone.
PREFERRED = (
    *("cocoa_mean_token_entropy", "cocoa_msp", "cocoa_perplexity", "msp"),
    *("consistency", "degree_matrix", "semantic_entropy", "eigenvalue_laplacian", "semantic_entropy_empirical"),
    *("lexical_similarity", "eccentricity", "perplexity", "mean_token_entropy", "sar", "sentence_sar", "token_sar"),
    *("sequence_entropy_normalised", "sequence_entropy"),
)
# A measure must have a number in this share of the answers.
_SHARE = 0.95
# Digits to which two columns are the same order.
_DIGITS = 9


def chosen_measures(table: ScoreTable, *, n_map: int) -> tuple[str, ...]:
    """Return at most ten measures that nearly all answers allow, in the order of preference.

    Left out are measures that never vary and measures that order the answers as one before them does. Few answers take
    few measures: ``n_map`` answers fit the map, which needs 8 (2^m - 1) of them for m columns.

    Examples
    --------
    >>> rows = np.random.default_rng(0).random((200, 2))
    >>> table = ScoreTable.of({"msp": rows[:, 0], "consistency": rows[:, 1], "sar": rows[:, 0] * 2})
    >>> chosen_measures(table, n_map=100)
    ('msp', 'consistency')
    """
    ranked = sorted(table.columns, key=lambda name: PREFERRED.index(name) if name in PREFERRED else len(PREFERRED))
    most, seen, found = most_columns(n_map), set(), []
    for name in ranked:
        values = table.values[:, table.columns.index(name)]
        order = _order(values)
        if np.isfinite(values).mean() >= _SHARE and order is not None and order not in seen:
            seen.add(order)
            found.append(name)
    if not found:
        shares = ", ".join(f"{name} {np.isfinite(table.values[:, k]).mean():.0%}" for k, name in enumerate(ranked))
        raise CalibrationError(
            f"No measure varies and has a number in {_SHARE:.0%} of the {len(table):,} answers of the map ({shares}). "
            f"Name some: measures=['consistency']."
        )
    return tuple(found[:most])


def most_columns(n_map: int) -> int:
    """Return how many columns so many rows of the map allow, from 3 to ten.

    Examples
    --------
    >>> most_columns(50), most_columns(120), most_columns(10_000)
    (3, 4, 10)
    """
    return min(max(int(np.log2(n_map / 8 + 1)), 3), MAX_COLUMNS)


def _order(values: Array) -> bytes | None:
    """Return what is the same for columns that order the rows alike; None for a column that never varies."""
    finite = np.isfinite(values)
    if len(values[finite]) < 2 or np.ptp(values[finite]) == 0:
        return None
    size = float(np.abs(values[finite]).max())
    rounded = np.round(np.where(finite, values, np.nan) / size, _DIGITS)
    return np.unique(rounded, return_inverse=True)[1].astype(np.int64).tobytes()

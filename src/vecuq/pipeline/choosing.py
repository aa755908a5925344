"""Which measures a pipeline takes when nobody names them."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from vecuq._check import Array
from vecuq.errors import CalibrationError
from vecuq.table import ScoreTable

# The order in which measures are taken, by what they gave on the text study and on GSM8K (docs/judge.md): samples and
# tokens together, samples alone, what the model said of its own answer, models that compare, tokens alone.
PREFERRED = (
    *("cocoa_mean_token_entropy", "cocoa_msp", "consistency", "majority_share"),
    *("p_true", "verbalised_confidence", "linguistic_confidence", "non_contradiction", "cosine"),
    *("perplexity", "msp", "mean_token_entropy", "max_token_entropy"),
)
# Where answers allow none of these: near copies of them, or weaker by themselves. Measures of other packages come last.
RESERVE = (
    *("cocoa_perplexity", "kernel_language_entropy", "semantic_entropy", "degree_matrix", "eigenvalue_laplacian"),
    *("lexical_similarity", "semantic_entropy_empirical", "semantic_sets", "eccentricity", "min_token_probability"),
    *("token_margin", "self_certainty", "top_k_negentropy", "token_sar", "sar", "sentence_sar"),
    *("sequence_entropy_normalised", "sequence_entropy"),
)
# A measure must have a number in this share of the answers.
_SHARE = 0.95
# Columns whose rank correlation is higher are near copies: together they count twice and tell nothing new.
_NEAR_COPY = 0.9
_MOST, _FEWEST = 5, 3


def chosen_measures(table: ScoreTable, *, n_map: int) -> tuple[str, ...]:
    """Return at most five measures that nearly all answers allow, in the order of preference.

    Answers that allow no measure at all, such as calls of tools, do not count. Left out are measures that never vary
    and near copies of one before them. Few answers take few measures: ``n_map`` answers fit the map, which needs
    8 (2^m - 1) of them for m columns.

    Examples
    --------
    >>> rows = np.random.default_rng(0).random((200, 2))
    >>> table = ScoreTable.of({"msp": rows[:, 0], "consistency": rows[:, 1], "perplexity": rows[:, 0] * 2})
    >>> chosen_measures(table, n_map=100)
    ('consistency', 'perplexity')
    """
    some = np.isfinite(table.values).any(axis=1)
    table = ScoreTable(table.columns, table.values[some]) if some.any() else table
    usable = [name for name in table.columns if _varies(_column(table, name))]
    if not usable:
        raise CalibrationError(_none_usable(table))
    others = [name for name in usable if name not in PREFERRED]
    found = _apart(table, [name for name in PREFERRED if name in usable])
    if not found:
        found = _apart(table, sorted(others, key=lambda name: RESERVE.index(name) if name in RESERVE else len(RESERVE)))
    return tuple(found[: most_columns(n_map)])


def most_columns(n_map: int) -> int:
    """Return how many columns so many rows of the map allow, from 3 to 5.

    Examples
    --------
    >>> most_columns(50), most_columns(120), most_columns(10_000)
    (3, 4, 5)
    """
    return min(max(int(np.log2(n_map / 8 + 1)), _FEWEST), _MOST)


def _apart(table: ScoreTable, names: list[str]) -> list[str]:
    """Return the names without near copies of earlier ones."""
    found: list[str] = []
    for name in names:
        column = _column(table, name)
        if all(_rank_correlation(column, _column(table, one)) <= _NEAR_COPY for one in found):
            found.append(name)
    return found


def _column(table: ScoreTable, name: str) -> Array:
    return table.values[:, table.columns.index(name)]


def _varies(values: Array) -> bool:
    """Whether a measure has a number in nearly all answers, and not always the same."""
    finite = np.isfinite(values)
    return bool(finite.mean() >= _SHARE and np.ptp(values[finite]) > 0)


def _rank_correlation(one: Array, other: Array) -> float:
    """Return Spearman's correlation of two columns where both have a number; 0 where one does not vary there."""
    both = np.isfinite(one) & np.isfinite(other)
    ranks = np.array([rankdata(one[both]), rankdata(other[both])])
    if len(ranks[0]) < 2 or (np.ptp(ranks, axis=1) == 0).any():
        return 0.0
    return float(np.corrcoef(ranks)[0, 1])


def _none_usable(table: ScoreTable) -> str:
    shares = {name: float(np.isfinite(_column(table, name)).mean()) for name in table.columns}
    some = ", ".join(f"{name} {share:.0%}" for name, share in shares.items() if share > 0) or "none has any number"
    return (
        f"No measure varies and has a number in {_SHARE:.0%} of the {len(table):,} answers of the map ({some}). Name "
        f"some, as in measures=['consistency'], or give answers with samples or log-probs."
    )

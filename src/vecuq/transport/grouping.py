"""Which columns belong together: those whose ranks are most alike, in groups that one map can hold."""

from __future__ import annotations

import numpy as np

from vecuq._check import Array
from vecuq.errors import SettingError
from vecuq.transport.grouped import Groups

# Groups of at most so many columns, and at most so many groups: as many for the one map as for the others.
_MOST = 8
MAX_GROUPED = _MOST * _MOST
# Up to so many columns, smaller groups do: their maps are faster, and have fewer anchors.
_SMALLER = ((20, 4), (48, 6))


def most_in_group(n_columns: int) -> int:
    """Return how many columns a group may hold; refuse too many columns."""
    if n_columns > MAX_GROUPED:
        raise SettingError(
            f"{n_columns} varying score columns are too many; {MAX_GROUPED} is the limit. Leave out columns that "
            f"repeat others (`vecuq doctor` names them), or combine some before."
        )
    return next((size for most, size in _SMALLER if n_columns <= most), _MOST)


def alike_groups(rows: Array) -> Groups:
    """Put columns of similar ranks together.

    The two groups with the highest mean rank correlation are merged, again and again, while the result is not too
    large. Of more groups than eight, the columns of the smallest then go where they fit best.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.random((200, 3))
    >>> alike_groups(np.concatenate([shared + 0.1 * rng.random((200, 3)) for _ in range(4)], axis=1))
    ((0, 3, 6, 9), (1, 4, 7, 10), (2, 5, 8, 11))
    """
    alike, most = rank_correlations(rows), most_in_group(rows.shape[1])
    groups = _merged([[k] for k in range(len(alike))], alike, most)
    while len(groups) > _MOST:
        smallest = groups.pop(min(range(len(groups)), key=lambda number: len(groups[number])))
        for column in smallest:
            free = [group for group in groups if len(group) < most]
            max(free, key=lambda group: alike[column, group].mean()).append(column)
    return tuple(sorted(tuple(sorted(group)) for group in groups))


def _merged(groups: list[list[int]], alike: Array, most: int) -> list[list[int]]:
    """Merge the two groups that are most alike, while any two together are small enough."""
    total = alike.copy()  # between groups: the sum over their columns
    while True:
        sizes = np.array([len(group) for group in groups])
        fits = np.triu(sizes[:, None] + sizes <= most, 1)
        if not fits.any():
            return groups
        # Rounded, so that the order of the columns decides only where they are alike in truth.
        mean = np.where(fits, np.round(total / np.outer(sizes, sizes), 9), -np.inf)
        a, b = (int(k) for k in np.unravel_index(mean.argmax(), mean.shape))
        groups[a] += groups.pop(b)
        total[a] += total[b]
        total[:, a] += total[:, b]
        total = np.delete(np.delete(total, b, axis=0), b, axis=1)


def rank_correlations(rows: Array) -> Array:
    """Return Spearman's correlations, (columns, columns), of columns that all vary."""
    from scipy.stats import rankdata

    ranks = rankdata(rows, axis=0)
    centred = ranks - ranks.mean(axis=0)
    centred /= np.maximum(np.sqrt((centred**2).sum(axis=0)), np.finfo(float).tiny)
    return np.asarray(centred.T @ centred)

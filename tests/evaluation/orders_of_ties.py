"""Metrics by the book: one plain loop per definition, averaged over every order of the tied rows."""

from itertools import chain, permutations, product

import numpy as np
from hypothesis import strategies as st


def orders(uncertainty):
    """Every order of the rows, least uncertain first, that the uncertainty allows."""
    levels = np.unique(uncertainty)
    groups = [permutations(np.flatnonzero(uncertainty == level)) for level in levels]
    return [list(chain(*parts)) for parts in product(*groups)]


def averaged(of_order, uncertainty, target):
    return np.mean([of_order(target[order]) for order in orders(uncertainty)], axis=0)


def ap_by_the_book(target):
    falling = target[::-1]
    precision = [falling[: k + 1].mean() for k in range(len(falling)) if falling[k]]
    return np.mean(precision)


def fpr_by_the_book(target, tpr):
    falling = target[::-1]
    wanted = next(k for k in range(1, len(falling) + 1) if falling[:k].sum() >= tpr * target.sum() - 1e-9)
    return (1 - falling[:wanted]).sum() / (1 - target).sum()


def means_by_the_book(target):
    return np.array([target[:k].mean() for k in range(1, len(target) + 1)])


def trapezoid_by_the_book(target):
    accuracy, n = means_by_the_book(target), len(target)
    return sum((accuracy[k] + accuracy[k - 1]) / 2 / n for k in range(1, n))


def tied_rows(values=None, most=6):
    """Rows (uncertainty, target) on which an order can be judged: few levels, so that ties are common."""
    cells = st.tuples(st.integers(0, 3), st.integers(0, 1) if values is None else values)
    lists = st.lists(cells, min_size=2, max_size=most).map(lambda rows: np.array(rows, dtype=float).T)
    return lists.filter(lambda rows: np.ptp(rows[0]) > 0 and np.ptp(rows[1]) > 0)

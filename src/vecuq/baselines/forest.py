"""Isolation forest in score space."""
# ruff: noqa: N801 - a combiner is called by its name in the catalogue: mean_rank().fit(...)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vecuq._check import Array, whole_number
from vecuq.baselines.combiner import Combiner, Scorer
from vecuq.baselines.standard import minmax_of
from vecuq.transport import Scaler

# Trees work in single precision.
_LIMIT = 1e30


@dataclass(frozen=True, eq=False)
class Isolation:
    """How few random cuts it takes to set a row apart."""

    minmax: Scaler
    forest: Any

    def __call__(self, rows: Array) -> Array:
        """Return scikit-learn's score with its sign turned."""
        return -np.asarray(self.forest.score_samples(_scaled(rows, self.minmax)))


class isolation_forest(Combiner):
    """Isolation forest: how few random cuts it takes to set a row apart from calibration rows; in (0, 1].

    ``2^(-mean depth / expected depth)``, by scikit-learn. It has no direction: very low scores are set apart, too.

    Parameters
    ----------
    n_trees
        Number of trees, each grown on at most 256 calibration rows.
    random_state
        Seed of the trees; None is a fixed seed too.
    columns, flip
        As in every combiner.

    References
    ----------
    Liu, Ting and Zhou, Isolation Forest (ICDM 2008).

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import baselines
    >>> calibration = np.random.default_rng(0).normal(size=(300, 2))
    >>> near, far = baselines.isolation_forest(random_state=0).fit(calibration).uncertainty([[0.0, 0.0], [5.0, 5.0]])
    >>> bool(near < far)
    True
    """

    def __init__(
        self, n_trees: int = 100, *, random_state: int | None = None, columns: Any = None, flip: Any = ()
    ) -> None:
        super().__init__(columns=columns, flip=flip)
        self.n_trees = n_trees
        self.random_state = random_state

    def _learn(self, rows: Array) -> Scorer:
        from sklearn.ensemble import IsolationForest

        n_trees = whole_number("n_trees", self.n_trees, 1)
        seed = 0 if self.random_state is None else whole_number("random_state", self.random_state, 0)
        minmax = minmax_of(rows)
        forest = IsolationForest(n_estimators=n_trees, random_state=seed)
        return Isolation(minmax, forest.fit(_scaled(rows, minmax)))


def _scaled(rows: Array, minmax: Scaler) -> Array:
    return np.clip(minmax.transform(rows), -_LIMIT, _LIMIT)

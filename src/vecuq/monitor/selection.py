"""Out-of-distribution rows of a stream of batches, with one false-discovery rate for all of them together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import in_range, one_of
from vecuq.conformal import Discoveries, select_by_e_values, select_by_pooling
from vecuq.errors import SettingError
from vecuq.ranker import as_ranker

_METHODS = {"e-lond": select_by_e_values, "pooled": select_by_pooling}


class StreamSelection:
    """Select out-of-distribution rows batch by batch, so that all selections together keep a false-discovery rate.

    :meth:`vecuq.Ranker.select` keeps the rate of one batch. Rows selected from many small batches, taken together, may
    be false far more often.

    Parameters
    ----------
    ranker
        The model, a ranker or a fitted :class:`vecuq.VecUQ`; it must have held rows back.
    alpha
        The share of in-distribution rows among all rows ever selected, on average, that is accepted.
    method
        ``"e-lond"``: proven, whatever the dependence between rows (:func:`vecuq.conformal.select_by_e_values`), at
        little power. ``"pooled"``: *simulated only*, with nearly the power of a single large batch
        (:func:`vecuq.conformal.select_by_pooling`); it starts once at least 1 / alpha rows stand out.
    state
        Where an earlier selection stopped, its ``state``.

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import fit_ranker
    >>> rng = np.random.default_rng(0)
    >>> stream = StreamSelection(fit_ranker(rng.gamma(2.0, size=(4_000, 2))), alpha=0.1, method="pooled")
    >>> for _ in range(5):
    ...     chosen = stream.select(np.vstack([rng.gamma(2.0, size=(95, 2)), rng.gamma(2.0, size=(5, 2)) + 20]))
    >>> int(chosen.sum()), stream.state.selected
    (5, 22)
    """

    def __init__(
        self, ranker: Any, alpha: float = 0.1, *, method: str = "e-lond", state: Discoveries | None = None
    ) -> None:
        self.ranker = as_ranker(ranker)
        self.ranker.require_held_back()
        self.alpha = in_range("alpha", alpha, 0.0, 1.0, ends="()")
        self.method = one_of("method", method, tuple(_METHODS))
        # Where rows come in groups, p-values count groups.
        begin = Discoveries.new(self.ranker.n_groups or len(self.ranker.calibration_scores))
        self.state = begin if state is None else state
        if len(self.state.counts) != len(begin.counts):
            raise SettingError(
                f"The state is that of a model with {len(self.state.counts) - 1:,} held-back rows; this one has "
                f"{len(begin.counts) - 1:,}. Give the model with which the stream began."
            )

    def select(self, batch: Any) -> NDArray[np.bool_]:
        """Return which rows of the next batch are selected; a row without a score is not."""
        self.state, chosen = _METHODS[self.method](self.state, self.ranker.p_values(batch), self.alpha)
        return chosen

"""P-values, flags and a gate for a way of your own to combine columns: for whoever has one already.

A combiner says in `_learn` what it learns from calibration rows, and returns a function that scores new ones.
`Conformal` gives it the promises that vecuq's own order has. A package offers it to everyone, and to `vecuq compare`,
by a `vecuq.baselines.Baseline` under the entry points `vecuq.baselines`.
"""

from collections.abc import Callable

import numpy as np

from vecuq import Conformal, Gate
from vecuq.baselines import Combiner
from vecuq.data import load_demo


class TopTwo(Combiner):
    """The mean of a row's two largest z-scores."""

    def _learn(self, rows: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        centre, spread = np.median(rows, axis=0), rows.std(axis=0)

        def score(new: np.ndarray) -> np.ndarray:
            largest = np.sort((new - centre) / spread, axis=1)[:, -2:]
            return (largest[:, 0] + largest[:, 1]) / 2  # one row alone has the bits that it has among others

        return score


calibration, new = load_demo()
model = Conformal(TopTwo()).fit(calibration)
in_distribution = new["is_ood"].to_numpy() == 0
flagged = model.flag(new, alpha=0.05)
print(
    f"flagged: {flagged[in_distribution].mean():.1%} of known digits, {flagged[~in_distribution].mean():.1%} of others"
)

labelled, later = new.slice(0, 500), new.slice(500)
gate = Gate(model, accuracy=0.9).fit(labelled, 1 - labelled["is_error"].to_numpy())
print(gate.certificate())
print(f"{gate.accept(later).mean():.0%} of the later rows are accepted")

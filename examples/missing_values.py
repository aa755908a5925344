"""Score rows that lack a value: for scores that cannot always be computed.

By default such a row has no score, and `flag` flags it. With missing="marginal" it is scored by the columns that it
has, and its p-value stays valid if what is missing does not depend on the values.
"""

import warnings

import numpy as np

from vecuq import VecUQ
from vecuq.errors import MissingValueWarning

rng = np.random.default_rng(0)
calibration = rng.gamma(1.0, size=(600, 3))
new = rng.gamma(1.0, size=(2_000, 3))
new[rng.random(2_000) < 0.3, 1] = np.nan
incomplete = np.isnan(new).any(axis=1)

strict = VecUQ().fit(calibration)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", MissingValueWarning)
    no_score = np.isnan(strict.uncertainty(new))
    flagged = strict.flag(new, alpha=0.05)
print(
    f"by default {no_score.sum()} of {len(new)} rows have no score; all of them are flagged: {flagged[no_score].all()}"
)

lenient = VecUQ(missing="marginal").fit(calibration)
scored = lenient.uncertainty(new)
alarms = lenient.flag(new, alpha=0.05)
print(f"marginal: {np.isnan(scored).sum()} rows have no score")
for name, rows in {"complete": ~incomplete, "incomplete": incomplete}.items():
    print(f"flagged of the {name} rows, at alpha 0.05: {alarms[rows].mean():.1%}")

"""Let a few labels say how much each column counts: for scores of which some are noise.

The order stays monotone and p-values work as before. The gain is small; labels gain more in a gate, and those must be
other labels.
"""

import numpy as np
import pyarrow as pa

from vecuq import VecUQ, learn_weights
from vecuq.evaluation import roc_auc

rng = np.random.default_rng(0)


def draw(n_rows: int) -> tuple[pa.Table, np.ndarray]:
    """Return a table in which two columns know something and two are noise, and which rows are wrong."""
    doubt = rng.gamma(1.0, size=n_rows)
    good = {name: doubt * rng.gamma(4.0, 0.25, n_rows) for name in ("entropy", "knn")}
    noise = {name: rng.gamma(1.0, size=n_rows) for name in ("length", "hour")}
    return pa.table({**good, **noise}), rng.random(n_rows) < np.clip(doubt / 6, 0, 1)


(calibration, _), (labelled, wrong), (later, later_wrong) = draw(600), draw(500), draw(4_000)
weights = learn_weights(labelled, wrong)
print("weights:", ", ".join(f"{name} {value:.2f}" for name, value in weights.items()))

equal = VecUQ().fit(calibration)
learned = VecUQ(weights=weights).fit(calibration)
areas = {
    name: roc_auc(model.uncertainty(later), later_wrong) for name, model in (("equal", equal), ("learned", learned))
}
for name, area in areas.items():
    print(f"ROC-AUC for errors, {name} weights: {area:.3f}")

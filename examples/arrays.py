"""Rank rows of a NumPy array: for scores that lie in memory, one column each.

Fit on calibration rows (in-distribution, no labels), score new ones, read p-values, flag, save and load.
"""

import tempfile
from pathlib import Path

import numpy as np

from vecuq import VecUQ, load

rng = np.random.default_rng(0)
calibration = rng.gamma(1.0, size=(1000, 3))  # three scores per row, higher = more uncertain
new = np.concatenate([rng.gamma(1.0, size=(5, 3)), rng.gamma(4.0, size=(5, 3))])

model = VecUQ(alpha=0.05).fit(calibration)
for row, score, p, verdict in zip(new, model.uncertainty(new), model.p_values(new), model.predict(new), strict=True):
    print(row.round(2), f"uncertainty {score:.3f}  p-value {p:.3f}", "FLAGGED" if verdict == -1 else "")

with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder) / "model.vecuq")
    same = load(Path(folder) / "model.vecuq").uncertainty(new)
print("the same bits after saving and loading:", bool((same == model.uncertainty(new)).all()))

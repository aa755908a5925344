"""Rank the rows of a data frame by column name: for scores that lie in pandas or Polars, beside ids and labels.

Columns are matched by name, so order and extra columns do not matter. `flip` names columns in which higher means more
certain.
"""

import pandas as pd

from vecuq import VecUQ
from vecuq.data import demo_files

calibration, new = (pd.read_csv(path) for path in demo_files())
scores = ["entropy", "mahalanobis", "confidence"]
model = VecUQ(columns=scores, flip=["confidence"]).fit(calibration)  # rows like those that you trust; no labels

ranked = new.assign(
    uncertainty=model.uncertainty(new),
    p_value=model.p_values(new),
    flagged=model.flag(new, alpha=0.05),
    why=model.why(new),
).sort_values("uncertainty", ascending=False)

print(ranked[["id", "uncertainty", "p_value", "is_ood"]].head().to_string(index=False))
print(ranked["why"].iloc[0])
print(f"{ranked['flagged'].sum()} of {len(ranked)} rows are flagged")

"""Rank more than ten columns: for whoever computes every score there is.

Columns that say nearly the same are put into one group; each group is ranked, and then the groups. Nothing need be
set. More columns are not better: columns of noise hurt.
"""

import numpy as np
import pyarrow as pa

from vecuq import VecUQ

rng = np.random.default_rng(0)


def draw(n_rows: int, scale: float = 1.0) -> pa.Table:
    """Return 12 columns: four readings each of three kinds of doubt."""
    kinds = {name: scale * rng.gamma(1.0, size=n_rows) for name in ("risk", "density", "agreement")}
    return pa.table(
        {f"{name}_{k}": doubt * rng.gamma(9, 1 / 9, n_rows) for name, doubt in kinds.items() for k in range(4)}
    )


calibration, same, strange = draw(2_000), draw(1_000), draw(1_000, scale=3.0)
model = VecUQ().fit(calibration)
groups = model.diagnostics_.column_groups
for name, columns in groups.items():
    print(f"{name}: {', '.join(columns)}")
flagged = {name: model.flag(rows, alpha=0.05).mean() for name, rows in (("same", same), ("strange", strange))}
print(f"flagged: {flagged['same']:.1%} of rows like the calibration rows, {flagged['strange']:.1%} of strange ones")
print(model.why(strange)[0])

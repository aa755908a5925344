"""Fit from rows that come in chunks, or lie on several machines: for more rows than memory holds.

Each part leaves a small summary behind, and summaries add up. The model is the one that all rows give at once.
"""

import numpy as np

from vecuq import PartialFit, Settings, fit_ranker

rng = np.random.default_rng(0)
parts = [rng.gamma(1.0, size=(20_000, 2)) for _ in range(3)]

# Each of these could be made on another machine and sent here, by to_bytes and from_bytes.
gathered = [PartialFit(part=k).update(rows) for k, rows in enumerate(parts)]
whole = sum(gathered)
ranker = whole.fit()
went = ranker.diagnostics
print(f"{whole.count:,} rows; {went.n_held:,} held back for p-values, the others in a sketch")

held = np.concatenate([ranker.kept.held, ranker.kept.draws])
rows = np.concatenate(parts)
mapped = rows[~np.isin(rows[:, 0], held[:, 0])]
at_once = fit_ranker(mapped, Settings(holdback=0.0, solver="separable"))
new = rng.gamma(1.5, size=(1000, 2))
difference = abs(ranker.uncertainty(new) - at_once.uncertainty(new)).max()
print(f"largest difference from fitting these rows at once: {difference:.1e}")

"""Fit from rows that come in chunks, or lie on several machines: sketches of the parts add up to that of the whole."""

import numpy as np

from vecuq import Settings, fit_ranker, sketch

rng = np.random.default_rng(0)
parts = [np.minimum(rng.gamma(1.0, size=(20_000, 2)), 12.0) for _ in range(3)]
ranges = {"x0": (0.0, 12.0), "x1": (0.0, 12.0)}  # must hold the rows of every part

whole = sum((sketch(part, ranges=ranges) for part in parts[1:]), start=sketch(parts[0], ranges=ranges))
ranker = fit_ranker(whole)
print(f"{whole.count:,} rows in {whole.moments.nbytes:,} bytes; solver: {ranker.diagnostics.solver}")

at_once = fit_ranker(np.concatenate(parts), Settings(holdback=0.0, solver="separable"))
new = rng.gamma(1.5, size=(1000, 2))
difference = abs(ranker.uncertainty(new) - at_once.uncertainty(new)).max()
print(f"largest difference from fitting all rows at once: {difference:.1e}")

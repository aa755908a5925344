"""Whether rows that follow each other are alike: then an alarm may be dependence, and no drift.

Of three independent rows, the last is as likely nearer to the one before it as to the one ``LAG`` rows before, whatever
their law. Drift changes little about it, for all three rows drift together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecuq._check import Array

# The other row to which a row is compared, so many rows before.
LAG = 5
# So many standard deviations above one half are more than chance; one of them is 0.48 / sqrt(pairs), by simulation.
_SURE, _SPREAD = 3.0, 0.48
FEWEST = 50


@dataclass(frozen=True)
class Neighbours:
    """How often a row was nearer to the row before it; ties count one half."""

    pairs: int = 0
    nearer: float = 0.0
    recent: tuple[float, ...] = ()  # places of the last rows, at most LAG

    def after(self, places: Array) -> Neighbours:
        """Go on through rows, each by its place among the calibration rows."""
        known = np.concatenate([np.asarray(self.recent), np.asarray(places, dtype=float)])
        last = known[LAG:]
        if not len(last):
            return Neighbours(self.pairs, self.nearer, tuple(known.tolist()))
        near, far = np.abs(last - known[LAG - 1 : -1]), np.abs(last - known[:-LAG])
        nearer = float((near < far).sum() + 0.5 * (near == far).sum())
        return Neighbours(self.pairs + len(last), self.nearer + nearer, tuple(known[-LAG:].tolist()))

    @property
    def share(self) -> float:
        """How often a row was nearer to the one before it: about one half for independent rows."""
        return self.nearer / self.pairs if self.pairs else 0.5

    @property
    def alike(self) -> bool:
        """Whether rows that follow each other are more alike than chance makes them."""
        return self.pairs >= FEWEST and bool(self.share > 0.5 + _SURE * _SPREAD / np.sqrt(self.pairs))

"""Overlap: which rows a ranker was made of, by their fingerprints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array
from vecuq.ranker.weights import Weights
from vecuq.table import Fingerprints, row_hashes

if TYPE_CHECKING:
    from vecuq.ranker.ranker import Ranker

# Matches that chance explains less often than this are more than usual.
_CHANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Matches:
    """Which rows have the values of one of some earlier rows.

    Equal values do not prove that it is the same row: scores that take few values match by chance. How often they do
    is seen on the held-back rows, and that is the usual share.

    Attributes
    ----------
    rows
        Which rows match, as far as is known.
    decided
        For which rows that is known: all; a random share of them where the earlier rows were more than the fingerprints
        that are kept; none if no fingerprints are kept.
    n_held, n_held_matches
        Held-back rows for which it is known, and those that match.
    """

    rows: NDArray[np.bool_]
    decided: NDArray[np.bool_]
    n_held: int
    n_held_matches: int

    @property
    def share(self) -> float:
        """The share of rows that match, of those for which it is known; 0 if it is known for none."""
        return float(self.rows.sum() / max(1, self.decided.sum()))

    @property
    def usual_share(self) -> float | None:
        """The share of held-back rows that match; None if there are none."""
        return self.n_held_matches / self.n_held if self.n_held else None

    @property
    def unusual(self) -> bool:
        """Whether more rows match than chance explains, if they were like the held-back ones.

        Fisher's exact test at level 0.001; where no row was held back, whether any row matches.
        """
        matches, known = int(self.rows.sum()), int(self.decided.sum())
        if not self.n_held or not matches:
            return matches > 0
        from scipy.stats import hypergeom

        chance = hypergeom.sf(matches - 1, known + self.n_held, matches + self.n_held_matches, known)
        return bool(chance < _CHANCE)


@dataclass(frozen=True, eq=False)
class Overlap:
    """Which rows match those that a ranker was made of.

    Attributes
    ----------
    map
        Matches with the rows that fitted the map.
    weights
        Matches with the labelled rows that the weights were learned from.
    held
        Which rows match one that was held back, for p-values and thresholds.
    """

    map: Matches
    weights: Matches
    held: NDArray[np.bool_]

    @property
    def map_rows(self) -> NDArray[np.bool_]:
        """Which rows match the map's."""
        return self.map.rows

    @property
    def weight_rows(self) -> NDArray[np.bool_]:
        """Which rows match those that the weights were learned from."""
        return self.weights.rows

    @property
    def share(self) -> float:
        """The share of rows that match the map's, as far as is known."""
        return self.map.share

    @property
    def usual(self) -> float:
        """The share of held-back rows that match the map's; 0 if there are none."""
        return self.map.usual_share or 0.0


def overlap_of(ranker: Ranker, values: Array) -> Overlap:
    """Compare rows, in the ranker's order and direction, with those that it was made of."""
    kept, weights = ranker.kept, Weights.of(ranker.settings.weights)
    held = kept.held
    if len(held) < ranker.diagnostics.n_held:  # where the map knew a sketch only, some of them became draws
        held = np.concatenate([held, kept.draws])
    places = [ranker.columns.index(name) for name in weights or ranker.columns]
    prints = None if weights is None else weights.prints
    return Overlap(
        map=_matches(ranker.prints, values, held),
        weights=_matches(prints, values[:, places], held[:, places]),
        held=np.isin(row_hashes(values), row_hashes(held)),
    )


def _matches(prints: Fingerprints | None, values: Array, held: Array) -> Matches:
    """Compare rows, and those that were held back, with the fingerprints of earlier ones."""
    if prints is None:
        nothing = np.zeros(len(values), dtype=bool)
        return Matches(nothing, nothing, 0, 0)
    new, old = row_hashes(values), row_hashes(held)
    counts = int(prints.decide(old).sum()), int(prints.contain(old).sum())
    return Matches(prints.contain(new), prints.decide(new), *counts)

"""Every combiner by name; third parties add to it through the entry points ``vecuq.baselines``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from vecuq._check import from_packages, one_of
from vecuq.baselines import distances, gaussian_copula, pvalues, ranks, sums
from vecuq.errors import SettingError

ENTRY_POINTS = "vecuq.baselines"

# In the order in which they are listed. The meaning and the citation are read from the docstring.
OURS = (
    sums.sum,
    sums.minmax_sum,
    sums.z_sum,
    ranks.mean_rank,
    ranks.max_rank,
    sums.pca,
    pvalues.fisher,
    pvalues.harmonic,
    pvalues.cauchy,
    distances.mahalanobis,
    distances.knn,
    distances.isolation_forest,
    gaussian_copula.copula,
)


@dataclass(frozen=True)
class Baseline:
    """One way to combine columns.

    ``make()`` gives an unfitted combiner with ``fit(calibration)`` and ``uncertainty(new)``, one number per row, higher
    = more uncertain; it takes the keywords ``columns`` and ``flip``, as :class:`vecuq.VecUQ` does. ``citation`` is
    empty where there is none.
    """

    name: str
    about: str
    citation: str
    make: Any


def _described(kind: type[Any]) -> Baseline:
    documented = inspect.getdoc(kind) or ""
    _, _, after = documented.partition("References\n----------\n")
    return Baseline(kind.__name__, documented.partition("\n")[0].rstrip("."), after.partition("\n")[0], kind)


@lru_cache(maxsize=1)
def baselines() -> dict[str, Baseline]:
    """Return every combiner by name: ours, and those of installed packages.

    Examples
    --------
    >>> baselines()["fisher"].citation
    'Fisher, Statistical Methods for Research Workers (1925).'
    """
    known = {kind.__name__: _described(kind) for kind in OURS}
    for added in from_packages(ENTRY_POINTS, Baseline, lambda one: one.name in known):
        known[added.name] = added
    return known


def list_baselines() -> tuple[str, ...]:
    """Return the names of all combiners; :func:`baselines` has their meanings and references.

    Examples
    --------
    >>> list_baselines()[:3]
    ('sum', 'minmax_sum', 'z_sum')
    """
    return tuple(baselines())


def find_baselines(names: Sequence[str]) -> tuple[Baseline, ...]:
    """Return the named combiners, each once.

    Examples
    --------
    >>> [found.name for found in find_baselines(["pca", "sum", "pca"])]
    ['pca', 'sum']
    """
    if not names:
        raise SettingError("At least one baseline is needed; none was named.")
    known = baselines()
    return tuple(known[one_of("A baseline", name, tuple(known))] for name in dict.fromkeys(names))

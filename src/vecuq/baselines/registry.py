"""Every combiner by name; third parties add to it through the entry points ``vecuq.baselines``."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any

from vecuq._check import one_of
from vecuq.baselines import distances, forest, gaussian_copula, pvalues, ranks, sums
from vecuq.errors import SettingError, VecuqWarning

ENTRY_POINTS = "vecuq.baselines"

# In the order in which they are listed. The meaning and the reference are read from the docstring.
_OURS = (
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
    forest.isolation_forest,
    gaussian_copula.copula,
)


@dataclass(frozen=True)
class Baseline:
    """One way to combine columns.

    ``make()`` gives an unfitted combiner with ``fit(calibration)`` and ``uncertainty(new)``, one number per row, higher
    = more uncertain; it takes the keywords ``columns`` and ``flip``, as :class:`vecuq.VecUQ` does. ``reference`` is
    empty where there is none.
    """

    name: str
    about: str
    reference: str
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
    >>> baselines()["fisher"].reference
    'Fisher, Statistical Methods for Research Workers (1925).'
    """
    known = {kind.__name__: _described(kind) for kind in _OURS}
    for point in entry_points(group=ENTRY_POINTS):
        try:
            added = point.load()
        except Exception as error:  # a broken package must not take ours down
            warnings.warn(f"The baseline {point.name!r} could not be loaded: {error}", VecuqWarning, stacklevel=2)
            continue
        if not isinstance(added, Baseline) or added.name in known:
            warnings.warn(
                f"The entry point {point.name!r} is no vecuq.baselines.Baseline of a new name.",
                VecuqWarning,
                stacklevel=2,
            )
            continue
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

"""The other ways to combine columns, with the verbs of :class:`vecuq.VecUQ`.

``vecuq.baselines.mean_rank().fit(calibration).uncertainty(new)``; :func:`list_baselines` names them all. All but
``isolation_forest`` are deterministic, and it is so for a given seed; a row's number depends on that row alone.
"""

from vecuq.baselines.combiner import Combiner
from vecuq.baselines.conformal import Conformal
from vecuq.baselines.distances import isolation_forest, knn, mahalanobis
from vecuq.baselines.gaussian_copula import copula
from vecuq.baselines.pvalues import cauchy, fisher, harmonic
from vecuq.baselines.ranks import max_rank, mean_rank
from vecuq.baselines.registry import Baseline, baselines, find_baselines, list_baselines
from vecuq.baselines.saved import conformal_of
from vecuq.baselines.sums import minmax_sum, pca, sum, z_sum

__all__ = [
    "Baseline",
    "Combiner",
    "Conformal",
    "baselines",
    "cauchy",
    "conformal_of",
    "copula",
    "find_baselines",
    "fisher",
    "harmonic",
    "isolation_forest",
    "knn",
    "list_baselines",
    "mahalanobis",
    "max_rank",
    "mean_rank",
    "minmax_sum",
    "pca",
    "sum",
    "z_sum",
]

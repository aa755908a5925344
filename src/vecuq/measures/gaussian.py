"""Densities made of Gaussians: Mahalanobis distances, and a mixture with one Gaussian per class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, in_range, warn_user
from vecuq._files import Numbers, Rule, between
from vecuq.errors import CalibrationError, CalibrationWarning
from vecuq.measures.density import MODERATE, Density, class_index, finite_points, training_members

# A covariance per class and member takes classes x d x d numbers: 2 GiB of them at most.
_MOST_ENTRIES = 2**28
# Every direction is stretched by something.
_NOT_ZERO = Rule("of a row with a number other than 0", lambda x: np.asarray(~x.any(axis=-1)))


@dataclass(frozen=True, eq=False)
class Mahalanobis(Density):
    """Smallest squared Mahalanobis distance to a class mean, with one covariance within all classes; in [0, inf).

    ``min over c of (f - mu_c)' S^-1 (f - mu_c)``. When training rows are few for S, it is shrunk (Ledoit-Wolf) and a
    :class:`~vecuq.errors.CalibrationWarning` says so.

    Lee et al., A Simple Unified Framework for Detecting Out-of-Distribution Samples (NeurIPS 2018).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> fitted = Mahalanobis.fit(rng.normal(size=(200, 2)), rng.integers(2, size=200))
    >>> near, far = fitted.score([[0.0, 0.0], [9.0, 9.0]])
    >>> bool(far > near)
    True
    """

    means: Array  # (members, classes, d), whitened
    whitening: Array  # (members, d, d)
    parts: ClassVar[Mapping[str, Numbers]] = {
        "means": Numbers("members classes d", MODERATE),
        "whitening": Numbers("members d d", MODERATE, _NOT_ZERO),
    }

    @staticmethod
    def fit(embeddings: Any, labels: Any, *, ridge: float = 1e-6) -> Mahalanobis:
        """Fit to training rows; ``ridge`` is added to the diagonal of the covariance (the authors' 1e-6)."""
        members, index = _training(embeddings, labels, ridge)
        return Mahalanobis(*_whitened_means(members, index, ridge))

    def _score_member(self, points: Array, member: int) -> Array:
        return _nearest(points @ self.whitening[member].T, self.means[member])


@dataclass(frozen=True, eq=False)
class RelativeMahalanobis(Density):
    """Mahalanobis distance to the nearest class minus that to one Gaussian for all classes; any real number.

    Ren et al., A Simple Fix to Mahalanobis Distance for Improving Near-OOD Detection (2021).
    """

    means: Array
    whitening: Array
    all_means: Array
    all_whitening: Array
    parts: ClassVar[Mapping[str, Numbers]] = {
        **Mahalanobis.parts,
        "all_means": Numbers("members 1 d", MODERATE),
        "all_whitening": Numbers("members d d", MODERATE, _NOT_ZERO),
    }

    @staticmethod
    def fit(embeddings: Any, labels: Any, *, ridge: float = 1e-6) -> RelativeMahalanobis:
        """Fit both Gaussians to training rows."""
        members, index = _training(embeddings, labels, ridge)
        return RelativeMahalanobis(
            *_whitened_means(members, index, ridge), *_whitened_means(members, np.zeros_like(index), ridge)
        )

    def _score_member(self, points: Array, member: int) -> Array:
        near = _nearest(points @ self.whitening[member].T, self.means[member])
        return near - _nearest(points @ self.all_whitening[member].T, self.all_means[member])


@dataclass(frozen=True, eq=False)
class GaussianMixture(Density):
    """Negative log-density of a Gaussian per class, mixed by class frequency; any real number.

    ``-log sum over c of (n_c / n) N(f; mu_c, S_c)``. Mukhoti et al., Deep Deterministic Uncertainty (CVPR 2023).
    """

    means: Array  # (members, classes, d)
    whitening: Array  # (members, classes, d, d)
    log_weights: Array  # (members, classes): log frequency plus the logarithm of the normaliser
    parts: ClassVar[Mapping[str, Numbers]] = {
        "means": Numbers("members classes d", MODERATE),
        "whitening": Numbers("members classes d d", MODERATE, _NOT_ZERO),
        "log_weights": Numbers("members classes", between(-1e9, 1e9)),
    }

    @staticmethod
    def fit(embeddings: Any, labels: Any, *, ridge: float = 1e-6) -> GaussianMixture:
        """Fit to training rows; a class with no more rows than dimensions borrows the covariance within all classes."""
        in_range("ridge", ridge, 0.0)
        members = training_members(embeddings)
        (n, d), index = members[0].shape, class_index(labels, members[0].shape[0])
        counts = np.bincount(index)
        _doubt_classes(counts, len(members), d)
        fitted = [_class_gaussians(finite_points(member), index, ridge) for member in members]
        means, whitening = (np.stack([pair[k] for pair in fitted]) for k in (0, 1))
        log_weights = np.log(counts / n) + np.linalg.slogdet(whitening)[1] - 0.5 * d * np.log(2.0 * np.pi)
        return GaussianMixture(means, whitening, log_weights)

    def _score_member(self, points: Array, member: int) -> Array:
        from scipy.special import logsumexp

        levels = np.empty((len(points), self.means.shape[1]))
        for c, (mean, whitening) in enumerate(zip(self.means[member], self.whitening[member], strict=True)):
            levels[:, c] = self.log_weights[member, c] - 0.5 * (((points - mean) @ whitening.T) ** 2).sum(axis=1)
        return -np.asarray(logsumexp(levels, axis=1))


def _training(embeddings: Any, labels: Any, ridge: float) -> tuple[Sequence[Any], NDArray[np.intp]]:
    """Return the members' training rows and the class of each row; warn if rows are few for one covariance."""
    in_range("ridge", ridge, 0.0)
    members = training_members(embeddings)
    n_rows, d = members[0].shape
    if _are_few(n_rows, d):
        warn_user(
            f"{n_rows:,} training rows are few for a covariance of {d:,} dimensions; it is shrunk (Ledoit-Wolf).",
            CalibrationWarning,
        )
    return members, class_index(labels, n_rows)


def _centred(points: Array, index: NDArray[np.intp]) -> tuple[Array, Array]:
    """Return the mean of each class, and what is left of the points without it."""
    centres = np.stack([points[index == c].mean(axis=0) for c in range(index.max() + 1)])
    return centres, points - centres[index]


def _whitened_means(members: Sequence[Any], index: NDArray[np.intp], ridge: float) -> tuple[Array, Array]:
    """Return the whitened class means, (members, classes, d), and what whitens them, (members, d, d)."""
    means, whitenings = [], []
    for member in members:
        centres, residuals = _centred(finite_points(member), index)
        whitenings.append(_whitening(_covariance(residuals, ridge)))
        means.append(centres @ whitenings[-1].T)
    return np.stack(means), np.stack(whitenings)


def _covariance(residuals: Array, ridge: float) -> Array:
    """Return the covariance with a ridge; shrunk by Ledoit and Wolf when rows are few."""
    n, d = residuals.shape
    if _are_few(n, d) and residuals.any():
        from sklearn.covariance import ledoit_wolf

        covariance = ledoit_wolf(residuals, assume_centered=True)[0]
    else:
        covariance = residuals.T @ residuals / n
    return np.asarray(covariance + ridge * np.eye(d))


def _are_few(n_rows: int, d: int) -> bool:
    return n_rows < 5 * d


def _whitening(covariance: Array) -> Array:
    """Return W with W' W the inverse covariance; directions without variance count as barely varying, not as none."""
    values, vectors = np.linalg.eigh(covariance)
    floor = float(values[-1]) * 1e-12 if values[-1] > 0 else 1.0
    return np.asarray((vectors / np.sqrt(np.maximum(values, floor))).T)


def _nearest(points: Array, centres: Array) -> Array:
    """Return the squared distance to the nearest centre: found by matrix product, measured without cancellation."""
    nearest = ((centres**2).sum(axis=1) - 2.0 * (points @ centres.T)).argmin(axis=1)
    return np.asarray(((points - centres[nearest]) ** 2).sum(axis=1))


def _class_gaussians(points: Array, index: NDArray[np.intp], ridge: float) -> tuple[Array, Array]:
    """Return mean and whitening of every class."""
    centres, residuals = _centred(points, index)
    d = points.shape[1]
    shared: Array | None = None
    whitenings = []
    for c in range(len(centres)):
        own = residuals[index == c]
        if len(own) > d:
            whitenings.append(_whitening(own.T @ own / len(own) + ridge * np.eye(d)))
            continue
        shared = _whitening(_covariance(residuals, ridge)) if shared is None else shared
        whitenings.append(shared)
    return centres, np.stack(whitenings)


def _doubt_classes(counts: NDArray[np.intp], n_members: int, d: int) -> None:
    if n_members * len(counts) * d * d > _MOST_ENTRIES:
        raise CalibrationError(
            f"The measure 'gmm' keeps a covariance per class: {n_members} x {len(counts):,} x {d:,} x {d:,} numbers "
            f"are too many. Use 'mahalanobis', which keeps one, or embeddings of fewer dimensions."
        )
    few = int((counts <= d).sum())
    if few:
        warn_user(
            f"{few:,} of {len(counts):,} classes have no more training rows than the {d:,} dimensions; in 'gmm' they "
            f"borrow the covariance within all classes.",
            CalibrationWarning,
        )

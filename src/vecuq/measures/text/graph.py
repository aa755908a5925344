"""Measures of the graph whose nodes are samples and whose edges are weighted by agreement.

Lin et al., Generating with Confidence (TMLR 2024). All take an affinity (samples, samples) within [0, 1]: the
probability that sample i entails sample j, one minus the probability that it contradicts it, their Jaccard or any other
similarity. It is symmetrised, ``W = (A + A') / 2``.
``unit_diagonal`` sets ``W_ii = 1``, as the original authors' code does. All are NaN for fewer than two samples: one
sample agrees with itself, whatever the model knows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vecuq._check import Array, in_range
from vecuq.compare import MISSING, square

# Eigenvalues have rounding errors of about 1e-15; results are rounded to so many digits, so that equal graphs tie.
_DIGITS = 12


class Spectrum(NamedTuple):
    """Eigenvalues (ascending) and eigenvectors (columns) of the normalised Laplacian ``I - D^-1/2 W D^-1/2``."""

    values: Array
    vectors: Array

    @staticmethod
    def of(affinity: Any, *, unit_diagonal: bool = False) -> Spectrum:
        """Decompose; a sample without any edge gets an edge to itself."""
        weights = _weights(affinity, unit_diagonal)
        isolated = weights.sum(axis=1) == 0
        weights[isolated, isolated] = 1.0
        scale = 1.0 / np.sqrt(weights.sum(axis=1))
        laplacian = np.eye(len(weights)) - scale[:, None] * weights * scale
        if not np.isfinite(laplacian).all():
            return Spectrum(np.full(len(weights), np.nan), np.full(weights.shape, np.nan))
        return Spectrum(*np.linalg.eigh(laplacian))

    def eigenvalue_sum(self) -> float:
        """Return ``sum_k max(0, 1 - lambda_k)``, in [1, samples]."""
        if len(self.values) < 2:
            return MISSING
        total = np.maximum(0.0, 1.0 - self.values).sum()
        return round(float(np.clip(total, 1.0, len(self.values))), _DIGITS)

    def eccentricity(self, threshold: float = 0.9) -> float:
        """Return how far samples lie from their centre in the eigenvectors with ``lambda < threshold``."""
        if len(self.values) < 2 or np.isnan(self.values).any():
            return MISSING
        kept = self.vectors[:, self.values < threshold]
        return round(float(np.linalg.norm(kept - kept.mean(axis=0))), _DIGITS)


def degree_matrix(affinity: Any, *, unit_diagonal: bool = False) -> float:
    """Mean disagreement of the samples, ``mean(1 - W)``, in [0, 1].

    Times the number of samples, and with ``unit_diagonal``, it is the value of the original code.

    Examples
    --------
    >>> degree_matrix([[1.0, 0.5], [0.0, 1.0]])
    0.375
    """
    weights = _weights(affinity, unit_diagonal)
    return float((1.0 - weights).mean()) if len(weights) > 1 else MISSING


def eigenvalue_laplacian(affinity: Any, *, unit_diagonal: bool = False) -> float:
    """Soft count of meanings, ``sum_k max(0, 1 - lambda_k)`` of the graph's Laplacian, in [1, samples].

    Examples
    --------
    >>> eigenvalue_laplacian([[1.0, 0.0], [0.0, 1.0]]), eigenvalue_laplacian([[1.0, 1.0], [1.0, 1.0]])
    (2.0, 1.0)
    """
    return Spectrum.of(affinity, unit_diagonal=unit_diagonal).eigenvalue_sum()


def eccentricity(affinity: Any, *, threshold: float = 0.9, unit_diagonal: bool = False) -> float:
    """Spread of the samples in the graph's leading eigenvectors, in [0, sqrt(samples - 1)].

    The Frobenius norm of the column-centred eigenvectors of the Laplacian with eigenvalues below ``threshold``.

    Examples
    --------
    >>> eccentricity([[1.0, 0.0], [0.0, 1.0]]), eccentricity([[1.0, 1.0], [1.0, 1.0]])
    (1.0, 0.0)
    """
    in_range("threshold", threshold, 0.0, 2.0, ends="(]")
    return Spectrum.of(affinity, unit_diagonal=unit_diagonal).eccentricity(threshold)


def kernel_language_entropy(affinity: Any, *, t: float = 0.3) -> float:
    """Von Neumann entropy of the graph's heat kernel, in nats, in (0, log samples].

    ``-trace(K log K)`` with ``K_ij = H_ij / (n sqrt(H_ii H_jj))``, ``H = exp(-t (D - W))`` and ``W = A + A'``, the sum
    of both directions. Nikitin et al., Kernel Language Entropy (NeurIPS 2024); divided by log n it is the value of
    their code. With an NLI model their affinity is the probability of entailment plus half of that of neutral.

    Examples
    --------
    >>> apart, same = kernel_language_entropy(np.eye(2)), kernel_language_entropy(np.ones((2, 2)))
    >>> round(apart, 6), round(same, 6)
    (0.693147, 0.541053)
    """
    in_range("t", t, 0.0, ends="()")
    weights = 2.0 * _weights(affinity, False)
    if len(weights) < 2 or not np.isfinite(weights).all():
        return MISSING
    values, vectors = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)
    heat = (vectors * np.exp(-t * values)) @ vectors.T
    scale = 1.0 / np.sqrt(np.diag(heat))
    shares = np.linalg.eigvalsh(scale[:, None] * heat * scale / len(heat))
    shares = shares[shares > 0.0]
    return round(float(0.0 - (shares * np.log(shares)).sum()), _DIGITS)


def _weights(affinity: Any, unit_diagonal: bool) -> Array:
    """Return the symmetric weights of the edges."""
    given = square(affinity)
    weights = (given + given.T) / 2
    if unit_diagonal:
        np.fill_diagonal(weights, 1.0)
    return weights

"""Measures of the graph of samples."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import expm
from scipy.stats import entropy

from vecuq.errors import SettingError, TableError
from vecuq.measures.text import degree_matrix, eccentricity, eigenvalue_laplacian, kernel_language_entropy

MEASURES = (degree_matrix, eigenvalue_laplacian, eccentricity)
AFFINITIES = st.integers(2, 7).flatmap(lambda n: arrays(float, (n, n), elements=st.floats(0, 1, width=16)))


def blocks(*sizes):
    """Samples that agree fully within their meaning and not at all beyond it."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return (labels[:, None] == labels).astype(float)


@settings(max_examples=50, deadline=None)
@given(AFFINITIES)
def test_every_measure_keeps_its_range_and_knows_no_order(affinity):
    n = len(affinity)
    mixed = np.random.default_rng(n).permutation(n)
    for measure, low, high in zip(MEASURES, (0, 1, 0), (1, n, math.sqrt(n - 1)), strict=True):
        for unit in (False, True):
            found = measure(affinity, unit_diagonal=unit)
            assert low <= found <= high + 1e-9
            if measure is not eccentricity:  # whose threshold an eigenvalue may touch
                assert measure(affinity[np.ix_(mixed, mixed)], unit_diagonal=unit) == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("sizes", [(5,), (3, 2), (2, 2, 1), (1, 1, 1, 1), (7, 1)])
def test_separate_meanings_are_counted_and_spread_by_their_number(sizes):
    n, k = sum(sizes), len(sizes)
    assert degree_matrix(blocks(*sizes)) == pytest.approx(1 - sum(size**2 for size in sizes) / n**2)
    assert eigenvalue_laplacian(blocks(*sizes)) == pytest.approx(k)
    assert eccentricity(blocks(*sizes)) == pytest.approx(math.sqrt(k - 1))


def test_identical_samples_are_exactly_the_least_uncertain():
    for n in range(2, 30):
        assert [measure(np.ones((n, n))) for measure in MEASURES] == [0.0, 1.0, 0.0]


@settings(max_examples=50, deadline=None)
@given(AFFINITIES)
def test_only_the_mean_of_both_directions_counts(affinity):
    for measure in MEASURES:
        assert measure(affinity) == pytest.approx(measure((affinity + affinity.T) / 2), abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(AFFINITIES)
def test_the_eigenvalues_equal_those_of_the_random_walk(affinity):
    linked = np.minimum(affinity + 0.01, 1.0)
    weights = (linked + linked.T) / 2
    walk = np.linalg.eigvals(weights / weights.sum(axis=1, keepdims=True)).real
    assert eigenvalue_laplacian(linked) == pytest.approx(np.maximum(0, walk).sum(), abs=1e-6)


def test_samples_without_any_edge_are_as_uncertain_as_can_be():
    nothing = np.zeros((4, 4))
    assert [measure(nothing) for measure in MEASURES] == [1.0, 4.0, pytest.approx(math.sqrt(3))]
    one_alone = blocks(3, 1)
    one_alone[3, 3] = 0.0
    assert eigenvalue_laplacian(one_alone) == pytest.approx(2.0)


@pytest.mark.parametrize("affinity", [np.zeros((0, 0)), [], [[1.0]]])
def test_fewer_than_two_samples_are_missing(affinity):
    for measure in MEASURES:
        assert math.isnan(measure(affinity))


def test_a_gap_in_the_matrix_is_missing():
    affinity = np.ones((3, 3))
    affinity[0, 1] = np.nan
    for measure in MEASURES:
        assert math.isnan(measure(affinity))


def test_what_is_no_square_of_shares_is_refused():
    with pytest.raises(TableError, match="square"):
        degree_matrix(np.ones((2, 3)))
    with pytest.raises(TableError, match=r"\[0, 1\]"):
        eigenvalue_laplacian(np.full((2, 2), 2.0))
    with pytest.raises(SettingError, match="threshold"):
        eccentricity(np.ones((2, 2)), threshold=0.0)


@settings(max_examples=50, deadline=None)
@given(AFFINITIES, st.floats(0.05, 2))
def test_kernel_language_entropy_equals_the_authors_formula_by_matrix_exponentials(affinity, t):
    weights = affinity + affinity.T
    np.fill_diagonal(weights, 0.0)
    heat = expm(-t * (np.diag(weights.sum(axis=0)) - weights))
    kernel = heat / np.sqrt(np.outer(np.diag(heat), np.diag(heat))) / len(heat)
    expected = entropy(np.clip(np.linalg.eigvals(kernel).real, 0, None))
    assert kernel_language_entropy(affinity, t=t) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("sizes", [(5,), (3, 2), (2, 2, 1), (1, 1, 1, 1), (7, 1)])
def test_separate_meanings_have_the_kernel_language_entropy_of_their_closed_form(sizes):
    n, shares = sum(sizes), []
    for size in sizes:
        cooled = math.exp(-0.3 * 2 * size)  # every eigenvalue of a complete graph but one is twice its size
        on_diagonal = (1 + (size - 1) * cooled) / size
        shares += [1 / (n * on_diagonal), *[cooled / (n * on_diagonal)] * (size - 1)]
    assert sum(shares) == pytest.approx(1)
    assert kernel_language_entropy(blocks(*sizes)) == pytest.approx(-sum(p * math.log(p) for p in shares))


@settings(max_examples=50, deadline=None)
@given(AFFINITIES)
def test_kernel_language_entropy_keeps_its_range_and_knows_neither_order_nor_self_agreement(affinity):
    n, found = len(affinity), kernel_language_entropy(affinity)
    mixed = np.random.default_rng(n).permutation(n)
    assert kernel_language_entropy(np.ones((n, n))) - 1e-9 <= found <= math.log(n) + 1e-9
    assert kernel_language_entropy(affinity[np.ix_(mixed, mixed)]) == pytest.approx(found, abs=1e-9)
    assert kernel_language_entropy(np.where(np.eye(n), 0.0, affinity)) == pytest.approx(found, abs=1e-9)


def test_kernel_language_entropy_of_one_sample_or_of_gaps_is_missing_and_a_time_of_zero_refused():
    assert math.isnan(kernel_language_entropy([[1.0]]))
    assert math.isnan(kernel_language_entropy([[1.0, math.nan], [0.0, 1.0]]))
    with pytest.raises(SettingError, match="t must"):
        kernel_language_entropy(np.eye(2), t=0.0)

"""Confidence measures against closed forms, and arrays of other libraries."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given, settings
from problems_of_measures import ensembles, probabilities
from scipy.special import logsumexp
from scipy.stats import entropy as scipy_entropy

from vecuq import measures

PLAIN = ("msp", "entropy", "margin", "mutual_information", "variation_ratio", "max_logit", "energy")
FUNCTIONS = {name: getattr(measures, name) for name in PLAIN}


@given(logits=ensembles())
@settings(deadline=None)
def test_confidence_measures_equal_their_closed_forms(logits):
    mean = probabilities(logits).mean(axis=0)
    ordered = np.sort(mean, axis=-1)
    expected = {
        "msp": 1 - mean.max(axis=-1),
        "entropy": scipy_entropy(mean, axis=-1),
        "margin": 1 - (ordered[:, -1] - ordered[:, -2]),
        "mutual_information": scipy_entropy(mean, axis=-1) - scipy_entropy(probabilities(logits), axis=-1).mean(axis=0),
        "max_logit": -logits.max(axis=-1).mean(axis=0),
        "energy": -logsumexp(logits, axis=-1).mean(axis=0),
    }
    for name, values in expected.items():
        npt.assert_allclose(FUNCTIONS[name](logits), values, atol=1e-10, err_msg=name)


def test_the_variation_ratio_counts_the_votes_against_the_majority():
    votes = np.eye(3)[[[0, 0], [0, 1], [1, 2], [0, 2]]] * 5.0
    npt.assert_allclose(measures.variation_ratio(votes), [0.25, 0.5])


@pytest.mark.parametrize("name", PLAIN)
def test_one_model_is_an_ensemble_of_one(name):
    logits = np.random.default_rng(0).normal(size=(6, 4))
    npt.assert_array_equal(FUNCTIONS[name](logits), FUNCTIONS[name](logits[None]))


@pytest.mark.parametrize("name", PLAIN)
def test_a_list_of_members_is_an_ensemble(name):
    logits = np.random.default_rng(0).normal(size=(3, 6, 4))
    npt.assert_array_equal(FUNCTIONS[name](list(logits)), FUNCTIONS[name](logits))
    npt.assert_array_equal(FUNCTIONS[name](logits.tolist()), FUNCTIONS[name](logits))


@pytest.mark.parametrize("name", PLAIN)
def test_extreme_outputs_give_finite_confidences(name):
    for logits in (np.full((2, 3, 1), 7.0), 1e4 * np.array([[[1.0, -1.0]], [[-1.0, 1.0]]]), np.zeros((2, 3, 1000))):
        assert np.isfinite(FUNCTIONS[name](logits)).all()
    certain = np.array([[[0.0, -np.inf]], [[0.0, -np.inf]]])
    npt.assert_allclose(FUNCTIONS[name](certain), [0.0], atol=1e-300)


@pytest.mark.parametrize("name", PLAIN)
def test_a_row_that_is_no_number_has_no_confidence(name):
    logits = np.zeros((2, 2, 3))
    logits[0, 1, 1] = np.nan
    npt.assert_array_equal(np.isnan(FUNCTIONS[name](logits)), [False, True])


class Tensor:
    """An array of another library, on another device: as torch, it wants to be detached and copied first."""

    def __init__(self, values, on_cpu=False):
        self.values, self.on_cpu = values, on_cpu

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.values, on_cpu=True)

    def __array__(self, dtype=None, copy=None):
        assert self.on_cpu
        return self.values


def test_arrays_of_other_libraries_are_read_as_numpy():
    logits = np.random.default_rng(0).normal(size=(3, 20, 4)).astype(np.float32)
    for function in (*FUNCTIONS.values(), measures.risk):
        expected = function(logits)
        assert expected.dtype == np.float64
        npt.assert_array_equal(function(Tensor(logits)), expected)
        npt.assert_array_equal(function([Tensor(member) for member in logits]), expected)

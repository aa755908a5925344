"""Classes of meaning and their entropy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vecuq.errors import SettingError, TableError
from vecuq.measures.text import (
    majority_share,
    semantic_classes,
    semantic_entropy,
    semantic_entropy_empirical,
    semantic_sets,
    sequence_entropy,
)

AGREES = st.integers(1, 8).flatmap(lambda n: arrays(bool, (n, n)))
CLASSES = st.lists(st.integers(0, 3), min_size=2, max_size=9)


@settings(max_examples=50, deadline=None)
@given(AGREES)
def test_each_sample_is_with_the_first_founder_it_agrees_with(agrees):
    classes = semantic_classes(agrees)
    founders = [int(np.flatnonzero(classes == k)[0]) for k in range(classes.max() + 1)]
    assert founders == sorted(founders)
    for sample, label in enumerate(classes):
        joins = [agrees[first, sample] and agrees[sample, first] for first in founders if first < sample]
        assert label == (joins.index(True) if True in joins else founders.index(sample))


def test_agreement_in_one_direction_is_not_enough():
    assert semantic_classes([[True, True], [False, True]]).tolist() == [0, 1]
    assert semantic_classes(np.ones((3, 3))).tolist() == [0, 0, 0]
    assert semantic_classes([]).tolist() == []


@settings(max_examples=50, deadline=None)
@given(CLASSES)
def test_the_empirical_entropy_is_that_of_the_shares(classes):
    shares = [classes.count(label) / len(classes) for label in set(classes)]
    found = semantic_entropy_empirical(classes)
    assert found == pytest.approx(-sum(share * math.log(share) for share in shares), abs=1e-12)
    assert 0 <= found <= math.log(len(classes)) + 1e-12
    assert semantic_entropy_empirical(classes[::-1]) == pytest.approx(found)


@settings(max_examples=50, deadline=None)
@given(CLASSES, st.data())
def test_semantic_entropy_equals_the_formula_written_out(classes, data):
    logprobs = data.draw(st.lists(st.floats(-20, 0), min_size=len(classes), max_size=len(classes)))
    p = np.exp(logprobs)
    mass = {label: sum(p[i] for i, other in enumerate(classes) if other == label) for label in set(classes)}
    over_samples = -np.mean([math.log(mass[label]) for label in classes])
    over_classes = -np.mean([math.log(one) for one in mass.values()])
    assert semantic_entropy(logprobs, classes) == pytest.approx(over_samples, abs=1e-9)
    assert semantic_entropy(logprobs, classes, over="classes", shift=5.0) == pytest.approx(5 + over_classes, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(CLASSES, st.floats(100, 5000))
def test_small_probabilities_do_not_underflow(classes, drop):
    logprobs = np.linspace(-3, 0, len(classes))
    found = semantic_entropy(logprobs - drop, classes)
    assert found == pytest.approx(semantic_entropy(logprobs, classes) + drop, rel=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-20, 0), min_size=2, max_size=8))
def test_one_meaning_is_least_uncertain_and_as_many_as_samples_most(logprobs):
    apart = semantic_entropy(logprobs, range(len(logprobs)))
    assert apart == pytest.approx(sequence_entropy(logprobs), abs=1e-9)
    together = semantic_entropy(logprobs, [0] * len(logprobs))
    assert together == pytest.approx(-np.logaddexp.reduce(logprobs), abs=1e-9)
    assert together <= apart + 1e-9


def test_identical_samples_have_zero_empirical_entropy_and_one_sample_none():
    assert semantic_entropy_empirical([4, 4, 4]) == 0.0
    assert math.isnan(semantic_entropy_empirical([0]))
    assert math.isnan(semantic_entropy_empirical([]))
    assert math.isnan(semantic_entropy([], []))


def test_what_makes_no_sense_is_refused():
    with pytest.raises(TableError, match="2 and 1"):
        semantic_entropy([-1.0, -2.0], [0])
    with pytest.raises(SettingError, match="'classes'"):
        semantic_entropy([-1.0], [0], over="clases")
    with pytest.raises(TableError, match="samples, samples"):
        semantic_classes(np.ones((2, 3)))


@settings(max_examples=50, deadline=None)
@given(CLASSES, st.randoms())
def test_sets_and_majority_count_classes_whatever_their_order_and_names(classes, random):
    most = max(classes.count(label) for label in classes)
    assert semantic_sets(classes) == len(set(classes))
    assert majority_share(classes) == pytest.approx(1 - most / len(classes))
    assert 0 <= majority_share(classes) <= 1 - 1 / len(classes)
    again = [7 - label for label in classes]
    random.shuffle(again)
    assert (semantic_sets(again), majority_share(again)) == (semantic_sets(classes), majority_share(classes))


@settings(max_examples=50, deadline=None)
@given(CLASSES)
def test_the_entropy_lies_between_what_majority_and_number_of_sets_allow(classes):
    found = semantic_entropy_empirical(classes)
    assert -math.log(1 - majority_share(classes)) - 1e-12 <= found <= math.log(semantic_sets(classes)) + 1e-12


def test_one_sample_has_no_sets_and_no_majority():
    for few in ([], [0]):
        assert math.isnan(semantic_sets(few))
        assert math.isnan(majority_share(few))

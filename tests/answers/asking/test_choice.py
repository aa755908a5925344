import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import log_softmax
from scipy.stats import entropy

from vecuq.answers.asking.choice import Distribution

LOGITS = arrays(float, st.integers(1, 40), elements=st.floats(-30, 30, width=32))


@given(LOGITS)
def test_the_greedy_token_is_the_likeliest_and_its_numbers_are_those_of_scipy(logits):
    chosen = Distribution(logits).greedy()
    expected = log_softmax(logits)
    assert chosen.token == logits.argmax()
    npt.assert_allclose(chosen.logprob, expected.max(), atol=1e-12)
    npt.assert_allclose(chosen.entropy, entropy(np.exp(expected)), atol=1e-9)
    second = np.sort(np.exp(expected))[-2] if len(logits) > 1 else 0.0
    npt.assert_allclose(chosen.margin, np.exp(expected.max()) - second, atol=1e-9)
    uniform = np.full(len(logits), 1 / len(logits))
    npt.assert_allclose(chosen.certainty, entropy(uniform, np.exp(expected)), atol=1e-9)


@given(LOGITS, st.integers(0, 2**32 - 1), st.floats(0.05, 5))
def test_a_drawn_token_tells_its_log_prob_at_temperature_one(logits, seed, temperature):
    chosen = Distribution(logits).draw(np.random.default_rng(seed), temperature)
    npt.assert_allclose(chosen.logprob, log_softmax(logits)[chosen.token], atol=1e-9)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_are_drawn_as_often_as_the_tempered_model_says(temperature):
    logits, random = np.array([0.0, 1.0, 2.0, -3.0]), np.random.default_rng(0)
    law = Distribution(logits)
    drawn = np.bincount([law.draw(random, temperature).token for _ in range(20_000)], minlength=4) / 20_000
    npt.assert_allclose(drawn, np.exp(log_softmax(logits / temperature)), atol=0.015)


def test_a_token_that_cannot_come_makes_no_nan_and_is_never_drawn():
    law = Distribution([0.0, -np.inf, 0.0])
    assert law.entropy == pytest.approx(np.log(2))
    assert (law.margin, law.certainty) == (0.0, pytest.approx(0.0, abs=1e-12))
    random = np.random.default_rng(0)
    assert {law.draw(random, 1.0).token for _ in range(200)} == {0, 2}

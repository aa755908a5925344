"""Numbers and files of the version before the house was rearranged: the same to 1e-12, and still readable."""

import json
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pytest
from golden_numbers import FIXTURE, RECORDED, all_numbers

SAVED = Path(__file__).with_name("saved")
KNOWN = json.loads((SAVED / "numbers.json").read_text())


@pytest.fixture(scope="module")
def numbers():
    return all_numbers(RECORDED)


def test_every_number_on_the_bundled_data_is_what_it_was(numbers):
    with np.load(FIXTURE) as before:
        assert set(before) <= set(numbers)
        for name in before:
            npt.assert_allclose(numbers[name][:40], before[name], rtol=1e-12, atol=1e-12, err_msg=name)

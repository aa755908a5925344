"""The claims about speed measure what they say: on few rows, in a second, without asking how fast."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def benchmarks_can_be_imported():
    sys.path.insert(0, str(ROOT))
    yield
    sys.path.remove(str(ROOT))


@pytest.mark.nightly
def test_every_claim_has_a_goal_and_its_limit_beside_it():
    limits = import_module("benchmarks.near_the_limit")
    found = limits.claims(limits.Sizes(fitted=20_000, scored=3_000, in_text=2_000, alone=3, rounds=1))
    assert [claim.goal for claim in found] == [0.6, 0.15, 0.15, 0.15, 1.5, 2, 4]
    assert all(claim.value > 0 and not claim.at_least and "alone" in claim.peer for claim in found)
    assert "multiplications alone" in found[0].peer


def test_the_limit_of_a_fit_multiplies_what_the_moments_need():
    """Four columns of 12 nodes: pairs of products whose degrees are at most 14 each and 16 together."""
    moments = import_module("vecuq.transport.moments")
    work = sum((rows.stop - rows.start) * columns.stop for rows, columns in moments.moment_tiles(12, 4))
    sizes = [sum(1 for a in range(12) if 0 <= degree - a < 12) for degree in range(15)]
    needed = sum(sizes[a] * sizes[b] for a in range(15) for b in range(15) if a + b <= 16)
    assert needed <= work <= 1.1 * needed

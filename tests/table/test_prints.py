"""Fingerprints: equal rows have equal hashes for ever, and a sample of them shows how many rows two tables share."""

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vecuq.table import MOST_HASHES, Fingerprints, row_hashes

KNOWN = (15622238084073760799, 16476293275992358750, 2428139795639564307)
ROWS = np.random.default_rng(0).random((20_000, 3))


def test_hashes_are_those_that_saved_files_hold():
    """A change of these numbers makes every saved file forget its rows."""
    known = row_hashes(np.array([[0.0, 1.0], [0.5, -3.25], [np.nan, np.inf]]))
    npt.assert_array_equal(known, np.array(KNOWN, dtype=np.uint64))


@given(arrays(np.float64, (4, 3), elements=st.floats(allow_nan=True)))
def test_equal_rows_have_equal_hashes_however_they_are_stored(rows):
    hashes = row_hashes(rows)
    npt.assert_array_equal(hashes, row_hashes(np.asfortranarray(rows)))
    npt.assert_array_equal(hashes, np.concatenate([row_hashes(row[None]) for row in rows]))
    npt.assert_array_equal(hashes, row_hashes(np.where(rows == 0, -rows, rows)))
    npt.assert_array_equal(hashes[:2], row_hashes(rows[:2]))


def test_single_precision_counts_as_the_same_value_in_double():
    single = ROWS[:100].astype(np.float32)
    npt.assert_array_equal(row_hashes(single), row_hashes(single.astype(float)))


def test_other_rows_other_orders_of_columns_and_other_widths_have_other_hashes():
    hashes = row_hashes(ROWS)
    assert len(set(hashes.tolist())) == len(ROWS)
    assert not np.isin(row_hashes(ROWS[:, ::-1]), hashes).any()
    assert not np.isin(row_hashes(ROWS[:, :2]), hashes).any()
    assert row_hashes(np.zeros((1, 2))) != row_hashes(np.zeros((1, 3)))


def test_hashes_are_spread_evenly():
    share = row_hashes(np.arange(100_000.0)[:, None]) / 2.0**64
    counts = np.histogram(share, bins=50, range=(0.0, 1.0))[0]
    assert abs(counts - 2_000).max() < 5 * np.sqrt(2_000)


def test_few_rows_are_all_known():
    known = Fingerprints.of(ROWS[:500])
    assert known.complete
    npt.assert_array_equal(known.contain(row_hashes(ROWS[:1000])), np.arange(1000) < 500)
    assert known.decide(row_hashes(ROWS[:1000])).all()


def test_of_many_rows_a_sample_shows_the_share_that_matches():
    known = Fingerprints.of(ROWS)
    assert not known.complete
    assert len(known.hashes) == MOST_HASHES
    other = np.random.default_rng(1).random((20_000, 3))
    new = row_hashes(np.concatenate([ROWS[:5_000], other[:5_000]]))
    decided = known.decide(new)
    assert abs(known.contain(new).sum() / decided.sum() - 0.5) < 0.06
    assert not known.contain(new)[~decided].any()


@given(st.integers(0, 20_000))
def test_the_fingerprints_of_two_parts_are_those_of_the_whole(cut):
    parts = Fingerprints.of(ROWS[:cut]) + Fingerprints.of(ROWS[cut:])
    npt.assert_array_equal(parts.hashes, Fingerprints.of(ROWS).hashes)


@pytest.mark.parametrize("n_values", [3, 5_000, 10**9])
@pytest.mark.parametrize("n_rows", [0, 1, 4_095, 4_096, 40_000])
def test_fingerprints_are_the_smallest_hashes_of_all_rows(n_rows, n_values):
    rows = np.random.default_rng(n_rows).integers(n_values, size=(n_rows, 2)).astype(float)
    smallest = sorted(set(row_hashes(rows).tolist()))[:MOST_HASHES]
    assert Fingerprints.of(rows).hashes.tolist() == smallest
    assert Fingerprints.of(np.asfortranarray(rows)).hashes.tolist() == smallest


def test_a_hash_is_computed_as_splitmix64_says():
    """Independent check in whole numbers of Python: hashes are part of saved files."""
    rows = np.array([[1.5, -0.0, np.nan], [-2.0, 1e300, 0.1]])

    def mixed(x):
        x = (x + 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        return x ^ x >> 31

    for row, found in zip(rows, row_hashes(rows), strict=True):
        known = len(row)
        for number in row:
            bits = np.float64(np.nan if np.isnan(number) else number + 0.0).view(np.uint64)
            known = mixed(known ^ mixed(int(bits)))
        assert int(found) == known

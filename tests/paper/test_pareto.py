"""Pareto shares of the paper's printed means: by our definition, with all that their rounding allows."""

import itertools

import numpy as np
import pytest

from vecuq.evaluation import pareto_share
from vecuq.paper.pareto import PRINTED, RECOMPUTED, SHARE, pareto_claim, pareto_sheet, printed_means, rounding_range


def test_the_printed_means_give_less_than_the_printed_share():
    shares = pareto_share(printed_means())
    assert 100 * shares["Ours"] == pytest.approx(64.762, abs=1e-3)
    assert 100 * shares["total_log_1_1"] == pytest.approx(67.619, abs=1e-3)
    low, high = rounding_range(printed_means(), "Ours")
    assert (100 * low, 100 * high) == pytest.approx((60.952, 83.810), abs=1e-3)


def test_all_fifteen_lines_of_three_tables_count_and_no_average():
    means = printed_means()
    assert {len(found) for found in means.values()} == {9 + 3 + 3}
    assert means["Ours"][0] == 0.918
    assert means["mahalanobis"][-1] == 0.660


def test_no_rounding_leaves_the_range():
    means = {"a": [0.9, 0.8, 0.7], "b": [0.9, 0.8, 0.701], "c": [0.899, 0.801, 0.7]}
    low, high = rounding_range(means, "a")
    ends = set()
    for shifts in itertools.product((-0.0004, 0.0, 0.0004), repeat=6):
        moved = {"a": np.add(means["a"], shifts[:3]), "b": np.add(means["b"], shifts[3:]), "c": means["c"]}
        ends.add(pareto_share(moved)["a"])
    assert low <= min(ends) < max(ends) <= high


def test_the_additive_baseline_competes_in_a_column_of_its_own():
    means = {
        "one": {"us": 0.9, "total_log_1_1": 0.5, "sum()": 0.95},
        "two": {"us": 0.8, "total_log_1_1": 0.7, "sum()": 0.85},
    }
    sheet = pareto_sheet(means, ("us", "total_log_1_1"))
    assert [row[SHARE] for row in sheet.rows] == [100.0, 0.0, None]
    assert [row["with the additive baseline (%)"] for row in sheet.rows] == [0.0, 0.0, 100.0]
    assert sheet.rows[0][PRINTED] == 82.857
    assert sheet.rows[0][RECOMPUTED].value == pytest.approx(64.762, abs=1e-3)
    claim = pareto_claim(sheet)
    assert "number 1 of 2" in claim
    assert "64.8 % by the same definition, number 2 (first: total_log_1_1 with 67.6 %)" in claim

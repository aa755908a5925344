import gzip
import json
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orders_of_ties import averaged, means_by_the_book, tied_rows

from vecuq.errors import SettingError, TableError
from vecuq.evaluation import prediction_rejection_area, prediction_rejection_curve, prediction_rejection_ratio

ORACLE = Path(__file__).parents[1] / "data" / "text_oracle.json.gz"
CASES = {case["name"]: case for case in json.loads(gzip.decompress(ORACLE.read_bytes()))["prr"]}
SHARES = {"prr": 1.0, "prr_0.5": 0.5}
QUALITY = st.sampled_from([0.0, 0.25, 1.0, 3.0])


def read(name):
    return (np.array([float(cell) for cell in CASES[name][column]]) for column in ("ue", "quality"))


def is_untied(name):
    """Whether we and the oracle decide alike: ties, missing values and constant qualities are decided otherwise."""
    score, quality = read(name)
    return len(np.unique(score)) == len(score) and not np.isnan(score).any() and np.ptp(quality) > 0


@pytest.mark.parametrize("name", [name for name in CASES if is_untied(name)])
def test_areas_agree_with_the_oracle_on_untied_rows(name):
    score, quality = read(name)
    unit = (quality - quality.min()) / np.ptp(quality)
    theirs = CASES[name]["lm_polygraph"]
    for key, share in SHARES.items():
        assert prediction_rejection_area(score, unit, share) == pytest.approx(theirs[key], abs=1e-12)
        assert prediction_rejection_area(-unit, unit, share) == pytest.approx(theirs[f"{key}_oracle"], abs=1e-12)
        chance, best = theirs[f"{key}_random_closed_form_mean_normalised_target"], theirs[f"{key}_oracle"]
        if best - chance > 1e-9:
            expected = (theirs[key] - chance) / (best - chance)
            assert prediction_rejection_ratio(score, quality, share) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", list(CASES))
def test_the_other_convention_gives_the_digits_of_lm_polygraph(name):
    score, quality = read(name)
    for key, share in SHARES.items():
        theirs = float(CASES[name]["lm_polygraph"][f"{key}_normalized"])
        found = prediction_rejection_ratio(score, quality, share, convention="lm-polygraph")
        assert found == pytest.approx(theirs, abs=1e-12, nan_ok=True)


@given(tied_rows(QUALITY), st.sampled_from([0.4, 0.5, 0.75, 1.0]))
def test_area_and_ratio_are_means_over_all_orders_of_tied_rows(rows, share):
    points = int(share * len(rows[0]) + 1e-9)

    def area(target):
        return means_by_the_book(target)[-points:].mean()

    if not points:
        assert np.isnan(prediction_rejection_area(*rows, share))
        return
    expected, best, chance = averaged(area, *rows), area(np.sort(rows[1])[::-1]), rows[1].mean()
    assert prediction_rejection_area(*rows, share) == pytest.approx(expected, abs=1e-12)
    ratio = prediction_rejection_ratio(*rows, share)
    if points < 2:
        assert np.isnan(ratio)
    else:
        assert ratio == pytest.approx((expected - chance) / (best - chance), abs=1e-11)


def test_the_hand_example_of_the_note():
    score, quality = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [1, 1, 0, 1, 0, 0]
    assert prediction_rejection_ratio(score, quality) == 1.0
    assert prediction_rejection_area(score, quality, 1.0) == pytest.approx(0.7527777777777778, abs=1e-12)
    assert prediction_rejection_ratio(score, quality, 1.0) == pytest.approx(
        (0.7527777777777778 - 0.5) / (0.8083333333333332 - 0.5), abs=1e-12
    )


def test_the_curve_starts_at_the_mean_and_ends_at_the_most_certain_answer():
    curve = prediction_rejection_curve([3, 1, 2, 4], [0.1, 0.9, 0.5, 0.3])
    npt.assert_allclose(curve.rejection, [0, 0.25, 0.5, 0.75])
    npt.assert_allclose(curve.quality, [0.45, 0.5, 0.7, 0.9])
    assert len(prediction_rejection_curve([3, 1, 2, 4], [0.1, 0.9, 0.5, 0.3], 0.5).quality) == 2


@given(tied_rows(QUALITY, most=20).filter(lambda rows: rows.shape[1] > 3), st.permutations(range(20)))
def test_the_ratio_does_not_move_with_transforms_or_the_order_of_rows(rows, shuffled):
    score, quality = rows
    order = [k for k in shuffled if k < len(score)]
    value = prediction_rejection_ratio(score, quality)
    assert value <= 1.0
    assert prediction_rejection_ratio(np.exp(3 * score) - 7, quality) == value
    assert prediction_rejection_ratio(score, 1e6 + 50 * quality) == pytest.approx(value, abs=1e-9)
    assert prediction_rejection_ratio(score[order], quality[order]) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("score", "quality"),
    [([], []), ([1.0], [1]), ([1, 2], [1, 0]), ([1, 2, 3, 4], [2, 2, 2, 2]), ([3, 3, 3, 3], [0, 1, 1, 0])],
)
def test_where_there_is_nothing_to_judge_the_ratio_is_missing(score, quality):
    assert np.isnan(prediction_rejection_ratio(score, quality))


def test_the_scale_of_the_quality_does_not_matter_even_where_its_spread_overflows():
    score, quality = [1, 2, 3, 4], np.array([1.0, -1.0, 0.5, -0.25])
    value = prediction_rejection_ratio(score, quality, 1.0)
    for scale in (1.7e308, 1e-300):
        assert prediction_rejection_ratio(score, scale * quality, 1.0) == pytest.approx(value, abs=1e-12)


def test_bad_rows_and_settings_are_refused():
    with pytest.raises(TableError, match="no quality"):
        prediction_rejection_ratio([1, 2, 3], [1, np.nan, 0])
    with pytest.raises(TableError, match="finite"):
        prediction_rejection_ratio([1, 2, 3], [1, np.inf, 0])
    with pytest.raises(TableError, match="one length"):
        prediction_rejection_ratio([1, 2, 3], [1, 0], convention="lm-polygraph")
    with pytest.raises(SettingError, match="max_rejection"):
        prediction_rejection_ratio([1, 2, 3], [1, 1, 0], 0)
    with pytest.raises(SettingError, match="convention"):
        prediction_rejection_ratio([1, 2, 3], [1, 1, 0], convention="exactly")

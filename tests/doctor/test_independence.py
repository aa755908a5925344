"""Copies, near copies, alike neighbours, change over time: the rate that is stated is the rate that comes."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter
from scipy.stats import beta

from vecuq import ScoreTable, Settings, fit_ranker
from vecuq.doctor import Case, Dependence, Expected, examine
from vecuq.doctor.independence import check_clusters, check_copies, check_order, check_time
from vecuq.doctor.near_copies import find_near_copies
from vecuq.doctor.repeats import row_keys
from vecuq.doctor.row_order import autocorrelations, summed
from vecuq.doctor.size import check_size


def normal(rng, n, m=3):
    """Columns of variance 1 that share half of it."""
    return (rng.normal(size=(n, 1)) + rng.normal(size=(n, m))) / np.sqrt(2)


def in_groups(rng, groups, size, alike, m=3):
    common = np.repeat(normal(rng, groups, m), size, axis=0)
    return np.sqrt(alike) * common + np.sqrt(1 - alike) * normal(rng, groups * size, m)


def series(rng, n, rho, m=3):
    steps = np.sqrt(1 - rho**2) * normal(rng, n, m)
    steps[0] /= np.sqrt(1 - rho**2)
    return lfilter([1.0], [1.0, -rho], steps, axis=0)


def rows_of(seed, make, *size):
    return np.exp(make(np.random.default_rng(seed), *size) / 2)


def only(check, rows, **settings):
    (found,) = check(Case.of(rows, settings=Settings(**settings)))
    return found


def flagged(make, *size, alpha=0.05, draws=40):
    """The share of fresh rows that is flagged, on average over calibration tables."""
    shares = []
    for seed in range(draws):
        ranker = fit_ranker(ScoreTable(("a", "b", "c"), rows_of(seed, make, *size)))
        fresh = rows_of(seed + 10_000, normal, 1_000)
        shares.append((ranker.rank_complete(fresh)[1] > ranker.threshold(alpha)).mean())
    return np.mean(shares)


def copied(rng, distinct, times, m=3):
    return np.tile(normal(rng, distinct, m), (times, 1))


def mean_said(check, make, *size, alpha="0.05", draws=40):
    return np.mean([only(check, rows_of(s, make, *size)).figures["expected_rates"][alpha] for s in range(draws)])


@pytest.mark.parametrize(
    ("distinct", "times", "severity"), [(10, 60, "serious"), (40, 10, "serious"), (100, 4, "warning"), (200, 2, "note")]
)
def test_the_severity_of_copies_follows_the_rate_that_they_lead_to(distinct, times, severity):
    found = only(check_copies, rows_of(1, copied, distinct, times))
    assert (found.severity, found.figures["distinct"]) == (severity, distinct)
    assert found.remedy == "Keep one row of each record."


@pytest.mark.parametrize(("distinct", "times"), [(10, 60), (40, 10)])
def test_the_rate_that_is_stated_for_copies_is_the_rate_that_comes(distinct, times):
    said, seen = mean_said(check_copies, copied, distinct, times), flagged(copied, distinct, times)
    assert seen > 0.07
    assert 0.75 < said / seen < 1.33


def test_copies_count_once_in_the_alpha_that_is_offered():
    found = only(check_size, rows_of(0, copied, 10, 60))
    assert found.figures["smallest_alpha"] == pytest.approx(1 / 11, rel=0.05)
    assert "which count as about 10" in found.what


def test_a_few_copies_are_not_worth_a_word():
    rows = rows_of(0, normal, 400)
    found = only(check_copies, np.concatenate([rows, rows[:6]]))
    assert (found.severity, found.figures["distinct"]) == ("ok", 400)


def test_retries_that_repeat_some_rows_more_often_than_others_are_copies():
    rng = np.random.default_rng(3)
    rows = np.repeat(rows_of(3, normal, 100), rng.geometric(0.25, size=100), axis=0)
    assert only(check_copies, rows).severity == "warning"


def shares_of_answers(rng, n):
    """Two scores of ten sampled answers each: entropy of the shares, and the share of the rest."""
    shares = np.array([rng.multinomial(10, rng.dirichlet(np.full(6, 0.3))) for _ in range(n)]) / 10
    entropy = -(shares * np.log(np.maximum(shares, 1e-9))).sum(axis=1)
    return np.column_stack([entropy, 1 - shares.max(axis=1)])


@pytest.mark.parametrize(
    "ties",
    [
        lambda rng: rng.integers(0, 6, size=(400, 3)) / 5,
        lambda rng: rng.integers(0, 10, size=(400, 1)) / 10,
        lambda rng: shares_of_answers(rng, 400),
        lambda rng: normal(rng, 400).round(1),
        lambda rng: np.where(rng.random((400, 1)) < 0.7, 0.0, rng.gamma(2.0, size=(400, 3))),
    ],
    ids=["lattice", "tenths", "answers", "rounded", "zeros"],
)
def test_scores_with_few_values_are_not_called_copies(ties):
    for seed in range(10):
        assert only(check_copies, ties(np.random.default_rng(seed))).severity in ("ok", "note")


def test_equal_rows_share_their_key_and_no_others():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.integers(0, 40, size=(20_000, 3)).astype(float), normal(rng, 20_000)])
    assert len(np.unique(row_keys(rows))) == len(np.unique(rows, axis=0))
    assert len(np.unique(row_keys(rows[:, ::-1]))) == len(np.unique(rows, axis=0))


def test_near_copies_are_found_in_any_order_of_the_rows():
    rows = np.random.default_rng(1).permutation(rows_of(1, in_groups, 40, 10, 0.9999))
    found = only(check_clusters, rows)
    assert found.severity == "serious"
    assert found.figures["group"] == 10
    assert found.figures["share"] > 0.9


def test_rows_that_were_written_twice_with_a_rounding_error_are_near_copies():
    rows = rows_of(2, normal, 200)
    found = only(check_clusters, np.concatenate([rows, rows * (1 + 1e-9 * np.arange(1, 4))]))
    assert (found.severity, found.figures["group"]) == ("note", 2)


LAWS = {
    "normal": normal,
    "lognormal": lambda rng, n: np.exp(2 * normal(rng, n)),
    "student": lambda rng, n: rng.standard_t(2, size=(n, 3)),
    "modes": lambda rng, n: normal(rng, n) + 10 * rng.integers(0, 3, size=(n, 1)),
    "one column thrice": lambda rng, n: rng.normal(size=(n, 1)) + 1e-3 * rng.normal(size=(n, 3)),
    "many magnitudes": lambda rng, n: 10.0 ** rng.uniform(-12, 12, size=(n, 3)),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_independent_rows_have_no_near_copies(law):
    for seed in range(20):
        rows = law(np.random.default_rng(seed), 400)
        assert find_near_copies(rows, row_keys(rows)) is None


def test_alike_neighbours_are_a_warning_and_shuffled_ones_are_not():
    rows = rows_of(5, series, 400, 0.9)
    found = only(check_order, rows)
    assert found.severity in ("warning", "serious")
    assert found.figures["next_row"] > 0.8
    assert "If new rows come from other times or sessions" in found.what
    assert only(check_order, np.random.default_rng(0).permutation(rows)).severity == "ok"


def test_the_rate_that_is_stated_for_a_time_series_is_the_rate_that_comes():
    said, seen = mean_said(check_order, series, 400, 0.9), flagged(series, 400, 0.9)
    assert seen > 0.055
    assert 0.75 < said / seen < 1.33


def test_rows_by_session_are_found_by_their_order_where_they_are_not_copies():
    found = only(check_order, rows_of(6, in_groups, 40, 10, 0.8))
    assert found.severity == "warning"
    assert 5 <= found.figures["every"] <= 25


def test_near_copies_are_not_reported_twice():
    rows = rows_of(1, in_groups, 40, 10, 0.9999)
    assert only(check_clusters, rows).severity == "serious"
    assert only(check_order, rows).severity == "ok"


def test_sorted_rows_show_nothing_about_time():
    rows = rows_of(7, normal, 400)
    found = only(check_order, rows[np.argsort(rows[:, 1])])
    assert found.severity == "note"
    assert "sorted by 'x1'" in found.what
    assert check_time(Case.of(rows[np.argsort(rows[:, 1])])) == []


def rising(rng, n, rise):
    return normal(rng, n) + rise * np.linspace(0, 1, n)[:, None]


def test_drift_in_time_is_measured_on_the_last_rows():
    found = only(check_time, rows_of(8, rising, 400, 3.0))
    assert found.severity == "serious"
    assert found.figures["flagged_later"]["0.05"] > 0.15
    assert "uncertainty rises" in found.what


def test_scores_that_fall_over_time_are_noted_only_since_fewer_rows_are_flagged():
    found = only(check_time, rows_of(8, rising, 400, 3.0)[::-1])
    assert found.severity == "note"
    assert "uncertainty falls" in found.what


def test_a_time_series_without_trend_is_hardly_ever_called_drifting():
    found = [only(check_time, rows_of(seed, series, 400, 0.9)).severity for seed in range(30)]
    assert sum(severity != "ok" for severity in found) <= 2


def test_a_block_of_other_rows_is_neither_trend_nor_series():
    rows = rows_of(9, normal, 460)
    rows[:60] += 20.0
    assert only(check_time, rows).severity == "ok"
    assert only(check_order, rows).severity == "ok"


def test_the_rate_of_independent_rows_has_the_beta_law():
    expected = Expected(200, 400, 3.0)
    assert expected.rate(0.05) == 10 / 201
    assert expected.interval(0.05) == pytest.approx(beta.ppf([0.05, 0.95], 10, 191))
    assert (expected.severity, expected.effective) == ("ok", 200)


def test_more_dependence_never_lowers_the_rate():
    rates = [Expected(200, 400, 3.0, Dependence(effect, 1.0)).rate(0.05) for effect in (1, 1.5, 2, 5, 20, 200)]
    assert rates == sorted(rates)
    assert rates[-1] < 1


def test_a_rate_that_the_held_back_rows_cannot_give_flags_nothing():
    assert Expected(20, 40, 3.0, Dependence(4.0, 1.0)).rate(0.01) == 0


def test_the_interval_of_one_calibration_set_is_told():
    found = only(check_size, rows_of(0, normal, 400))
    assert found.figures["rate_interval"] == pytest.approx(beta.ppf([0.05, 0.95], 10, 191))
    assert "nine in ten such sets flag 2.7 % to 7.7 %" in found.what


def test_autocorrelations_are_those_of_the_definition():
    x = np.random.default_rng(0).normal(size=81)
    centred = x - x.mean()
    wanted = [(centred[: 81 - k] * centred[k:]).mean() / (centred**2).mean() for k in range(21)]
    assert autocorrelations(x) == pytest.approx(wanted)
    assert not autocorrelations(np.ones(20)).any()


def test_the_sum_of_autocorrelations_is_that_of_a_series():
    found = [summed(autocorrelations(series(np.random.default_rng(seed), 4_000, 0.7, 1)[:, 0])) for seed in range(10)]
    assert np.mean(found) == pytest.approx(1.7 / 0.3, rel=0.15)


def test_without_held_back_rows_dependence_changes_no_rate():
    rows = rows_of(0, copied, 10, 60)
    assert only(check_copies, rows, holdback=0.0).severity == "ok"
    assert only(check_order, rows_of(5, series, 400, 0.9), holdback=0.0).severity == "ok"


def test_the_command_prints_the_rate_of_copies(run, tmp_path):
    pd.DataFrame(rows_of(0, copied, 10, 60), columns=["a", "b", "c"]).to_csv(tmp_path / "c.csv", index=False)
    told = json.loads(run("doctor", tmp_path / "c.csv", "--json").stdout)["findings"]
    (found,) = [finding for finding in told if finding["check"] == "copies"]
    assert set(found) == {"check", "severity", "what", "remedy", "figures"}
    assert found["figures"]["expected_rates"]["0.05"] > 0.1
    assert run("doctor", tmp_path / "c.csv", "--strict").exit_code == 1


def test_two_mirrored_columns_are_no_near_copies_and_no_warning():
    rows = np.random.default_rng(0).gamma(1.0, size=200)
    found = {one.check: one for one in examine(np.column_stack([rows, -rows]))}
    assert "mirror images" in found["overlap"].what

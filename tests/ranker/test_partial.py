from functools import reduce
from itertools import pairwise, permutations
from operator import add

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq import PartialFit, ScoreTable, Settings, fit_ranker, fit_stream, load
from vecuq.errors import CalibrationError, CalibrationWarning, ColumnError, ModelFileError, SettingError, TableError
from vecuq.ranker.partial import FEW
from vecuq.ranker.sampled import Sampled

ROWS = np.random.default_rng(0).gamma(1.0, size=(9000, 3))
NAMED = pd.DataFrame(ROWS, columns=["a", "b", "c"])
NEW = np.random.default_rng(1).gamma(1.2, size=(300, 3)) * 2
IDS = np.array([f"row {k}" for k in range(9000)])


def parts(cuts, *, ids=False, chosen=None, **how):
    """Gather rows cut at these places, numbered through."""
    bounds = [0, *sorted(cuts), len(ROWS)]
    made = []
    for a, b in pairwise(bounds):
        named = {"ids": IDS[a:b]} if ids else {"first_row": a}
        made.append(PartialFit(["a", "b", "c"], chosen, **how).update(NAMED[a:b], **named))
    return made


def held_rows(partial):
    return partial.rows.values


@given(cuts=st.lists(st.integers(0, 9000), max_size=6), order=st.randoms(use_true_random=False), ids=st.booleans())
@settings(deadline=None, max_examples=30)
def test_counts_ranges_and_held_back_rows_are_the_same_in_any_order(cuts, order, ids):
    shuffled = parts(cuts, ids=ids)
    order.shuffle(shuffled)
    found, known = sum(shuffled), parts([], ids=ids)[0]
    assert (found.count, found.n_dropped, found.rest.count) == (known.count, known.n_dropped, known.rest.count)
    npt.assert_array_equal(held_rows(found), held_rows(known))
    npt.assert_array_equal([found.rest.seen_low, found.rest.seen_high], [known.rest.seen_low, known.rest.seen_high])
    npt.assert_allclose(found.rest.moments, known.rest.moments, atol=1e-12 * known.count)


def test_moments_are_equal_to_the_bit_when_parts_are_added_in_their_order():
    one, other = (sum(parts([1000, 1001, 7000])) for _ in range(2))
    npt.assert_array_equal(one.rest.moments, other.rest.moments)
    npt.assert_array_equal(one.fit().uncertainty(NEW), other.fit().uncertainty(NEW))


def test_a_fit_of_parts_is_that_of_the_rows_that_are_not_held_back():
    whole = sum(parts([100, 4000]))
    ranker = whole.fit()
    assert ranker.diagnostics.held_by == "place"
    assert ranker.diagnostics.n_held == len(held_rows(whole)) == pytest.approx(4500, abs=200)
    is_held = np.isin(ROWS[:, 0], held_rows(whole)[:, 0])
    exact = fit_ranker(ROWS[~is_held], Settings(holdback=0.0, solver="separable"))
    npt.assert_allclose(ranker.uncertainty(NEW), exact.uncertainty(NEW), atol=1e-8)


def test_rows_with_ids_are_held_back_wherever_they_lie():
    shuffled = np.random.default_rng(2).permutation(9000)
    one = PartialFit().update(NAMED, ids=IDS)
    other = PartialFit().update(NAMED.iloc[shuffled], ids=pa.array(IDS[shuffled]))
    npt.assert_array_equal(held_rows(one), held_rows(other))
    assert one.fit().diagnostics.held_by == "id"


def test_another_seed_holds_back_other_rows_as_many():
    one, other = (parts([], chosen=Settings(random_state=seed))[0] for seed in (0, 1))
    shared = np.isin(held_rows(one)[:, 0], held_rows(other)[:, 0]).mean()
    assert shared == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.8])
def test_few_rows_are_kept_and_the_share_that_is_held_back_is_exact(share):
    cut = [PartialFit(settings=Settings(holdback=share), part=k).update(ROWS[k::4][:100]) for k in range(4)]
    found = [reduce(add, order).fit().diagnostics for order in permutations(cut)]
    assert {one.n_held for one in found} == {int(share * 400)}
    assert {one.n_map for one in found} == {400 - int(share * 400)}


def test_few_rows_and_many_meet():
    few = PartialFit(part=1).update(ROWS[:10])
    many = PartialFit(part=2).update(ROWS[10:])
    for whole in (few + many, many + few, PartialFit() + many + few):
        assert whole.count == 9000
        npt.assert_array_equal(held_rows(whole), held_rows(few + many))


def test_at_most_so_many_rows_are_held_back_and_they_have_the_smallest_hashes(monkeypatch):
    monkeypatch.setattr("vecuq.ranker.partial.MOST_HELD", 700)
    plain = sum(parts([3000, 6000]))
    known = sum(parts([1000, 2000, 8000], n_rows=9000))
    assert len(held_rows(plain)) == 700
    npt.assert_array_equal(held_rows(plain), held_rows(known))
    assert plain.count == known.count == 9000
    npt.assert_allclose(plain.rest.moments, known.rest.moments, atol=1e-12 * 9000)


def test_a_known_number_of_rows_keeps_a_part_small(monkeypatch):
    monkeypatch.setattr("vecuq.ranker.partial.MOST_HELD", 100)
    assert len(PartialFit(n_rows=100_000).update(ROWS).rows) < 60
    assert len(PartialFit().update(ROWS).rows) == 100


@pytest.mark.parametrize("chosen", [Settings(scaling="quantile"), Settings(epsilon=0.005)], ids=["quantile", "epsilon"])
def test_where_a_sketch_cannot_serve_a_sample_is_kept(chosen, monkeypatch):
    monkeypatch.setattr("vecuq.ranker.sampled.MOST_SAMPLED", 500)
    one, other = sum(parts([3000, 5000], chosen=chosen)), sum(reversed(parts([1, 7000], chosen=chosen)))
    assert isinstance(one.rest, Sampled)
    npt.assert_array_equal(one.rest.rows.values, other.rest.rows.values)
    assert one.rest.count + len(held_rows(one)) == 9000
    mapped = ROWS[~np.isin(ROWS[:, 0], held_rows(one)[:, 0])]
    npt.assert_array_equal([one.rest.seen_low, one.rest.seen_high], [mapped.min(axis=0), mapped.max(axis=0)])


def test_a_sample_with_quantile_scaling_is_monotone_up_to_the_largest_row(monkeypatch):
    monkeypatch.setattr("vecuq.ranker.sampled.MOST_SAMPLED", 300)
    ranker = sum(parts([3000], chosen=Settings(scaling="quantile"))).fit()
    assert ranker.diagnostics.n_sampled == 300
    steps = np.column_stack([np.linspace(0, 1.2 * ROWS[:, 0].max(), 400), np.full((400, 2), 0.5)])
    assert (np.diff(ranker.uncertainty(pd.DataFrame(steps, columns=["a", "b", "c"]))) >= 0).all()


def test_p_values_are_valid_with_rows_held_back_by_hash():
    false_alarms = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        ranker = PartialFit(settings=Settings(n_targets=64)).update(rng.gamma(1.0, size=(600, 2))).fit()
        false_alarms.append(np.mean(ranker.p_values(rng.gamma(1.0, size=(400, 2))) <= 0.1))
    assert np.mean(false_alarms) == pytest.approx(0.1, abs=0.015)


@pytest.mark.parametrize("kind", ["few", "sketch", "sample", "empty", "weights"])
def test_a_partial_fit_survives_bytes_and_the_disk(kind, tmp_path):
    chosen = Settings(random_state=3, weights={"a": 1.0, "b": 0.5, "c": 1.0} if kind == "weights" else None)
    made = PartialFit(["a", "b", "c"], chosen, flip=["b"], part=4, ranges=dict.fromkeys("abc", (0.0, 9.0)))
    made = made.for_sample() if kind == "sample" else made
    if kind != "empty":
        made.update(NAMED[: 200 if kind == "few" else 6000])
    made.save(tmp_path / "part.vecuq")
    for again in (PartialFit.from_bytes(made.to_bytes()), load(tmp_path / "part.vecuq"), load(made.to_bytes())):
        assert vars(again).keys() == vars(made).keys()
        assert repr(again) == repr(made)
        assert again.describe() == made.describe()
        one, other = (each + each.empty().update(NAMED[6000:], first_row=6000) for each in (made, again))
        npt.assert_array_equal(one.fit().uncertainty(NAMED[:50]), other.fit().uncertainty(NAMED[:50]))


def test_what_is_no_partial_fit_is_refused():
    with pytest.raises(ModelFileError, match="A partial fit was expected; got a model"):
        PartialFit.from_bytes(fit_ranker(ROWS[:100]).to_bytes())


def test_rows_may_come_in_another_order_of_columns():
    swapped = PartialFit(["a", "b", "c"]).update(NAMED[["c", "b", "a"]])
    npt.assert_array_equal(held_rows(swapped), held_rows(parts([])[0]))


def test_incomplete_rows_are_refused_or_dropped_without_moving_the_others():
    torn = NAMED.copy()
    torn.loc[[5, 7000], "b"] = np.nan
    with pytest.raises(CalibrationError, match=r"'b' in 2 of 9,000 rows.*missing='drop' drops them.*row 5"):
        PartialFit().update(torn)
    found = PartialFit(missing="drop").update(torn)
    assert (found.count, found.n_dropped) == (8998, 2)
    known = {tuple(row) for row in held_rows(parts([])[0])} - {tuple(ROWS[5]), tuple(ROWS[7000])}
    assert {tuple(row) for row in held_rows(found)} == known


def test_parts_without_rows_or_of_missing_values_change_nothing():
    nothing = [PartialFit(["a", "b", "c"]), PartialFit(["a", "b", "c"]).update(NAMED[:0])]
    gone = PartialFit(["a", "b", "c"], missing="drop", part=9).update(NAMED[:50] * np.nan)
    whole = sum([*nothing, *parts([4000]), gone])
    assert (whole.count, whole.n_dropped) == (9000, 50)
    npt.assert_array_equal(held_rows(whole), held_rows(parts([])[0]))
    with pytest.raises(CalibrationError, match="At least two calibration rows are needed; got n_samples = 0"):
        nothing[0].fit()


def test_one_row_per_part_is_as_good_as_one_part():
    one_each = sum(PartialFit(part=0).update(ROWS[k : k + 1], first_row=k) for k in range(300))
    together = PartialFit().update(ROWS[:300])
    npt.assert_array_equal(one_each.fit().uncertainty(NEW), together.fit().uncertainty(NEW))


def test_rows_far_out_in_a_late_part_widen_the_sketch():
    far = ROWS.copy()
    far[8999] = 1e6
    whole = sum(
        PartialFit(settings=Settings(holdback=0.0)).update(part, first_row=k)
        for k, part in zip((0, 8000), (far[:8000], far[8000:]), strict=True)
    )
    exact = fit_ranker(far, Settings(holdback=0.0, solver="separable"))
    npt.assert_allclose(whole.fit().uncertainty(far[::90]), exact.uncertainty(far[::90]), atol=1e-8)


def test_ranges_are_a_hint_that_rows_may_exceed():
    hinted = PartialFit(["a", "b", "c"], ranges={"a": (0.0, 1.0), "b": (0.0, 10.0), "c": (0.0, 10.0)}).update(NAMED)
    npt.assert_allclose(hinted.fit().uncertainty(NEW), parts([])[0].fit().uncertainty(NEW), atol=1e-8)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: PartialFit(["a", "b"]).update(NAMED) + parts([])[0], ColumnError, "same columns"),
        (lambda: PartialFit(flip=["a"]).update(NAMED) + parts([])[0], ColumnError, "same columns flipped"),
        (lambda: PartialFit().update(NAMED, ids=IDS) + parts([])[0], SettingError, "both know their rows by id"),
        (lambda: PartialFit(settings=Settings(epsilon=1.0)) + PartialFit(), SettingError, "the same settings"),
        (lambda: PartialFit().update(NAMED).update(NAMED, ids=IDS), SettingError, "Give ids to all of them"),
        (lambda: PartialFit().update(NAMED, ids=IDS[:10]), TableError, "one value per row, 9,000 in all; got 10"),
        (lambda: PartialFit().update(NAMED[:2], ids=["a", None]), TableError, "1 of 2 rows have no id"),
        (lambda: PartialFit().update(NAMED[:1], ids=[[1]]), TableError, "whole numbers or texts"),
        (lambda: PartialFit().update(NAMED[:2], ids=[1, "a"]), TableError, "all of one kind"),
        (lambda: PartialFit().update(NAMED[:1], ids=[1.5]), TableError, "whole numbers or texts; got double"),
        (lambda: PartialFit().update(NAMED[:1], first_row=-3), SettingError, "first_row must be"),
        (lambda: sum(PartialFit().update(NAMED[:50]) for _ in range(2)), SettingError, "a part was added twice"),
        (lambda: parts([])[0] + parts([])[0], SettingError, "two parts have the same number"),
        (lambda: PartialFit().update(NAMED[:50]).fit(Settings(random_state=1)), SettingError, "another holdback or"),
        (lambda: parts([])[0].fit(Settings(holdback=0.1)), SettingError, "another holdback or random_state"),
        (lambda: parts([])[0].fit(Settings(epsilon=0.1)), SettingError, "too small for these settings"),
        (lambda: PartialFit().update(np.array([[1e308], [-1e308]] * FEW)), CalibrationError, "spans more than"),
        (lambda: PartialFit(missing="nan"), SettingError, "missing must be"),
    ],
)
def test_what_does_not_go_together_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_other_settings_that_the_sketch_allows_can_be_fitted():
    whole = parts([])[0]
    assert whole.describe()["keeps"] == "a sketch"
    assert whole.fit(Settings(epsilon=2.0, overshoot=0.0)).settings.epsilon == 2.0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_number_of_processes_changes_no_bit(n_jobs):
    chunks = [ScoreTable.of(part) for part in np.array_split(ROWS, 20)]
    found = fit_stream(lambda: iter(chunks), n_jobs=n_jobs)
    npt.assert_array_equal(found.uncertainty(NEW), fit_stream(lambda: iter(chunks)).uncertainty(NEW))


def test_ids_that_come_twice_are_held_back_together_and_a_fit_warns():
    same = PartialFit().update(NAMED[:400], ids=np.zeros(400, dtype=int))
    with pytest.warns(CalibrationWarning, match="Only 0 of 400 rows are held back.*ids come more than once"):
        assert same.fit().diagnostics.n_held == 0
    pairs = PartialFit().update(NAMED[:400], ids=np.arange(400) // 2)
    assert set(np.unique(pairs.rows.hashes, return_counts=True)[1]) == {2}
    held = pairs.fit().kept.held
    where = np.flatnonzero(np.isin(ROWS[:400, 0], held[:, 0]))
    npt.assert_array_equal(where[::2] // 2, where[1::2] // 2)


def test_a_number_of_rows_far_too_large_is_not_passed_over():
    with pytest.warns(CalibrationWarning, match="n_rows was given much too large"):
        PartialFit(n_rows=10**12).update(NAMED).fit()


def test_any_share_of_few_rows_can_be_held_back_when_they_are_fitted():
    few = PartialFit().update(NAMED[:1000])
    assert [few.fit(Settings(holdback=share)).diagnostics.n_held for share in (0.0, 0.1)] == [0, 100]


def test_a_batch_that_is_refused_leaves_nothing_behind():
    part = PartialFit()
    with pytest.raises(CalibrationError):
        part.update(NAMED[:5] * np.nan)
    assert part.update(NAMED[:100], ids=IDS[:100]).count == 100


def test_a_sum_that_begins_with_an_empty_part_keeps_the_direction():
    table = ScoreTable(("a", "b"), np.random.default_rng(0).gamma(1.0, size=(300, 2))).flip(["b"])
    part = PartialFit(table.columns).update(table, first_row=0)
    expected = part.fit().uncertainty(table)
    for whole in (PartialFit(table.columns) + part, part + PartialFit(table.columns)):
        npt.assert_array_equal(whole.fit().uncertainty(table), expected)
        assert whole.fit().flipped == {"b"}

"""More than ten columns, and groups that a user sets: two levels do all that one map does."""

import json

import numpy as np
import numpy.testing as npt
import pytest
from scipy.stats import kstest, spearmanr
from sklearn.base import clone

from vecuq import Gate, Monitor, ScoreTable, Settings, VecUQ, VecUQPipeline, fit_ranker, load
from vecuq.doctor import examine
from vecuq.errors import ColumnError, SettingError, TableError
from vecuq.ranker import falls, is_proven_monotone
from vecuq.ranker.fit import fit_map
from vecuq.ranker.rows import MapRows

NAMES = [f"x{k}" for k in range(12)]


def correlated(n_rows, m=12, seed=0, shift=0.0):
    """Columns in three blocks."""
    rng = np.random.default_rng(seed)
    hidden = rng.gamma(1.0 + shift, size=(n_rows, 3))
    return hidden[:, np.arange(m) % 3] + 0.3 * rng.gamma(1.0, size=(n_rows, m))


ROWS = correlated(1200)
NEW = np.concatenate([correlated(60, seed=1, shift=0.5), 40.0 * correlated(20, seed=2), correlated(20, seed=3) - 3.0])


@pytest.fixture(scope="module")
def ranker():
    return fit_ranker(ROWS)


def test_twelve_columns_are_ranked_in_groups_of_those_alike(ranker):
    groups = ranker.diagnostics.column_groups
    assert groups.to_dict() == {f"group {k + 1}": NAMES[k::3] for k in range(3)}
    assert ranker.diagnostics.monotone_violations == 0.0
    assert ranker.diagnostics.n_targets == 4 * 6**4 - 6**4 + 8**3
    assert "12 columns: x0, x1, x2, x3, ...; in 3 groups;" in repr(ranker)
    assert ranker.describe()["column groups"]["group 2"] == ["x1", "x4", "x7", "x10"]
    assert "group 1: x0, x3, x6, x9" in ranker._repr_html_()


@pytest.mark.parametrize("m", [11, 24, 64])
def test_up_to_64_columns_score_alone_as_in_a_batch(m):
    found = fit_ranker(correlated(900, m), Settings(anchor_mass=0.2))
    new = np.concatenate([correlated(40, m, seed=4), 30.0 * correlated(40, m, seed=5)])
    together = found.rank(new)
    for k in range(0, len(new), 13):
        alone = found.rank(new[k : k + 1])
        assert alone.uncertainty[0] == together.uncertainty[k]
        assert alone.p_values[0] == together.p_values[k]
        npt.assert_array_equal(alone.images[0], together.images[k])
    npt.assert_array_equal(found.uncertainty(new, n_jobs=2), together.uncertainty)
    assert (together.uncertainty[40:] > together.uncertainty[:40].max()).all()


def test_the_score_grows_with_every_column_near_and_far(ranker):
    rng = np.random.default_rng(0)
    start = np.concatenate([NEW, ROWS[:200]])
    for column in range(12):
        ways = np.repeat(start[:, None], 5, axis=1)
        ways[:, :, column] = np.sort(np.append(start[:, [column]], rng.uniform(-5, 60, size=(len(start), 4)), axis=1))
        scores = ranker.rank_complete(ways.reshape(-1, 12))[1].reshape(len(start), 5)
        assert falls(scores).max() < 1e-9


def test_monotony_is_proven_where_it_is_of_every_map():
    proven = fit_ranker(ROWS[:, :4], Settings(column_groups=[["x0", "x3"], ["x1", "x2"]], n_targets=16))
    assert is_proven_monotone(proven)
    assert not is_proven_monotone(fit_ranker(ROWS, Settings(reference="ball")))


def test_far_rows_keep_their_order(ranker):
    far = np.tile(np.median(ROWS, axis=0), (6, 1))
    far[:, 4] = 10.0 ** np.arange(1, 7)
    assert (np.diff(ranker.uncertainty(far)) > 0).all()


def test_the_order_is_nearly_that_of_one_map_where_there_can_be_one():
    rows, new = ROWS[:, :9], np.concatenate([NEW[:60, :9], ROWS[:300, :9]])
    plain = fit_ranker(rows, Settings(holdback=0.0, anchor_mass=0.05)).uncertainty(new)
    grouped = fit_ranker(rows, Settings(holdback=0.0, anchor_mass=0.05, column_groups=[NAMES[k:9:3] for k in range(3)]))
    assert spearmanr(plain, grouped.uncertainty(new))[0] > 0.995


def test_all_columns_in_one_group_have_the_order_of_one_map():
    one = fit_ranker(ROWS[:, :5], Settings(column_groups={"all": NAMES[:5]}))
    plain = fit_ranker(ROWS[:, :5])
    inside = ROWS[:400, :5].clip(plain.scaler.lower, plain.scaler.lower + plain.scaler.span)
    assert spearmanr(one.uncertainty(inside), plain.uncertainty(inside))[0] > 1 - 1e-12


def test_nothing_changes_for_ten_columns_without_groups():
    rows = correlated(400, 10)
    found = fit_ranker(rows, Settings(anchor_mass=0.2))
    assert found.diagnostics.column_groups is None
    assert "column_groups" not in found.diagnostics.to_dict() | found.settings.to_dict()
    assert b"column_groups" not in found.to_bytes()


def test_p_values_are_uniform_on_rows_of_the_same_law():
    seen = np.concatenate(
        [fit_ranker(correlated(240, seed=s)).p_values(correlated(40, seed=900 + s)) for s in range(25)]
    )
    assert kstest(seen, "uniform").pvalue > 0.001
    assert (seen <= 0.05).mean() < 0.08


def test_held_back_rows_touch_neither_level_nor_the_groups():
    known = MapRows.of_rows(ScoreTable.of(ROWS[:600]), ROWS[:600])
    a, b = (fit_map(known, held, Settings()) for held in (ROWS[600:], 100.0 * ROWS[700:1100] ** 2))
    assert a.diagnostics.column_groups == b.diagnostics.column_groups
    npt.assert_array_equal(a.uncertainty(NEW), b.uncertainty(NEW))


def test_a_sample_of_rows_stands_for_all_of_them():
    whole = MapRows.of_rows(ScoreTable.of(ROWS), ROWS)
    sample = MapRows(whole.columns, whole.flipped, 12_000, whole.low, whole.high, ROWS, None)
    found = fit_map(sample, ROWS[:0], Settings(holdback=0.0, anchors=0.0))
    plain = fit_map(whole, ROWS[:0], Settings(holdback=0.0, anchors=0.0))
    assert found.diagnostics.n_map == 12_000
    npt.assert_allclose(found.uncertainty(NEW), plain.uncertainty(NEW), rtol=1e-9)


def test_contributions_add_up_and_name_columns(ranker):
    found = ranker.explain(NEW)
    npt.assert_allclose(found.sum(axis=1) + ranker.baseline, ranker.uncertainty(NEW), rtol=1e-12)
    npt.assert_array_equal(ranker.explain(NEW[3:4])[0], found[3])
    high = np.median(ROWS, axis=0)[None].copy()
    high[0, 7] = 9.0
    assert ranker.why(high)[0].startswith("x7 is high")


def test_contributions_along_the_way_are_near_the_exact_ones(ranker):
    rows = NEW[:12]
    exact, along = ranker.explain(rows, method="shapley"), ranker.explain(rows)
    npt.assert_array_equal(along, ranker.explain(rows, method="gradient"))
    assert np.corrcoef(exact.ravel(), along.ravel())[0, 1] > 0.99


def test_exact_contributions_of_many_columns_are_refused():
    with pytest.raises(SettingError, match=r"13 columns take 2 \*\* 13 scores .* Use method='gradient'"):
        fit_ranker(correlated(200, 13)).explain(correlated(2, 13), method="shapley")


def test_missing_values_are_filled_by_their_law(ranker):
    lacking = NEW[:30].copy()
    lacking[np.arange(30), np.arange(30) % 12] = np.nan
    with pytest.warns(UserWarning, match="30 of 30 rows have missing"):
        assert np.isnan(ranker.uncertainty(lacking)).all()
    with pytest.raises(TableError, match="refuses rows with missing"):
        ranker.uncertainty(lacking, missing="error")
    found = ranker.rank(lacking, missing="marginal")
    npt.assert_array_equal(ranker.rank(lacking[4:5], missing="marginal").uncertainty, found.uncertainty[4:5])
    assert spearmanr(found.uncertainty, ranker.uncertainty(NEW[:30]))[0] > 0.9


def test_p_values_of_incomplete_rows_are_valid():
    fitted, new = fit_ranker(correlated(1500, seed=7)), correlated(1500, seed=8)
    new[:, [0, 5]] = np.nan
    assert abs((fitted.p_values(new, missing="marginal") <= 0.1).mean() - 0.1) < 0.04


def test_only_so_many_patterns_of_missing_columns_are_remembered(ranker, monkeypatch):
    monkeypatch.setattr("vecuq.ranker.missing._MOST_PATTERNS", 2)
    fresh = load(ranker.to_bytes())
    for column in range(5):
        row = NEW[:1].copy()
        row[0, column] = np.nan
        fresh.uncertainty(row, missing="marginal")
    assert list(fresh._incomplete._patterns) == [(3,), (4,)]


def test_constant_columns_and_those_of_weight_0_have_no_influence():
    wide = np.column_stack([ROWS, np.ones(1200), ROWS[:, 0] ** 2])
    weights = {**dict.fromkeys([*NAMES, "x12"], 1.0), "x13": 0.0}
    found, plain = fit_ranker(wide, Settings(weights=weights)), fit_ranker(ROWS)
    new = np.column_stack([NEW, np.full(100, 7.0), np.full(100, 1e9)])
    npt.assert_array_equal(found.uncertainty(new), plain.uncertainty(NEW))
    assert found.diagnostics.constant_columns == ("x12",)
    assert found.diagnostics.column_groups == plain.diagnostics.column_groups


def test_a_small_weight_makes_a_column_count_less():
    weights = {name: 0.05 if name in NAMES[::3] else 1.0 for name in NAMES}
    plain, weighted = (fit_ranker(ROWS, Settings(weights=one, holdback=0.0)) for one in (None, weights))
    light, heavy = (spearmanr(one.uncertainty(ROWS), ROWS[:, 0])[0] for one in (weighted, plain))
    assert light < heavy - 0.3
    assert weighted.diagnostics.monotone_violations == 0.0
    npt.assert_array_equal(load(weighted.to_bytes()).uncertainty(NEW), weighted.uncertainty(NEW))


@pytest.mark.parametrize(
    "options",
    [
        {"scaling": "quantile"},
        {"scaling": "global"},
        {"reference": "exponential"},
        {"reference": "ball"},
        {"grid": "authors", "n_targets": 300},
        {"solver": "dense", "n_targets": 81},
        {"overshoot": 0.0, "holdback": 0.0, "n_targets": "rows"},
    ],
    ids=str,
)
def test_groups_go_with_other_settings_and_are_saved(options):
    rows = ROWS[:300]
    found = fit_ranker(rows, Settings(**options))
    again = load(found.to_bytes())
    npt.assert_array_equal(again.uncertainty(NEW), found.uncertainty(NEW))
    assert again.to_bytes() == found.to_bytes()
    assert again.diagnostics == found.diagnostics
    far = np.tile(np.median(rows, axis=0), (2, 1)) * [[1.0], [50.0]]
    low, high = found.uncertainty(far)
    assert high > low


def test_signed_scores_are_ranked_from_the_centre_outwards():
    rows = np.random.default_rng(0).normal(size=(800, 12))
    found = fit_ranker(rows, Settings(reference="ball"))
    radius = np.linalg.norm(rows, axis=1)
    assert spearmanr(found.uncertainty(rows), radius)[0] > 0.8
    low, high = found.uncertainty(np.array([np.zeros(12), np.full(12, -3.0)]))
    assert high > low
    assert found.diagnostics.monotone_violations is None


def test_rows_in_groups_and_columns_in_groups_go_together():
    found = fit_ranker(ROWS, groups=np.arange(1200) // 4)
    assert found.n_groups == 150
    npt.assert_array_equal(load(found.to_bytes()).p_values(NEW), found.p_values(NEW))


def test_cross_maps_find_groups_of_their_own():
    found = fit_ranker(ROWS[:150], Settings(holdback="cross", anchor_mass=0.2))
    assert all(fold.diagnostics.column_groups is not None for fold in found.folds)
    npt.assert_array_equal(load(found.to_bytes()).p_values(NEW), found.p_values(NEW))


# Groups that a user sets


def test_a_user_sets_the_groups():
    groups = {"first": ["x0", "x1"], "second": ["x2"]}
    model = VecUQ(column_groups=groups).fit(ROWS[:, :3])
    assert model.diagnostics_.column_groups.to_dict() == groups
    listed = clone(model).set_params(column_groups=[["x0", "x1"], ["x2"]]).fit(ROWS[:, :3])
    npt.assert_array_equal(listed.uncertainty(NEW[:, :3]), model.uncertainty(NEW[:, :3]))
    assert json.loads(json.dumps(model.ranker_.describe()))["column groups"] == groups
    again = VecUQ.from_ranker(load(model.to_bytes()))
    npt.assert_array_equal(again.fit(ROWS[:, :3]).uncertainty(NEW[:, :3]), model.uncertainty(NEW[:, :3]))


def test_flipped_columns_go_into_groups_by_name():
    table = {"a": ROWS[:, 0], "confidence": -ROWS[:, 1], "b": ROWS[:, 2]}
    model = VecUQ(flip=["confidence"], column_groups=[["a", "b"], ["confidence"]]).fit(table)
    plain = VecUQ(column_groups=[["x0", "x2"], ["x1"]]).fit(ROWS[:, :3])
    npt.assert_allclose(model.uncertainty(table), plain.uncertainty(ROWS[:, :3]), rtol=1e-12)


def test_constant_columns_leave_their_group():
    rows = np.column_stack([ROWS[:, :2], np.ones(1200), np.ones(1200)])
    found = fit_ranker(rows, Settings(column_groups={"a": ["x0", "x2"], "b": ["x1"], "gone": ["x3"]}))
    assert found.diagnostics.column_groups.to_dict() == {"a": ["x0"], "b": ["x1"]}
    npt.assert_array_equal(load(found.to_bytes()).uncertainty(rows), found.uncertainty(rows))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("x0", "column_groups must be None, a dict from group names to lists of columns, or a list"),
        (["x0", "x1"], "column_groups must be None, a dict"),
        ([], "column_groups must be None, a dict"),
        (5, "column_groups must be None, a dict"),
        ([["x0"], []], "column_groups must hold 1 to 10 columns in each group; 'group 2' holds 0"),
        ({"a": NAMES[:11]}, "'a' holds 11"),
        ([["x0"], ["x0", "x1"]], r"column_groups must hold every column once; \['x0'\] come twice"),
        ([[f"x{k}"] for k in range(11)], "column_groups must be 1 to 10 groups"),
    ],
)
def test_groups_that_make_no_sense_are_refused(groups, message):
    with pytest.raises(SettingError, match=message):
        Settings(column_groups=groups)


def test_groups_of_other_columns_are_refused():
    with pytest.raises(ColumnError, match=r"lacks \['y'\], which have a group"):
        fit_ranker(ROWS[:, :2], Settings(column_groups=[["x0", "y"], ["x1"]]))
    with pytest.raises(ColumnError, match=r"`column_groups` lacks \['x1'\]. Put every score column into a group"):
        fit_ranker(ROWS[:, :2], Settings(column_groups=[["x0"]]))


def test_groups_can_be_compared_and_hashed():
    a, b = (Settings(column_groups=one) for one in ({"p": ["x"], "q": ["y"]}, {"p": ("x",), "q": ("y",)}))
    assert a == b
    assert hash(a.column_groups) == hash(b.column_groups)
    assert "z" not in a.column_groups


# What else takes a ranker


def test_a_gate_a_monitor_and_the_doctor_take_many_columns(ranker):
    rng = np.random.default_rng(9)
    rows = correlated(400, seed=9)
    gate = Gate(ranker, accuracy=0.7).fit(rows, rng.random(400) > 0.1)
    npt.assert_array_equal(load(gate.to_bytes()).accept(NEW), gate.accept(NEW))
    assert len(Monitor(ranker).observe(rows)) == 0
    found = {finding.check: finding for finding in examine(ROWS)}
    assert "ranked in groups" in found["grid"].what
    assert found["monotone"].severity == "ok"


def test_a_pipeline_takes_many_measures():
    rng = np.random.default_rng(0)
    measures = [
        f"{kind}_{rule}_1{end}"
        for kind, end in (("bayes", ""), ("total", "_1"), ("excess", "_1"), ("excess", "_2"))
        for rule in ("log", "brier", "spherical")
    ]
    pipeline = VecUQPipeline(measures=measures).fit(rng.normal(size=(3, 400, 4)))
    new = rng.normal(size=(3, 30, 4))
    assert len(pipeline.ranker_.diagnostics.column_groups) == 4
    npt.assert_array_equal(load(pipeline.to_bytes()).uncertainty(new), pipeline.uncertainty(new))
    npt.assert_allclose(
        pipeline.explain(new).sum(axis=1) + pipeline.ranker_.baseline, pipeline.uncertainty(new), rtol=1e-12
    )

"""Conformal: the decisions of VecUQ for every other combiner and for a single column."""

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from vecuq import Conformal, VecUQ, baselines, load
from vecuq.baselines import Combiner, find_baselines, list_baselines
from vecuq.conformal import conformal_p_values
from vecuq.errors import CalibrationError, CalibrationWarning, ColumnError, ModelFileError, SettingError

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(RNG.gamma(1.0, size=(400, 3)), columns=["entropy", "knn", "energy"])
NEW = pd.DataFrame(RNG.gamma(1.3, size=(100, 3)) * 2, columns=["entropy", "knn", "energy"])


def every_combiner():
    return {found.name: found.make() for found in find_baselines(list_baselines())}


@pytest.mark.parametrize("name", list_baselines())
def test_every_combiner_decides_and_comes_back_from_its_file_as_it_was(name, tmp_path):
    model = Conformal(every_combiner()[name], random_state=3).fit(ROWS)
    assert len(model.calibration_scores) == 200
    npt.assert_allclose(model.p_values(NEW), conformal_p_values(model.uncertainty(NEW), model.calibration_scores))
    npt.assert_array_equal(model.flag(NEW, 0.1), model.uncertainty(NEW) > model.threshold(0.1))
    model.save(tmp_path / "c.vecuq")
    again = load(tmp_path / "c.vecuq")
    npt.assert_array_equal(again.uncertainty(NEW), model.uncertainty(NEW))
    npt.assert_array_equal(again.p_values(NEW), model.p_values(NEW))
    assert again.to_bytes() == model.to_bytes()
    assert again.columns == model.columns == tuple(ROWS.columns)


def test_a_column_is_its_own_score():
    model = Conformal("knn").fit(ROWS)
    npt.assert_array_equal(model.uncertainty(NEW), NEW["knn"])
    assert model.columns == ("knn",)
    npt.assert_array_equal(model.values_of(NEW), NEW[["knn"]])
    flipped = Conformal("knn", flip=True).fit(ROWS)
    npt.assert_array_equal(flipped.uncertainty(NEW), -NEW["knn"])
    npt.assert_array_equal(load(flipped.to_bytes()).p_values(NEW), flipped.p_values(NEW))


def test_the_split_is_that_of_the_estimator():
    model, vecuq = Conformal("knn", random_state=5).fit(ROWS), VecUQ(random_state=5).fit(ROWS)
    npt.assert_array_equal(np.sort(vecuq.ranker_.kept.held[:, 1]), model.calibration_scores)
    groups = np.arange(400) // 4
    by_group, of_vecuq = (
        Conformal("knn").fit(ROWS, groups=groups), VecUQ().fit(ROWS, groups=groups).ranker_
    )  # fmt: skip
    npt.assert_array_equal(np.sort(of_vecuq.kept.held[:, 1]), by_group.calibration_scores)
    assert by_group.held_.count == of_vecuq.n_groups == 50
    npt.assert_array_equal(load(by_group.to_bytes()).p_values(NEW), by_group.p_values(NEW))


def test_arrays_are_taken_by_position():
    model = Conformal(baselines.fisher()).fit(ROWS.to_numpy())
    npt.assert_array_equal(model.p_values(NEW.to_numpy()), Conformal(baselines.fisher()).fit(ROWS).p_values(NEW))
    npt.assert_array_equal(load(model.to_bytes()).p_values(NEW.to_numpy()), model.p_values(NEW.to_numpy()))


def test_false_alarms_stay_below_alpha():
    rng, rates = np.random.default_rng(1), np.empty((200, 3))
    made = (Conformal(baselines.z_sum()), Conformal(baselines.mean_rank()), Conformal("x1"))
    for run in range(200):
        rows, new = (dict(zip(("x0", "x1"), rng.gamma(1.0, size=(2, n)), strict=True)) for n in (120, 200))
        rates[run] = [model.fit(rows).flag(new, 0.05).mean() for model in made]
    assert (rates.mean(axis=0) <= 0.05 + 3 * rates.std(axis=0) / np.sqrt(200)).all()
    assert (rates.mean(axis=0) > 0.03).all()


def test_rates_that_cannot_be_had_and_empty_selections_are_said():
    model = Conformal("knn").fit(ROWS)
    with pytest.raises(SettingError, match="needs at least 999 held-back rows; this model has 200"):
        model.flag(NEW, 0.001)
    with pytest.raises(SettingError, match=r"with confidence=0.9 needs at least 230"):
        model.flag(NEW, 0.01, confidence=0.9)
    assert model.threshold(0.1, confidence=0.9) > model.threshold(0.1)
    with pytest.warns(CalibrationWarning, match="of 100 rows at least 10 must be that far out"):
        assert not model.select(NEW * 0, 0.05).any()
    assert model.select(NEW * 99, 0.05).any()


@pytest.mark.parametrize(
    ("score", "error", "said"),
    [
        ("fisher", SettingError, r"no column 'fisher'. For the combiner of that name give vecuq.baselines.fisher\(\)"),
        ("entropie", ColumnError, "Did you mean 'entropy'"),
        (baselines.fisher, SettingError, "takes the name of a column or a combiner"),
        (3, SettingError, "got int"),
    ],
)
def test_what_is_no_score_is_refused(score, error, said):
    with pytest.raises(error, match=said):
        Conformal(score).fit(ROWS)


def test_too_few_rows_and_shares_out_of_range_are_refused():
    with pytest.raises(CalibrationError, match="too few to hold any back"):
        Conformal("knn").fit(ROWS[:2])
    with pytest.raises(SettingError, match="holdback must lie"):
        Conformal("knn", holdback=0.0).fit(ROWS)
    with pytest.raises(NotFittedError):
        Conformal("knn").uncertainty(NEW)


def test_parameters_are_cloned_and_the_given_combiner_stays_unfitted():
    combiner = baselines.knn(k=3)
    model = Conformal(combiner, alpha=0.1).fit(ROWS)
    assert not hasattr(combiner, "scorer_")
    assert clone(model).alpha == 0.1
    assert load(model.to_bytes()).combiner_.k == 3


def test_a_combiner_of_another_package_is_not_saved():
    class highest(Combiner):  # noqa: N801 - as combiners are called
        def _learn(self, rows):
            return lambda new: new.max(axis=1)

    model = Conformal(highest()).fit(ROWS)
    assert model.flag(NEW, 0.1).any()
    with pytest.raises(ModelFileError, match="highest is not a combiner of vecuq"):
        model.to_bytes()


def test_a_file_describes_itself(run, tmp_path):
    Conformal(baselines.fisher()).fit(ROWS, groups=np.arange(400) // 4).save(tmp_path / "c.vecuq")
    shown = run("info", tmp_path / "c.vecuq").stdout
    assert "fisher" in shown
    assert "held-back groups: 50" in shown
    refusal = run("score", tmp_path / "c.vecuq", tmp_path / "c.vecuq")
    assert refusal.exit_code == 1

"""holdback="cross": five maps, every row held back once; a weaker promise and more power with few rows."""

import numpy as np
import numpy.testing as npt
import pytest

from vecuq import Monitor, Settings, VecUQ, VecUQPipeline, fit_ranker, fit_stream, load
from vecuq.errors import CalibrationError, ModelFileError, SettingError
from vecuq.ranker import CrossRanker
from vecuq.table import ScoreTable

CROSS = Settings(holdback="cross", n_targets=25, tol=1e-6)
ROWS = np.random.default_rng(0).gamma(1.0, size=(100, 2))
NEW = np.random.default_rng(1).gamma(1.5, size=(60, 2)) * 2


@pytest.fixture(scope="module")
def ranker():
    return fit_ranker(ROWS, CROSS)


def test_every_row_is_held_back_once_from_a_map_that_has_not_seen_it(ranker):
    assert isinstance(ranker, CrossRanker)
    held = np.concatenate([fold.kept.held for fold in ranker.folds])
    npt.assert_array_equal(np.sort(held, axis=0), np.sort(ROWS, axis=0))
    assert [fold.diagnostics.n_map for fold in ranker.folds] == [80] * 5
    assert ranker.diagnostics.n_map == 100


def test_p_values_are_those_of_the_definition(ranker):
    beyond = [
        [np.sum(fold.uncertainty(fold.as_table(fold.kept.held)) >= score) for score in fold.uncertainty(NEW)]
        for fold in ranker.folds
    ]
    npt.assert_allclose(ranker.p_values(NEW), (1 + np.sum(beyond, axis=0)) / 101)


def test_the_order_is_that_of_a_map_of_all_rows(ranker):
    whole = fit_ranker(ROWS, Settings(holdback=0.0, n_targets=25, tol=1e-6))
    npt.assert_array_equal(ranker.uncertainty(NEW), whole.uncertainty(NEW))
    npt.assert_array_equal(ranker.transform(NEW), whole.transform(NEW))
    npt.assert_array_equal(ranker.explain(NEW), whole.explain(NEW))


def test_the_estimator_decides_by_p_values():
    model = VecUQ(holdback="cross").fit(ROWS)
    npt.assert_array_equal(model.flag(NEW, 0.05), model.p_values(NEW) <= 0.05)
    npt.assert_array_equal(model.predict(NEW) == -1, model.flag(NEW, 0.05))
    assert model.select(NEW * 50, 0.1).any()
    for ask in (model.threshold, lambda: model.threshold(0.05), lambda: model.decision_function(NEW)):
        with pytest.raises(SettingError, match="no one threshold"):
            ask()
    assert VecUQ.from_ranker(load(model.ranker_.to_bytes())).holdback == "cross"
    assert "each held back once in 5 folds" in repr(model.ranker_)
    assert "5" in model.ranker_._repr_html_()


def test_it_is_saved_and_found_again(ranker, tmp_path, run):
    ranker.save(tmp_path / "m.vecuq")
    again = load(tmp_path / "m.vecuq")
    npt.assert_array_equal(again.p_values(NEW), ranker.p_values(NEW))
    npt.assert_array_equal(again.uncertainty(NEW), ranker.uncertainty(NEW))
    assert again.to_bytes() == ranker.to_bytes()
    shown = run("info", tmp_path / "m.vecuq").stdout
    assert "held back once: 100" in shown
    assert "holdback: cross" in shown


def test_groups_stay_together():
    groups = np.arange(100) // 4
    ranker = fit_ranker(ROWS, CROSS, groups=groups)
    by_row = {tuple(row): group for row, group in zip(ROWS, groups, strict=True)}
    held = [{by_row[tuple(row)] for row in fold.kept.held} for fold in ranker.folds]
    assert sum(map(len, held)) == len(set.union(*held)) == ranker.n_units == 25
    assert ranker.p_values([[1e9, 1e9]])[0] == pytest.approx(1 / 26)
    npt.assert_array_equal(load(ranker.to_bytes()).p_values(NEW), ranker.p_values(NEW))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda r: r.flag(NEW, 0.05, confidence=0.9), "promises no confidence"),
        (lambda r: r.flag(NEW, 0.001), "needs at least 999 held-back rows; this model has 100"),
        (lambda r: r.p_values(NEW, ties="randomised"), "ties='conservative' and complete rows only"),
        (lambda r: r.p_values(NEW, missing="marginal"), "complete rows only"),
        (Monitor, "holdback='cross' has five maps"),
        (lambda _: Settings(holdback="crossed"), "holdback must be a share from 0 to 1 or 'cross'"),
        (lambda _: fit_stream(lambda: iter([ScoreTable.of(ROWS)]), CROSS), "needs all rows at once"),
        (lambda _: VecUQ(holdback="cross").partial_fit(ROWS), "needs all rows at once"),
    ],
)
def test_what_cross_does_not_do_is_said(ranker, ask, said):
    with pytest.raises(SettingError, match=said):
        ask(ranker)


def test_few_rows_and_pipelines_are_refused():
    with pytest.raises(CalibrationError, match="needs at least 10 calibration rows; got 9"):
        fit_ranker(ROWS[:9], Settings(holdback="cross", anchors=0))
    logits = np.random.default_rng(2).normal(size=(3, 60, 4))
    made = VecUQPipeline(measures="bayes_rules", estimator=VecUQ(holdback="cross", anchors=0.0)).fit(logits)
    assert made.flag(logits, 0.1).shape == (60,)
    with pytest.raises(ModelFileError, match="saved by itself"):
        made.to_bytes()


def test_the_command_line_fits_and_scores_with_it(run, tmp_path):
    np.savetxt(tmp_path / "c.csv", ROWS, delimiter=",", header="a,b", comments="")
    np.savetxt(tmp_path / "n.csv", NEW, delimiter=",", header="a,b", comments="")
    model = tmp_path / "m.vecuq"
    assert "each held back once" in run("fit", tmp_path / "c.csv", "--holdback", "cross", "-o", model).stdout
    done = run("score", model, tmp_path / "n.csv", "--alpha", 0.05, "-o", tmp_path / "o.csv")
    assert f"{load(model).flag({'a': NEW[:, 0], 'b': NEW[:, 1]}, 0.05).sum()} flagged at alpha 0.05" in done.stdout
    wrong = run("fit", tmp_path / "c.csv", "--holdback", "much", "-o", model)
    assert wrong.exit_code == 2
    assert "or 'cross'" in wrong.stderr


def shares(alpha, runs, holdback):
    """Return the share of in-distribution and of shifted rows that are flagged, (runs, 2), with 100 rows each."""
    rng, out = np.random.default_rng(7), np.empty((runs, 2))
    for run in range(runs):
        rows, new = rng.gamma(1.0, size=(100, 2)), rng.gamma(1.0, size=(200, 2))
        ranker = fit_ranker(rows, Settings(holdback=holdback, n_targets=25, tol=1e-6))
        out[run] = ranker.flag(new, alpha).mean(), ranker.flag(new + 2.5, alpha).mean()
    return out


@pytest.mark.nightly
def test_false_alarms_stay_near_alpha_and_more_shifted_rows_are_found():
    cross, split = shares(0.05, 60, "cross"), shares(0.05, 60, 0.5)
    assert cross[:, 0].mean() <= 0.05 + 3 * cross[:, 0].std() / np.sqrt(60)
    assert cross[:, 1].mean() > split[:, 1].mean()

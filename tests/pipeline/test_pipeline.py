"""The pipeline: raw outputs in, uncertainty out, one file, the same bits after loading."""

import warnings

import numpy as np
import numpy.testing as npt
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from vecuq import ClassifierOutputs, Ranker, VecUQ, VecUQPipeline, fit_ranker, load
from vecuq.errors import CalibrationWarning, ModelFileError, SettingError, TableError
from vecuq.measures import fit_densities, measure

EAT_M = ("bayes_log_1", "excess_log_1_1", "total_log_1_1", "mahalanobis")


def logits_of(rows, seed, scale=3.0):
    """An ensemble of three that knows four classes, and the classes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=rows)
    shared = rng.normal(size=(rows, 4)) + scale * np.eye(4)[labels]
    return shared + 0.5 * rng.normal(size=(3, rows, 4)), labels


@pytest.fixture(scope="module")
def train():
    logits, labels = logits_of(400, 0)
    return ClassifierOutputs.of(logits=logits, labels=labels)


@pytest.fixture(scope="module")
def calibration():
    return logits_of(200, 1)[0]


@pytest.fixture(scope="module")
def pipeline(train, calibration):
    return VecUQPipeline().fit(calibration, train=train)


@pytest.fixture(scope="module")
def new():
    return logits_of(50, 2)[0]


def test_the_pipeline_is_measuring_and_ranking_in_one(pipeline, train, calibration, new):
    densities = fit_densities(EAT_M, train)
    tables = [measure(ClassifierOutputs.of(logits=part), EAT_M, densities) for part in (calibration, new)]
    ranking = fit_ranker(tables[0]).rank(tables[1])
    assert pipeline.measure(new).columns == EAT_M
    npt.assert_array_equal(pipeline.measure(new).values, tables[1].values)
    npt.assert_array_equal(pipeline.uncertainty(new), ranking.uncertainty)
    npt.assert_array_equal(pipeline.p_values(new), ranking.p_values)
    npt.assert_array_equal(pipeline.rank(new).images, ranking.images)


def test_rows_that_the_model_has_never_seen_are_more_uncertain(pipeline, new):
    strange = 8 * np.random.default_rng(3).normal(size=(3, 50, 4))
    assert np.median(pipeline.uncertainty(strange)) > np.quantile(pipeline.uncertainty(new), 0.9)


def test_outputs_and_a_bare_array_of_logits_are_the_same(pipeline, new):
    npt.assert_array_equal(pipeline.uncertainty(ClassifierOutputs.of(logits=new)), pipeline.uncertainty(new))
    npt.assert_array_equal(pipeline.uncertainty(list(new)), pipeline.uncertainty(new))


@pytest.mark.parametrize("measures", [None, ["gmm", "knn", "relative_mahalanobis"], ["entropy", "mutual_information"]])
def test_a_saved_pipeline_gives_the_same_bits(train, calibration, new, tmp_path, measures):
    made = VecUQPipeline(measures=measures, estimator=VecUQ(epsilon=0.7), embedding="logits").fit(
        calibration, train=train
    )
    made.save(tmp_path / "p.vecuq")
    loaded = load(tmp_path / "p.vecuq")
    npt.assert_array_equal(loaded.uncertainty(new), made.uncertainty(new))
    npt.assert_array_equal(loaded.p_values(new), made.p_values(new))
    assert (loaded.measures_, loaded.embedding) == (made.measures_, "logits")
    assert loaded.ranker_.settings == made.ranker_.settings


def test_embeddings_are_used_where_there_are_any(train, calibration, new):
    def with_embeddings(logits, labels=None):
        return ClassifierOutputs.of(logits=logits, embeddings=logits.mean(axis=0) ** 3, labels=labels)

    known = with_embeddings(np.stack(train.members), train.labels)
    made = VecUQPipeline().fit(with_embeddings(calibration), train=known)
    assert np.isfinite(made.uncertainty(with_embeddings(new))).all()
    with pytest.raises(TableError, match="hold no `embeddings`, which the densities look at"):
        made.uncertainty(new)
    with pytest.raises(TableError, match="hold no `embeddings`, which the densities look at"):
        load(made.to_bytes()).uncertainty(new)


def test_embeddings_that_the_training_outputs_lack_are_not_passed_over(train, calibration):
    given = ClassifierOutputs.of(logits=calibration, embeddings=calibration.mean(axis=0))
    with pytest.raises(TableError, match="training outputs hold no `embeddings`, and these outputs do"):
        VecUQPipeline().fit(given, train=train)
    assert VecUQPipeline(embedding="logits").fit(given, train=train).embedding_ == "logits"


def test_measures_that_say_nothing_about_a_single_model_are_named(train, calibration):
    known = ClassifierOutputs.of(logits=train.members[0], labels=train.labels)
    with pytest.warns(CalibrationWarning, match=r"single model, 'excess_log_1_1' is 0 .* 'total_log_1_1' equals"):
        made = VecUQPipeline().fit(calibration[0], train=known)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.uncertainty(calibration[0])


def test_measures_that_need_no_training_outputs_take_none(calibration, new):
    made = VecUQPipeline(measures="bayes_rules").fit(calibration)
    assert made.uncertainty(new).shape == (50,)


def test_a_pipeline_keeps_its_temperature(train, calibration, new, tmp_path):
    warm = {"temperature": 2.0}
    known = ClassifierOutputs.of(logits=np.stack(train.members), labels=train.labels, **warm)
    VecUQPipeline().fit(ClassifierOutputs.of(logits=calibration, **warm), train=known).save(tmp_path / "p.vecuq")
    made = load(tmp_path / "p.vecuq")
    npt.assert_array_equal(made.uncertainty(new), made.uncertainty(ClassifierOutputs.of(logits=new, **warm)))
    with pytest.raises(TableError, match="one temperature: 2"):
        made.uncertainty(ClassifierOutputs.of(logits=new))
    with pytest.raises(TableError, match="one temperature: 2"):
        VecUQPipeline().fit(ClassifierOutputs.of(logits=calibration), train=known)


@pytest.mark.parametrize("temperature", [1e-6, 1e6])
def test_the_least_and_the_greatest_temperature_give_scores_after_loading(train, calibration, new, temperature):
    known = ClassifierOutputs.of(logits=np.stack(train.members), labels=train.labels, temperature=temperature)
    held = ClassifierOutputs.of(logits=calibration, temperature=temperature)
    made = VecUQPipeline(measures=["excess_log_1_1", "mahalanobis"]).fit(held, train=known)
    again = load(made.to_bytes()).uncertainty(new)
    assert np.isfinite(again).all()
    npt.assert_array_equal(again, made.uncertainty(new))


def test_the_pipeline_decides_and_gives_reasons_like_its_ranker(pipeline, new):
    table, ranker = pipeline.measure(new), pipeline.ranker_
    assert pipeline.threshold(0.1) == ranker.threshold(0.1)
    assert pipeline.threshold() == ranker.threshold()
    npt.assert_array_equal(pipeline.flag(new, 0.1), ranker.flag(table, 0.1))
    npt.assert_array_equal(pipeline.flag(new, 0.1), pipeline.uncertainty(new) > pipeline.threshold(0.1))
    for method in ("bh", "none"):
        npt.assert_array_equal(pipeline.select(new, 0.5, method=method), ranker.select(table, 0.5, method=method))
    npt.assert_array_equal(pipeline.explain(new, method="gradient"), ranker.explain(table, method="gradient"))
    total = ranker.baseline + pipeline.explain(new).sum(axis=1)
    npt.assert_allclose(total, pipeline.uncertainty(new), atol=1e-9)
    assert pipeline.why(new) == ranker.why(table)
    how = {"ties": "randomised", "random_state": 3}
    npt.assert_array_equal(pipeline.p_values(new, **how), ranker.p_values(table, **how))


def test_outputs_with_holes_are_scored_from_the_measures_that_are_left(train, calibration, new):
    def with_embeddings(logits, labels=None):
        return ClassifierOutputs.of(logits=logits, embeddings=logits.mean(axis=0), labels=labels)

    made = VecUQPipeline().fit(
        with_embeddings(calibration), train=with_embeddings(np.stack(train.members), train.labels)
    )
    embeddings = new.mean(axis=0)
    embeddings[3] = np.nan
    holed = ClassifierOutputs.of(logits=new, embeddings=embeddings)
    assert np.isnan(made.measure(holed).values[3]).tolist() == [False, False, False, True]
    for ask in (made.uncertainty, made.p_values):
        assert np.isfinite(ask(holed, missing="marginal")).all()
        npt.assert_array_equal(np.isnan(ask(holed, warn=False)), np.arange(50) == 3)
    assert np.isfinite(made.explain(holed, missing="marginal")).all()
    assert "not scored" not in made.why(holed, missing="marginal")[3]
    assert made.flag(holed, 0.1, warn=False)[3]
    assert made.flag(holed, 0.1, missing="marginal")[3] == (made.p_values(holed, missing="marginal")[3] <= 0.1)
    with pytest.raises(TableError, match="missing='error'"):
        made.rank(holed, missing="error")


def test_a_saved_pipeline_selects_from_a_file_of_outputs(tmp_path, pipeline, new):
    import pyarrow.parquet as pq

    from vecuq import workflows

    pipeline.save(tmp_path / "model.vecuq")
    strange = np.concatenate([new, 8 * np.random.default_rng(3).normal(size=(3, 20, 4))], axis=1)
    np.savez(tmp_path / "new.npz", logits=strange)
    paths = [tmp_path / name for name in ("model.vecuq", "new.npz", "ranked.parquet")]
    done = workflows.score(*paths, alpha=0.1, select="bh")
    expected = pipeline.select(strange, 0.1)
    npt.assert_array_equal(pq.read_table(paths[-1])["selected"].to_numpy(zero_copy_only=False), expected)
    assert done.n_selected == expected.sum() > 0


def test_what_cannot_be_done_is_told(train, calibration, pipeline, ranker, tmp_path):
    with pytest.raises(SettingError, match="Did you mean 'entropy'"):
        VecUQPipeline(measures=["entropi"]).fit(calibration)
    with pytest.raises(SettingError, match="embedding"):
        VecUQPipeline(embedding="logit").fit(calibration)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        VecUQPipeline().uncertainty(calibration)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        VecUQPipeline().save(tmp_path / "p.vecuq")
    with pytest.raises(TableError, match="need the true classes"):
        VecUQPipeline().fit(calibration, train=calibration)
    with pytest.raises(ValueError, match="Expected 2D array, got scalar"):
        VecUQPipeline().fit(None, train=train)
    with pytest.raises(ValueError, match="Expected 2D array, got scalar"):
        pipeline.uncertainty(None)
    for old in (train, calibration):
        with pytest.raises(TableError, match=r"by name: fit\(calibration, train=train\)"):
            VecUQPipeline().fit(train, old)


def test_one_load_knows_models_and_pipelines(pipeline, ranker, tmp_path):
    pipeline.save(tmp_path / "p.vecuq")
    ranker.save(tmp_path / "m.vecuq")
    assert isinstance(load(tmp_path / "p.vecuq"), VecUQPipeline)
    assert isinstance(load(tmp_path / "m.vecuq"), Ranker)


def test_every_scikit_learn_check_passes_on_a_table_of_logits():
    """Measures that need no training outputs; the checks know no second table, and no (members, rows, classes)."""
    made = VecUQPipeline(measures=["entropy", "msp", "energy"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(made, on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] in ("failed", "xfail")}
    assert failed == {}
    assert sum(r["status"] == "passed" for r in results) >= 40


def test_it_is_an_estimator_with_nested_parameters(calibration, new):
    made = clone(VecUQPipeline(measures="bayes_rules", estimator=VecUQ()).set_params(estimator__epsilon=0.7))
    made.fit(calibration)
    assert made.get_params()["estimator__epsilon"] == made.ranker_.settings.epsilon == 0.7
    npt.assert_array_equal(made.predict(new) == -1, made.decision_function(new) < 0)
    assert list(made.get_feature_names_out()) == [f"rank_{name}" for name in made.measures_]
    assert made.transform(new).shape == (50, 4)
    with pytest.raises(NotFittedError):
        clone(made).uncertainty(new)


def test_parameters_of_the_default_estimator_can_be_set():
    made = VecUQPipeline(measures="bayes_rules")
    again = clone(made).set_params(estimator__epsilon=0.7, embedding="logits")
    assert again.estimator.epsilon == 0.7
    assert again.get_params()["estimator__epsilon"] == 0.7
    assert made.estimator is None
    assert made.set_params(embedding="logits").estimator is None
    own = VecUQ(alpha=0.2)
    assert clone(made).set_params(estimator=own, estimator__epsilon=0.3).estimator is own
    with pytest.raises(ValueError, match="Invalid parameter"):
        made.set_params(estimator__nothing=1)


def test_a_cut_or_altered_file_is_refused(pipeline, tmp_path):
    path = tmp_path / "p.vecuq"
    pipeline.save(path)
    whole = bytearray(path.read_bytes())
    path.write_bytes(whole[:-100])
    with pytest.raises(ModelFileError, match="cut or damaged"):
        load(path)
    whole[-5] ^= 1
    path.write_bytes(whole)
    with pytest.raises(ModelFileError, match="checksum"):
        load(path)


def test_a_saved_pipeline_scores_a_file_of_outputs_like_any_model(tmp_path, pipeline, new):
    import pyarrow.parquet as pq

    from vecuq import workflows

    pipeline.save(tmp_path / "model.vecuq")
    np.savez(tmp_path / "new.npz", logits=new, ids=np.array([f"row {k}" for k in range(50)]))
    done = workflows.score(tmp_path / "model.vecuq", tmp_path / "new.npz", tmp_path / "ranked.parquet", alpha=0.1)
    ranked = pq.read_table(tmp_path / "ranked.parquet")
    assert ranked.column_names == ["id", *EAT_M, "uncertainty", "p_value", "flagged"]
    npt.assert_array_equal(ranked["uncertainty"].to_numpy(), pipeline.uncertainty(new))
    npt.assert_array_equal(ranked["p_value"].to_numpy(), pipeline.p_values(new))
    assert done.n_flagged == int((pipeline.p_values(new) <= 0.1).sum())


def test_a_saved_pipeline_refuses_a_file_that_holds_no_outputs(tmp_path, pipeline):
    from vecuq import workflows

    pipeline.save(tmp_path / "model.vecuq")
    (tmp_path / "new.csv").write_text("a,b\n1.0,2.0\n")
    with pytest.raises(TableError, match="must be an npz or npy file"):
        workflows.score(tmp_path / "model.vecuq", tmp_path / "new.csv", tmp_path / "ranked.parquet")
    assert not (tmp_path / "ranked.parquet").exists()


def test_outputs_of_another_ensemble_are_refused(pipeline, new, tmp_path):
    pipeline.save(tmp_path / "p.vecuq")
    for one in (pipeline, load(tmp_path / "p.vecuq")):
        for other in (new[:2], new[0], new[:, :, :3]):
            with pytest.raises(TableError, match="fitted on 3 members and 4 classes; these outputs have"):
                one.uncertainty(other)

"""The front door for classifiers: a fitted one and its rows in, uncertainty out; saved without it."""

import warnings

import numpy as np
import numpy.testing as npt
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from vecuq import EstimatorMeasures, EstimatorPipeline, Gate, VecUQ, from_estimator, load
from vecuq.errors import CalibrationError, CalibrationWarning, ModelFileError, SettingError, TableError
from vecuq.measures import KNearestEuclidean, Mahalanobis, entropy, mutual_information
from vecuq.pipeline.feature_scale import FEWEST_OF_CLASS, MOST_TRAINING_ROWS, representatives
from vecuq.report import card

ALL = ("entropy", "margin", "mutual_information", "mahalanobis", "knn_euclidean")
SINGLE = ("entropy", "margin", "mahalanobis", "knn_euclidean")


def blobs(n_rows, seed, n_classes=3):
    """Rows of three features in overlapping classes, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    return rng.normal(size=(n_rows, 3)) + 2.0 * np.eye(3)[y % 3], y


X_TRAIN, Y_TRAIN = blobs(300, 0)
X_CALIBRATION, X_NEW = blobs(300, 1)[0], blobs(60, 2)[0]


def forest_of(**settings):
    return RandomForestClassifier(10, random_state=0, **{"min_samples_leaf": 5, **settings})


@pytest.fixture(scope="module")
def forest():
    return forest_of().fit(X_TRAIN, Y_TRAIN)


@pytest.fixture(scope="module")
def model(forest):
    return from_estimator(forest, X_TRAIN, Y_TRAIN, X_CALIBRATION)


def test_the_measures_are_those_of_the_trees_and_of_scaled_features(forest):
    found = EstimatorMeasures(forest).fit(X_TRAIN, Y_TRAIN).measure(X_NEW).by_name()
    assert tuple(found) == ALL
    with np.errstate(divide="ignore"):
        trees = np.log(np.stack([tree.predict_proba(X_NEW) for tree in forest.estimators_]))
        npt.assert_allclose(found["entropy"], entropy(np.log(forest.predict_proba(X_NEW))), atol=1e-9)
    npt.assert_allclose(found["mutual_information"], mutual_information(trees), atol=1e-9)
    scaler = StandardScaler().fit(X_TRAIN)
    train, new = scaler.transform(X_TRAIN), scaler.transform(X_NEW)
    npt.assert_allclose(found["mahalanobis"], Mahalanobis.fit(train, Y_TRAIN).score(new))
    brute = np.sort(np.linalg.norm(new[:, None] - train, axis=2), axis=1)[:, 4]
    npt.assert_allclose(found["knn_euclidean"], brute)


def test_the_order_is_that_of_vecuq_fitted_to_the_measures(model):
    measures = model.steps_
    table = VecUQ(columns=list(ALL), flip=[]).fit(measures.measure(X_CALIBRATION))
    npt.assert_array_equal(model.uncertainty(X_NEW), table.uncertainty(measures.measure(X_NEW)))
    npt.assert_array_equal(model.p_values(X_NEW), table.p_values(measures.measure(X_NEW)))
    assert model.explain(X_NEW).shape == (60, 5)
    assert any(name in model.why(X_NEW)[0] for name in ALL)


def test_rows_far_from_the_training_rows_are_flagged_though_the_forest_is_sure_of_them(model, forest):
    far = np.array([[40.0, 0.0, 0.0], [80.0, 0.0, 0.0]])
    assert forest.predict_proba(far).max(axis=1).min() > 0.8
    assert model.flag(far, alpha=0.05).all()
    assert np.diff(model.uncertainty(far)) > 0


def test_rows_may_come_in_any_block_and_order(model, monkeypatch):
    whole = model.measure(X_NEW).values
    monkeypatch.setattr("vecuq.pipeline.asking._BLOCK_ENTRIES", 10 * 3 * 7)
    npt.assert_array_equal(model.measure(X_NEW).values, whole)
    npt.assert_array_equal(model.measure(X_NEW[::-1]).values[::-1], whole)
    assert model.measure(X_NEW[:0]).values.shape == (0, 5)


KINDS = {
    "forest": (forest_of(), ALL),
    "pure leaves": (forest_of(min_samples_leaf=1), SINGLE),
    "extra trees": (ExtraTreesClassifier(10, min_samples_leaf=5, random_state=0), ALL),
    "bagging": (BaggingClassifier(GaussianNB(), 5, max_features=0.7, random_state=0), ALL),
    "votes": (BaggingClassifier(LinearSVC(), 5, random_state=0), SINGLE),
    "soft vote": (VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())], voting="soft"), ALL),
    "boosting": (HistGradientBoostingClassifier(max_iter=5), SINGLE),
    "one model": (LogisticRegression(), SINGLE),
    "pipeline": (make_pipeline(StandardScaler(), forest_of()), ALL),
    "search": (GridSearchCV(make_pipeline(StandardScaler(), GaussianNB()), {}, cv=2), SINGLE),
    "frozen": (FrozenEstimator(forest_of().fit(X_TRAIN, Y_TRAIN)), ALL),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_classifier_is_measured_saved_and_loaded(kind):
    classifier, columns = KINDS[kind]
    classifier.fit(X_TRAIN, Y_TRAIN)
    made = from_estimator(classifier, X_TRAIN, Y_TRAIN, X_CALIBRATION)
    assert made.measures_ == columns
    assert set(made.left_out_) == set(ALL) - set(columns)
    again = load(made.to_bytes(), estimator=classifier)
    npt.assert_array_equal(again.uncertainty(X_NEW), made.uncertainty(X_NEW))
    assert again.to_bytes() == made.to_bytes()
    assert again.describe() == made.describe()


def test_the_entropy_is_that_of_what_the_classifier_predicts():
    for classifier, _ in KINDS.values():
        classifier.fit(X_TRAIN, Y_TRAIN)
        found = EstimatorMeasures(classifier, measures="msp").fit(X_TRAIN, Y_TRAIN).transform(X_NEW)[:, 0]
        npt.assert_allclose(found, 1.0 - classifier.predict_proba(X_NEW).max(axis=1), atol=1e-6)


def test_a_list_of_classifiers_is_an_ensemble_whatever_the_order_of_their_classes():
    first, second = (LogisticRegression(C=c).fit(X_TRAIN, Y_TRAIN) for c in (0.01, 10.0))
    turned = _Turned(second)
    plain, mixed = (EstimatorMeasures([first, other]).fit(X_TRAIN, Y_TRAIN) for other in (second, turned))
    assert plain.measures_ == ALL
    npt.assert_allclose(mixed.transform(X_NEW), plain.transform(X_NEW))
    other = LogisticRegression().fit(X_TRAIN, Y_TRAIN + 1)
    with pytest.raises(SettingError, match="the same classes"):
        EstimatorMeasures([first, other]).fit(X_TRAIN, Y_TRAIN)


class _Turned:
    """A classifier of no package, which names its classes from the last to the first."""

    def __init__(self, inside):
        self.inside, self.classes_ = inside, inside.classes_[::-1]

    def predict_proba(self, X):
        return self.inside.predict_proba(X)[:, ::-1]


def test_any_object_with_predict_proba_will_do_and_the_order_of_its_classes_changes_nothing():
    plain = LogisticRegression().fit(X_TRAIN, Y_TRAIN)
    found = [EstimatorMeasures(one).fit(X_TRAIN, Y_TRAIN).transform(X_NEW) for one in (plain, _Turned(plain))]
    npt.assert_allclose(found[0], found[1])


def test_names_of_classes_and_features_may_be_texts():
    names = np.array(["ant", "bee", "cow"])[Y_TRAIN]
    train, new = (pd.DataFrame(rows, columns=["a", "b", "c"]) for rows in (X_TRAIN, X_NEW))
    named = EstimatorMeasures(forest_of().fit(train, names)).fit(train, names)
    plain = EstimatorMeasures(forest_of().fit(X_TRAIN, Y_TRAIN)).fit(X_TRAIN, Y_TRAIN)
    npt.assert_array_equal(named.transform(new), plain.transform(X_NEW))
    with pytest.raises(ValueError, match="feature names"):
        named.transform(new.rename(columns={"a": "x"}))
    with pytest.raises(ValueError, match="expecting 3 features"):
        plain.transform(X_NEW[:, :2])


def test_distances_are_of_what_a_pipeline_makes_of_the_rows():
    kinds = np.array(["low", "high"])[(X_TRAIN[:, 0] > 1).astype(int)]
    train = pd.DataFrame(X_TRAIN, columns=["a", "b", "c"]).assign(kind=kinds)
    encode = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    classifier = make_pipeline(encode, forest_of()).fit(train, Y_TRAIN)
    made = EstimatorMeasures(classifier).fit(train, Y_TRAIN)
    assert made.measures_ == ALL
    assert len(made.scale_.centre) == 5
    rows = sparse.random_array((300, 6), density=0.4, format="coo", rng=np.random.default_rng(0))
    found = [EstimatorMeasures(forest_of().fit(X, Y_TRAIN)).fit(X, Y_TRAIN) for X in (rows.tocsr(), rows.toarray())]
    npt.assert_allclose(found[0].transform(rows), found[1].transform(rows.toarray()), atol=1e-12)


def test_features_that_are_no_numbers_leave_distances_out_with_a_warning_or_are_refused_if_asked_for():
    class Words:
        classes_ = np.array([0, 1, 2])

        def predict_proba(self, X):
            return np.full((len(X), 3), 1 / 3) + np.linspace(-0.1, 0.1, len(X))[:, None] * [1, 0, -1]

    words = pd.DataFrame({"a": ["x", "y", "z"] * 100})
    with pytest.warns(CalibrationWarning, match="need numbers.*left out"):
        made = EstimatorMeasures(Words()).fit(words, Y_TRAIN)
    assert made.measures_ == ("entropy", "margin")
    with pytest.raises(TableError, match="scikit-learn Pipeline"):
        EstimatorMeasures(Words(), measures=["entropy", "knn"]).fit(words, Y_TRAIN)
    wide = np.zeros((300, 2001))
    wide[:, 0] = Y_TRAIN
    classifier = GaussianNB(var_smoothing=1.0).fit(wide, Y_TRAIN)
    with pytest.warns(CalibrationWarning, match="2,001 features"):
        assert EstimatorMeasures(classifier).fit(wide, Y_TRAIN).measures_ == ("entropy", "margin")


def test_a_missing_feature_counts_as_the_mean_of_the_training_rows():
    boosting = HistGradientBoostingClassifier(max_iter=5).fit(X_TRAIN, Y_TRAIN)
    made = EstimatorMeasures(boosting, measures=["mahalanobis", "knn_euclidean"]).fit(X_TRAIN, Y_TRAIN)
    row = X_NEW[:1].copy()
    row[0, 1] = np.nan
    filled = np.where(np.isnan(row), X_TRAIN.mean(axis=0), row)
    npt.assert_allclose(made.transform(row), made.transform(filled))


def test_the_margin_is_left_out_for_two_classes_where_it_has_the_order_of_the_entropy():
    made = EstimatorMeasures(GaussianNB()).fit(X_TRAIN, Y_TRAIN > 0)
    assert made.measures_ == ("entropy", "mahalanobis", "knn_euclidean")


def test_an_unfitted_classifier_is_cloned_and_fitted_and_a_fitted_one_left_as_it_is(forest):
    unfitted = forest_of()
    made = EstimatorMeasures(unfitted).fit(X_TRAIN, Y_TRAIN)
    assert not hasattr(unfitted, "estimators_")
    npt.assert_array_equal(made.transform(X_NEW), EstimatorMeasures(forest).fit(X_TRAIN, Y_TRAIN).transform(X_NEW))
    assert EstimatorMeasures(forest).fit(X_TRAIN, Y_TRAIN).estimator_ is forest
    with pytest.raises(NotFittedError):
        clone(made).transform(X_NEW)


def test_weights_of_a_vote_leave_the_disagreement_out_with_a_warning():
    vote = VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())], voting="soft", weights=[1, 5])
    vote.fit(X_TRAIN, Y_TRAIN)
    with pytest.warns(CalibrationWarning, match="not the mean of its members"):
        made = EstimatorMeasures(vote).fit(X_TRAIN, Y_TRAIN)
    assert made.measures_ == SINGLE
    npt.assert_allclose(made.transform(X_NEW)[:, 0], entropy(np.log(vote.predict_proba(X_NEW))))


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (RandomForestRegressor(), "is a regressor.*give these columns to VecUQ"),
        (LinearSVC(), "predict_proba is needed; LinearSVC has none"),
        (RandomForestClassifier, "got the class RandomForestClassifier"),
        ([], "the list is empty"),
        ("forest", "str has none"),
    ],
)
def test_what_gives_no_probabilities_is_refused(estimator, said):
    with pytest.raises(SettingError, match=said):
        EstimatorMeasures(estimator).fit(X_TRAIN, Y_TRAIN)


def test_labels_that_do_not_fit_the_classifier_are_refused(forest):
    measures = EstimatorMeasures(forest)
    with pytest.raises(TableError, match=r"300 of 300 labels are none of the classes.*'2'"):
        measures.fit(X_TRAIN, Y_TRAIN.astype(str))
    with pytest.raises(CalibrationError, match="only one class"):
        measures.fit(X_TRAIN[Y_TRAIN == 1], Y_TRAIN[Y_TRAIN == 1])
    with pytest.raises(TableError, match="got 299"):
        measures.fit(X_TRAIN, Y_TRAIN[1:])
    two = forest_of().fit(X_TRAIN, np.column_stack([Y_TRAIN, Y_TRAIN]))
    with pytest.raises(SettingError, match="2 targets at once"):
        EstimatorMeasures(two).fit(X_TRAIN, Y_TRAIN)
    with pytest.raises(SettingError, match=r"no measure 'entrophy'\. Did you mean 'entropy'"):
        EstimatorMeasures(forest, measures="entrophy").fit(X_TRAIN, Y_TRAIN)
    with pytest.raises(TableError, match="need logits"):
        EstimatorMeasures(forest, measures="energy").fit(X_TRAIN, Y_TRAIN).measure(X_NEW)


def test_calibration_rows_that_are_training_rows_are_noticed(forest):
    with pytest.warns(CalibrationWarning, match="300 of 300 calibration rows are training rows"):
        from_estimator(forest, X_TRAIN, Y_TRAIN, X_TRAIN)
    # Rows of few values repeat each other, in training as in calibration, and nobody is warned of that.
    train, calibration = np.round(X_TRAIN), np.round(X_CALIBRATION)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_estimator(forest_of().fit(train, Y_TRAIN), train, Y_TRAIN, calibration)


def test_what_a_pipeline_needs_is_named(forest):
    with pytest.raises(TableError, match=r"train=\(X_train, y_train\)"):
        EstimatorPipeline(forest).fit(X_CALIBRATION)
    with pytest.raises(SettingError, match="measures= chooses the columns"):
        from_estimator(forest, X_TRAIN, Y_TRAIN, X_CALIBRATION, ranker=VecUQ(flip=["entropy"]))
    with pytest.raises(NotFittedError):
        EstimatorPipeline(forest).uncertainty(X_NEW)


def test_another_classifier_than_the_fitted_one_is_refused_when_loading(model, forest):
    saved = model.to_bytes()
    others = {
        "probabilities differ": forest_of(max_depth=3).fit(X_TRAIN, Y_TRAIN),
        "its classes is": forest_of().fit(X_TRAIN, Y_TRAIN + 1),
        "its kind is LogisticRegression": LogisticRegression().fit(X_TRAIN, Y_TRAIN),
        "its number of features is 2": forest_of().fit(X_TRAIN[:, :2], Y_TRAIN),
    }
    for said, other in others.items():
        with pytest.raises(ModelFileError, match=said):
            load(saved, estimator=other)
    with pytest.raises(SettingError, match="estimator= is for"):
        load(model.ranker_.to_bytes(), estimator=forest)


def test_a_pipeline_is_told_from_its_last_step_and_from_one_with_another_scaler():
    whole = make_pipeline(StandardScaler(), LogisticRegression()).fit(5.0 * X_TRAIN, Y_TRAIN)
    saved = from_estimator(whole, 5.0 * X_TRAIN, Y_TRAIN, 5.0 * X_CALIBRATION).to_bytes()
    with pytest.raises(ModelFileError, match="what prepares its rows is nothing, and StandardScaler was needed"):
        load(saved, estimator=whole[-1])
    with pytest.raises(ModelFileError, match="probabilities differ"):
        load(saved, estimator=make_pipeline(StandardScaler().fit(X_TRAIN), whole[-1]))
    again = load(load(saved, estimator=whole).to_bytes(), estimator=whole)
    assert again.to_bytes() == saved


def test_another_classifier_is_refused_also_where_no_distance_is_measured():
    first = LogisticRegression().fit(X_TRAIN, Y_TRAIN)
    saved = from_estimator(first, X_TRAIN, Y_TRAIN, X_CALIBRATION, measures=["entropy"]).to_bytes()
    with pytest.raises(ModelFileError, match="probabilities differ"):
        load(saved, estimator=LogisticRegression(C=0.01).fit(X_TRAIN, Y_TRAIN))
    load(saved, estimator=first).uncertainty(X_NEW)


def test_wide_sparse_rows_are_never_made_dense_all_at_once(monkeypatch):
    rows = sparse.random(1_200, 5_000, density=0.002, format="csr", random_state=0)
    y = np.arange(1_000) % 2
    model = LogisticRegression().fit(rows[:1_000], y)
    dense, usual = [], type(rows).toarray
    monkeypatch.setattr(type(rows), "toarray", lambda self: dense.append(self.shape[0]) or usual(self))
    with pytest.warns(CalibrationWarning, match="5,000 features"):
        made = from_estimator(model, rows[:1_000], y, rows[1_000:])
    assert made.measures_ == ("entropy",)
    assert dense == [400]  # two million numbers, for the points at which the classifier is recognised
    with pytest.warns(CalibrationWarning, match="200 of 200 calibration rows are training rows"):
        from_estimator(model, rows[:1_000], y, rows[:200], measures=["entropy"])


def test_texts_by_themselves_are_refused_with_what_to_do(forest):
    with pytest.raises(TableError, match="Encode them first"):
        from_estimator(forest, ["a text", "another"], [0, 1], ["a third"])


def test_without_its_classifier_a_loaded_pipeline_describes_itself_and_measures_nothing(model):
    again = load(model.to_bytes())
    assert again.describe() == model.describe()
    with pytest.raises(CalibrationError, match=r"load\(path, estimator=classifier\)"):
        again.uncertainty(X_NEW)


def test_a_gate_of_it_decides_rows_of_features_and_is_loaded_with_the_classifier(model, forest, tmp_path):
    X, y = blobs(500, 5)
    gate = Gate(model, accuracy=0.9).fit(X, forest.predict(X) == y)
    gate.save(tmp_path / "gate.vecuq")
    again = load(tmp_path / "gate.vecuq", estimator=forest)
    npt.assert_array_equal(again.accept(X_NEW), gate.accept(X_NEW))
    assert 0 < gate.accept(X_NEW).mean() < 1


def test_it_works_in_a_scikit_learn_pipeline(model, forest):
    steps = make_pipeline(FrozenEstimator(EstimatorMeasures(forest).fit(X_TRAIN, Y_TRAIN)), VecUQ(flip=[]))
    steps.fit(X_CALIBRATION)
    npt.assert_allclose(steps.score_samples(X_NEW), model.score_samples(X_NEW))
    npt.assert_array_equal(steps.predict(X_NEW), model.predict(X_NEW))
    framed = model.set_output(transform="pandas").transform(X_NEW)
    assert list(framed.columns) == [f"rank_{name}" for name in ALL]


def test_every_scikit_learn_check_passes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = EstimatorMeasures(RandomForestClassifier(n_estimators=3, random_state=0))
        results = check_estimator(made, on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] in ("failed", "xfail")}
    assert failed == {}
    assert sum(r["status"] == "passed" for r in results) >= 40


def test_of_many_training_rows_a_sample_stands_for_all_and_no_class_is_lost():
    labels = np.zeros(100_000, dtype=np.intp)
    labels[:30], labels[30:1_000] = 1, 2
    kept = representatives(labels, seed=0)
    counts = np.bincount(labels[kept])
    assert abs(len(kept) - MOST_TRAINING_ROWS) < 100
    assert counts[1] == 30
    assert counts[2] >= FEWEST_OF_CLASS
    npt.assert_array_equal(kept, representatives(labels, seed=0))
    npt.assert_array_equal(representatives(labels[:500], seed=0), np.arange(500))


def test_digits_of_a_class_that_the_forest_never_saw_are_found():
    """What docs/estimators.md shows: distances find what probabilities do not, and the order has both."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    known = np.flatnonzero(y < 8)
    train, calibration, test = known[:500], known[500:1000], np.concatenate([known[1000:], np.flatnonzero(y >= 8)])
    forest = RandomForestClassifier(random_state=0).fit(X[train], y[train])
    model = from_estimator(forest, X[train], y[train], X[calibration])
    assert roc_auc_score(y[test] >= 8, model.uncertainty(X[test])) > 0.85


def test_nearest_rows_by_euclidean_distance_see_the_length():
    fitted = KNearestEuclidean.fit([[1.0], [2.0], [3.0]], k=2)
    npt.assert_array_equal(fitted.score([[0.0], [10.0]]), [2.0, 8.0])
    with pytest.raises(CalibrationError, match="k=5 neighbours"):
        KNearestEuclidean.fit([[1.0], [2.0]])


@pytest.mark.parametrize("measures", [None, ["entropy", "margin"]])
def test_rows_that_trained_the_classifier_cannot_certify_it_before_saving_or_after(forest, tmp_path, measures):
    model = from_estimator(forest, X_TRAIN, Y_TRAIN, X_CALIBRATION, measures=measures)
    model.save(tmp_path / "m.vecuq")
    right = forest.predict(X_TRAIN) == Y_TRAIN
    for known in (model, load(tmp_path / "m.vecuq", estimator=forest)):
        left_out = pytest.warns(CalibrationWarning, match="300 of 300 labelled rows have fitted the model")
        with left_out, pytest.raises(CalibrationError, match="none can certify it"):
            Gate(known, accuracy=0.6).fit(X_TRAIN, right)


def test_training_rows_among_labelled_ones_are_left_out_of_the_certificate(model, forest):
    fresh, truth = blobs(200, 5)
    rows, labels = np.vstack([X_TRAIN[:100], fresh]), np.append(Y_TRAIN[:100], truth)
    with pytest.warns(CalibrationWarning, match="100 of 300 labelled rows have fitted the model and are left out"):
        gate = Gate(model, accuracy=0.6).fit(rows, forest.predict(rows) == labels)
    assert gate.certificate().n_labels == 200
    npt.assert_array_equal(model.trained_on(rows), np.arange(300) < 100)


def test_rows_of_few_different_values_are_not_taken_for_training_rows():
    rng = np.random.default_rng(0)
    rows, more = rng.integers(3, size=(300, 2)), rng.integers(3, size=(300, 2))
    y = (rows.sum(axis=1) > 2).astype(int)
    model = from_estimator(LogisticRegression().fit(rows, y), rows, y, more, measures=["entropy", "mahalanobis"])
    assert not model.trained_on(more).any()


class Wrapped(ClassifierMixin, BaseEstimator):
    """A classifier that keeps what it learned in an attribute without an underscore, as wrappers of networks do."""

    def fit(self, X, y):
        self.net = LogisticRegression(C=1e-3).fit(X, y)
        return self

    def predict_proba(self, X):
        return self.net.predict_proba(X)


def test_a_fitted_classifier_is_never_fitted_again_and_an_unfitted_one_is():
    mine = Wrapped().fit(X_CALIBRATION, blobs(300, 1)[1])
    assert EstimatorMeasures(mine).fit(X_TRAIN, Y_TRAIN).estimator_ is mine
    unfitted = Wrapped()
    assert EstimatorMeasures(unfitted).fit(X_TRAIN, Y_TRAIN).estimator_ is not unfitted


@pytest.mark.parametrize(("of_fit", "of_y"), [(str, int), (int, str)])
def test_numbers_and_texts_are_different_classes_however_many_there_are(of_fit, of_y):
    y = np.arange(300) % 60
    known = KNeighborsClassifier().fit(X_TRAIN, y.astype(of_fit))
    with pytest.raises(TableError, match="300 of 300 labels are none of the classes"):
        EstimatorMeasures(known).fit(X_TRAIN, y.astype(of_y))


def test_a_missing_value_of_pandas_is_a_missing_feature():
    frame = pd.DataFrame(X_TRAIN, columns=list("abc"))
    known = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(frame, Y_TRAIN)
    measures = EstimatorMeasures(known).fit(frame, Y_TRAIN)
    gaps = frame[:5].mask(frame[:5] == frame.iloc[0, 0])
    marked = gaps.astype("Float64")
    assert marked.isna().to_numpy().sum() == 1
    npt.assert_array_equal(measures.transform(marked), measures.transform(gaps))


def test_a_vote_whose_only_measure_cannot_be_computed_says_so():
    vote = VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())], voting="soft", weights=[1, 3])
    with pytest.warns(CalibrationWarning, match="are not the mean"), pytest.raises(SettingError, match="weights its"):
        EstimatorMeasures(vote, measures=["mutual_information"]).fit(X_TRAIN, Y_TRAIN)


def test_features_whose_squares_overflow_have_no_distance():
    known = HistGradientBoostingClassifier(max_iter=5).fit(1e200 * X_TRAIN, Y_TRAIN)
    with pytest.warns(CalibrationWarning, match="overflow.*They are left out"):
        assert EstimatorMeasures(known).fit(1e200 * X_TRAIN, Y_TRAIN).measures_ == ("entropy", "margin")


@pytest.mark.parametrize("frame_of", [pd.DataFrame, pl.DataFrame])
def test_another_preparation_is_refused_where_it_takes_columns_by_name(tmp_path, frame_of):
    frame = frame_of(dict(zip("abc", X_TRAIN.T, strict=True)))
    moved = frame_of(dict(zip("abc", 3 * X_TRAIN.T + 1, strict=True)))
    scaled = make_column_transformer((StandardScaler(), ["a", "b"]), remainder="passthrough")
    mine = make_pipeline(scaled, LogisticRegression()).fit(frame, Y_TRAIN)
    path = tmp_path / "m.vecuq"
    from_estimator(mine, frame, Y_TRAIN, frame_of(dict(zip("abc", X_CALIBRATION.T, strict=True)))).save(path)
    load(path, estimator=mine)
    with pytest.raises(ModelFileError, match="their probabilities differ"):
        load(path, estimator=make_pipeline(clone(scaled).fit(moved), mine[-1]))


def test_the_card_says_where_another_preparation_is_not_noticed():
    frame = pd.DataFrame(X_TRAIN, columns=list("abc")).assign(kind=np.where(X_TRAIN[:, 0] > 0, "x", "y"))
    coded = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    mine = make_pipeline(coded, LogisticRegression()).fit(frame[:100], Y_TRAIN[:100])
    made = from_estimator(mine, frame[:100], Y_TRAIN[:100], frame[100:])
    assert "steps of the same kinds that were fitted to other rows are not noticed" in str(card(made).inputs)

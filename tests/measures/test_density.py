"""Densities against SciPy, scikit-learn and explicit inverses; and on training rows that are few or degenerate."""

import warnings

import numpy as np
import numpy.testing as npt
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal
from sklearn.covariance import LedoitWolf
from sklearn.neighbors import NearestNeighbors

from vecuq.errors import CalibrationError, CalibrationWarning, SettingError, TableError
from vecuq.measures import GaussianMixture, KNearest, Mahalanobis, RelativeMahalanobis, density, gaussian

ALL = (Mahalanobis, RelativeMahalanobis, GaussianMixture, KNearest)


@pytest.fixture
def train():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=300)
    return rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4)) + 3 * labels[:, None], labels


@pytest.fixture
def new():
    return np.random.default_rng(1).normal(scale=5, size=(40, 4))


def mahalanobis_by_hand(points, labels, new, ridge=1e-6):
    means = {c: points[labels == c].mean(axis=0) for c in set(labels)}
    residuals = np.array([point - means[c] for point, c in zip(points, labels, strict=True)])
    inverse = np.linalg.inv(residuals.T @ residuals / len(points) + ridge * np.eye(points.shape[1]))
    return np.array([min((row - mean) @ inverse @ (row - mean) for mean in means.values()) for row in new])


def test_mahalanobis_is_the_distance_under_the_inverse_covariance(train, new):
    npt.assert_allclose(Mahalanobis.fit(*train).score(new), mahalanobis_by_hand(*train, new), rtol=1e-8)


def test_relative_mahalanobis_takes_off_the_distance_to_all_rows(train, new):
    whole = mahalanobis_by_hand(train[0], train[1] * 0, new)
    found = RelativeMahalanobis.fit(*train).score(new)
    npt.assert_allclose(found, mahalanobis_by_hand(*train, new) - whole, rtol=1e-8, atol=1e-8)


def test_gmm_is_the_negative_log_density_of_the_mixture(train, new):
    points, labels = train
    density = 0.0
    for c in range(3):
        own = points[labels == c]
        law = multivariate_normal(own.mean(axis=0), np.cov(own.T, bias=True) + 1e-6 * np.eye(4))
        density = density + len(own) / len(points) * law.pdf(new)
    npt.assert_allclose(GaussianMixture.fit(*train).score(new), -np.log(density), rtol=1e-8)


@pytest.mark.parametrize("k", [1, 5, 300])
def test_knn_is_the_distance_that_scikit_learn_finds(train, new, k):
    unit, asked = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (train[0], new))
    by_sklearn = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(unit).kneighbors(asked)[0][:, -1]
    found = KNearest.fit(*train, k=k).score(new)
    npt.assert_allclose(found, by_sklearn, atol=1e-7)
    npt.assert_allclose(found, np.sort(cdist(asked, unit), axis=1)[:, k - 1], atol=1e-7)


@pytest.mark.parametrize("kind", ALL)
def test_an_ensemble_scores_the_mean_over_its_members(kind, train, new):
    points, labels = train
    other = points**3
    both = kind.fit(np.stack([points, other]), labels).score([new, new])
    alone = (kind.fit(points, labels).score(new) + kind.fit(other, labels).score(new)) / 2
    npt.assert_allclose(both, alone, rtol=1e-10)


@pytest.mark.parametrize("kind", ALL)
def test_names_of_classes_and_the_order_of_rows_do_not_matter(kind, train, new):
    points, labels = train
    order = np.random.default_rng(2).permutation(len(points))
    words = np.array(["cat", "dog", "eel"])[labels]
    npt.assert_allclose(kind.fit(points[order], words[order]).score(new), kind.fit(*train).score(new), rtol=1e-7)


@pytest.mark.parametrize("kind", ALL)
def test_blocks_of_rows_do_not_matter(kind, train, new, monkeypatch):
    fitted = kind.fit(*train)
    whole = fitted.score(new)
    monkeypatch.setattr(density, "_ROWS", 7)
    npt.assert_allclose(fitted.score(new), whole, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", ALL)
def test_the_saved_arrays_make_the_same_density(kind, train, new):
    fitted = kind.fit(*train)
    npt.assert_array_equal(kind(**fitted.arrays()).score(new), fitted.score(new))


@pytest.mark.parametrize("kind", ALL)
def test_a_row_that_is_no_number_has_no_density(kind, train, new):
    spoilt = new.copy()
    spoilt[0, 0], spoilt[1, 1] = np.nan, np.inf
    found = kind.fit(*train).score(spoilt)
    assert np.isnan(found[:2]).all()
    npt.assert_allclose(found[2:], kind.fit(*train).score(new)[2:], rtol=1e-10)
    assert np.isnan(kind.fit(*train).score(spoilt[:1])).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int64])
@pytest.mark.parametrize("kind", ALL)
def test_other_precisions_are_read_in_double(kind, train, new, dtype):
    points, rows = train[0].astype(dtype), new.astype(dtype)
    expected = kind.fit(points.astype(float), train[1]).score(rows.astype(float))
    npt.assert_array_equal(kind.fit(points, train[1]).score(rows), expected)


def test_few_rows_are_shrunk_with_a_word_about_it():
    rng = np.random.default_rng(3)
    points, new = rng.normal(size=(12, 6)), rng.normal(size=(5, 6))
    with pytest.warns(CalibrationWarning, match="12 training rows are few.*6 dimensions.*Ledoit-Wolf"):
        fitted = Mahalanobis.fit(points, np.zeros(12))
    centred = points - points.mean(axis=0)
    covariance = LedoitWolf(assume_centered=True).fit(centred).covariance_ + 1e-6 * np.eye(6)
    expected = [(x - points.mean(axis=0)) @ np.linalg.inv(covariance) @ (x - points.mean(axis=0)) for x in new]
    npt.assert_allclose(fitted.score(new), expected, rtol=1e-8)


def test_an_ensemble_is_warned_of_once():
    with pytest.warns(CalibrationWarning) as caught:
        Mahalanobis.fit(np.random.default_rng(0).normal(size=(5, 12, 6)), np.zeros(12))
    assert len(caught) == 1


DEGENERATE = {
    "collinear features": lambda rows: rows[:, [0, 0, 1, 1]],
    "constant features": lambda rows: rows * [1, 0, 0, 1],
    "all rows the same": lambda rows: rows * 0 + 1,
    "huge scale": lambda rows: rows * 1e8,
    "tiny scale": lambda rows: rows * 1e-12,
    "two rows": lambda rows: rows[:2],
}


@pytest.mark.parametrize("ridge", [1e-6, 0.0])
@pytest.mark.parametrize("kind", ALL[:3])
@pytest.mark.parametrize("spoil", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_training_rows_give_finite_distances(kind, spoil, ridge):
    rows = spoil(np.random.default_rng(4).normal(size=(60, 4)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        fitted = kind.fit(rows, np.arange(len(rows)) % 2, ridge=ridge)
    found = fitted.score(rows + 0.5)
    assert np.isfinite(found).all()
    if kind is Mahalanobis:
        assert (found >= 0).all()


@pytest.mark.parametrize("kind", ALL)
def test_classes_of_one_row_are_classes(kind, train, new):
    points, labels = train
    lonely = np.concatenate([labels, [7, 8]])
    rows = np.concatenate([points, [[50.0] * 4, [-50.0] * 4]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        fitted = kind.fit(rows, lonely)
    assert np.isfinite(fitted.score(new)).all()
    if kind is Mahalanobis:
        npt.assert_allclose(fitted.score(rows[-2:]), 0, atol=1e-9)


def test_small_classes_borrow_a_covariance_with_a_word_about_it(train):
    with pytest.warns(CalibrationWarning, match="1 of 4 classes .* borrow"):
        GaussianMixture.fit(np.concatenate([train[0], train[0][:1]]), np.concatenate([train[1], [9]]))


def test_a_mixture_too_large_to_keep_is_refused_at_once(train, monkeypatch):
    monkeypatch.setattr(gaussian, "_MOST_ENTRIES", 10)
    with pytest.raises(CalibrationError, match=r"too many\. Use 'mahalanobis'"):
        GaussianMixture.fit(*train)


def test_far_rows_lose_no_digits_to_cancellation(train):
    fitted = Mahalanobis.fit(train[0] + 1e6, train[1])
    npt.assert_allclose(fitted.score(train[0] + 1e6), Mahalanobis.fit(*train).score(train[0]), rtol=1e-5)


REFUSED = {
    "NaN in training": (CalibrationError, "no NaN", lambda x, y: Mahalanobis.fit(x * np.nan, y)),
    "one row": (CalibrationError, "two training rows", lambda x, y: Mahalanobis.fit(x[:1], y[:1])),
    "too few labels": (TableError, "300 training embeddings but 299 labels", lambda x, y: Mahalanobis.fit(x, y[1:])),
    "a flat array": (TableError, "shape", lambda x, y: Mahalanobis.fit(x[:, 0], y)),
    "another width": (TableError, r"\(1, 4\); got \(1, 3\)", lambda x, y: Mahalanobis.fit(x, y).score(x[:, :3])),
    "more members": (TableError, r"\(1, 4\); got \(2, 4\)", lambda x, y: Mahalanobis.fit(x, y).score([x, x])),
    "a negative ridge": (SettingError, "ridge", lambda x, y: GaussianMixture.fit(x, y, ridge=-1.0)),
    "too many neighbours": (CalibrationError, "k=301", lambda x, y: KNearest.fit(x, y, k=301)),
    "no neighbour": (SettingError, "k must be", lambda x, y: KNearest.fit(x, y, k=0)),
}


@pytest.mark.parametrize(("error", "words", "call"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_fitted_is_told(error, words, call, train):
    with pytest.raises(error, match=words):
        call(*train)

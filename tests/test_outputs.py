"""Outputs of a classifier: from arrays and files, in any precision, read in blocks."""

import numpy as np
import numpy.testing as npt
import pytest

from vecuq import ClassifierOutputs, outputs, read_outputs
from vecuq.errors import TableError, VecuqWarning
from vecuq.measures import fit_densities, list_measures, measure, risk

PLAIN = [
    name for name in list_measures()["classifier"] if name not in ("mahalanobis", "relative_mahalanobis", "gmm", "knn")
]
DENSITIES = ["mahalanobis", "relative_mahalanobis", "gmm", "knn"]


def made(seed=0, members=3, rows=200, classes=4, **more):
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=2, size=(members, rows, classes))
    return ClassifierOutputs.of(logits=logits, labels=rng.integers(classes, size=rows), **more)


def softmax(logits):
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def test_probabilities_and_their_logits_measure_the_same():
    logits = np.random.default_rng(0).normal(size=(3, 30, 5))
    names = [name for name in PLAIN if name not in ("max_logit", "energy")]
    by_logits = measure(ClassifierOutputs.of(logits=logits), names).values
    npt.assert_allclose(measure(ClassifierOutputs.of(probs=softmax(logits)), names).values, by_logits, atol=1e-10)


def test_probabilities_of_exactly_zero_and_one_are_measured():
    certain = np.eye(3)[[0, 1, 2]]
    opposed = np.eye(3)[[0, 2, 1]]
    names = [name for name in PLAIN if name not in ("max_logit", "energy")]
    values = measure(ClassifierOutputs.of(probs=[certain, opposed]), names).values
    assert np.isfinite(values).all()
    assert (values >= 0).all()
    npt.assert_allclose(values[0], 0, atol=1e-300)
    by_name = dict(zip(names, values[1], strict=True))
    npt.assert_allclose(
        [by_name["mutual_information"], by_name["msp"], by_name["excess_brier_1_1"]], [np.log(2), 0.5, 1.0]
    )


def test_probabilities_of_zero_have_finite_densities():
    rng = np.random.default_rng(0)
    train = ClassifierOutputs.of(probs=np.eye(3)[rng.integers(3, size=60)], labels=rng.integers(3, size=60))
    fitted = fit_densities(DENSITIES, train)
    assert np.isfinite(measure(train, DENSITIES, fitted).values).all()


def test_the_temperature_divides_the_logits():
    logits = np.random.default_rng(0).normal(size=(2, 10, 3))
    warm = measure(ClassifierOutputs.of(logits=logits, temperature=2.5), ["entropy"]).values[:, 0]
    npt.assert_array_equal(warm, risk(logits / 2.5, kind="bayes", rule="log", truth=2))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_other_precisions_are_measured_in_double(dtype):
    logits = (5 * np.random.default_rng(0).normal(size=(2, 10, 3))).astype(dtype)
    expected = measure(ClassifierOutputs.of(logits=logits.astype(float)), PLAIN).values
    npt.assert_array_equal(measure(ClassifierOutputs.of(logits=logits), PLAIN).values, expected)


@pytest.mark.parametrize("embedding", ["embeddings", "logits"])
def test_blocks_do_not_matter(monkeypatch, embedding):
    embeddings = np.random.default_rng(1).normal(size=(3, 200, 2))
    given = made(embeddings=embeddings)
    fitted = fit_densities(DENSITIES, given, embedding=embedding)
    whole = measure(given, PLAIN + DENSITIES, fitted, embedding=embedding).values
    monkeypatch.setattr(outputs, "_BLOCK_ENTRIES", 130)
    seen = []
    pieces = measure(given, PLAIN + DENSITIES, fitted, embedding=embedding, progress=seen.append).values
    npt.assert_allclose(pieces, whole, rtol=1e-10, atol=1e-10)
    assert len(seen) > 5
    assert sum(seen) == 200


def test_densities_look_at_embeddings_or_logits():
    embeddings = np.random.default_rng(1).normal(size=(200, 2))
    given = made(embeddings=embeddings)
    by = {
        how: measure(given, ["knn"], fit_densities(["knn"], given, embedding=how), embedding=how).values
        for how in ("auto", "embeddings", "logits")
    }
    npt.assert_array_equal(by["auto"], by["embeddings"])
    assert (by["auto"] != by["logits"]).any()
    bare = made()
    npt.assert_array_equal(measure(bare, ["knn"], fit_densities(["knn"], bare)).values, by["logits"])
    with pytest.raises(TableError, match="hold no `embeddings`"):
        fit_densities(["knn"], bare, embedding="embeddings")


def test_one_npz_file_holds_everything(tmp_path):
    logits = np.random.default_rng(0).normal(size=(2, 6, 3)).astype(np.float16)
    np.savez(
        tmp_path / "o.npz", logits=logits, embeddings=np.zeros((6, 2)), labels=list("abcabc"), ids=np.arange(6), more=1
    )
    read = read_outputs(tmp_path / "o.npz", temperature=2.0)
    assert (len(read.members), read.n_rows, read.n_classes, read.temperature) == (2, 6, 3, 2.0)
    assert read.labels.tolist() == list("abcabc")
    npt.assert_array_equal(next(read.blocks())[1], logits.astype(float) / 2)


def test_files_one_per_member_are_an_ensemble_and_npy_is_memory_mapped(tmp_path):
    logits = np.random.default_rng(0).normal(size=(3, 6, 4)).astype(np.float16)
    files = [tmp_path / f"m{k}.npy" for k in range(3)]
    for file, member in zip(files, logits, strict=True):
        np.save(file, member)
    read = read_outputs(files)
    assert all(isinstance(member, np.memmap) for member in read.members)
    npt.assert_array_equal(measure(read, PLAIN).values, measure(ClassifierOutputs.of(logits=logits), PLAIN).values)
    np.save(tmp_path / "all.npy", logits)
    assert isinstance(read_outputs(tmp_path / "all.npy").members[0], np.memmap)


def test_embeddings_of_every_member_are_stacked_and_those_of_one_stand_for_all(tmp_path):
    files = [tmp_path / f"m{k}.npz" for k in range(2)]
    for k, file in enumerate(files):
        np.savez(file, logits=np.zeros((5, 3)), embeddings=np.full((5, 2), k))
    assert read_outputs(files).embeddings.shape == (2, 5, 2)
    np.savez(files[1], logits=np.zeros((5, 3)))
    assert read_outputs(files).embeddings.shape == (5, 2)


REFUSED = {
    "neither": ({}, "either logits or probs"),
    "both": ({"logits": np.zeros((2, 3)), "probs": np.ones((2, 3)) / 3}, "not both"),
    "flat": ({"logits": np.zeros(3)}, "shape"),
    "a number": ({"logits": np.array(1.0)}, "shape"),
    "a number for embeddings": ({"logits": np.zeros((2, 3)), "embeddings": np.array(1.0)}, "`embeddings` must have"),
    "a number for labels": ({"logits": np.zeros((2, 3)), "labels": np.array(1)}, "`labels` must have"),
    "no classes": ({"logits": np.zeros((3, 0))}, "shape"),
    "text": ({"logits": np.array([["a", "b"]])}, "Numbers were expected"),
    "members that differ": ({"logits": [np.zeros((2, 3)), np.zeros((2, 4))]}, "same"),
    "labels": ({"logits": np.zeros((2, 3)), "labels": [1]}, "`labels` must have one entry per row"),
    "ids": ({"logits": np.zeros((2, 3)), "ids": [1, 2, 3]}, "`ids` must have"),
    "embeddings": ({"logits": np.zeros((2, 3)), "embeddings": np.zeros((3, 2))}, "`embeddings` must have"),
    "flat embeddings": ({"logits": np.zeros((2, 3)), "embeddings": np.zeros(2)}, "`embeddings` must have"),
    "temperature": ({"logits": np.zeros((2, 3)), "temperature": 0.0}, "temperature"),
    "next to no temperature": ({"logits": np.zeros((2, 3)), "temperature": 5e-324}, r"lie in \[1e-06, 1e\+06\]"),
}


@pytest.mark.parametrize(("given", "words"), REFUSED.values(), ids=REFUSED)
def test_arrays_that_do_not_fit_are_told(given, words):
    with pytest.raises(ValueError, match=words):
        ClassifierOutputs.of(**given)


def test_probabilities_that_are_none_are_told_with_their_row(monkeypatch):
    monkeypatch.setattr(outputs, "_BLOCK_ENTRIES", 6)
    probs = np.full((5, 2), 0.5)
    probs[3] = [3.0, -1.0]
    with pytest.raises(TableError, match=r"row 3 .* name them `logits`"):
        measure(ClassifierOutputs.of(probs=probs), ["entropy"])


def test_what_the_outputs_cannot_give_is_told():
    with pytest.raises(TableError, match=r"'energy'.* need logits"):
        measure(ClassifierOutputs.of(probs=np.full((2, 2), 0.5)), ["energy"])
    with pytest.raises(TableError, match="must be fitted"):
        measure(made(), ["mahalanobis"])
    with pytest.raises(TableError, match="need training outputs"):
        fit_densities(["mahalanobis"], None)
    with pytest.raises(TableError, match="need the true classes of the training outputs"):
        fit_densities(["mahalanobis"], ClassifierOutputs.of(logits=np.zeros((2, 3))))


def write_bad(path, how):
    if how == "objects":
        np.savez(path, logits=np.array([[1, None]], dtype=object))
    elif how == "neither":
        np.savez(path, scores=np.zeros((2, 2)))
    elif how == "cut":
        np.savez(path, logits=np.zeros((2, 2)))
        path.write_bytes(path.read_bytes()[:60])
    else:
        path.write_text("not a zip")


@pytest.mark.parametrize("how", ["objects", "neither", "cut", "text"])
def test_a_file_that_is_no_outputs_is_told(tmp_path, how):
    write_bad(tmp_path / "o.npz", how)
    with pytest.raises(TableError, match=r"o\.npz"):
        read_outputs(tmp_path / "o.npz")


def test_files_that_do_not_belong_together_are_told(tmp_path):
    np.savez(tmp_path / "a.npz", logits=np.zeros((2, 2)))
    np.savez(tmp_path / "b.npz", probs=np.full((2, 2), 0.5))
    with pytest.raises(TableError, match="one kind"):
        read_outputs([tmp_path / "a.npz", tmp_path / "b.npz"])
    with pytest.raises(TableError, match="npz or npy"):
        read_outputs(write_text(tmp_path / "answers.jsonl"))
    with pytest.raises(TableError, match="There is no file"):
        read_outputs(tmp_path / "c.npz")
    with pytest.raises(TableError, match="At least one file"):
        read_outputs([])


def write_text(path):
    path.write_text("{}")
    return path


def test_a_file_of_unknown_arrays_is_refused_with_their_names(tmp_path):
    np.savez(tmp_path / "o.npz", arr_0=np.zeros((3, 2)), preds=np.zeros(3))
    with pytest.raises(TableError, match=r"it holds \['arr_0', 'preds'\]"):
        read_outputs(tmp_path / "o.npz")


def test_probabilities_under_the_name_of_logits_and_swapped_axes_get_a_warning():
    probs = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 40))
    with pytest.warns(VecuqWarning, match="look like probabilities"):
        ClassifierOutputs.of(logits=probs)
    with pytest.warns(VecuqWarning, match=r"400 members and only 5 rows.*np\.swapaxes"):
        ClassifierOutputs.of(logits=np.random.default_rng(0).normal(size=(400, 5, 3)))


FORGOTTEN_AXES = {
    "labels": {"labels": np.zeros(40)},
    "ids": {"ids": np.arange(40)},
    "embeddings": {"embeddings": np.zeros((40, 7))},
}


@pytest.mark.parametrize("more", FORGOTTEN_AXES.values(), ids=FORGOTTEN_AXES)
def test_what_comes_once_per_row_shows_that_the_axes_are_swapped(more):
    logits = np.random.default_rng(0).normal(size=(40, 5, 3))
    with pytest.raises(TableError, match=r"Perhaps the outputs are \(rows, members, classes\).*np\.swapaxes"):
        ClassifierOutputs.of(logits=logits, **more)
    assert ClassifierOutputs.of(logits=np.swapaxes(logits, 0, 1), **more).n_rows == 40


def test_a_file_of_fewer_rows_than_members_gets_a_warning(tmp_path):
    np.savez(tmp_path / "swapped.npz", logits=np.random.default_rng(0).normal(size=(30, 5, 3)))
    with pytest.warns(VecuqWarning, match="30 members and only 5 rows") as caught:
        read_outputs(tmp_path / "swapped.npz")
    assert len(caught) == 1


def test_a_single_row_in_memory_may_have_many_members():
    assert ClassifierOutputs.of(logits=np.random.default_rng(0).normal(size=(30, 1, 3))).n_rows == 1


@pytest.mark.parametrize("name", ["arr_0", "preds"])
def test_a_file_without_a_known_name_says_which_names_it_has(tmp_path, name):
    np.savez(tmp_path / "o.npz", **{name: np.zeros((4, 3))})
    with pytest.raises(TableError, match=rf"either `logits` or `probs`; it holds \['{name}'\]\. Rename"):
        read_outputs(tmp_path / "o.npz")

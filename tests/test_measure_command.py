"""From files of outputs to a ranked table on the command line: measure, fit, score; and the catalogue."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow.parquet as pq
import pytest

from vecuq import ClassifierOutputs
from vecuq.measures import fit_densities, list_measures, measure, registry

EAT_M = ["bayes_log_1", "excess_log_1_1", "total_log_1_1", "mahalanobis"]
WORDS = np.array(["ant", "bee", "cat", "dog"])


def arrays_of(rows, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=rows)
    shared = rng.normal(size=(rows, 4)) + 2 * np.eye(4)[labels]
    return {"logits": (shared + 0.5 * rng.normal(size=(3, rows, 4))).astype(np.float32), "labels": labels}


@pytest.fixture
def files(tmp_path):
    """Training, calibration and test outputs on disk."""
    for seed, (name, rows) in enumerate({"train": 300, "calibration": 150, "test": 60}.items()):
        np.savez(tmp_path / f"{name}.npz", **arrays_of(rows, seed))
    return tmp_path


def test_outputs_become_scores_a_model_and_a_ranked_table(run, files):
    for name in ("calibration", "test"):
        done = run("measure", files / f"{name}.npz", "--train", files / "train.npz", "-o", files / f"{name}.parquet")
        assert done.exit_code == 0, done.output
        assert done.stderr == ""
    assert "60 rows of 3 x 4 outputs measured" in done.stdout
    fitted = run("fit", files / "calibration.parquet", "-o", files / "m.vecuq", "--json")
    assert json.loads(fitted.stdout)["columns"] == EAT_M
    assert json.loads(fitted.stdout)["set_aside"] == ["id", "label", "prediction", "is_error"]
    assert run("score", files / "m.vecuq", files / "test.parquet", "-o", files / "ranked.parquet").exit_code == 0
    ranked = pd.read_parquet(files / "ranked.parquet")
    assert list(ranked) == ["id", *EAT_M, "label", "prediction", "is_error", "uncertainty", "p_value"]
    assert ranked["uncertainty"][ranked["is_error"] == 1].mean() > ranked["uncertainty"][ranked["is_error"] == 0].mean()


def test_the_command_gives_the_bits_that_python_gives(run, files):
    out = files / "scores.parquet"
    names = ["eat_m", "knn", "energy"]
    run("measure", files / "test.npz", "--train", files / "train.npz", "--measures", ",".join(names), "-o", out)
    train, test = (ClassifierOutputs.of(**arrays_of(rows, seed)) for rows, seed in ((300, 0), (60, 2)))
    expected = measure(test, names, fit_densities(names, train))
    table = pd.read_parquet(out)
    npt.assert_array_equal(table[list(expected.columns)].to_numpy(), expected.values)
    predicted = np.mean([np.exp(m) / np.exp(m).sum(axis=1, keepdims=True) for m in test.members], axis=0)
    npt.assert_array_equal(table["prediction"], predicted.argmax(axis=1))
    npt.assert_array_equal(table["is_error"], predicted.argmax(axis=1) != test.labels)
    npt.assert_array_equal(table["id"], np.arange(60))


def test_one_file_per_member_is_the_same_ensemble(run, files):
    logits = arrays_of(60, 2)["logits"]
    members = [files / f"member{k}.npy" for k in range(3)]
    for path, member in zip(members, logits, strict=True):
        np.save(path, member)
    for out, given in (("a.csv", [files / "test.npz"]), ("b.csv", members)):
        assert run("measure", *given, "--measures", "excess_log,msp", "-o", files / out).exit_code == 0
    one, many = (pd.read_csv(files / out) for out in ("a.csv", "b.csv"))
    pd.testing.assert_frame_equal(one.drop(columns=["label", "prediction", "is_error"]), many)


def test_temperature_and_embedding_are_options(run, files):
    asked = ["measure", files / "test.npz", "--train", files / "train.npz", "--temperature", 2, "--embedding", "logits"]
    done = run(*asked, "-o", files / "s.parquet", "--json")
    told = json.loads(done.stdout)
    assert (told["n_rows"], told["n_members"], told["n_classes"], told["columns"]) == (60, 3, 4, EAT_M)
    test = ClassifierOutputs.of(**arrays_of(60, 2), temperature=2.0)
    found = pq.read_table(files / "s.parquet")["bayes_log_1"].to_numpy()
    npt.assert_array_equal(found, measure(test, ["bayes_log_1"]).values[:, 0])


def test_labels_and_ids_may_be_words(run, files):
    given = arrays_of(60, 2)
    words = WORDS[given["labels"]]
    np.savez(files / "test.npz", logits=given["logits"], labels=words, ids=[f"row {k}" for k in range(60)])
    assert run("measure", files / "test.npz", "--measures", "msp", "-o", files / "s.parquet").exit_code == 0
    table = pd.read_parquet(files / "s.parquet")
    npt.assert_array_equal(table["label"], words)
    npt.assert_array_equal(table["is_error"], table["prediction"] != words)
    assert set(table["prediction"]) <= set(WORDS)
    assert table["id"][3] == "row 3"


def test_words_that_do_not_name_every_class_give_no_errors_and_a_note(run, files):
    given = arrays_of(60, 2)
    np.savez(files / "test.npz", logits=given["logits"], labels=WORDS[given["labels"] // 2])
    done = run("measure", files / "test.npz", "--measures", "msp", "-o", files / "s.parquet")
    assert done.exit_code == 0
    assert done.stderr.startswith("note: The labels name 2 classes and the outputs have 4")
    assert list(pd.read_parquet(files / "s.parquet")) == ["id", "msp", "label", "prediction"]


def test_labels_kept_as_decimal_numbers_are_not_taken_for_scores(run, files):
    given = arrays_of(60, 2)
    np.savez(files / "test.npz", logits=given["logits"], labels=given["labels"].astype(float), ids=np.arange(60.0))
    run("measure", files / "test.npz", "--measures", "msp", "-o", files / "s.parquet")
    assert [str(kind) for kind in pd.read_parquet(files / "s.parquet").dtypes] == [
        "int64",
        "float64",
        "int64",
        "int64",
        "int8",
    ]


def test_a_row_that_is_no_number_is_told(run, files):
    given = arrays_of(60, 2)
    given["logits"][1, 5, 0] = np.nan
    np.savez(files / "test.npz", **given)
    done = run("measure", files / "test.npz", "--measures", "msp,entropy", "-o", files / "s.parquet")
    assert done.exit_code == 0
    assert done.stderr.startswith("note: 1 of 60 rows")


def test_what_cannot_be_measured_is_one_line_and_leaves_no_trace(refused, files):
    out = ["-o", files / "s.parquet"]
    assert "'mahalanobis'] need training outputs. Give them as --train" in refused("measure", files / "test.npz", *out)
    assert "There is no file" in refused("measure", files / "none.npz", *out)
    assert "hold no `embeddings`" in refused(
        "measure", files / "test.npz", "--train", files / "train.npz", "--embedding", "embeddings", *out
    )
    assert "must end in one of" in refused("measure", files / "test.npz", "--measures", "msp", "-o", files / "s.txt")
    assert "would be, one of the files that this job reads" in refused(
        "measure", files / "test.npz", "--measures", "msp", "-o", files / "test.npz"
    )
    np.savez(files / "empty.npz", logits=np.zeros((0, 3)))
    assert "no rows" in refused("measure", files / "empty.npz", "--measures", "msp", *out)
    (files / "answers.txt").write_text("{}\n")
    assert "no answers could be read" in refused("measure", files / "answers.txt", "--measures", "msp", *out)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--measures", "entropi"], "Did you mean 'entropy'?"),
        (["--measures", ","], "At least one measure"),
        (["--temperature", "0"], "temperature must lie in"),
        (["--embedding", "logit"], "Did you mean 'logits'?"),
    ],
)
def test_wrong_usage_ends_with_exit_code_2(run, files, words, hint):
    result = run("measure", files / "test.npz", *words)
    assert result.exit_code == 2
    assert hint in " ".join(result.stderr.replace("│", " ").split())


def test_measures_prints_the_catalogue_with_a_line_each(run):
    done = run("measures")
    assert done.exit_code == 0
    for name in ("msp", "energy", "mahalanobis", "knn", "eat_m", "bayes_log_i", "excess_zero_one_i_j"):
        assert sum(line.split()[:1] == [name] for line in done.stdout.splitlines()) == 1
    told = json.loads(run("measures", "--json").stdout)
    assert {found["name"] for found in told["measures"]} == set(list_measures()["classifier"])
    assert told["compositions"]["eat_m"] == EAT_M


def test_a_measure_of_another_package_appears_in_the_catalogue_and_can_be_asked_for(run, files, monkeypatch):
    class Point:
        name = "spread"

        def load(self):
            return registry.Measure("spread", "Range of the logits", "logits", lambda x: np.ptp(x, axis=(0, 2)))

    monkeypatch.setattr("vecuq._check.entry_points", lambda group: [Point()])
    registry.known_measures.cache_clear()
    try:
        assert "Range of the logits" in run("measures").stdout
        assert run("measure", files / "test.npz", "--measures", "spread", "-o", files / "s.parquet").exit_code == 0
        assert list(pd.read_parquet(files / "s.parquet"))[:2] == ["id", "spread"]
    finally:
        registry.known_measures.cache_clear()


def test_the_installed_command_draws_no_bar_where_nobody_watches(files):
    command = [Path(sys.executable).with_name("vecuq"), "measure", files / "test.npz", "--measures", "msp"]
    done = subprocess.run([*command, "-o", files / "s.csv"], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_embeddings_in_one_of_two_files_only_are_one_clear_line(run, files):
    given, known = arrays_of(60, 2), arrays_of(300, 0)
    # As many dimensions as classes, so that logits would fit by their shape.
    one = {key: array[:1] if key == "logits" else array for key, array in known.items()}
    np.savez(files / "known.npz", **one, embeddings=known["logits"].mean(axis=0))
    np.savez(files / "plain.npz", logits=given["logits"][:1])
    wanted = ("--measures", "entropy,mahalanobis", "-o", files / "s.parquet")
    done = run("measure", files / "plain.npz", "--train", files / "known.npz", *wanted)
    assert done.exit_code == 1
    assert done.stderr == (
        "error: These outputs hold no `embeddings`, which the densities look at. Add them, or use --embedding logits "
        "for all outputs.\n"
    )
    assert (
        run("measure", files / "plain.npz", "--train", files / "known.npz", "--embedding", "logits", *wanted).stderr
        == ""
    )
    done = run("measure", files / "known.npz", "--train", files / "train.npz", *wanted)
    assert done.stderr.startswith("error: The training outputs hold no `embeddings`, and these outputs do.")
    assert done.stderr.endswith("or use --embedding logits.\n")


def test_a_single_model_gets_no_idle_columns_without_a_word(run, files):
    for name, rows, seed in (("train", 300, 0), ("test", 60, 2)):
        given = arrays_of(rows, seed)
        np.savez(files / f"{name}.npz", logits=given["logits"][0], labels=given["labels"])
    asked = ("measure", files / "test.npz", "--train", files / "train.npz", "-o", files / "s.parquet")
    assert run(*asked).stderr == (
        "note: With a single model, 'excess_log_1_1' is 0 in every row, and 'total_log_1_1' equals 'bayes_log_1', "
        "which adds nothing. Leave them out: --measures bayes_log_1,mahalanobis.\n"
    )
    assert run(*asked, "--measures", "bayes_log_1,mahalanobis").stderr == ""

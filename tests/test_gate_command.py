"""`vecuq gate`, `sample`, `audit` and `score` with a gate, as a person types them."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from vecuq import load
from vecuq.cli import app

PLAIN = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
SCORES = ["entropy", "knn"]


def frame(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = rng.gamma(1.0, size=(n, 2))
    wrong = rng.random(n) < rows.sum(axis=1) / 16
    labels = {"is_correct": (~wrong).astype(int), "is_error": wrong.astype(int), "answer": np.where(wrong, "no", "yes")}
    quality = np.clip(1 - rows.sum(axis=1) / 16 * rng.random(n) * 2, 0, 1)
    more = {"subject": rng.choice(["law", "art"], n), "session": np.arange(n) // 4, "quality": quality}
    return pd.DataFrame({"id": np.arange(n), **dict(zip(SCORES, rows.T, strict=True)), **labels, **more})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("gate")
    frame(600, 0)[SCORES].to_parquet(made / "calibration.parquet")
    frame(900, 1).to_parquet(made / "labelled.parquet")
    frame(2000, 2).to_csv(made / "new.csv", index=False)
    frame(50, 3).assign(number=5).to_csv(made / "numbered.csv", index=False)
    run(made, "fit calibration.parquet -o model.vecuq")
    run(made, "gate model.vecuq labelled.parquet --correct is_correct --accuracy 0.9 -o gate.vecuq")
    return made


def run(folder, line, code=0):
    words = [
        str(folder / word) if "." in word and not word[0].isdigit() and "=" not in word else word
        for word in line.split()
    ]
    done = CliRunner().invoke(app, words, env=PLAIN)
    assert done.exit_code == code, done.output
    return done


def test_the_certificate_is_printed_with_a_table_of_targets(folder):
    done = run(folder, "gate model.vecuq labelled.parquet --wrong is_error --accuracy 0.9 -o again.vecuq")
    assert "With confidence 90 %, at least 90 % of the accepted rows are right." in done.output
    assert "Assumption: The labelled rows are a random sample" in done.output
    assert "all at once" in done.output
    assert "each may cover fewer rows than as the only target" in done.output
    assert "Coverage of other orders" in done.output


def test_json_holds_the_certificate(folder):
    done = run(folder, "gate model.vecuq labelled.parquet --correct is_correct --accuracy 0.9 -o again.vecuq --json")
    found = json.loads(done.stdout)
    assert found["certified"]
    assert found["n_labels"] == 900
    assert [line["accuracy"] for line in found["table"]] == [0.8, 0.9, 0.95, 0.99]


def test_a_rule_makes_labels_of_a_quality(folder):
    run(folder, "gate model.vecuq labelled.parquet --correct quality>=0.7 --accuracy 0.8 -o rule.vecuq")
    assert load(folder / "rule.vecuq").certified_


def test_a_mean_quality_is_certified(folder):
    done = run(folder, "gate model.vecuq labelled.parquet --quality-column quality --quality 0.85 -o q.vecuq")
    assert "the mean quality of the accepted rows is at least 0.85" in done.output


def test_categories_and_groups(folder):
    options = "--correct is_correct --accuracy 0.85 --by subject --group session"
    done = run(folder, f"gate model.vecuq labelled.parquet {options} -o by.vecuq")
    assert "art" in done.output
    assert "random row of a random group" in done.output
    run(folder, "score by.vecuq new.csv --by subject -o by.parquet")
    done = run(folder, "score by.vecuq new.csv -o by.parquet", code=1)
    assert "name the column of categories with --by" in done.stderr


def test_the_average_promise_takes_the_file_for_one_batch(folder):
    run(folder, "gate model.vecuq labelled.parquet --correct is_correct --promise average -o average.vecuq")
    run(folder, "score average.vecuq new.csv -o average.csv")
    gate, new = load(folder / "average.vecuq"), pd.read_csv(folder / "new.csv")
    decided = pd.read_csv(folder / "average.csv")
    np.testing.assert_array_equal(decided["accept"], gate.accept(new))


def test_a_picture_or_its_numbers_are_written_beside_the_gate(folder):
    base = "gate model.vecuq labelled.parquet --correct is_correct --accuracy 0.9 -o pictured.vecuq"
    run(folder, f"{base} --picture lines.png")
    assert (folder / "lines.png").read_bytes().startswith(b"\x89PNG")
    run(folder, f"{base} --picture lines.csv")
    lines = pd.read_csv(folder / "lines.csv")
    assert set(lines["order"]) == {"model", *SCORES}
    assert lines["coverage"].between(0, 1).all()


def test_a_plan_says_what_must_be_deferred_and_how_many_labels_it_may_take(folder):
    done = run(folder, "gate model.vecuq labelled.parquet --correct is_correct --accuracy 0.95 --plan")
    assert "must be deferred" in done.output
    assert "45 accepted labels without an error" in done.output
    assert not (folder / "plan.vecuq").exists()
    assert "45 accepted" in run(folder, "gate model.vecuq --accuracy 0.95 --plan").output


def test_a_sample_is_random_seeded_and_knows_its_rows(folder):
    run(folder, "sample new.csv -n 50 --seed 1 -o one.csv")
    run(folder, "sample new.csv -n 50 --seed 1 -o same.csv")
    run(folder, "sample new.csv -n 50 --seed 2 -o other.csv")
    one, same, other = (pd.read_csv(folder / name) for name in ("one.csv", "same.csv", "other.csv"))
    pd.testing.assert_frame_equal(one, same)
    assert set(one["row"]) != set(other["row"])
    new = pd.read_csv(folder / "new.csv")
    np.testing.assert_array_equal(new["id"].to_numpy()[one["row"]], one["id"])
    assert "has 2,000" in run(folder, "sample new.csv -n 9999 -o one.csv", code=1).stderr


def test_an_audit_says_kept_broken_or_open(folder):
    assert "kept" in run(folder, "audit gate.vecuq new.csv --correct is_correct").output
    few = frame(30, 3)
    few.to_csv(folder / "few.csv", index=False)
    assert "Too few labels to say" in run(folder, "audit gate.vecuq few.csv --correct is_correct").output
    bad = frame(2000, 4).assign(is_correct=np.arange(2000) % 2)
    bad.to_csv(folder / "bad.csv", index=False)
    done = run(folder, "audit gate.vecuq bad.csv --correct is_correct --json")
    assert json.loads(done.stdout)["verdict"] == "broken"


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("gate model.vecuq labelled.parquet --correct answer -o x.vecuq", 1, "'answer' holds text"),
        ("gate model.vecuq labelled.parquet --correct nothing -o x.vecuq", 1, "lacks ['nothing']"),
        ("gate model.vecuq labelled.parquet -o x.vecuq", 1, "Which column holds the labels"),
        ("gate model.vecuq labelled.parquet --correct quality -o x.vecuq", 1, "must be 0 or 1"),
        ("gate model.vecuq numbered.csv --wrong number -o x.vecuq", 1, "'number' holds 5. Turn a grade"),
        ("gate model.vecuq numbered.csv --wrong number -o x.vecuq", 1, "--wrong 'number<0.7'"),
        ("gate model.vecuq labelled.parquet -o x.vecuq", 1, "or a rule, --correct 'quality>=0.7'"),
        ("gate gate.vecuq labelled.parquet --correct is_correct -o x.vecuq", 1, "holds a gate"),
        ("gate model.vecuq labelled.parquet --correct is_correct -o model.vecuq", 1, "choose another name"),
        ("gate model.vecuq labelled.parquet --correct is_correct --accuracy 0.9 --error-rate 0.1", 1, "one target"),
        ("gate model.vecuq -o x.vecuq", 2, "Labelled rows are needed"),
        (
            "audit model.vecuq new.csv --correct is_correct",
            1,
            "holds a model; a gate written by `vecuq gate` is needed",
        ),
        ("score model.vecuq new.csv --by subject -o x.csv", 1, "without a gate"),
    ],
)
def test_bad_input_is_one_line(folder, line, code, words):
    done = run(folder, line, code=code)
    assert words in " ".join(done.stderr.split())
    assert not (folder / "x.vecuq").exists()


def test_info_shows_the_promise(folder):
    assert "at least 90 % of the accepted rows are right" in run(folder, "info gate.vecuq").output


def test_rows_unlike_the_labelled_ones_are_named_after_the_decision(folder):
    frame(800, 5).assign(entropy=lambda rows: rows["entropy"] + 1).to_csv(folder / "shifted.csv", index=False)
    done = run(folder, "score gate.vecuq shifted.csv -o shifted.parquet")
    assert "differ from those of the labelled rows (probability without a difference: below 1e-12)" in done.stderr
    assert "differ from" not in run(folder, "score gate.vecuq new.csv -o decided.csv").stderr


def test_a_state_draws_an_audit_takes_labels_by_id_and_says_how_the_promise_stands(folder):
    line = "score gate.vecuq new.csv -o live.csv --state live.vecuq --id id --audit 0.5"
    assert "drawn for the audit" in run(folder, line).output
    first = pd.read_csv(folder / "live.csv")
    assert first["audit"].sum() > 100
    assert not first["audit"][~first["accept"]].any()
    run(folder, line)
    pd.testing.assert_frame_equal(pd.read_csv(folder / "live.csv"), first)
    done = run(folder, "live live.vecuq live.csv --correct is_correct")
    assert f"{first['audit'].sum():,} labels of audited rows" in done.output
    assert "not drawn" in done.output
    state = json.loads(run(folder, "live live.vecuq live.csv --correct is_correct --id id --json").stdout)
    assert state["taken"]["counted"] == 0
    assert state["state"] in ("proven", "unproven")
    assert "Epoch 2" in run(folder, "live live.vecuq --recalibrate gate.vecuq").output


def test_options_of_a_state_need_one(folder):
    assert "goes with --state" in " ".join(
        run(folder, "score gate.vecuq new.csv -o x.csv --id id", code=2).stderr.split()
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--accuracy 0.9 --budget 0.2", "got --accuracy and --budget."),
        ("--cost-wrong 5", "--cost-wrong of a wrong answer, and --cost-review of a review."),
        ("--error-rate 5", "--error-rate must lie in (0, 1); got 5.0."),
        ("--cost-wrong 5 --cost-review 1 --plan", "give --accuracy or --error-rate."),
        ("--by nope", "named as --by."),
        ("--wrong is_error", "got --correct and --wrong."),
        ("--simultaneous", "name those with --by, or leave it out."),
        ("--promise average --group session", "it takes no --group."),
    ],
)
def test_a_refused_gate_names_options_not_arguments(folder, options, words):
    done = run(folder, f"gate model.vecuq labelled.parquet --correct is_correct {options} -o refused.vecuq", code=1)
    assert words in " ".join(done.output.split())
    assert not (folder / "refused.vecuq").exists()


def test_the_table_of_targets_has_whole_numbers_of_wrong_rows_and_a_quality_has_losses(folder):
    plain = run(folder, "gate model.vecuq labelled.parquet --correct is_correct --accuracy 0.9 -o t.vecuq").output
    assert "Certified with confidence 0.9, all at once" in plain
    assert "wrong" in plain
    assert ".000 │\n" not in plain
    graded = run(folder, "gate model.vecuq labelled.parquet --quality-column quality --quality 0.8 -o t.vecuq").output
    assert "mean loss" in graded
    assert "wrong" not in graded.split("all at once")[1]


def test_other_orders_are_compared_with_what_they_were_certified_for(folder):
    line = "gate model.vecuq labelled.parquet --correct is_correct --accuracy 0.9 -o t.vecuq"
    assert "with confidence 0.9 instead of on average: " in run(folder, f"{line} --promise average").output
    assert "with the same labels, without categories: " in run(folder, f"{line} --by subject").output


def test_one_audit_does_not_settle_a_promise_on_average(folder):
    run(folder, "gate model.vecuq labelled.parquet --correct is_correct --accuracy 0.95 --promise average -o a.vecuq")
    done = run(folder, "audit a.vecuq new.csv --correct is_correct")
    assert "one audit cannot settle" in done.output
    assert json.loads(run(folder, "audit a.vecuq new.csv --correct is_correct --json").output)["verdict"] == "open"


def test_an_audit_refuses_the_rows_that_fitted_the_gate(folder):
    done = run(folder, "audit gate.vecuq labelled.parquet --correct is_correct", code=1)
    assert "Give labels of later rows." in done.output


def test_an_audit_of_a_gate_with_groups_needs_their_column(folder):
    run(folder, "gate model.vecuq labelled.parquet --correct is_correct --accuracy 0.8 --group session -o g.vecuq")
    assert "with --group." in run(folder, "audit g.vecuq new.csv --correct is_correct", code=1).output
    assert (
        "each end with confidence" in run(folder, "audit g.vecuq new.csv --correct is_correct --group session").output
    )


def test_an_audit_of_a_quality_speaks_of_losses(folder):
    run(folder, "gate model.vecuq labelled.parquet --quality-column quality --quality 0.7 -o q.vecuq")
    done = run(folder, "audit q.vecuq new.csv --quality-column quality")
    assert "with a mean loss of" in done.output
    assert "wrong" not in done.output


def test_info_shows_a_line_per_category(folder):
    run(folder, "gate model.vecuq labelled.parquet --correct is_correct --accuracy 0.8 --by subject -o by.vecuq")
    shown = run(folder, "info by.vecuq").output
    assert "category law" in shown
    assert "category art" in shown
    assert "assumption=" not in shown

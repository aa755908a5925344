"""What a report tells people to do: chosen by what was found, with commands that the command line takes."""

import shlex

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

from vecuq import Gate, Settings, fit_ranker
from vecuq.cli import app
from vecuq.report import Origin
from vecuq.report.actions import Acting, actions_of
from vecuq.report.audit import contradiction_of
from vecuq.report.counts import Counts
from vecuq.report.drift import drift_of
from vecuq.report.rows import row_facts
from vecuq.table import ScoreTable

FILES = Origin("m.vecuq", ("new.csv",), facts={"kind": "model"})
GATE = Origin("gate.vecuq", ("new.csv",), labels=("--wrong", "wrong", "--ood", "far"), facts={"kind": "gate"})


def acts(subject):
    acting = Acting(subject, Counts(subject), drift_of(subject), contradiction_of(subject), row_facts(subject))
    return actions_of(acting)


def verbs(found):
    return [None if one["command"] is None else one["command"].split()[1] for one in found]


def test_a_calm_report_says_first_that_nothing_has_to_be_done(ranker, new_rows, subject):
    found = acts(subject(ranker, new_rows(100, scale=1.0), origin=FILES))
    assert found[0]["text"].startswith("Nothing has to be done")
    assert found[0]["command"] == "vecuq monitor m.vecuq new.csv --state drift.vecuq"
    assert verbs(found) == ["monitor", "report", "sample"]


def test_more_flagged_rows_than_chance_explains_are_reviewed_first_and_what_changed_is_named(ranker, new_rows, subject):
    found = acts(subject(ranker, new_rows(200, scale=3.0), origin=FILES))
    assert found[0]["text"].startswith("Review the ")
    assert found[0]["anchor"] == "rows"
    assert found[0]["command"] == "vecuq report m.vecuq new.csv --alpha 0.05 --table flagged.csv"
    assert "(higher)" in found[1]["text"]
    assert verbs(found) == ["report", "monitor", "sample"]


def test_labels_propose_a_gate_and_no_files_propose_no_command(ranker, new_rows, subject):
    labels = {"error": np.r_[np.ones(10), np.zeros(50)]}
    named = Origin("m.vecuq", ("a.csv", "b.csv"), labels=("--ood", "far", "--correct", "quality>=0.7"))
    found = acts(subject(ranker, new_rows(), labels=labels, origin=named))
    assert (
        found[-1]["command"] == "vecuq gate m.vecuq a.csv b.csv --correct 'quality>=0.7' --accuracy 0.95 -o gate.vecuq"
    )
    assert set(verbs(acts(subject(ranker, new_rows(), labels=labels)))) == {None}
    piped = Origin("m.vecuq", ("-",))
    assert set(verbs(acts(subject(ranker, new_rows(), origin=piped)))) == {None}


def test_a_table_that_was_written_is_named_instead_of_a_command(ranker, new_rows, subject):
    found = acts(subject(ranker, new_rows(200, scale=3.0), table="flagged.parquet", origin=FILES))
    assert found[0]["command"] is None
    assert found[0]["text"].endswith("flagged.parquet holds all of them.")


def test_missing_values_and_a_model_without_held_back_rows_come_first(ranker, known, subject):
    new = pa.table({"entropy": [1.0, None, 2.0], "knn": [1.0, 2.0, 3.0]})
    found = acts(subject(ranker, new, origin=FILES))
    assert found[0] == {
        "text": "Fill in the values that 1 row lacks, or score these rows from the columns that they have.",
        "command": "vecuq report m.vecuq new.csv --missing marginal --alpha 0.05",
        "anchor": None,
    }
    paper = fit_ranker(known(), Settings.paper())
    found = acts(subject(paper, new, origin=FILES))
    assert found[0]["command"] is None  # such a model keeps no rows to score the others by
    assert found[1]["command"] is None  # nobody knows where the calibration rows are
    assert "monitor" not in verbs(found)  # which needs held-back rows
    paper = fit_ranker(ScoreTable.of(known(), flip=["knn"]), Settings.paper())
    found = acts(subject(paper, new, origin=Origin("m.vecuq", ("new.csv",), "cal.csv")))
    words = "vecuq fit cal.csv --columns entropy --columns knn --flip knn --holdback 0.5 -o refitted.vecuq"
    assert found[1]["command"] == words


def test_rows_that_no_column_can_score_are_only_to_be_filled_in(ranker, subject):
    nan, inf = float("nan"), float("inf")
    new = pa.table({"entropy": [1.0, nan, nan, inf, nan], "knn": [1.0, 2.0, nan, 2.0, inf]})
    found = acts(subject(ranker, new, origin=FILES))
    assert found[0]["text"].endswith("4 rows lack, or score 1 of them from the columns that they have.")
    marginal = subject(ranker, new, missing="marginal", origin=FILES)
    assert marginal.n_scored == 2
    assert acts(marginal)[0] == {"text": "Fill in the values that 3 rows lack.", "command": None, "anchor": None}


def test_labels_that_are_not_complete_are_first_taken_apart(ranker, new_rows, subject):
    labels = {"error": np.r_[np.ones(10), np.zeros(40), np.full(10, np.nan)]}
    wrong = Origin("m.vecuq", ("new.csv",), labels=("--wrong", "wrong"))
    last = acts(subject(ranker, new_rows(), labels=labels, origin=wrong))[-1]
    assert (last["text"].partition(",")[0], last["command"]) == ("If the labelled rows are a random sample", None)
    none = acts(subject(ranker, new_rows(), labels={"error": np.full(60, np.nan)}, origin=wrong))[-1]
    assert none["command"].split()[1] == "sample"


def test_qualities_are_not_labelled_again(ranker, new_rows, subject):
    labels = {"quality": np.linspace(0, 1, 60)}
    last = acts(subject(ranker, new_rows(), labels=labels, origin=FILES))[-1]
    assert "let their qualities prove" in last["text"]
    assert last["command"] is None


def test_rows_of_which_none_has_a_score_are_filled_in_before_anything_else(ranker, gate, subject):
    nothing = pa.table({"entropy": pa.nulls(50, pa.float64()), "knn": np.ones(50)})
    found = acts(subject(ranker, nothing, gate=gate, origin=GATE))
    assert [one["text"].split()[0] for one in found] == ["Fill"]


def test_labels_that_fitted_the_gate_do_not_check_it(ranker, gate, decided, subject):
    for own in (decided(1_500, 5), decided(1_500, 5)[:200]):
        labels = {"error": own["wrong"].to_numpy().astype(float)}
        found = acts(subject(ranker, own, gate=gate, labels=labels, origin=GATE))
        assert verbs(found) == ["report", None]
        assert "later rows" in found[-1]["text"]


def test_commands_keep_groups_calibration_rows_and_how_missing_values_were_scored(ranker, decided, subject):
    new = decided(400, 8)
    options = ("--group", "session", "--missing", "marginal")
    origin = Origin("m.vecuq", ("new.csv",), "cal.csv", ("--wrong", "wrong"), options)
    labels = {"error": new["wrong"].to_numpy().astype(float)}
    commands = [one["command"] for one in acts(subject(ranker, new, labels=labels, group="session", origin=origin))]
    again = "--wrong wrong --group session --missing marginal --calibration cal.csv --alpha 0.05 --table flagged.csv"
    assert f"vecuq report m.vecuq new.csv {again}" in commands
    assert "vecuq gate m.vecuq new.csv --wrong wrong --group session --accuracy 0.95 -o gate.vecuq" in commands


def test_a_report_is_written_again_at_its_own_rate_and_to_its_own_place(known, new_rows, subject):
    tenth = fit_ranker(known(), Settings(alpha=0.1))
    new = new_rows(100, scale=3.0)
    new = new.set_column(0, "entropy", pa.array([None, *new["entropy"].to_pylist()[1:]]))
    origin = Origin("m.vecuq", ("new.csv",), page="out/r.html")
    commands = [one["command"] for one in acts(subject(tenth, new, origin=origin))]
    assert commands[0] == "vecuq report m.vecuq new.csv --missing marginal --alpha 0.1 -o out/r.html"
    assert commands[1] == "vecuq report m.vecuq new.csv --alpha 0.1 --table flagged.csv -o out/r.html"


def test_a_gate_is_audited_where_there_are_labels_and_sampled_where_not(ranker, gate, decided, subject):
    new = decided(400, 8)
    found = acts(subject(ranker, new, gate=gate, origin=GATE))
    assert verbs(found) == ["report", "sample"]
    labels = {"error": new["wrong"].to_numpy().astype(float)}
    found = acts(subject(ranker, new, gate=gate, labels=labels, by="by", origin=GATE))
    assert found[-1]["command"] == "vecuq audit gate.vecuq new.csv --wrong wrong"
    some = {"error": np.where(np.arange(400) % 2, labels["error"], np.nan)}
    assert acts(subject(ranker, new, gate=gate, labels=some, origin=GATE))[-1]["command"] is None
    broken = acts(subject(ranker, new, gate=gate, labels={"error": np.ones(400)}, group="session", origin=GATE))
    assert broken[0]["text"].startswith("Do not rely on this gate.")
    assert broken[0]["command"] == "vecuq audit gate.vecuq new.csv --wrong wrong --group session"


def test_a_gate_on_a_quality_is_audited_by_the_quality(ranker, decided, subject):
    rows, new = decided(1_500, 5), decided(400, 8)
    graded = Gate(ranker, quality=0.8).fit(rows, 1.0 - 0.9 * rows["wrong"].to_numpy())
    wrong = new["wrong"].to_numpy().astype(float)
    named = Origin("gate.vecuq", ("new.csv",), labels=("--wrong", "wrong", "--quality", "grade"))
    found = acts(subject(ranker, new, gate=graded, labels={"error": wrong, "quality": 1 - 0.9 * wrong}, origin=named))
    assert "vecuq audit gate.vecuq new.csv --quality-column grade" in [one["command"] for one in found]


def test_a_gate_on_rows_unlike_its_labels_asks_for_labels_first(ranker, gate, decided, subject):
    new = decided(400, 8)
    moved = new.set_column(1, "entropy", pa.array(new["entropy"].to_numpy() + 2.0))
    found = acts(subject(ranker, moved, gate=gate, origin=GATE))
    assert found[0]["text"].startswith("Label a random sample of these rows")
    assert verbs(found)[0] == "sample"


def test_outputs_of_a_classifier_get_no_command_that_takes_tables(ranker, new_rows, subject):
    outputs = Origin("p.vecuq", ("o.npz",), facts={"kind": "pipeline"}, of_outputs=True)
    assert set(verbs(acts(subject(ranker, new_rows(), origin=outputs)))) <= {None, "report"}


@pytest.mark.parametrize("name", ["new rows.csv", "--new.csv", "a'b.csv", "x;rm -rf y.csv"])
def test_names_of_files_are_quoted_for_the_shell(ranker, new_rows, subject, name):
    found = acts(subject(ranker, new_rows(), origin=Origin("m.vecuq", (name,))))
    assert all(name in shlex.split(one["command"]) for one in found)


def test_every_proposed_command_runs_as_it_is(ranker, decided, subject, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("vecuq.report.build_report", lambda *_, **__: "<!doctype html>")
    new = decided(400, 8)
    ranker.save("m.vecuq")
    rows = decided(1_500, 5)
    Gate(ranker, accuracy=0.9).fit(rows, 1 - rows["wrong"].to_numpy()).save("gate.vecuq")
    gate = Gate(ranker, accuracy=0.9).fit(rows, 1 - rows["wrong"].to_numpy())
    pa.csv.write_csv(new, "new.csv")
    pa.csv.write_csv(new, "far.csv")
    labels = {"error": new["wrong"].to_numpy().astype(float)}
    wrong = ("--wrong", "wrong")
    cases = [
        subject(ranker, new, origin=FILES),
        subject(
            ranker, new, labels=labels, by="by", origin=Origin("m.vecuq", ("new.csv",), None, wrong, ("--by", "by"))
        ),
        subject(ranker, new, gate=gate, origin=GATE),
        subject(ranker, new, gate=gate, labels=labels, origin=Origin("gate.vecuq", ("new.csv",), None, wrong)),
        subject(
            ranker,
            new,
            gate=gate,
            labels={"error": np.ones(400)},
            origin=Origin("gate.vecuq", ("new.csv",), None, wrong),
        ),
    ]
    commands = {one["command"] for case in cases for one in acts(case)} - {None}
    assert {command.split()[1] for command in commands} == {"monitor", "report", "sample", "gate", "audit"}
    for command in sorted(commands):  # audit before a new gate
        words = [word for word in shlex.split(command)[1:] if word not in ("--ood", "far")]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, (command, done.output)


@pytest.mark.parametrize("name", ["two  blanks.csv", "a\nline.csv", "right\u202eleft.csv", f"{'long' * 500}.csv"])
def test_a_command_that_a_page_would_show_otherwise_is_not_proposed(ranker, new_rows, subject, name):
    found = acts(subject(ranker, new_rows(), origin=Origin("m.vecuq", (name,), facts={"kind": "model"})))
    assert found
    assert set(verbs(found)) == {None}

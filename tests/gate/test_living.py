"""A live gate on disk: tables in, decisions out, labels by id, one state that every run goes on from."""

import json

import numpy as np
import pandas as pd
import pytest

from vecuq import Gate, LiveGate, fit_ranker, load, workflows
from vecuq.errors import ColumnError, ModelFileError, SettingError, TableError
from vecuq.options import ScoreOptions

LABELS = workflows.LabelColumns(correct="ok")


def rows(seed, n_rows, first=0):
    rng = np.random.default_rng(seed)
    entropy, knn = rng.gamma(1.0, size=(2, n_rows))
    ok = rng.random(n_rows) > (entropy + knn) / 40
    return pd.DataFrame({"id": first + np.arange(n_rows), "entropy": entropy, "knn": knn, "ok": ok.astype(int)})


@pytest.fixture(scope="module")
def made():
    model = fit_ranker(rows(0, 400)[["entropy", "knn"]])
    labelled = rows(1, 600)
    return Gate(model, accuracy=0.9).fit(labelled[["entropy", "knn"]], labelled["ok"])


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made.save("gate.vecuq")
    rows(2, 500).to_parquet("monday.parquet")
    rows(3, 500, first=500).to_csv("tuesday.csv", index=False)
    return tmp_path


def decide(new="monday.parquet", out="out.csv", gate="gate.vecuq", **how):
    how = {"settings": workflows.LiveSettings(audit=0.2)} | how
    return workflows.decide_live(gate, new, out, state="live.vecuq", ids="id", **how)


def test_python_and_files_decide_alike(folder, made):
    done = decide()
    table = rows(2, 500)
    expected = LiveGate(made, audit=0.2)
    decisions = expected.decide(table[["entropy", "knn"]], table["id"])
    found = pd.read_csv("out.csv")
    assert list(found.columns) == ["id", "entropy", "knn", "ok", "uncertainty", "p_value", "accept", "p_wrong", "audit"]
    assert found["audit"].tolist() == decisions.audit.tolist()
    assert found["accept"].tolist() == decisions.accept.tolist()
    assert done.scored.n_accepted == decisions.accept.sum()
    assert load("live.vecuq").to_bytes() == expected.to_bytes()


def test_days_follow_each_other_and_a_job_that_runs_again_counts_nothing_twice(folder):
    decide()
    first = pd.read_csv("out.csv")
    decide("tuesday.csv", "other.csv", gate=None, settings=None)
    live = load("live.vecuq")
    decide()
    assert load("live.vecuq").to_bytes() == live.to_bytes()
    assert live.decided == 1_000
    pd.testing.assert_frame_equal(pd.read_csv("out.csv"), first)


def test_labels_come_by_id_and_rows_without_one_are_left_out(folder):
    decide()
    found = pd.read_csv("out.csv")
    labelled = found[["id", "ok"]].astype({"ok": "float"})
    labelled.loc[labelled.index % 10 == 0, "ok"] = np.nan
    labelled.to_csv("labels.csv", index=False)
    done = workflows.update_live("live.vecuq", "labels.csv", LABELS, ids="id")
    known = labelled["ok"].notna()
    assert done.unlabelled == (~known).sum()
    assert done.updated.counted == (found["audit"] & known).sum()
    assert done.updated.unaudited == (~found["audit"] & known).sum()
    live = load("live.vecuq")
    assert len(live.pending) + len(live.overdue) == (found["audit"] & ~known).sum()
    assert done.live.to_bytes() == live.to_bytes()


def test_labels_on_the_command_line(folder, run):
    decide()
    found = pd.read_csv("out.csv")
    shown = run("live", "live.vecuq", "out.csv", "--correct", "ok")
    audits, others = int(found["audit"].sum()), int((~found["audit"]).sum())
    first, paragraph = shown.stdout.split("\n", 1)
    assert first == f"{audits} labels of audited rows; {others} of rows that were not drawn"
    assert " ".join(paragraph.split()) == str(load("live.vecuq"))
    again = json.loads(run("live", "live.vecuq", "out.csv", "--wrong", "ok", "--json", "--id", "knn").stdout or "{}")
    assert again == {}
    known = json.loads(run("live", "live.vecuq", "--json").stdout)
    assert known["state"] == load("live.vecuq").state
    assert known["counted"] == audits


def test_a_broken_promise_exits_with_one_if_that_is_asked_for_and_a_new_gate_begins_anew(folder, run):
    decide()
    found = pd.read_csv("out.csv").assign(bad=1)
    found[["id", "bad"]].to_csv("labels.csv", index=False)
    assert run("live", "live.vecuq", "labels.csv", "--wrong", "bad").exit_code == 0
    assert run("live", "live.vecuq", "--strict").exit_code == 1
    shown = run("live", "live.vecuq", "--recalibrate", "gate.vecuq", "--strict")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("Epoch 2; the one before ended broken")


def test_unknown_labels_are_refused_and_leave_the_state_as_it_was(folder):
    decide()
    before = load("live.vecuq").to_bytes()
    rows(5, 4, first=498).to_csv("labels.csv", index=False)
    with pytest.raises(TableError, match="'500' and 1 more were never decided"):
        workflows.update_live("live.vecuq", "labels.csv", LABELS, ids="id")
    assert load("live.vecuq").to_bytes() == before
    done = workflows.update_live("live.vecuq", "labels.csv", LABELS, ids="id", unknown="skip")
    assert done.updated.unknown == 2


def test_another_gate_is_refused_until_it_recalibrates(folder, made):
    decide()
    labelled = rows(7, 600)
    Gate(made.model, accuracy=0.8).fit(labelled[["entropy", "knn"]], labelled["ok"]).save("better.vecuq")
    with pytest.raises(SettingError, match=r"begun with another gate than better\.vecuq\. Recalibrate it"):
        decide("tuesday.csv", gate="better.vecuq")
    ended, live = workflows.recalibrate_live("live.vecuq", "better.vecuq")
    assert (ended.decided, live.decided) == (500, 0)
    decide("tuesday.csv", gate="better.vecuq")
    assert load("live.vecuq").decided == 500
    assert load("live.vecuq").allowed == pytest.approx(0.2)


def test_other_settings_than_those_of_the_state_are_refused(folder):
    decide()
    with pytest.raises(SettingError, match=r"begun with audit=0.2, which cannot become 0.5"):
        decide("tuesday.csv", settings=workflows.LiveSettings(audit=0.5))
    assert load("live.vecuq").decided == 500


@pytest.mark.parametrize(
    ("how", "error", "reason"),
    [
        ({"gate": None}, TableError, "There is no state live.vecuq yet"),
        ({"new": "absent.csv"}, TableError, "absent.csv"),
        ({"out": "gate.vecuq"}, TableError, "gate.vecuq"),
        ({"asked": ScoreOptions(by="ok")}, SettingError, "fitted without categories"),
    ],
)
def test_a_job_that_cannot_be_done_leaves_no_trace(folder, how, error, reason):
    with pytest.raises(error, match=reason):
        decide(**how)
    assert sorted(path.name for path in folder.iterdir()) == ["gate.vecuq", "monday.parquet", "tuesday.csv"]


def test_a_table_without_the_column_of_ids_is_refused(folder):
    with pytest.raises(ColumnError, match=r"lacks.*'key'.*named as the id of every row"):
        workflows.decide_live("gate.vecuq", "monday.parquet", "o.csv", state="live.vecuq", ids="key")


def test_a_state_of_another_kind_is_refused(folder):
    with pytest.raises(SettingError, match=r"gate\.vecuq holds a gate, not the state of a live gate"):
        workflows.decide_live(None, "monday.parquet", "o.csv", state="gate.vecuq", ids="id")
    with pytest.raises(SettingError, match="holds a gate, not the state of a live gate"):
        workflows.update_live("gate.vecuq", "tuesday.csv", LABELS, ids="id")


def test_a_kill_before_the_table_appears_loses_nothing(folder, monkeypatch):
    from vecuq.workflows import living

    def killed(*args, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LiveGate, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            decide()
    assert not (folder / "out.csv").exists()
    assert not (folder / "live.vecuq").exists()
    with monkeypatch.context() as patch:
        patch.setattr(living, "DecidedLive", killed)
        with pytest.raises(KeyboardInterrupt):
            decide()
    before = load("live.vecuq").to_bytes()
    decide()
    assert load("live.vecuq").to_bytes() == before


def test_a_load_of_anything_else_is_refused(made, folder):
    made.model.save("model.vecuq")
    with pytest.raises((ModelFileError, SettingError), match="model"):
        workflows.recalibrate_live("model.vecuq", "gate.vecuq")

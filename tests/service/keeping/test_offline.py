"""A store without its service: `vecuq info`, `vecuq audit`, `vecuq feedback`."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vecuq import LiveGate
from vecuq.service import Feedback


@pytest.fixture
def filled(world, commit):
    """A store with 600 decided rows, their audits, and 30 reviews; and the live gate in memory."""
    live = LiveGate(world.gate, audit=0.5)
    with world.desk() as desk:
        rows = world.scored(range(600))
        done = commit(desk, lambda: desk.decide(rows, 1.7e9)).decided
        drawn = np.flatnonzero(done.audit)
        audits = [Feedback(f"r{k}", "audit", bool(world.correct[k]), who="ana") for k in drawn]
        reviews = [Feedback(f"r{k}", correct=False, comment="=cmd()") for k in np.flatnonzero(~done.audit)[:30]]
        commit(desk, lambda: desk.take([*audits, *reviews], "t", 1.7e9))
    live.record(list(rows.ids), rows.accept)
    live.update([f"r{k}" for k in drawn], world.correct[drawn])
    world.live, world.n_audits = live, len(drawn)
    return world


def test_info_says_what_a_store_holds(filled, run):
    found = json.loads(run("info", filled.store, "--json").stdout)
    held = found["model gate"]
    assert found["kind"] == "store of a service"
    assert (held["rows"], held["audits"], held["reviews"]) == (600, filled.n_audits, 30)
    assert held["audit"] == str(filled.live)
    assert f"{filled.n_audits:,}" in run("info", filled.store).stdout


def test_audit_reads_the_audits_of_a_store(filled, run):
    found = json.loads(run("audit", filled.model, filled.store, "--json").stdout)
    assert (found["lower"], found["upper"]) == (filled.live.lower, filled.live.bound)
    assert found["verdict"] == {"proven": "kept", "unproven": "open", "broken": "broken"}[filled.live.state]
    assert found["n_accepted"] == filled.n_audits
    assert str(filled.live) in run("audit", filled.model, filled.store).stdout


def test_audit_reads_a_store_while_a_service_writes_it(filled, run, commit):
    with filled.desk() as desk:
        commit(desk, lambda: desk.decide(filled.scored(range(600, 700)), 1.7e9))
        found = json.loads(run("audit", filled.model, filled.store, "--json").stdout)
        assert found["live"]["decided"] == 700


def test_audit_of_another_gate_is_refused(filled, other_gate, refused):
    other = filled.folder / "other.vecuq"
    other_gate.save(other)
    assert "holds no audit of" in refused("audit", other, filled.store)


def test_audit_of_a_store_takes_no_columns(filled, run):
    result = run("audit", filled.model, filled.store, "--correct", "correct")
    assert result.exit_code == 2
    assert "leave out --correct" in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize("name", ["feedback.parquet", "feedback.csv", "feedback.jsonl"])
def test_exported_audits_audit_the_gate(filled, run, name):
    out = filled.folder / name
    said = run("feedback", filled.store, "-o", out, "--kind", "audit").stdout
    assert f"{filled.n_audits} audits -> " in said
    found = json.loads(run("audit", filled.model, out, "--correct", "correct", "--json").stdout)
    assert found["n_accepted"] == filled.n_audits
    assert found["n_errors"] == filled.live.epoch.wrong


def test_reviews_do_not_audit_a_gate(filled, run, refused):
    out = filled.folder / "feedback.parquet"
    assert f"{filled.n_audits} audits, 30 reviews -> " in run("feedback", filled.store, "-o", out).stdout
    assert "30 of" in refused("audit", filled.model, out, "--correct", "correct")
    assert pq.read_table(out)["kind"].to_pylist().count("review") == 30


def test_an_export_to_csv_holds_no_formula(filled, run):
    out = filled.folder / "feedback.csv"
    run("feedback", filled.store, "-o", out)
    assert "'=cmd()" in out.read_text()


def test_an_export_never_replaces_the_store_or_a_model(filled, refused):
    refused("feedback", filled.store, "-o", filled.store)
    refused("feedback", filled.store, "-o", filled.model)


def test_only_a_store_has_feedback(filled, refused, run):
    assert "not the store of a service" in refused("feedback", filled.model)
    assert "There is no file" in refused("feedback", filled.folder / "none.sqlite")
    assert "no model 'other'" in refused("feedback", filled.store, "--model", "other")
    assert run("feedback", filled.store, "--kind", "guess").exit_code == 2


def test_a_score_column_keeps_its_name_beside_ours(filled):
    from vecuq.service.keeping import schema_of

    names = schema_of(["a", "id", "kind"]).names
    assert names[:3] == ["id_", "model", "time"]
    assert {"a", "id", "kind", "kind_"} <= set(names)
    assert schema_of([]).field("correct").type == pa.bool_()


@pytest.mark.parametrize("command", [("audit", "gate.vecuq"), ("info",)])
def test_a_file_with_the_name_of_a_store_that_is_none_is_named(filled, refused, command):
    (filled.folder / "bad.sqlite").write_text("hello")
    name, *more = command
    said = refused(name, *(filled.folder / one for one in more), filled.folder / "bad.sqlite")
    assert "is not the store of a service" in said

"""The sections below the rows: the order, drift, checks of the calibration rows, categories; notes and provenance."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import spearmanr

from vecuq import Settings, fit_ranker
from vecuq.monitor import drift_test
from vecuq.ranker import Diagnostics, meanings_of
from vecuq.report import Origin
from vecuq.report.audit import Contradiction
from vecuq.report.checked import doctor_sections, findings_of
from vecuq.report.drift import drift_of, drift_section
from vecuq.report.groups import MOST_LISTED, Parts, group_sections
from vecuq.report.notes import notes_on
from vecuq.report.order import order_section, relations_of, spearman
from vecuq.report.pictures import map_section
from vecuq.report.provenance import diagnostics_of, provenance_of, settings_of
from vecuq.report.whatif import whatif_facts
from vecuq.table import ScoreTable

# What the order is made of


def test_correlations_with_the_order_agree_with_scipy(ranker, new_rows, subject):
    new = new_rows()
    order = ranker.uncertainty(new)
    columns, whole = relations_of(subject(ranker, new))
    expected = [spearmanr(new[name].to_numpy(), order).statistic for name in ranker.columns]
    assert [one["spearman"] for one in columns] == pytest.approx(expected)
    plain = ranker.scaler.transform(ranker.values_of(new)).sum(axis=1)
    assert whole == pytest.approx(spearmanr(plain, order).statistic)


@pytest.mark.parametrize("scaling", ["featurewise", "global", "identity", "quantile"])
def test_the_plain_sum_is_of_min_max_scores_under_every_scaling(known, new_rows, subject, scaling):
    rows, new = known(), new_rows()
    ranker = fit_ranker(rows, Settings(scaling=scaling, holdback=0.0))
    low, high = (np.array([end(column) for column in rows.values()]) for end in (np.min, np.max))
    plain = ((ranker.values_of(new) - low) / (high - low)).sum(axis=1)
    whole = relations_of(subject(ranker, new))[1]
    assert whole == pytest.approx(spearmanr(plain, ranker.uncertainty(new)).statistic)


def test_a_user_sees_that_the_order_is_close_to_the_plain_sum(demo, subject, text_of):
    assert "the order is almost that of the plain sum" in text_of(order_section(subject(*demo)).body)


def test_one_column_a_constant_one_and_signed_scores_are_explained(known, new_rows, subject, text_of):
    one = subject(fit_ranker(known(names=("only",))), new_rows(30, ("only",)))
    assert "With one column there is nothing to combine" in text_of(order_section(one).body)
    flat = subject(fit_ranker({**known(), "flat": np.ones(200)}), new_rows(20, ("entropy", "knn", "flat")))
    assert "flat constant, left out" in text_of(order_section(flat).body)
    assert "flat" not in text_of(map_section(flat).body)
    ball = fit_ranker(np.random.default_rng(0).normal(size=(200, 2)), Settings(reference="ball", n_targets=200))
    outward = order_section(subject(ball, new_rows(20, ("x0", "x1")))).body
    assert "uncertain in every direction outward" in text_of(outward)


def test_spearman_of_too_few_or_constant_values_is_none():
    assert spearman(np.array([1.0, 2.0]), np.array([1.0, 2.0])) is None
    assert spearman(np.ones(5), np.arange(5.0)) is None
    assert spearman(np.array([1.0, np.nan, 2.0, 3.0]), np.array([3.0, 9.0, 2.0, 1.0])) == pytest.approx(-1.0)


# Drift


def test_drift_is_what_the_test_of_the_monitor_says(ranker, new_rows, subject, text_of):
    new = new_rows(300, scale=2.0)
    drift = drift_of(subject(ranker, new))
    assert drift.tested == drift_test(ranker, new)
    assert {one.stream for one in drift.moved} == {"uncertainty", "entropy", "knn"}
    assert "yes" in text_of(drift_section(subject(ranker, new), drift).body)


def test_rows_like_the_calibration_rows_do_not_drift(ranker, new_rows, subject, text_of):
    made = subject(ranker, new_rows(300, scale=1.0))
    drift = drift_of(made)
    assert not drift.moved
    assert "No column, and not the uncertainty, differs" in text_of(drift_section(made, drift).body)


@pytest.mark.parametrize("why", ["back", "groups", "score"])
def test_where_drift_cannot_be_tested_a_line_says_why(known, ranker, new_rows, subject, why):
    made = {
        "back": lambda: subject(fit_ranker(known(), Settings.paper()), new_rows()),
        "groups": lambda: subject(fit_ranker(known(), groups=np.arange(200) // 4), new_rows()),
        "score": lambda: subject(ranker, pa.table({"entropy": [np.nan], "knn": [1.0]})),
    }[why]()
    assert why in drift_of(made).why_not


# The doctor


def test_the_checks_of_the_doctor_are_there_with_the_calibration_rows_only(ranker, known, new_rows, subject, text_of):
    assert findings_of(subject(ranker, new_rows())) == ()
    rows = known()
    twins = ScoreTable.of({**rows, "knn": -rows["entropy"]})
    body = doctor_sections(findings_of(subject(ranker, new_rows(), calibration=twins)))[0].body
    assert "mirror images" in text_of(body)
    assert 'class="vq-severity vq-serious"' in body
    well = findings_of(subject(ranker, new_rows(), calibration=ScoreTable.of(rows)))
    assert "drift" not in {one.check for one in well}  # the report answers that over all rows
    assert "found nothing serious" in text_of(doctor_sections(well)[0].body)


# Categories and groups


def test_categories_have_their_shares_with_intervals_and_small_ones_are_pooled(ranker, decided, subject, text_of):
    new = decided(400, 3)
    made = subject(ranker, new, by="by", labels={"error": new["wrong"].to_numpy().astype(float)})
    text = text_of(group_sections(made)[0].body)
    law = new["by"].to_numpy(zero_copy_only=False) == "law"
    share, wrong = made.flagged[law].mean(), new["wrong"].to_numpy()[law].mean()
    assert f"law {law.sum()} {share:.3f} [" in text
    assert f"] {wrong:.3f} [" in text
    assert "smaller ones together" not in text  # one small value is no pool
    assert "art " in text


def test_many_small_values_are_one_line_and_many_lines_are_cut(ranker, new_rows, subject, text_of):
    few = pa.chunked_array([[f"s{k // 3}" for k in range(60)] + ["big"] * 40 + [None] * 30])
    parts = Parts.of(few)
    assert parts.names == ["big", "(no value)", "(smaller ones together)"]
    assert np.bincount(parts.places).tolist() == [40, 30, 60]
    assert parts.n_pooled == 20
    new = new_rows(2_000, by=[f"c{k % 80}" for k in range(2_000)])
    text = text_of(group_sections(subject(ranker, new, by="by"))[0].body)
    assert f"The {MOST_LISTED} with the largest share of 80 are listed." in text


def test_intervals_of_categories_count_groups_where_rows_come_together(ranker, decided, subject, text_of):
    new = decided(400, 3)
    alone = text_of(group_sections(subject(ranker, new, by="by"))[0].body)
    whole = pa.array(np.repeat(np.arange(8), 50))
    together = text_of(group_sections(subject(ranker, new.append_column("day", whole), by="by", group="day"))[0].body)
    assert together.partition("By day")[0] != alone
    groups = together.partition("By day")[2]
    assert "[" not in groups  # one group is one draw
    flagged = subject(ranker, new).flagged.reshape(8, 50).sum(axis=1)
    assert f"flagged {np.argsort(-flagged, kind='stable')[0]} 50 {flagged.max() / 50:.3f}" in groups


# Notes, provenance, what-if


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"converged": False}, "did not converge"),
        ({"anchor_mass": 0.45}, "anchors carry 45% of the mass"),
        ({"constant_columns": ("flat",)}, "without influence: flat"),
        ({"monotone_violations": 0.12}, "In 12.0% of trials"),
        ({"n_held": 0}, "No calibration rows were held back"),
        ({"n_held": 12}, "12 held-back rows are too few"),
    ],
)
def test_a_note_is_given_when_something_deserves_it(ranker, new_rows, subject, change, words):
    scores = ranker.calibration_scores[-change.get("n_held", 0) :]
    told = replace(ranker, diagnostics=replace(ranker.diagnostics, **change), calibration_scores=scores)
    assert any(words in note for note in notes_on(subject(told, new_rows()), Contradiction()))


def test_notes_are_silent_when_all_is_well_and_count_missing_values_by_column(ranker, new_rows, subject):
    assert notes_on(subject(ranker, new_rows()), Contradiction()) == []
    new = pa.table({"entropy": [0.5, None, 1.0, float("inf")], "knn": [1.0, 2.0, None, 3.0]})
    (note,) = notes_on(subject(ranker, new), Contradiction())
    assert "3 of 4 rows have no score: values are missing or infinite (entropy in 2, knn in 1)" in note
    (note,) = notes_on(subject(ranker, new, missing="marginal"), Contradiction())
    assert "1 of 4 rows has no score: values are missing or infinite (entropy in 1)" in note


def test_every_setting_and_diagnostic_is_explained(ranker):
    every = Settings(weights={"a": 1.0, "b": 0.5}, column_groups=[["a"], ["b"]])
    assert set(meanings_of(Settings)) == set(every.to_dict())
    assert [one["name"] for one in settings_of(ranker)] == list(ranker.settings.to_dict())
    assert all(one["meaning"] for one in (*settings_of(ranker), *diagnostics_of(ranker)))
    unusual = {"held_by", "n_sampled", "column_groups"}
    assert set(meanings_of(Diagnostics)) - unusual == {one["name"] for one in diagnostics_of(ranker)}


def test_provenance_names_model_checksum_files_command_versions_and_date(ranker, new_rows, subject):
    origin = Origin("m.vecuq", ("n.csv",), "c.csv", command="vecuq report m.vecuq n.csv", facts={"checksum": "abc"})
    found = {
        one["name"]: one["value"] for one in provenance_of(subject(ranker, new_rows(), origin=origin), "2026-01-02")
    }
    assert found["checksum"] == "abc"
    assert found["new rows"] == "n.csv (60 rows)"
    assert (found["calibration rows"], found["command"]) == ("c.csv", "vecuq report m.vecuq n.csv")
    assert found["made"] == "2026-01-02"
    assert f"numpy {np.__version__}" in found["versions"]


def test_the_what_if_has_the_exported_model_and_says_why_where_it_has_none(
    ranker, gate, known, decided, new_rows, subject
):
    said = whatif_facts(subject(ranker, decided(50, 8), gate=gate))
    assert said["model"] == ranker.to_json()
    assert said["threshold"] == ranker.threshold()
    assert said["accept_up_to"] == gate.threshold_
    ball = fit_ranker(np.random.default_rng(0).normal(size=(200, 2)), Settings(reference="ball", n_targets=200))
    none = whatif_facts(subject(ball, new_rows(20, ("x0", "x1"))))
    assert none["model"] is None
    assert "not a full grid" in none["why_not"]
    paper = whatif_facts(subject(fit_ranker(known(), Settings.paper()), new_rows()))
    assert "held back" in paper["why_no_p"]


def test_a_model_too_large_for_a_page_is_left_out_of_it(ranker, new_rows, subject, monkeypatch):
    monkeypatch.setattr("vecuq.report.whatif.MOST_LETTERS", len(ranker.to_json()) - 1)
    said = whatif_facts(subject(ranker, new_rows()))
    assert said["model"] == ranker.to_json(p_values=False)
    assert "100 held-back scores" in said["why_no_p"]
    monkeypatch.setattr("vecuq.report.whatif.MOST_LETTERS", 10)
    assert "too much for a page" in whatif_facts(subject(ranker, new_rows()))["why_not"]

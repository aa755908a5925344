"""What labels add to a report: curves, a comparison with columns and baselines, and a check of a gate's promise."""

import numpy as np
import pytest

from vecuq import Gate, fit_ranker
from vecuq.evaluation import evaluate
from vecuq.gate import audited
from vecuq.report.audit import contradiction_of
from vecuq.report.decided import decided_sections
from vecuq.report.labelled import METRICS, Judged, labelled_sections
from vecuq.report.notes import notes_on
from vecuq.table import ScoreTable


@pytest.fixture
def few_baselines(monkeypatch):
    """Two baselines stand for all: what they compute is tested elsewhere."""
    from vecuq.baselines import baselines

    some = {name: baselines()[name] for name in ("sum", "fisher")}
    monkeypatch.setattr("vecuq.baselines.baselines", lambda: some)
    return some


def labels_of(new):
    return {"error": new["wrong"].to_numpy().astype(float)}


def test_without_labels_there_is_nothing_to_say(ranker, new_rows, subject):
    assert labelled_sections(subject(ranker, new_rows())) == []
    assert labelled_sections(subject(ranker, new_rows(), labels={"error": np.full(60, np.nan)})) == []


def test_the_comparison_has_the_numbers_of_the_evaluation(ranker, decided, subject, text_of):
    new = decided(300, 4)
    curves, compared = labelled_sections(subject(ranker, new, labels=labels_of(new)))
    methods = {name: new[name].to_numpy() for name in ranker.columns} | {"uncertainty": ranker.uncertainty(new)}
    expected = evaluate(methods, **labels_of(new), metrics=["error roc_auc"])
    text = text_of(compared.body)
    for name in methods:
        assert f"{name} {expected.estimate(name, 'error roc_auc').value:.3f} [" in text
    assert "Baselines need the calibration rows" in text
    assert (curves.anchor, compared.anchor) == ("labels", "comparison")
    assert 'aria-label="Risk-coverage curves' in curves.body
    assert "<code>vecuq report ... --calibration FILE</code>" in compared.body


def test_with_calibration_rows_the_baselines_are_compared_too(ranker, known, decided, subject, text_of, few_baselines):
    new, calibration = decided(300, 4), ScoreTable.of(known())
    judged = Judged.of(subject(ranker, new, labels=labels_of(new), calibration=calibration))
    np.testing.assert_allclose(
        judged.methods["fisher()"],
        few_baselines["fisher"].make().fit(calibration).uncertainty(new.select(["entropy", "knn"])),
    )
    text = text_of(labelled_sections(judged.subject)[-1].body)
    assert "sum() " in text
    assert "a baseline, fitted on the calibration rows" in text


def test_directions_are_those_of_the_model_for_every_method(known, subject, few_baselines):
    rows = known(300)
    flipped = {"entropy": rows["entropy"], "confidence": -rows["knn"]}
    table = ScoreTable.of(flipped, flip=["confidence"])
    import pyarrow as pa

    new = pa.table({name: column[:100] for name, column in flipped.items()})
    judged = Judged.of(subject(fit_ranker(table), new, labels={"error": np.arange(100) % 2}, calibration=table))
    np.testing.assert_array_equal(judged.methods["confidence"], rows["knn"][:100])
    np.testing.assert_allclose(judged.methods["sum()"], (rows["entropy"] + rows["knn"])[:100])


def test_every_kind_of_label_has_its_metric_and_its_curve(ranker, decided, subject, text_of):
    new = decided(200, 4)
    ood = (np.arange(200) % 4 == 0).astype(float)
    given = {**labels_of(new), "ood": ood, "quality": 1.0 - 0.5 * labels_of(new)["error"]}
    curves, compared = labelled_sections(subject(ranker, new, labels=given))
    assert all(head in text_of(compared.body) for head in METRICS.values())
    assert "Rejection curves" in curves.body
    assert "Selective prediction, 150 rows" in text_of(curves.body)  # out-of-distribution rows are no errors


def test_labels_of_one_kind_only_give_a_reason_instead_of_a_number(ranker, decided, subject):
    new = decided(50, 4)
    sections = labelled_sections(subject(ranker, new, labels={"error": np.zeros(50)}))
    assert sections[-1].anchor == "comparison"


def test_rows_in_groups_are_drawn_by_groups(ranker, decided, subject):
    new = decided(300, 4)
    judged = Judged.of(subject(ranker, new, labels=labels_of(new), group="session"))
    assert len(set(judged.groups)) == len(set(new["session"].to_pylist()))


def test_of_very_many_rows_a_random_draw_is_evaluated_and_said(ranker, decided, subject, monkeypatch):
    monkeypatch.setattr("vecuq.report.labelled.MOST_EVALUATED", 100)
    new = decided(300, 4)
    judged = Judged.of(subject(ranker, new, labels=labels_of(new)))
    assert len(judged.rows) == 100
    assert judged.drawn == "A random draw of 100 of 300 rows with labels and a score."


# A gate


def test_the_certificate_stands_with_what_the_labels_say_of_it(ranker, gate, decided, subject, text_of):
    new = decided(400, 8)
    made = subject(ranker, new, gate=gate, labels=labels_of(new))
    found = contradiction_of(made)
    assert found.audit == audited(gate, gate.accept(new), labels_of(new)["error"])
    certificate, coverage = decided_sections(made, found)
    text = text_of(certificate.body)
    assert gate.certificate().promise in text
    assert gate.certificate().assumption in text
    assert f"Of {found.audit.n_accepted} accepted rows with labels" in text
    assert "vq-warn" not in certificate.body
    assert [f"{line['accuracy']:g}" in text_of(coverage.body) for line in gate.table_] == [True] * 4


def test_labels_that_fitted_the_gate_say_nothing_of_its_promise(ranker, gate, decided, subject, text_of):
    own = decided(1_500, 5)
    made = subject(ranker, own, gate=gate, labels=labels_of(own))
    found = contradiction_of(made)
    assert found.audit is None
    assert "fitted the gate" in text_of(decided_sections(made, found)[0].body)
    assert any("fitted the gate" in note for note in notes_on(made, found))


def test_labels_that_contradict_the_certificate_are_a_warning(ranker, gate, decided, subject):
    new = decided(400, 8, error=0.4)
    made = subject(ranker, new, gate=gate, labels=labels_of(new))
    found = contradiction_of(made)
    assert found.is_broken
    assert "vq-warn" in decided_sections(made, found)[0].body


def test_rows_unlike_the_labelled_ones_are_a_warning(ranker, gate, decided, subject):
    import pyarrow as pa

    new = decided(400, 8)
    moved = new.set_column(1, "entropy", pa.array(new["entropy"].to_numpy() + 2.0))
    assert contradiction_of(subject(ranker, new, gate=gate)).unlike is None
    found = contradiction_of(subject(ranker, moved, gate=gate))
    assert found.unlike < 1e-4
    assert "The scores differ from those of the labelled rows" in found.unlike_words


def test_a_gate_by_category_says_what_each_unit_accepts(ranker, decided, subject, text_of):
    rows, new = decided(2_500, 5), decided(400, 8)
    gate = Gate(ranker, accuracy=0.88).fit(rows, 1 - rows["wrong"].to_numpy(), by=rows["by"].to_pylist())
    made = subject(ranker, new, gate=gate, by="by")
    np.testing.assert_array_equal(made.decision.accepted, gate.accept(new, by=new["by"].to_pylist()))
    *_, units = decided_sections(made, contradiction_of(made))
    law = np.array(new["by"].to_pylist()) == "law"
    assert units.anchor == "categories"
    assert f" {law.sum()} " in text_of(units.body)


def test_a_promise_about_each_category_is_not_kept_by_all_of_them_together(ranker, decided, subject):
    rows, new = decided(2_500, 5), decided(2_000, 8)
    by, wrong = np.array(new["by"].to_pylist()), new["wrong"].to_numpy().astype(float)
    gate = Gate(ranker, accuracy=0.8).fit(rows, 1 - rows["wrong"].to_numpy(), by=rows["by"].to_pylist())
    made = subject(ranker, new, gate=gate, by="by", labels={"error": wrong})
    assert contradiction_of(made).audit.verdict == "open"  # of art there are too few labels
    assert contradiction_of(made).audit.open_in == ("art",)
    worse = np.where(by == "maths", np.arange(len(by)) % 3 == 0, wrong * (by != "law")).astype(float)
    found = contradiction_of(subject(ranker, new, gate=gate, by="by", labels={"error": worse}))
    assert found.audit.upper < found.audit.allowed  # together they look well
    assert found.audit.broken_in == ("maths",)
    assert "broken in maths" in found.words


def test_a_gate_fitted_with_groups_asks_for_the_groups_before_it_checks_labels(ranker, decided, subject):
    rows, new = decided(1_500, 5), decided(400, 8)
    gate = Gate(ranker, accuracy=0.8).fit(rows, 1 - rows["wrong"].to_numpy(), groups=rows["session"].to_pylist())
    alone = contradiction_of(subject(ranker, new, gate=gate, labels=labels_of(new)))
    assert alone.audit is None
    assert "fitted with groups" in alone.words
    assert contradiction_of(subject(ranker, new, gate=gate, labels=labels_of(new), group="session")).audit is not None

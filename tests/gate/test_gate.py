"""The gate: one promise per target, kept by what it accepts, saved and found again."""

import json
import re
import warnings

import numpy as np
import numpy.testing as npt
import pyarrow as pa
import pytest

from vecuq import Conformal, Gate, VecUQ, VecUQPipeline, fit_ranker, learn_weights, load
from vecuq.baselines import Combiner
from vecuq.errors import CalibrationError, CalibrationWarning, ModelFileError, SettingError, TableError

RNG = np.random.default_rng(0)
MODEL = VecUQ().fit(RNG.gamma(1.0, size=(800, 2)))


def rows_with_labels(n: int, seed: int, divisor: float = 12.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.gamma(1.0, size=(n, 2))
    return rows, rng.random(n) > rows.sum(axis=1) / divisor


ROWS, CORRECT = rows_with_labels(1500, 1)
NEW, TRUTH = rows_with_labels(4000, 2)


@pytest.fixture(scope="module")
def gate() -> Gate:
    return Gate(MODEL, accuracy=0.9).fit(ROWS, CORRECT)


def test_accepted_rows_are_as_accurate_as_promised(gate):
    accepted = gate.accept(NEW)
    assert accepted.mean() > 0.3
    assert TRUTH[accepted].mean() >= 0.9
    assert TRUTH.mean() < 0.9


def test_what_users_read_off_a_gate_agrees_with_what_it_does(gate):
    npt.assert_array_equal(gate.accept(NEW), MODEL.uncertainty(NEW) <= gate.threshold_)
    assert gate.coverage_ == gate.accept(ROWS).mean()
    assert gate.bound_ == pytest.approx(0.1)
    assert gate.order_ == "model"
    assert set(gate.orders_) == {"model", "x0", "x1"}
    assert gate.orders_["model"] == gate.coverage_


def test_a_row_is_decided_alone_as_in_a_batch(gate):
    npt.assert_array_equal([gate.accept(NEW[k : k + 1])[0] for k in range(50)], gate.accept(NEW[:50]))


def test_a_row_without_a_score_is_not_accepted_and_counts_in_the_coverage():
    rows = np.where(np.arange(len(ROWS))[:, None] % 4 == 0, np.nan, ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = Gate(MODEL, accuracy=0.85).fit(rows, CORRECT)
        accepted = made.accept(rows)
    assert not accepted[::4].any()
    assert 0 < made.coverage_ == accepted.mean() <= 0.75


@pytest.mark.parametrize(
    "target",
    [
        {"error": 0.12},
        {"flag_recall": 0.8},
        {"flag_precision": 0.2},
        {"cost_wrong": 10.0, "cost_review": 1.0},
        {"budget": 0.3},
        {"budget": 25},
        {"accuracy": 0.9, "promise": "average"},
        {"accuracy": 0.85, "guard": 0.05},
        {"accuracy": 0.85, "order": "x1"},
    ],
    ids=str,
)
def test_every_target_is_kept_saved_and_found_again(target, tmp_path):
    made = Gate(MODEL, **target).fit(ROWS, CORRECT)
    accepted = made.accept(NEW)
    made.save(tmp_path / "gate.vecuq")
    again = load(tmp_path / "gate.vecuq")
    npt.assert_array_equal(again.accept(NEW), accepted)
    npt.assert_array_equal(again.p_wrong(NEW), made.p_wrong(NEW))
    assert again.certificate() == made.certificate()
    assert again.to_bytes() == made.to_bytes()
    if "flag_recall" in target:
        assert (~accepted)[~TRUTH].mean() >= 0.8
    if "flag_precision" in target:
        assert (~TRUTH)[~accepted].mean() >= 0.2
    if target.get("budget") == 25:
        assert (~accepted).sum() == 25
    if target.get("budget") == 0.3:
        assert (~accepted).mean() == pytest.approx(0.3, abs=0.06)
    if "guard" in target:
        assert not accepted[MODEL.p_values(NEW) < 0.05].any()


def test_an_order_chosen_by_the_labels_is_refused_with_what_to_do():
    with pytest.raises(SettingError, match="name a score column"):
        Gate(MODEL, accuracy=0.9, order="best")


def test_a_cost_is_lowest_where_it_was_promised():
    made = Gate(MODEL, cost_wrong=10.0, cost_review=1.0).fit(ROWS, CORRECT)
    accepted = made.accept(NEW)
    cost = 10.0 * (~TRUTH & accepted).mean() + (~accepted).mean()
    certificate = made.certificate()
    assert cost <= certificate.cost_bound
    assert abs(cost - certificate.cost) < 0.15
    assert cost < min(1.0, 10.0 * (~TRUTH).mean())


def test_a_graded_quality_is_certified_by_its_mean():
    rng = np.random.default_rng(3)
    quality = np.clip(1.0 - 0.12 * ROWS.sum(axis=1) * rng.random(len(ROWS)) * 2, 0, 1)
    made = Gate(MODEL, quality=0.85).fit(ROWS, quality)
    accepted = made.accept(ROWS)
    assert 0.2 < accepted.mean() <= 1.0
    assert quality[accepted].mean() >= 0.85


def test_the_average_promise_has_no_threshold_and_refuses_a_single_row():
    made = Gate(MODEL, accuracy=0.9, promise="average").fit(ROWS, CORRECT)
    assert made.threshold_ is None
    assert made.accept(NEW).any()
    with pytest.raises(SettingError, match="single row"):
        made.accept(NEW[:1])


def test_labels_that_prove_nothing_accept_nothing_and_say_what_is_proven_and_missing():
    words = r"do not prove accuracy 0.95.*accuracy 0.8 for .*more labels.*Two tries, each with confidence 0.9, have 0.8"
    with pytest.warns(CalibrationWarning, match=words):
        made = Gate(MODEL, accuracy=0.95).fit(ROWS[:600], CORRECT[:600])
    assert not made.accept(NEW).any()
    assert made.coverage_ == 0
    assert made.bound_ == 1
    assert "Nothing is certified" in str(made.certificate())


def test_what_a_promise_with_confidence_takes_is_not_said_of_one_on_average():
    with pytest.warns(CalibrationWarning, match="do not prove accuracy 0.999") as said:
        Gate(MODEL, accuracy=0.999, promise="average").fit(ROWS[:60], CORRECT[:60])
    assert not [one for one in said if re.search("two looks|It takes at least|labels are", str(one.message))]


def test_a_target_out_of_reach_is_named():
    rng = np.random.default_rng(4)
    with pytest.warns(CalibrationWarning, match="Even 48,000 labels are not likely"):
        Gate(MODEL, accuracy=0.99).fit(ROWS, rng.random(len(ROWS)) < 0.5)


def test_the_table_of_targets_falls_and_holds_all_at_once(gate):
    coverages = [line["coverage"] for line in gate.table_]
    assert coverages == sorted(coverages, reverse=True)
    assert [line["accuracy"] for line in gate.table_] == [0.8, 0.9, 0.95, 0.99]
    assert gate.table_[1]["coverage"] <= gate.coverage_


def test_p_wrong_is_calibrated_monotone_and_has_an_interval(gate):
    found = gate.p_wrong(NEW, interval=True)
    order = np.argsort(MODEL.uncertainty(NEW))
    assert (np.diff(found[order], axis=0) >= 0).all()
    assert ((found[:, 1] <= found[:, 0]) & (found[:, 0] <= found[:, 2])).all()
    assert abs(found[:, 0].mean() - (~TRUTH).mean()) < 0.02


def test_a_certificate_prints_as_text_markdown_and_json(gate):
    certificate = gate.certificate()
    assert str(certificate).startswith("With confidence 90 %, at least 90 % of the accepted rows are right.")
    assert "random sample" in certificate.assumption
    assert "| coverage |" in certificate.to_markdown()
    assert json.loads(certificate.to_json())["n_labels"] == 1500
    assert certificate.n_errors == (~CORRECT)[gate.accept(ROWS)].sum()
    low, high = certificate.coverage_interval
    assert low < gate.accept(NEW).mean() < high


def test_categories_have_a_certificate_each_and_few_labels_are_pooled():
    rng = np.random.default_rng(5)
    by = rng.choice(["law", "art", "rare", "odd"], len(ROWS), p=[0.5, 0.46, 0.02, 0.02])
    made = Gate(MODEL, accuracy=0.85).fit(ROWS, CORRECT, by=by)
    certificate = made.certificate()
    assert [one.unit for one in certificate.units] == ["art", "law", "pooled"]
    assert "odd, rare" in certificate.promise
    accepted = made.accept(NEW[:200], by=["never seen"] * 200)
    assert not accepted.any()
    assert made.accept(NEW, by=["law"] * len(NEW)).any()
    assert made.threshold_ is None
    again = load(made.to_bytes())
    npt.assert_array_equal(again.accept(NEW, by=["law"] * len(NEW)), made.accept(NEW, by=["law"] * len(NEW)))
    with pytest.raises(SettingError, match="by="):
        made.accept(NEW)


def test_certificates_that_hold_together_cover_no_more_than_those_that_hold_alone():
    by = np.where(np.arange(len(ROWS)) % 2 == 0, "a", "b")
    alone = Gate(MODEL, accuracy=0.88).fit(ROWS, CORRECT, by=by)
    together = Gate(MODEL, accuracy=0.88).fit(ROWS, CORRECT, by=by, simultaneous=True)
    assert together.coverage_ <= alone.coverage_
    assert "all together" in together.certificate().promise


def test_groups_count_as_evidence_not_rows():
    groups = np.arange(300).repeat(5)
    made = Gate(MODEL, accuracy=0.8).fit(ROWS, CORRECT, groups=groups)
    assert made.certificate().n_groups == 300
    assert "random row of a random group" in made.certificate().assumption
    npt.assert_array_equal(load(made.to_bytes()).accept(NEW), made.accept(NEW))
    # Copies of rows are no further evidence.
    copies = np.tile(np.arange(100), 10)
    with pytest.warns(CalibrationWarning, match="do not prove"):
        Gate(MODEL, accuracy=0.9).fit(ROWS[copies], CORRECT[copies], groups=copies)


def test_a_model_that_cannot_be_saved_can_be_gated_all_the_same():
    class Largest(Combiner):
        def _learn(self, rows):
            return lambda new: new.max(axis=1)

    made = Gate(Conformal(Largest()).fit(RNG.gamma(1.0, size=(300, 2))), accuracy=0.85).fit(ROWS, CORRECT)
    assert made.accept(NEW).any()
    assert made.certificate().model == "Conformal"
    with pytest.raises(ModelFileError, match="cannot be saved without pickle"):
        made.to_bytes()


def test_a_ranker_a_pipeline_and_any_object_with_an_uncertainty_can_be_gated():
    ranker = fit_ranker(RNG.gamma(1.0, size=(300, 2)))
    assert Gate(ranker, accuracy=0.85).fit(ROWS, CORRECT).accept(NEW).any()

    class Sum:
        def uncertainty(self, rows):
            return np.asarray(rows).sum(axis=1)

    made = Gate(Sum(), accuracy=0.85).fit(ROWS, CORRECT)
    assert made.accept(NEW).any()
    assert len(made.learned_.labelled.scores) < len(ROWS)  # some lent their scores to the thresholds
    with pytest.raises(Exception, match="cannot be saved"):
        made.to_bytes()


def test_a_pipeline_is_gated_on_outputs_of_a_classifier():
    rng = np.random.default_rng(6)
    logits = rng.normal(size=(3, 900, 4)) * 2
    made = VecUQPipeline(measures=["entropy", "msp"]).fit(logits[:, :300])
    right = rng.random(600) < 0.5 + logits[:, 300:].mean(axis=0).max(axis=1) / 6
    gate = Gate(made, accuracy=0.6).fit(logits[:, 300:], right)
    again = load(gate.to_bytes())
    npt.assert_array_equal(again.accept(logits[:, :200]), gate.accept(logits[:, :200]))


def test_frames_are_matched_by_name():
    names = ["entropy", "knn"]
    model = VecUQ().fit(pa.table(dict(zip(names, RNG.gamma(1.0, size=(2, 500)), strict=True))))
    made = Gate(model, accuracy=0.85).fit(pa.table(dict(zip(names, ROWS.T, strict=True))), CORRECT)
    swapped = pa.table(dict(zip(names[::-1], NEW.T[::-1], strict=True)))
    npt.assert_array_equal(made.accept(swapped), made.accept(pa.table(dict(zip(names, NEW.T, strict=True)))))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["yes"] * 1500, "begins with .'yes'."),
        (np.where(np.arange(1500) == 3, np.nan, 1.0), "1 of 1,500 labels are missing"),
        (CORRECT[:-1], "one label per row"),
        (np.linspace(0, 1, 1500), "must be 0 or 1"),
        ([None] * 1500, "1,500 of 1,500 labels are missing"),
    ],
    ids=["text", "NaN", "length", "graded", "none"],
)
def test_a_bad_label_column_is_refused_in_one_line(labels, message):
    with pytest.raises((TableError, CalibrationError), match=message):
        Gate(MODEL, accuracy=0.9).fit(ROWS, labels)


def test_doubtful_labels_are_named():
    with pytest.warns(CalibrationWarning, match="All 1,500 labelled rows are right"):
        assert Gate(MODEL, accuracy=0.9).fit(ROWS, np.ones(1500)).coverage_ > 0.9
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Gate(MODEL, accuracy=0.9).fit(ROWS, ~CORRECT)
    assert any("inverted" in str(one.message) for one in caught)


def test_new_rows_unlike_the_labelled_ones_are_noticed(gate):
    with pytest.warns(CalibrationWarning, match="differ from those of the labelled rows"):
        gate.accept(NEW[:500] + 1.0)


def test_rows_that_were_accepted_are_compared_with_accepted_ones(gate):
    by = Gate(MODEL, accuracy=0.8).fit(ROWS, CORRECT, by=np.arange(1500) % 2)
    accepted = NEW[gate.accept(NEW)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", CalibrationWarning)
        assert gate.accept(accepted).all()
        places = np.arange(4000) % 2
        taken = by.accept(NEW, by=places)
        assert by.accept(NEW[taken], by=places[taken]).all()
    with pytest.warns(CalibrationWarning, match="differ from those of the labelled rows"):
        gate.accept(accepted / 4)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"accuracy": 1.2}, "accuracy must lie in"),
        ({"accuracy": 0.9, "error": 0.1}, "one target"),
        ({"cost_wrong": 3.0}, "both prices"),
        ({"budget": 1.5}, "whole number of rows"),
        ({"promise": "always"}, "promise must be one of"),
        ({"quality": 0.9, "promise": "average"}, "is about accuracy"),
        ({"order": "x7"}, "order must be one of"),
        ({"guard": 0.0001}, "turns no row away"),
        ({"confidence": 1.0}, "confidence must lie in"),
    ],
    ids=str,
)
def test_a_target_that_makes_no_sense_is_refused(wrong, message):
    with pytest.raises(SettingError, match=message):
        Gate(MODEL, **wrong)


def test_a_model_that_gives_no_uncertainty_or_is_not_fitted_is_refused():
    with pytest.raises(TableError, match="needs a fitted model"):
        Gate("model.vecuq")
    with pytest.raises(TableError, match="not fitted"):
        Gate(VecUQ())
    with pytest.raises(CalibrationError, match="no labels yet"):
        Gate(MODEL).accept(NEW)


def test_labelled_rows_that_are_the_held_back_ones_get_thresholds_from_other_rows():
    model = VecUQ().fit(ROWS)
    held = model.ranker_.kept.held
    right = np.random.default_rng(7).random(len(held)) > held.sum(axis=1) / 20
    made = Gate(model, accuracy=0.8).fit(held, right)
    assert len(made.learned_.labelled.scores) < len(held)


def test_labelled_rows_that_fitted_the_map_are_left_out_with_a_warning():
    model = VecUQ().fit(ROWS[:600])
    with pytest.warns(CalibrationWarning, match="have fitted the model and are left out"):
        made = Gate(model, accuracy=0.85).fit(ROWS, CORRECT)
    assert len(made.learned_.labelled.scores) < len(ROWS) - 250


def test_rows_that_learned_the_weights_are_refused():
    weights = learn_weights(ROWS[:700], ~CORRECT[:700])
    model = VecUQ(weights=weights).fit(RNG.gamma(1.0, size=(400, 2)))
    with pytest.raises(CalibrationError, match="learned the model's weights"):
        Gate(model, accuracy=0.85).fit(ROWS[:900], CORRECT[:900])
    assert Gate(model, accuracy=0.85).fit(ROWS[700:], CORRECT[700:]).coverage_ > 0


def test_discrete_scores_that_match_honestly_are_kept():
    rng = np.random.default_rng(8)
    rows = rng.integers(0, 6, size=(2000, 2)).astype(float)
    model = VecUQ().fit(rows[:600])
    right = rng.random(1400) > rows[600:].sum(axis=1) / 40
    made = Gate(model, accuracy=0.8).fit(rows[600:], right)
    assert made.coverage_ > 0.3


def test_rows_without_a_score_are_flagged_and_count_in_the_precision_of_the_flag():
    scores = np.concatenate([np.linspace(0, 1, 400), np.full(200, np.nan)])

    class Known:
        def uncertainty(self, rows):
            return np.asarray(rows)[:, 0]

    wrong = np.concatenate([np.linspace(0, 1, 400) > 0.7, np.zeros(200, dtype=bool)])
    with pytest.warns(CalibrationWarning, match="do not prove precision"):
        Gate(Known(), flag_precision=0.6).fit(scores[:, None], ~wrong, unlabelled=np.linspace(0, 1, 300)[:, None])


def test_a_promise_on_average_refuses_groups_which_it_would_ignore():
    with pytest.raises(SettingError, match="takes no groups="):
        Gate(MODEL, accuracy=0.9, promise="average").fit(ROWS, CORRECT, groups=np.arange(len(ROWS)) // 5)


def test_certificates_that_hold_together_need_categories():
    with pytest.raises(SettingError, match="name those with by="):
        Gate(MODEL, accuracy=0.9).fit(ROWS, CORRECT, simultaneous=True)


def test_a_gate_cannot_stand_on_a_gate(gate):
    with pytest.raises(TableError, match=r"give the model inside it: Gate\(gate.model"):
        Gate(gate, accuracy=0.9)


def test_a_row_without_a_category_is_named_as_such():
    with pytest.raises(TableError, match="1 of 1,500 rows have no category"):
        Gate(MODEL, accuracy=0.9).fit(ROWS, CORRECT, by=[None, *["a"] * 1499])


def test_the_certificate_of_an_average_gives_its_error_rate_no_confidence():
    facts = dict(Gate(MODEL, accuracy=0.9, promise="average").fit(ROWS, CORRECT).certificate().facts())
    assert facts["error rate on average"] == "at most 0.1"
    assert facts["confidence"] == "0.9, of the interval of coverage only"


def test_the_certificate_of_a_quality_speaks_of_losses_also_where_they_are_whole():
    facts = dict(Gate(MODEL, quality=0.8).fit(ROWS, CORRECT.astype(float)).certificate().facts())
    assert facts["mean loss"] == "at most 0.2"
    assert "mean loss" in facts["labels"]
    assert "error rate" not in facts


def test_with_too_few_labels_the_fewest_that_can_do_are_named():
    with pytest.warns(CalibrationWarning, match="It takes at least 23,025 accepted labels without an error"):
        Gate(MODEL, accuracy=0.9999).fit(ROWS, CORRECT)


def test_a_bound_is_never_printed_below_what_was_proven():
    for share in (0.1, 0.2, 0.3, 0.4):
        found = Gate(MODEL, budget=share).fit(ROWS, CORRECT).certificate()
        said = float(found.promise.split("at most ")[1].split(" %")[0]) / 100
        assert found.bound - 1e-9 <= said <= found.bound * 1.001 + 1e-9
        assert dict(found.facts())["error rate"] == f"at most {said:.4g}"

"""The catalogue says of every number what it is, and what it says of ranges and directions holds on random inputs."""

import re

import numpy as np
import pytest
from catalogue.entries import entries
from catalogue.ranges import Sizes, interval_of
from catalogue.text_pictures import record_with, value_of

from vecuq.answers import CONFIDENCE_WORDS, AnswerRecord
from vecuq.baselines import list_baselines
from vecuq.evaluation import METRICS
from vecuq.measures import list_measures
from vecuq.measures.text import AnswerFeatures, TextSettings

KNOWN = entries()
SIZES = Sizes(K=3, M=4, n=5, V=50, m=3, N=60)


def of(*sections):
    return [pytest.param(one, id=f"{one.section}-{one.name}") for one in KNOWN if one.section in sections]


def rising(*keys, sections=("classifier", "risk", "text", "baseline")):
    chosen = [one for one in KNOWN if one.rises in keys and one.section in sections]
    return [pytest.param(one, id=one.name) for one in chosen]


def test_every_registered_measure_metric_and_baseline_has_one_entry():
    measures = [name for names in list_measures().values() for name in names]
    registered = [*measures, *(one.key for one in METRICS), *list_baselines()]
    assert sorted(one.name for one in KNOWN) == sorted(registered)


@pytest.mark.parametrize("entry", of("classifier", "risk", "text", "metric", "baseline"))
def test_an_entry_has_formula_range_direction_and_reference(entry):
    assert entry.about
    assert entry.needs
    assert entry.formula.count("{") == entry.formula.count("}")
    assert interval_of(entry.range, SIZES).low < interval_of(entry.range, SIZES).high
    assert entry.direction.startswith(("Higher", "Lower"))
    assert entry.references
    assert all(re.search(r"\(.*\d{4}\)|^No reference", one) for one in entry.references)


def test_a_value_beyond_a_range_would_be_seen():
    assert interval_of(r"[0, \log K]", SIZES).holds(np.log(3))
    assert not interval_of(r"[0, \log K]", SIZES).holds(1.2)
    assert not interval_of("(0, 1]", SIZES).holds(0.0)
    assert not interval_of(r"[0, \infty)", SIZES).holds(np.inf)
    with pytest.raises(ValueError, match="not known"):
        interval_of("[0, 7]", SIZES)


def all_within(entry, values):
    printed = interval_of(entry.range, SIZES)
    outside = [value for value in np.asarray(values, dtype=float).ravel() if not printed.holds(value)]
    assert outside == []


def random_logits(members, rows=200, seed=0):
    """Return logits of every sharpness; those of a row sum to 0."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(members, rows, SIZES.K)) * rng.choice([0.1, 1.0, 5.0, 20.0], size=(1, rows, 1))
    return logits - logits.mean(axis=-1, keepdims=True)


def random_rows(seed=0):
    """Return training rows of two classes, and rows near and far from them."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], 40)
    rows = rng.normal(size=(80, 3)) + [[4.0, 0.0, 0.0]] + labels[:, None] * [[0.0, 3.0, 0.0]]
    return rows, labels, rows[:40] + 0.1 * rng.normal(size=(40, 3)), -3.0 * rows[:40] - 5.0


@pytest.mark.parametrize("entry", of("classifier", "risk"))
def test_a_classifier_measure_stays_within_its_range(entry):
    if entry.rises in ("distance", "apart"):
        rows, labels, near, far = random_rows()
        all_within(entry, entry.made_of.compute.fit(rows, labels).score(np.concatenate([near, far])))
    else:
        all_within(entry, entry.made_of.compute(random_logits(SIZES.M)))


@pytest.mark.parametrize("entry", rising("flatter", "both"))
def test_a_flatter_prediction_is_no_less_uncertain(entry):
    logits = random_logits(1)
    sharp, flat = (np.asarray(entry.made_of.compute(given)) for given in (logits, logits / 2))
    assert (flat >= sharp - 1e-9).all()
    assert (flat > sharp + 1e-6).any()


@pytest.mark.parametrize("entry", rising("disagreement"))
def test_members_that_disagree_are_no_less_uncertain_than_members_that_agree(entry):
    differ = random_logits(SIZES.M)
    agree, apart = (np.asarray(entry.made_of.compute(given)) for given in (np.repeat(differ[:1], SIZES.M, 0), differ))
    assert (agree <= apart + 1e-9).all()
    # Where truth and prediction are one and the same, nothing is left to disagree about.
    same = getattr(entry.made_of.compute, "keywords", {"truth": 1, "prediction": 2})
    alike = same["truth"] == same["prediction"] != 1 or (
        same.get("rule") in ("brier", "zero-one") and {same["truth"], same["prediction"]} == {2, 3}
    )
    assert alike or (apart > agree + 1e-6).any()


@pytest.mark.parametrize("entry", rising("both"))
def test_a_total_risk_is_no_less_than_either_of_its_parts(entry):
    logits, compute = random_logits(SIZES.M), entry.made_of.compute
    total = np.asarray(compute(logits))
    for kind in ("bayes", "excess"):
        assert (total >= np.asarray(compute(logits, kind=kind)) - 1e-9).all()


@pytest.mark.parametrize("entry", rising("distance"))
def test_a_row_far_from_the_training_rows_is_more_uncertain(entry):
    rows, labels, near, far = random_rows()
    fitted = entry.made_of.compute.fit(rows, labels)
    assert fitted.score(near).max() < fitted.score(far).min()


@pytest.mark.parametrize("entry", rising("apart"))
def test_only_the_direction_between_classes_counts_for_a_relative_distance(entry):
    rows, labels, near, far = random_rows()
    fitted = entry.made_of.compute.fit(rows, labels)
    for way in (-40.0, 40.0):
        assert fitted.score(near).max() < fitted.score(near + np.array([0.0, way, 0.0])).min()
    assert fitted.score(near).max() > fitted.score(far).min()


def random_said(rng, text):
    size = int(rng.integers(1, 7))
    return {
        "text": text,
        "tokens": [text, *(str(k) for k in range(size - 1))],
        "logprobs": (-rng.exponential(size=size) * rng.choice([0.01, 1.0, 10.0])).tolist(),
        "entropies": rng.uniform(0, np.log(5), size).tolist(),
        "entropy_top_k": 5,
        "margins": rng.uniform(0, 1, size).tolist(),
        "certainties": rng.exponential(size=size).tolist(),
    }


def random_record(seed):
    """Return an answer with samples of few words, so that some agree."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(["Paris", "Lyon", "in", "7", "no"], size=rng.integers(1, 4))) for _ in range(6)]
    stated = {"p_true": rng.uniform(), "confidence": rng.uniform(), "confidence_words": rng.choice([*CONFIDENCE_WORDS])}
    samples = [random_said(rng, text) for text in texts[1:]]
    return AnswerRecord.of({"question": "Where?", **random_said(rng, texts[0]), **stated, "samples": samples})


def random_law(pairs):
    """Stand in for an NLI model: some law for each pair, always the same."""
    return np.array([np.random.default_rng(abs(hash(pair)) % 2**32).dirichlet([0.5] * 3) for pair in pairs])


def random_directions(texts):
    """Stand in for an embedding: some direction for each text, always the same."""
    return np.array([np.random.default_rng(abs(hash(text)) % 2**32).normal(size=3) for text in texts])


@pytest.mark.parametrize("entry", of("text"))
def test_a_text_measure_stays_within_its_range(entry):
    embedded = entry.name == "cosine"
    plain = TextSettings(similarity="embedding", embed=random_directions) if embedded else TextSettings()
    judged = plain if embedded else TextSettings(nli=random_law)
    settings = [judged] if entry.name == "non_contradiction" else [plain, judged]
    records = [random_record(seed) for seed in range(15)]
    all_within(entry, [entry.made_of.compute(AnswerFeatures(one, choice)) for one in records for choice in settings])


@pytest.mark.parametrize("entry", rising("spread", "unlikely_and_spread"))
@pytest.mark.parametrize("probability", [0.4, 0.9])
def test_samples_that_agree_less_are_more_uncertain(entry, probability):
    values = [value_of(entry, record_with(others, probability)) for others in range(10)]
    assert (np.diff(values) >= -1e-9).all()
    assert values[-1] > values[0]


@pytest.mark.parametrize("entry", rising("unlikely", "open", "unlikely_and_spread"))
@pytest.mark.parametrize("others", [1, 6])
def test_a_model_that_is_less_sure_of_its_words_is_more_uncertain(entry, others):
    values = [value_of(entry, record_with(others, probability)) for probability in np.linspace(0.99, 0.35, 9)]
    assert (np.diff(values) > 0).all()


@pytest.mark.parametrize("entry", rising("doubt"))
def test_a_model_that_states_less_confidence_is_more_uncertain(entry):
    words = sorted(CONFIDENCE_WORDS, key=CONFIDENCE_WORDS.__getitem__)
    sure = {"text": "Paris", "p_true": 0.9, "confidence": 0.8, "confidence_words": words[-1]}
    unsure = {"text": "Paris", "p_true": 0.4, "confidence": 0.1, "confidence_words": words[0]}
    assert value_of(entry, sure) < value_of(entry, unsure)


@pytest.mark.parametrize("entry", of("metric"))
def test_a_metric_stays_within_its_range_and_prefers_the_better_order(entry):
    metric, rng = entry.made_of, np.random.default_rng(1)
    for _ in range(20):
        target = np.append(rng.integers(0, 2, 40), [0, 1]).astype(float)
        # Rows that are wrong or out of distribution should be the uncertain ones, those that are right the others.
        best = target if metric.task in ("ood", "error") else -target
        orders = [best, rng.normal(size=42).round(1), -best]
        values = [metric.function(uncertainty, target) for uncertainty in orders]
        all_within(entry, values)
        ordered = values if metric.higher_is_better else values[::-1]
        assert sorted(ordered, reverse=True) == pytest.approx(ordered)
        assert ordered[0] > ordered[-1]


def fitted(entry, seed=0, against=False):
    """Return a baseline fitted to columns that rise together, or of which the last falls as the others rise."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(SIZES.N, 1))
    rows = common * ([1.0, 1.0, -1.0] if against else [1.0, 1.0, 1.0]) + 0.5 * rng.normal(size=(SIZES.N, SIZES.m))
    return entry.made_of.make().fit(rows), rows


@pytest.mark.filterwarnings("ignore::vecuq.errors.VecuqWarning")
@pytest.mark.parametrize("entry", of("baseline"))
def test_a_baseline_stays_within_its_range(entry):
    model, rows = fitted(entry)
    all_within(entry, model.uncertainty(np.concatenate([rows, 5.0 * rows, rows[::-1] - 50.0])))


@pytest.mark.parametrize("entry", rising("every_score"))
def test_raising_a_score_never_lowers_the_uncertainty(entry):
    model, rows = fitted(entry)
    before = model.uncertainty(rows)
    for column in range(SIZES.m):
        after = model.uncertainty(rows + np.eye(SIZES.m)[column])
        assert (after >= before - 1e-9).all()
        assert (after > before).any()


@pytest.mark.filterwarnings("ignore::vecuq.errors.VecuqWarning")
def test_the_principal_component_may_fall_with_a_score():
    (entry,) = (one for one in KNOWN if one.rises == "component")
    model, rows = fitted(entry)
    assert (model.uncertainty(rows + 1.0) > model.uncertainty(rows)).all()
    model, rows = fitted(entry, against=True)
    assert (model.uncertainty(rows + np.array([0.0, 0.0, 1.0])) < model.uncertainty(rows)).all()


@pytest.mark.parametrize("entry", rising("outlier"))
def test_an_outlier_is_uncertain_in_either_direction(entry):
    model, rows = fitted(entry)
    middle, above, below = model.uncertainty(rows.mean(axis=0) + np.array([[0.0], [9.0], [-9.0]]))
    assert middle < min(above, below)

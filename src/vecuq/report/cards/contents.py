"""What a saved thing does, what it takes, and the figures behind its promises."""

from __future__ import annotations

from typing import Any

from vecuq.baselines import Conformal
from vecuq.gate import Certificate, Gate
from vecuq.pipeline import AnswerPipeline, EstimatorPipeline, VecUQPipeline
from vecuq.ranker import Ranker, Weights, direction_of
from vecuq.report.cards.card import CardTable
from vecuq.report.cards.promises import has_ties
from vecuq.report.cards.subject import Subject, is_cross

_ALPHAS = (0.01, 0.05, 0.1)


def purpose_of(subject: Subject) -> tuple[str, ...]:
    """Return what it does, in plain sentences: the decision first, then the order that it rests on."""
    deciding = () if subject.gate is None else (_decides(subject),)
    return (*deciding, _orders(subject))


def _decides(subject: Subject) -> str:
    gate, rows = subject.gate, "answers" if subject.takes_answers else "rows"
    if gate is None:
        return ""
    if gate.target.is_certified and not gate.certified_:
        return f"It accepts no {rows}: the labels did not prove {gate.target.words}."
    how = {
        "rows": f"All but the {gate.target.value:g} most uncertain {rows} of a batch are accepted.",
        "average": f"Which {rows} of one batch are accepted depends on the whole batch.",
    }.get("average" if gate.promise == "average" else gate.target.kind, "")
    if not how and gate.threshold_ is not None:
        how = _up_to(gate, gate.threshold_, rows)
    return (
        f"It decides which {rows} may be trusted without review; its target is {gate.target.words}. {how}".strip()
        + _by_category(gate)
        + _guarded(gate, rows)
    )


def _by_category(gate: Gate) -> str:
    """Return that categories are decided apart; only a promise of one threshold gives each a threshold."""
    if not gate.certificate().units:
        return ""
    by_threshold = gate.learned_.decider.by_threshold
    return " Every category has a threshold of its own." if by_threshold else " Every category is decided by itself."


def _guarded(gate: Gate, rows: str) -> str:
    guard = gate.settings.guard
    return "" if guard is None else f" It never accepts {rows} with a p-value below {guard:g}."


def _up_to(gate: Gate, threshold: float, rows: str) -> str:
    """Return which rows are accepted, by the threshold on the order of the gate."""
    what = "uncertainty" if gate.order_ == "model" else gate.order_
    if threshold == float("inf"):
        return f"It accepts all {rows} that have a score."
    if threshold == float("-inf"):
        return f"It accepts no {rows}, and defers all to review."
    return f"It accepts {rows} whose {what} is at most {threshold:.6g}, and defers the others to review."


def _orders(subject: Subject) -> str:
    rows = "answer of a language model" if subject.takes_answers else "row"
    n = len(getattr(subject.order, "columns", ()) or ())
    said = f"It gives every {rows} one number, its uncertainty, from {n} score{'' if n == 1 else 's'}: higher is more"
    return f"{said} uncertain. {_source(subject)}"


def _source(subject: Subject) -> str:
    order = subject.order
    if isinstance(order, Ranker):
        weights = Weights.of(order.settings.weights)
        labels = f"; {weights.n_labels:,} labels chose the weights of the scores" if weights and weights.learned else ""
        none = ", without labels" if not labels else ""
        rows = "answers" if subject.takes_answers else "rows"
        return (
            f"The order was learned from {order.diagnostics.n_map:,} in-distribution {rows}{none}, by optimal "
            f"transport to a reference law (VecUQ-OT){labels}."
        )
    if isinstance(order, Conformal):
        name = type(order.combiner_).__name__
        return f"The order is that of {name!r} over {len(order.map_rows_):,} calibration rows, without labels."
    return f"The order comes from an object of the type {type(order).__name__}, about which this card knows no more."


def inputs_of(subject: Subject) -> tuple[str | CardTable, ...]:
    """Return what must come in: raw rows of a pipeline in a sentence, and the score columns with their directions."""
    before = _raw(subject.pipeline)
    columns = getattr(subject.order, "columns", None)
    if not columns:
        return (*before, "Which columns the order looks at, the file does not say.")
    flipped = _flipped(subject.order)
    rows = tuple((name, direction_of(name, flipped), _remark(subject, name)) for name in columns)
    return (*before, CardTable("Score columns", ("column", "direction", "remark"), rows))


def _flipped(order: Any) -> frozenset[str]:
    return order.flipped if isinstance(order, Ranker) else frozenset(order.combiner_.fitted_columns_.flipped)


def _remark(subject: Subject, name: str) -> str:
    """Return what is special about a column: constant, weighted, or the order of the gate."""
    found = []
    if subject.ranker is not None:
        if name in subject.ranker.diagnostics.constant_columns:
            found.append("constant in calibration, without influence")
        weights = Weights.of(subject.ranker.settings.weights)
        found += [f"weight {weights[name]:.3g}"] if weights is not None else []
    if subject.gate is not None and subject.gate.order_ == name:
        found.append("the order of the gate")
    return "; ".join(found)


def _raw(pipeline: Any) -> tuple[str, ...]:
    if isinstance(pipeline, VecUQPipeline):
        shape = pipeline.shape_
        sizes = "" if shape is None else f" of {shape[0]} member{'' if shape[0] == 1 else 's'} and {shape[1]} classes"
        return (
            f"Raw rows: logits{sizes}, divided by the temperature {pipeline.temperature_:g}, from which the scores "
            f"below are computed{_looks(pipeline)}.",
        )
    if isinstance(pipeline, EstimatorPipeline):
        steps = pipeline.steps_
        return (
            f"Raw rows: {steps.n_features_in_:,} features, as the classifier takes them ({steps.kind_}, "
            f"{len(steps.classes_):,} classes). The classifier is not in the file: it must be given when the file is "
            f"loaded, and another one is refused, {_recognised(steps)}.",
        )
    if isinstance(pipeline, AnswerPipeline):
        made = pipeline.made_
        samples = "an unknown number of" if made is None else made.samples_in_words()
        asked = "unknown" if made is None else {"all": "yes", "none": "no", "some": "some"}[made.questions]
        return (
            f"Raw rows: answers of a language model with {samples} samples each; with the question: {asked}. How texts "
            f"are compared: {_comparison(pipeline)}.",
        )
    return ()


def _recognised(steps: Any) -> str:
    """Return by what a classifier is recognised; where it takes no plain numbers, not by its probabilities."""
    if steps.probe_ is None and steps.row_probe_ is None:
        return "by its kind, classes and features only: another one of the same kind is not noticed"
    if steps.row_probe_ is None and steps.prepared_by_:
        return (
            "by its kind, steps, classes, features and the probabilities of its last step at some points: steps of the "
            "same kinds that were fitted to other rows are not noticed"
        )
    return "by its kind, classes, features and its probabilities at some points"


def _looks(pipeline: VecUQPipeline) -> str:
    return f"; distances look at the {pipeline.embedding_}" if pipeline.densities_ else ""


def _comparison(pipeline: AnswerPipeline) -> str:
    return ", ".join(f"{name} {value}" for name, value in pipeline.settings_.to_dict().items() if value is not None)


def evidence_of(subject: Subject) -> tuple[CardTable, ...]:
    """Return the figures behind the promises: thresholds of flags, and what the labels of a gate showed."""
    found = [*_thresholds(subject)]
    if subject.gate is not None:
        certificate = subject.gate.certificate()
        found.append(CardTable("What the labels showed", ("what", "figure"), tuple(_figures(certificate))))
        found += _categories(certificate)
    if subject.live is not None:
        facts = {name: value for name, value in subject.live.describe().items() if name in _AUDIT}
        rows = tuple((name, f"{value:,}" if isinstance(value, int) else str(value)) for name, value in facts.items())
        found.append(CardTable("What the audit showed in this epoch", ("what", "figure"), rows))
    return tuple(found)


_AUDIT = ("state", "epoch", "decided", "accepted", "audited", "counted", "wrong", "pending", "overdue", "lost")
# Of a certificate, what the provenance shows.
_ELSEWHERE = ("date", "model", "labelled rows")


def _figures(certificate: Certificate) -> list[tuple[str, str]]:
    return [(name, value) for name, value in certificate.facts() if name not in _ELSEWHERE]


def _categories(certificate: Certificate) -> list[CardTable]:
    if not certificate.units:
        return []
    rows = tuple(
        (
            one.unit,
            f"{one.n_labels:,}",
            f"{one.n_accepted:,}",
            f"{one.n_errors:g}",
            f"{one.coverage:.3f}",
            "yes" if one.certified else "no: nothing is accepted",
        )
        for one in certificate.units
    )
    return [CardTable("Categories", ("category", "labels", "accepted", "wrong", "coverage", "certified"), rows)]


def _thresholds(subject: Subject) -> list[CardTable]:
    """Return the thresholds at the usual false-alarm rates, and between which rates nine of ten sets lie."""
    order = subject.order
    held = getattr(order, "held_", None)
    if isinstance(order, Ranker) and order.diagnostics.n_held and not is_cross(subject):
        held = order.held
    if held is None:
        return []
    alpha = float(order.settings.alpha if isinstance(order, Ranker) else order.alpha)
    rows = tuple(_threshold_row(held, one) for one in sorted({*_ALPHAS, alpha}))
    return [CardTable("Flags", ("alpha", "flagged above", "nine of ten calibration sets flag"), rows)]


def _threshold_row(held: Any, alpha: float) -> tuple[str, str, str]:
    at = held.threshold(alpha)
    if not abs(at) < float("inf"):
        return f"{alpha:g}", f"too few held-back {held.unit}", ""
    low, high = held.interval(alpha)
    rates = "fewer: scores tie" if has_ties(held, alpha) else f"{100 * low:.2g} % to {100 * high:.2g} %"
    return f"{alpha:g}", f"{at:.6g}", rates

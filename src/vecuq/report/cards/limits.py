"""What breaks the promises, and what a saved thing does not say: the general ones, and those that its file shows."""

from __future__ import annotations

from vecuq.conformal import held_for_confidence
from vecuq.gate import Gate
from vecuq.pipeline import AnswerPipeline, EstimatorPipeline
from vecuq.report.cards.subject import Subject, calibration_groups

# A share of the mass, beyond which anchors shape the order as much as rows do.
_MUCH_ANCHOR = 0.2


def limits_of(subject: Subject) -> tuple[str, ...]:
    """Return the limits, those that this file shows first."""
    return (*_shown(subject), *_breaking(subject), *_unsaid(subject))


def _shown(subject: Subject) -> list[str]:
    """Return what the file itself shows and a reader must know."""
    if subject.ranker is None:
        return []
    went, found = subject.ranker.diagnostics, []
    if not went.converged:
        found.append(f"The fit did not converge (marginal error {went.marginal_error:.1e}): use the order with care.")
    if went.monotone_violations:
        found.append(
            f"In {went.monotone_violations:.1%} of trial steps a higher score in one column lowered the uncertainty."
        )
    if went.anchor_mass > _MUCH_ANCHOR:
        found.append(
            f"Outer anchors carry {went.anchor_mass:.0%} of the mass: calibration rows are few for the columns."
        )
    if went.constant_columns:
        found.append(f"Constant in calibration, and so without influence: {', '.join(went.constant_columns)}.")
    return found


def _breaking(subject: Subject) -> list[str]:
    rows = "answers" if subject.takes_answers else "rows"
    found = [
        f"Other populations: every promise is about {rows} like the {_witnesses(subject)}. For {rows} of another "
        f"source, model, language or preparation nothing is promised.",
        f"Time: {rows} that change over time, or depend on the ones before them, break the assumption without notice.",
        *_sessions(subject, rows),
        f"Copies: {rows} that repeat each other count as fewer than they are. The file does not show whether there are "
        f"any; vecuq doctor looks for them in the calibration rows.",
        _missing(subject),
    ]
    if subject.gate is not None:
        found += _of_gate(subject.gate)
    elif subject.ranker is not None and subject.ranker.diagnostics.n_held:
        needed = held_for_confidence(subject.ranker.settings.alpha, 0.9)
        found.append(
            f"One calibration set: rates are promised on average over sets. To keep alpha "
            f"{subject.ranker.settings.alpha:g} for this one set, at confidence 0.9, at least {needed:,} held-back "
            f"{subject.ranker.held.unit} are needed; there are {subject.ranker.held.count:,}."
        )
    return [*found, *_of_pipeline(subject)]


def _witnesses(subject: Subject) -> str:
    return "labelled ones" if subject.gate is not None else "calibration rows"


def _sessions(subject: Subject, rows: str) -> list[str]:
    """Return what is known of rows that come together; nothing where both model and gate know their groups."""
    order, gate = subject.order, subject.gate
    single = [] if calibration_groups(order) else ["calibration"]
    single += [] if gate is None or gate.learned_.labelled.groups is not None else ["labelled"]
    if not single:
        return []
    return [
        f"Sessions: this file names no groups of {' or '.join(single)} {rows}. If they come in sessions, documents or "
        f"patients, they are fewer than they seem, and the promises do not hold as stated."
    ]


def _missing(subject: Subject) -> str:
    if subject.takes_answers and subject.pipeline.estimator_.missing == "marginal":
        return (
            "Missing values: an answer that lacks a measure is scored by the others. The promise is about answers that "
            "lack as much, as often, as the labelled ones; p-values assume that what is missing does not depend on the "
            "values."
        )
    fate = "is flagged and never accepted" if subject.gate is not None else "is flagged"
    return f"Missing values: unless requested otherwise, a row that lacks a score has no uncertainty and {fate}."


def _of_gate(gate: Gate) -> list[str]:
    found = [
        "Chosen labels: labels of rows that somebody picked, because they looked suspicious or easy, prove nothing. "
        "Whether the labelled rows were drawn at random, the file cannot show: the owner must.",
        "Wrong labels: a label that is wrong counts as it stands.",
        _few_labels(gate),
    ]
    if not gate.certificate().units and gate.certified_ and gate.target.kind != "rows":
        found.append(
            "Categories: the promise is about all rows together. In a part of them, a subject or a group of people, "
            "the error rate may be higher."
        )
    if gate.settings.order == "best":
        found.append("The order was chosen by a quarter of the labels; the others alone are the evidence.")
    return found


def _few_labels(gate: Gate) -> str:
    found = gate.certificate()
    return (
        f"Few labels: the evidence is {found.n_labels:,} labels, {found.n_accepted:,} of them of accepted rows. When "
        f"rows, model or labelling change, it is evidence of the past, and new labels are needed."
    )


def _of_pipeline(subject: Subject) -> list[str]:
    if isinstance(subject.pipeline, EstimatorPipeline):
        left = subject.pipeline.left_out_
        return [
            "Another classifier: one that is trained again is another one, and needs new calibration.",
            "Missing features count as the mean of the training rows in distances.",
            *(f"{name} is left out: {why}." for name, why in left.items()),
        ]
    if isinstance(subject.pipeline, AnswerPipeline):
        return ["Answers that were made otherwise (other samples, prompt, model or provider) are not covered."]
    return []


def _unsaid(subject: Subject) -> list[str]:
    found = [
        "It does not say why the model is wrong. A reason names the score that made a row uncertain, and no cause.",
        "It cannot find what no score shows: a row on which every score is low is certain here, right or wrong.",
        "The uncertainty is an order, and no probability.",
    ]
    if subject.gate is None:
        found.append("It says nothing about accuracy: no label took part in a promise. vecuq gate certifies that.")
    return found

"""Where a saved thing comes from: rows, dates, checksums, versions; and which settings differ from the default."""

from __future__ import annotations

import re
from typing import Any

from vecuq.baselines import Conformal
from vecuq.gate import Gate
from vecuq.pipeline import AnswerPipeline
from vecuq.ranker import CrossRanker, Ranker, Settings, Weights, meanings_of
from vecuq.report.cards.card import CardTable
from vecuq.report.cards.subject import Subject, calibration_groups


def provenance_of(subject: Subject) -> CardTable:
    """Return what the file shows of its own origin; what it does not show is not there."""
    facts = {**_file(subject), **_calibration(subject), **_labels(subject)}
    return CardTable("Provenance", ("what", "value"), tuple((name, value) for name, value in facts.items() if value))


def _file(subject: Subject) -> dict[str, str]:
    header = subject.header
    if not header:
        return {"file": "none: a part of it cannot be saved without pickle"}
    return {
        "file": subject.name,
        "SHA-256 of the file": subject.sha256,
        "checksum inside the file": str(header.get("checksum", "")),
        "saved by": f"vecuq {header.get('library')}, format {header.get('format')}",
    }


def _calibration(subject: Subject) -> dict[str, str]:
    order = subject.order
    if isinstance(order, Conformal):
        return {
            "calibration rows": f"{len(order.map_rows_):,} learned the order, {len(order.held_rows_):,} were held back",
            "held-back groups": _counted(calibration_groups(order)),
        }
    if not isinstance(order, Ranker):
        return {}
    went = order.diagnostics
    held = f"{went.n_held:,} were held back"
    if isinstance(order, CrossRanker):
        held = f"each was held back once, from one of {len(order.folds)} further maps"
    weights = Weights.of(order.settings.weights)
    return {
        "calibration rows": f"{went.n_map:,} fitted the map, {held}",
        "held-back groups": _counted(calibration_groups(order)),
        "how rows were held back": _HELD_BY.get(went.held_by, went.held_by) if went.n_held else "",
        "weights of the scores": "" if weights is None else weights.source,
        "fit": f"{'converged' if went.converged else 'did NOT converge'}, marginal error {went.marginal_error:.1e}",
        **_answers(subject.pipeline),
    }


def _counted(groups: int | None) -> str:
    return "" if groups is None else f"{groups:,}"


_HELD_BY = {
    "draw": "a seeded random draw from all rows",
    "place": "a seeded hash of each row's number",
    "id": "a seeded hash of each row's id",
}


def _answers(pipeline: Any) -> dict[str, str]:
    if not isinstance(pipeline, AnswerPipeline):
        return {}
    split = pipeline.split_
    shares = f"{split['map']:,} fitted the map, {split['weights']:,} the weights, {split['gate']:,} certified the gate"
    return {
        "answers": f"{shares}; {split['incomplete']:,} lacked a measure and were left out",
        "date of the fit": pipeline.date_,
        "fields of the labelled lines": ", ".join(pipeline.fields_),
    }


def _labels(subject: Subject) -> dict[str, str]:
    if subject.gate is None:
        return {}
    found = subject.gate.certificate()
    groups = f" in {found.n_groups:,} groups" if found.n_groups else ""
    return {
        "labelled rows": f"{found.n_labels:,}{groups}",
        "date of the certificate": found.date,
        "SHA-256 of the model inside": found.model,
        "SHA-256 of the labelled rows": f"{found.labels} (of their scores and labels)",
    }


def settings_of(subject: Subject) -> CardTable | None:
    """Return the settings that differ from the default, with their meaning; None where all are as they come."""
    rows = [*_of_order(subject), *(_of_gate(subject.gate) if subject.gate is not None else ())]
    if not rows:
        return None
    return CardTable("Settings that differ from the default", ("setting", "value", "default", "meaning"), tuple(rows))


def _of_order(subject: Subject) -> list[tuple[str, str, str, str]]:
    if not isinstance(subject.order, Ranker):
        return []
    usual, meanings = Settings().to_dict(), meanings_of(Settings)
    found = subject.order.settings.to_dict()
    return [
        (name, _shown(value), _shown(usual.get(name)), re.sub(r":\w+:", "", meanings.get(name, "")))
        for name, value in found.items()
        if value != usual.get(name)
    ]


_OF_GATE = {
    "confidence": (0.9, "With which probability, over the draw of the labelled rows, the promise holds."),
    "promise": ("confidence", "About all rows that one threshold accepts, or on average over batches."),
    "guard": (None, "Rows with a smaller p-value are not accepted."),
    "order": ("model", "By which order rows are accepted; 'best' let a part of the labels choose."),
    "random_state": (None, "Seed of the draws."),
}


def _of_gate(gate: Gate) -> list[tuple[str, str, str, str]]:
    found = {name: getattr(gate.settings, name) for name in _OF_GATE}
    return [
        (f"gate: {name}", _shown(found[name]), _shown(usual), meaning)
        for name, (usual, meaning) in _OF_GATE.items()
        if found[name] != usual
    ]


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_shown(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)

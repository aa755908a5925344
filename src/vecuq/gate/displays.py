"""How a certificate and a gate show themselves in a notebook and in a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vecuq._draw import Section, Sheet, facts_table, fold, paragraph, sheet_table

if TYPE_CHECKING:
    from vecuq.gate.certificate import Certificate
    from vecuq.gate.gate import Gate
    from vecuq.gate.live import LiveGate


def certificate_section(certificate: Certificate) -> Section:
    """Return a certificate: the promise, what it assumes, what the labels showed, and each category if there are any.

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import Gate, VecUQ
    >>> rng = np.random.default_rng(0)
    >>> model, rows = VecUQ().fit(rng.gamma(1.0, size=(500, 2))), rng.gamma(1.0, size=(600, 2))
    >>> gate = Gate(model, accuracy=0.85).fit(rows, rng.random(600) > rows.sum(axis=1) / 10)
    >>> "at least 85 % of the accepted rows are right" in certificate_section(gate.certificate()).body
    True
    """
    body = paragraph(certificate.promise, kind="strong") + paragraph(f"Assumption: {certificate.assumption}")
    units = sheet_table(_units(certificate)) if certificate.units else ""
    return Section("certificate", "The certificate", body + facts_table(dict(certificate.facts())) + units)


def _units(certificate: Certificate) -> Sheet:
    """Return one line per category; none is better than another, so none is marked."""
    rows = tuple(
        {
            "category": one.unit,
            "labels": one.n_labels,
            "accepted": one.n_accepted,
            "wrong": _count(one.n_errors),
            "coverage": one.coverage,
            "certified": "yes" if one.certified else "no: nothing is accepted",
        }
        for one in certificate.units
    )
    return Sheet("categories", "What is certified for each category", rows)


def gate_sections(gate: Gate) -> list[Section]:
    """Return the certificate of a fitted gate, and what it would accept at other targets, folded away."""
    table = sheet_table(_targets(gate)) if gate.table_ else ""
    words = paragraph("All lines hold at once, each with less confidence to itself than the gate's own target has.")
    more = fold("Other targets", words + table) if table else ""
    made = certificate_section(gate.certificate())
    return [Section(made.anchor, "", made.body + more)]


def _targets(gate: Gate) -> Sheet:
    rows = tuple(
        {
            "certified accuracy": f"{line['accuracy']:g}",
            "share of rows accepted": float(line["coverage"]),
            "labels accepted": int(line["accepted"]),
            "wrong": _count(line["wrong"]),
        }
        for line in gate.table_
    )
    return Sheet("targets", "What is certified at other targets", rows)


def _count(errors: float) -> int | float:
    """Return how many are wrong; of a graded quality, the summed loss."""
    return int(errors) if float(errors).is_integer() else float(errors)


def live_sections(live: LiveGate) -> list[Section]:
    """Return the state of a live gate in words, and the certificate of the gate inside it, folded away."""
    body = facts_table({"state": live.state, "what is known": str(live)})
    inside = certificate_section(live.gate.certificate())
    return [Section("live", "", body + fold("The certificate of the gate", inside.body))]

"""card: from a saved thing to its card."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from vecuq._version import __version__
from vecuq.report.cards.card import Blank, Card, CardTable
from vecuq.report.cards.checking import checks_of
from vecuq.report.cards.contents import evidence_of, inputs_of, purpose_of
from vecuq.report.cards.limits import limits_of
from vecuq.report.cards.origins import provenance_of, settings_of
from vecuq.report.cards.promises import Promised, promised_by_gate, promised_by_order, promised_live, withdrawn
from vecuq.report.cards.subject import Subject, subject_of


def card(
    source: Any,
    *,
    title: str | None = None,
    owner: str | None = None,
    intended_use: str | None = None,
    decides: str | None = None,
    measured: CardTable | None = None,
) -> Card:
    """Return the card of a model, gate or pipeline: what one hands to an auditor.

    Every statement comes from the saved thing; what no file can know is left for the owner to fill in.

    Parameters
    ----------
    source
        The path of a saved file, or a fitted :class:`vecuq.VecUQ`, :class:`vecuq.Ranker`, :class:`vecuq.Gate`,
        :class:`vecuq.LiveGate`, ``Conformal`` or pipeline.
    title
        Heading of the card; by default the name of the file.
    owner, intended_use, decides
        Who answers for it; what it is to be used for, and what not; who decides on rows that are flagged or deferred.
    measured
        What labelled rows showed that were kept for this, beside the promises.

    Examples
    --------
    >>> import numpy as np
    >>> from vecuq import VecUQ
    >>> model = VecUQ().fit(np.random.default_rng(0).gamma(1.0, size=(400, 2)))
    >>> made = card(model, owner="A. Person")
    >>> [promise.about for promise in made.promises]
    ['p-values', 'flags']
    >>> made.to_markdown().startswith("# model.vecuq")
    True
    """
    subject = subject_of(source)
    promised = _promised(subject)
    return Card(
        title=title or subject.name,
        kind=subject.kind,
        purpose=purpose_of(subject),
        inputs=inputs_of(subject),
        promises=promised.promises,
        unpromised=promised.unpromised,
        evidence=(*evidence_of(subject), *(() if measured is None else (measured,))),
        provenance=provenance_of(subject),
        settings=settings_of(subject),
        limits=limits_of(subject),
        checks=checks_of(subject),
        owner=_blanks(owner, intended_use, decides),
        library=__version__,
        date=datetime.now(UTC).date().isoformat(),
    )


def _promised(subject: Subject) -> Promised:
    found = Promised()
    if subject.live is not None:
        found += promised_live(subject.live)
    if subject.live is not None and subject.live.state == "broken":
        found += withdrawn(subject.live)
    elif subject.gate is not None:
        found += promised_by_gate(subject.gate)
    known = hasattr(subject.order, "diagnostics") or hasattr(subject.order, "held_")
    return found + promised_by_order(subject.order) if known else found


def _blanks(owner: str | None, intended_use: str | None, decides: str | None) -> tuple[Blank, ...]:
    return (
        Blank("Owner", "Who answers for this file, and how to reach them.", owner),
        Blank("Intended use", "For which rows and decisions it may be used, and for which not.", intended_use),
        Blank("Who decides", "Who looks at rows that are flagged or deferred, and who may overrule.", decides),
        Blank("Origin of the rows", "Which population, from when to when, and how rows to be labelled were drawn."),
        Blank("Next review", "When the promise is checked again, and what happens if it is broken."),
    )

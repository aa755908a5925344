"""Card: what one hands to an auditor, as one frozen structure; every statement in it comes from the saved thing."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Promise:
    """A promise, which never stands without its assumption and the theorem behind it."""

    about: str
    promise: str
    assumption: str
    theorem: str


@dataclass(frozen=True)
class CardTable:
    """A small table: heads, and rows of texts."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Check:
    """Something that can be checked: what it shows, and how; ``language`` is ``"sh"`` or ``"python"``."""

    shows: str
    lines: tuple[str, ...]
    language: str = "sh"


@dataclass(frozen=True)
class Blank:
    """A field that the owner fills in; ``text`` is None until then."""

    name: str
    asks: str
    text: str | None = None

    @property
    def paragraphs(self) -> list[str]:
        """What was filled in, cut at empty lines."""
        return [part.strip() for part in re.split(r"\n\s*\n", self.text or "") if part.strip()]


@dataclass(frozen=True)
class Card:
    """What a saved thing does, promises and does not, where it comes from, and how to check it.

    Made by :func:`vecuq.report.card`.

    Attributes
    ----------
    title, kind
        The heading, and what the card is about in a few words.
    purpose
        What it does, in plain sentences.
    inputs
        What it takes: one table of columns with their directions, and sentences about what comes before them.
    promises
        Promises with assumption and theorem; empty where nothing is promised.
    unpromised
        What is *not* promised although one could expect it, with the reason.
    evidence
        Figures behind the promises: thresholds, labels, categories, and what other labels showed.
    provenance
        Where it comes from: rows, dates, checksums, versions.
    settings
        Settings that differ from the default, and what they mean.
    limits
        What breaks the promises, and what the thing does not say.
    checks
        How each statement can be checked.
    owner
        What no file can know, for the owner to fill in.
    library, date
        The vecuq that made the card, and the day.
    """

    title: str
    kind: str
    purpose: tuple[str, ...]
    inputs: tuple[str | CardTable, ...]
    promises: tuple[Promise, ...]
    unpromised: tuple[str, ...]
    evidence: tuple[CardTable, ...]
    provenance: CardTable
    settings: CardTable | None
    limits: tuple[str, ...]
    checks: tuple[Check, ...]
    owner: tuple[Blank, ...]
    library: str
    date: str

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)

    def to_markdown(self) -> str:
        """Return the card as Markdown; every text of a user stays text."""
        from vecuq.report.cards.markdown import markdown_of

        return markdown_of(self)

    def to_html(self) -> str:
        """Return the card as one self-contained page, which loads nothing and runs nothing."""
        from vecuq.report.cards.page import page_of

        return page_of(self)

    def _repr_html_(self) -> str:
        from vecuq.report.cards.page import fragment_of

        return fragment_of(self)

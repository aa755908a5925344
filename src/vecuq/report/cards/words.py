"""The fixed words of a card, the same in Markdown and in the page."""

from __future__ import annotations

from vecuq.report.cards.card import Card

HEADS = {
    "purpose": "What it does",
    "inputs": "What it takes",
    "promises": "What is promised, and under which assumption",
    "evidence": "Figures",
    "limits": "Limits: what breaks it, and what it does not say",
    "checks": "How to check it",
    "provenance": "Where it comes from",
    "owner": "For the owner to fill in",
}
ABOUT = (
    "Every figure comes from the saved file, or from labelled rows that are named beside it. What the owner filled in "
    "stands at the end. A promise holds only under the assumption beside it, which no file can prove."
)
ASSUMES = "Assumption"
NOTHING = "Nothing is promised."
TO_FILL_IN = "to be filled in by the owner"


def foot_of(card: Card) -> str:
    """Return the last line: who made the card and when."""
    return f"Made by vecuq {card.library} on {card.date}."

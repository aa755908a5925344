"""The model card: what a saved thing does, promises and does not, where it comes from, and how to check it."""

from vecuq.report.cards.card import Blank, Card, CardTable, Check, Promise
from vecuq.report.cards.making import card

__all__ = ["Blank", "Card", "CardTable", "Check", "Promise", "card"]

"""The model card: what a saved thing does, promises and does not, where it comes from, and how to check it."""

from vecuq.report.cards.card import Blank, Card, Check, Promise, Table
from vecuq.report.cards.making import card

__all__ = ["Blank", "Card", "Check", "Promise", "Table", "card"]

"""Cascade: cheap columns first, and no more of them than the decision takes."""

from vecuq.cascade.cascade import Cascade
from vecuq.cascade.walk import Decision, Savings

__all__ = ["Cascade", "Decision", "Savings"]

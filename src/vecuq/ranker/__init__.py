"""From a score table to a fitted ranker, and from a ranker to a ranking."""

from vecuq.ranker.artefact import load
from vecuq.ranker.fit import fit_ranker
from vecuq.ranker.ranker import Diagnostics, Ranker, Ranking
from vecuq.ranker.settings import Settings

__all__ = ["Diagnostics", "Ranker", "Ranking", "Settings", "fit_ranker", "load"]

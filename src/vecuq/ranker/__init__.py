"""From a score table to a fitted ranker, and from a ranker to a ranking."""

from vecuq.ranker.artefact import load
from vecuq.ranker.fit import fit_ranker
from vecuq.ranker.missing import CHOICES as MISSING
from vecuq.ranker.ranker import Diagnostics, Ranker, Ranking
from vecuq.ranker.settings import Settings
from vecuq.ranker.sketch import Sketch, load_sketch, sketch
from vecuq.ranker.stream import fit_stream

__all__ = [
    "MISSING",
    "Diagnostics",
    "Ranker",
    "Ranking",
    "Settings",
    "Sketch",
    "fit_ranker",
    "fit_stream",
    "load",
    "load_sketch",
    "sketch",
]

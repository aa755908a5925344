"""The catalogue of measures, metrics and baselines: entries, pictures and pages, made when the site is built."""

from catalogue.entries import Entry, entries
from catalogue.ranges import Interval, Sizes, interval_of
from catalogue.writing import setup

__all__ = ["Entry", "Interval", "Sizes", "entries", "interval_of", "setup"]

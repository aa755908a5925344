"""Counts of one worker, which metrics are made of."""

from __future__ import annotations


class Counts:
    """Requests, rows and latencies of one worker."""

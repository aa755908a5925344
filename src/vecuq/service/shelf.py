"""The models of a service."""

from __future__ import annotations


class Shelf:
    """The models by name, each the newest that could be loaded."""

"""The catalogue of measures, metrics and baselines: entries, pictures and pages, made when the site is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Set up the extension; pictures and matplotlib are needed by the site alone."""
    from catalogue.writing import setup as set_up

    return set_up(app)

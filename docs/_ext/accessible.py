"""What the theme leaves unsaid to a screen reader: the arrows of the navigation get a name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SILENT = '<summary><span class="toctree-toggle"'
NAMED = '<summary aria-label="Pages below this one"><span class="toctree-toggle"'


def setup(app: Sphinx) -> dict[str, Any]:
    """Mend the pages when all are written; those of an earlier build are mended already."""
    app.connect("build-finished", _mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _mend(app: Sphinx, failure: Exception | None) -> None:
    if failure or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if SILENT in text:
            page.write_text(text.replace(SILENT, NAMED), encoding="utf-8")

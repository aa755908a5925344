"""Pictures of gallery scripts, taken at the end: a figure may be drawn over several blocks of a script."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


def scraped(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Return the figures after the last block of code; before that they stay open, and nothing is shown."""
    from sphinx_gallery.scrapers import matplotlib_scraper

    if block[2] != _last_line(str(block_vars["src_file"])):
        return ""
    return str(matplotlib_scraper(block, block_vars, gallery_conf))


@lru_cache(maxsize=64)
def _last_line(script: str) -> int:
    """Return the line on which the last block of code of a script begins."""
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    blocks = split_code_and_text_blocks(script)[1]
    return int(max(block[2] for block in blocks if block[0] == "code"))

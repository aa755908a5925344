"""One page with every study: our tables and pictures, the paper's tables beside them, and what differs."""

from __future__ import annotations

from collections.abc import Sequence

from vecuq._draw import marked_rows, page_environment
from vecuq._version import __version__
from vecuq.paper.study import Study


def render_page(studies: Sequence[Study]) -> str:
    """Return a self-contained HTML page; every text is escaped, nothing is loaded and nothing runs."""
    from vecuq._draw import to_data_uri

    environment = page_environment("vecuq.paper")
    environment.filters["marked_rows"] = marked_rows
    pictures = {
        study.name: [(picture.caption, to_data_uri(picture.draw())) for picture in study.pictures] for study in studies
    }
    page = environment.get_template("studies.html.j2")
    return page.render(studies=studies, pictures=pictures, version=__version__)

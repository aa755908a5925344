"""The page: the facts of a report in one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from vecuq._draw import fragment_css, named, page_environment, shortened, words_html
from vecuq.report.inline import data_island, escaped_json, page_script, page_style, policy
from vecuq.report.table import columns_of, rows_heading, table_data, table_html, within_reach
from vecuq.report.text import count, shown

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

# A model that scores in the page has about 30 kB; one with very many held-back rows would make the page too large.
MOST_OF_A_MODEL = 1_000_000


def render_report(facts: Mapping[str, Any]) -> str:
    """Return the page of a report.

    Every text is escaped. The page loads nothing, and runs one script, which its policy names by its checksum; without
    the script all rows, reasons and pictures are there to be read.
    """
    rows = within_reach(facts["rows"])
    columns = columns_of(rows)
    model, why_not = _model_of(facts["whatif"])
    script = page_script(_scorer() if model else "")
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            {**facts, "rows": rows},
            heading=rows_heading(rows),
            table=table_html(columns, rows["rows"]),
            table_link=_link(rows["link"]),
            data=data_island(
                {**table_data(columns, rows["rows"]), **facts["whatif"], "model": None, "why_not": why_not}
            ),
            model=model,
            style=f"{fragment_css()}\n{page_style()}",
            script=script,
            policy=policy(script),
        )
    )


def _model_of(whatif: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the model for the page and, where there is none, why."""
    model = whatif["model"]
    if model is not None and len(model) > MOST_OF_A_MODEL:
        return None, f"The model takes {len(model) / 1e6:.1f} MB, too much for a page."
    return (None, whatif["why_not"]) if model is None else (escaped_json(model), None)


def _scorer() -> str:
    from vecuq.ranker import scorer_source

    return scorer_source()


def _link(table: str | None) -> str | None:
    """Return where a page beside the table finds it; None for a path that is not beside it."""
    if table is None or table.startswith(("/", "\\")) or table[1:2] == ":":
        return None
    return "./" + quote(table.replace("\\", "/"), errors="replace")


def _environment() -> Environment:
    environment = page_environment("vecuq.report")
    environment.filters.update(shown=shown, shortened=shortened, named=named, count=count, with_code=with_code)
    return environment


def with_code(text: str) -> Markup:
    """Return a text with what stands between backticks set as code; everything in it is escaped."""
    from markupsafe import Markup

    return Markup(words_html(text))  # noqa: S704 - escaped

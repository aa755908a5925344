"""The card of a saved file: what one hands to an auditor, as Markdown or as a page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from vecuq._check import existing_file
from vecuq._files import write_atomic
from vecuq.errors import SettingError, TableError
from vecuq.report import Card, card
from vecuq.table import PathLike, is_stdio, is_table_name
from vecuq.workflows.card_figures import figures_of
from vecuq.workflows.labelled_rows import LabelColumns
from vecuq.workflows.places import refuse_place

# What is written, by the ending of the name; the kinds are those of `contents`. No text counts as a card that may be
# replaced: its owner may have filled it in.
_KINDS = {".md": "card", ".html": "page", ".htm": "page"}
_TEXTS = (".txt", ".md")
_NO_LABELS = LabelColumns()
# An intended use is a page or two, never more.
_MOST_TEXT = 100_000


@dataclass(frozen=True)
class Owner:
    """What no file can know, and the owner says: each a text, or the path of a text file (``.txt`` or ``.md``)."""

    owner: str | None = None
    intended_use: str | None = None
    decides: str | None = None


def make_card(
    file: PathLike,
    out: PathLike | None = None,
    *,
    title: str | None = None,
    said: Owner = Owner(),
    evaluation: PathLike | None = None,
    labels: LabelColumns = _NO_LABELS,
    force: bool = False,
) -> Card:
    """Make the card of a saved model, gate or pipeline, and write it to ``out``, ``.md`` or ``.html``, if given.

    Of a gate or a model, ``evaluation`` is a table of other labelled rows, drawn at random, and ``labels`` says where
    its labels are: what they show stands on the card, apart from the promises.
    """
    if is_table_name(file):
        raise TableError(f"{file} is a table; a card is about a saved model, gate or pipeline.")
    existing_file(file)
    if out is not None and not is_stdio(out):
        reads = [path for path in (file, evaluation, *filter(_is_file, vars(said).values())) if path is not None]
        refuse_place(out, writes=_kind_of(out), reads=reads, force=force)
    owner, use, decides = (_text_of(text) for text in (said.owner, said.intended_use, said.decides))
    measured = None if evaluation is None else figures_of(file, evaluation, labels)
    made = card(file, title=title, owner=owner, intended_use=use, decides=decides, measured=measured)
    if out is not None and not is_stdio(out):
        page = made.to_html() if _kind_of(out) == "page" else made.to_markdown()
        write_atomic(out, page.encode())
    return made


def _kind_of(out: PathLike) -> str:
    kind = _KINDS.get(Path(out).suffix.lower())
    if kind is None:
        raise SettingError(f"{out} must end in .md or .html, which says how the card is written; - prints Markdown.")
    return kind


def _is_file(text: str | None) -> bool:
    """Whether a text is the path of a text file: it ends like one, and the file is there."""
    return text is not None and os.path.splitext(text)[1].lower() in _TEXTS and os.path.isfile(text)


def _ends_like_a_file(text: str) -> bool:
    return os.path.splitext(text)[1].lower() in _TEXTS and len(text.split()) == 1


def _text_of(text: str | None) -> str | None:
    """Return a text, or what the text file of that name holds; a single word that ends like one must be one."""
    if text is None or not (_is_file(text) or _ends_like_a_file(text)):
        return text
    with existing_file(text).open("rb") as opened:
        content = opened.read(_MOST_TEXT + 1)
    if len(content) > _MOST_TEXT:
        raise TableError(f"{text} holds more than {_MOST_TEXT:,} bytes; a card takes a page or two.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TableError(f"{text} is not a text in UTF-8. Save it so, or give the text itself.") from None

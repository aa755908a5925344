"""Markdown pages as they stand on GitHub, made into pages of the site.

- An index page (``index.md``, ``README.md``) lists pages by plain links; the links become its part of the navigation.
- ``<!-- comments -->`` prepare the blocks that the tests run, and are left out.
- A link to a gallery script, or to a page outside ``docs``, leads to the page that the site makes of it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FENCE = re.compile(r"^(`{3,}|~{3,})")
COMMENT = re.compile(r"^<!--.*?-->[ \t]*$", re.DOTALL | re.MULTILINE)
ABSOLUTE = re.compile(r"[a-z]+:|/")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s#]+)(#[^()\s]*)?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PAGES = re.compile(r"<!-- pages -->(.*?)<!-- /pages -->", re.DOTALL)
# Pages of the site that are made of files outside `docs`, by their path in the repository.
MADE = {
    "README.md": "docs/index.md",
    "docs/README.md": "docs/index.md",
    "CHANGELOG.md": "docs/project/changelog.md",
    "CONTRIBUTING.md": "docs/project/contributing.md",
    "benchmarks/RESULTS.md": "docs/project/benchmarks.md",
    "benchmarks/GATES.md": "docs/project/gates.md",
    "deploy/README.md": "docs/project/deploy.md",
    "docs/gallery/GALLERY_HEADER.rst": "docs/built/gallery/index.rst",
    "docs/validation/GALLERY_HEADER.rst": "docs/built/validation/index.rst",
}
GALLERY_SCRIPT = re.compile(r"docs/(gallery|validation)/(\w+)\.py")


def setup(app: Sphinx) -> dict[str, Any]:
    """Read every Markdown page through :func:`prepared`."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def prepared(text: str, page: str, at: str | None = None) -> str:
    """Give the text of ``page`` (its path in the repository) as the site reads it, at the place ``at``."""
    at = at or page
    listed = toctree_of(text, page) if posixpath.basename(at) in ("index.md", "README.md") or PAGES.search(text) else ""
    pieces = [piece if is_code else _mended(piece, page, at) for is_code, piece in split_code(text)]
    return "".join(pieces) + listed


def split_code(text: str) -> list[tuple[bool, str]]:
    """Cut a page into fenced code and the rest, in order."""
    pieces: list[tuple[bool, str]] = []
    closing = None
    hidden = False
    for line in text.splitlines(keepends=True):
        found = None if hidden else FENCE.match(line)
        is_code = closing is not None or found is not None
        if closing is None and found:
            closing = found.group(1)
        elif closing is not None and line.strip() == closing:
            closing = None
        if closing is None and not is_code:
            hidden = ("<!--" in line or hidden) and "-->" not in line
        if pieces and pieces[-1][0] == is_code:
            pieces[-1] = (is_code, pieces[-1][1] + line)
        else:
            pieces.append((is_code, line))
    return pieces


def toctree_of(text: str, page: str) -> str:
    """Give the navigation of an index page: the links between its marks, else those into its own folder.

    Between marks, each heading becomes a caption of the navigation, and the words of a link its entry.
    """
    marked = PAGES.findall(text)
    if not marked:
        prose = "".join(piece for is_code, piece in split_code(text) if not is_code)
        return _toctree([name for name in _names(prose, page) if not name.startswith("..")])
    parts = HEADING.split("\n".join(marked))
    captioned = zip(["", *parts[1::2]], parts[::2], strict=True)
    return "".join(_toctree(_named(prose, page), caption) for caption, prose in captioned)


def _toctree(entries: list[str], caption: str = "") -> str:
    if not entries:
        return ""
    options = f":caption: {caption}\n" if caption else ""
    return "\n\n```{toctree}\n:hidden:\n:maxdepth: 2\n" + options + "\n" + "\n".join(dict.fromkeys(entries)) + "\n```\n"


def _names(prose: str, page: str) -> list[str]:
    """Give the pages that prose links to, relative to its own, without their endings."""
    return [name for _, name in _linked(prose, page)]


def _named(prose: str, page: str) -> list[str]:
    """Give the same with the words of each link."""
    return [f"{words} <{name}>" for words, name in _linked(prose, page)]


def _linked(prose: str, page: str) -> list[tuple[str, str]]:
    found = [(match[0], match[1]) for match in LINK.finditer(prose) if not ABSOLUTE.match(match[1])]
    here = posixpath.dirname(page)
    pages = [(whole[1 : whole.index("](")], posixpath.relpath(_target(link, page), here)) for whole, link in found]
    return [(words, posixpath.splitext(name)[0]) for words, name in pages if name.endswith((".md", ".rst"))]


def _target(link: str, page: str) -> str:
    """Path in the repository of what a relative link of ``page`` leads to, as the site has it."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    return MADE.get(path, GALLERY_SCRIPT.sub(r"docs/built/\1/\2.rst", path))


def _mended(prose: str, page: str, at: str) -> str:
    """Give prose without comments, its links leading to pages of the site."""

    def lead(match: re.Match[str]) -> str:
        link, whole = match.group(1), match.group(0)
        path = _target(link, page)
        if ABSOLUTE.match(link) or (
            page == at and path == posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
        ):
            return whole
        start, end = match.start(1) - match.start(), match.end(1) - match.start()
        return whole[:start] + posixpath.relpath(path, posixpath.dirname(at)) + whole[end:]

    return LINK.sub(lead, COMMENT.sub("", prose))


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    """Prepare a Markdown page; a page that stands for a file outside ``docs`` has that file's text."""
    at = f"docs/{name}.md"
    if not (Path(app.srcdir) / f"{name}.md").exists():
        return
    page = next((path for path, made in MADE.items() if made == at and not made.endswith("index.md")), at)
    if page != at:
        file = Path(app.srcdir).parent / page
        app.env.note_dependency(str(file))
        source[0] = file.read_text(encoding="utf-8")
    source[0] = prepared(source[0], page, at)

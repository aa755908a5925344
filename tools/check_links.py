"""Check the built documentation: every internal link, anchor and picture exists, and nothing comes from another host.

``python tools/check_links.py docs/_build/html`` prints what is wrong and ends with 1 if anything is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself, by tag and attribute; the links of <a> are only followed by people.
FETCHED = {
    ("audio", "src"),
    ("embed", "src"),
    ("feimage", "href"),
    ("feimage", "xlink:href"),
    ("iframe", "src"),
    ("image", "href"),
    ("image", "xlink:href"),
    ("img", "src"),
    ("input", "src"),
    ("link", "href"),
    ("object", "data"),
    ("script", "src"),
    ("source", "src"),
    ("track", "src"),
    ("use", "href"),
    ("use", "xlink:href"),
    ("video", "poster"),
    ("video", "src"),
}
# Links that name the page itself, or another representation of it, and are not fetched.
NOT_FETCHED = {"author", "canonical", "next", "prev"}
IN_STYLE = re.compile(r"""(?:url\(|@import\s+)\s*['"]?([^'")\s;]+)""")


@dataclass
class Page(HTMLParser):
    """What one page links to, what it fetches, and the anchors in it."""

    path: Path
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    styled: list[str] = field(default_factory=list)  # what its own styles fetch
    in_style: bool = False

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links, sources and anchors."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if given.get("rel", "") not in NOT_FETCHED:
            self.fetched += [given[name] for kind, name in FETCHED if kind == tag and name in given]
        self.fetched += [one.split()[0] for one in given.get("srcset", "").split(",") if one.strip()]
        self.styled += IN_STYLE.findall(given.get("style", ""))
        self.in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        """Note what a style element fetches."""
        if self.in_style:
            self.styled += IN_STYLE.findall(data)

    def handle_endtag(self, tag: str) -> None:
        """Leave a style element."""
        self.in_style = False


def problems(site: Path) -> Iterator[str]:
    """Yield one line for everything that is wrong."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}
    if not pages:
        yield f"{site} holds no page; build the documentation first: make docs."
    for page in pages.values():
        where = page.path.relative_to(site)
        for link in dict.fromkeys(page.links + page.fetched):
            wrong = _wrong(link, page, pages)
            if wrong:
                yield f"{where}: {link}: {wrong}"
        fetched = (*page.fetched, *page.styled)
        yield from (f"{where}: fetches {link} from another host" for link in fetched if _is_elsewhere(link))
    for sheet in sorted(site.rglob("*.css")):
        found = IN_STYLE.findall(sheet.read_text(encoding="utf-8"))
        yield from (
            f"{sheet.relative_to(site)}: fetches {link} from another host" for link in found if _is_elsewhere(link)
        )


def _is_elsewhere(link: str) -> bool:
    return link.startswith("//") or urlsplit(link).scheme in ("http", "https", "ftp")


def _wrong(link: str, page: Page, pages: dict[Path, Page]) -> str | None:
    """Say what is wrong with a link into the site; None if nothing is."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    if parts.path.startswith("/"):
        return "must be relative, or the site works in one place only"
    target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path.resolve()
    if not target.is_file():
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "no such anchor"
    return None


def main() -> int:
    """Check the site that the command line names."""
    found = list(problems(Path(sys.argv[1])))
    print("\n".join(found) or "Every internal link resolves, and nothing is fetched from another host.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

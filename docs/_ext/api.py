"""One page per room of vecuq, with every public name; written anew whenever the site is built."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from public_names import Public, own_members, public_names, room_names

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = "reference/api"
# Where the page of all rooms has its table.
MARK = "<!-- rooms -->"


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks for them; lead old and inner names to the place where they are described."""
    app.connect("config-inited", lambda app, config: write_pages(Path(app.srcdir) / FOLDER))
    app.connect("source-read", _fill)
    app.connect("missing-reference", _other_name)
    app.connect("doctree-read", _link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(folder: Path) -> None:
    """Write every page that changed, and remove those of rooms that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = api_pages()
    for old in folder.glob("*.rst"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def api_pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    return {f"{room}.rst": room_page(room) for room in room_names()}


def room_page(room: str) -> str:
    """Return the page of a room: what it is, a table of its names, and each of them."""
    names = public_names(room)
    about = inspect.getdoc(importlib.import_module(room)) or ""
    here = [one for one in names if home_of(one) == one.path]
    head = [_title(room, "="), f".. module:: {room}", about]
    table = [_table(title, [_in_table(one) for one in names if one.kind == kind]) for kind, title in _KINDS.items()]
    constants = [_entry(one) for one in here if one.kind == "data"]
    entries = [_entry(one) for one in here if one.kind != "data"]
    last = [".. rubric:: Constants", *constants] if constants else []
    return "\n\n".join(part for part in [*head, *table, *entries, *last] if part) + "\n"


_KINDS = {"class": "Classes", "function": "Functions"}
_SHORT = 80  # characters of a value that is shown


def home_of(one: Public) -> str:
    """Return the path under which a name is described: the shortest, since most people write that one."""
    return _homes().get(id(one.value), one.path) if one.kind != "data" and one.value is not None else one.path


def _in_table(one: Public) -> str:
    """Return a name as the table of its room lists it: bare if it is described there."""
    home = home_of(one)
    return one.name if home == one.path else f"~{home}"


def _homes() -> dict[int, str]:
    """Return the path of the page entry of every class and function, by its identity."""
    if not _KNOWN:
        for room in sorted(room_names(), key=lambda name: (name.count("."), name)):
            for one in public_names(room):
                if one.kind != "data" and one.value is not None:
                    _KNOWN.setdefault(id(one.value), one.path)
    return _KNOWN


_KNOWN: dict[int, str] = {}


def room_table() -> str:
    """Return the rooms as a table of Markdown, and as navigation."""
    rows = "\n".join(f"| [{room}](api/{room}.rst) | {_first_sentence(room)} |" for room in room_names())
    listed = "\n".join(f"api/{room}" for room in room_names())
    return f"| room | holds |\n|---|---|\n{rows}\n\n```{{toctree}}\n:hidden:\n\n{listed}\n```"


def _fill(app: Sphinx, name: str, source: list[str]) -> None:
    source[0] = source[0].replace(MARK, room_table()) if MARK in source[0] else source[0]


def _first_sentence(room: str) -> str:
    about = inspect.getdoc(importlib.import_module(room)) or ""
    plain = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", about.partition("\n\n")[0])
    return " ".join(plain.split()).replace("``", "`").replace("|", "\\|")


def _title(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}"


def _table(title: str, paths: list[str]) -> str:
    if not paths:
        return ""
    rows = "\n".join(f"   {path}" for path in paths)
    return f".. rubric:: {title}\n\n.. autosummary::\n   :nosignatures:\n\n{rows}"


def _entry(one: Public) -> str:
    if one.kind == "function":
        return f".. autofunction:: {one.path}"
    if one.kind == "data":
        shown = repr(one.value)
        value = f"\n   :value: {shown}" if len(shown) <= _SHORT and "<" not in shown else ""
        return f".. py:data:: {one.name}{value}\n\n   {comment_on(one)}".rstrip()
    members = own_members(one.value) if one.value is not None else []
    listed = f"\n   :members: {', '.join(members)}\n   :member-order: bysource" if members else ""
    return f".. autoclass:: {one.path}{listed}"


def comment_on(one: Public) -> str:
    """Return the comment above the line that defines a constant; empty if there is none."""
    source = inspect.getsourcefile(importlib.import_module(one.module)) or ""
    defined = re.compile(rf"((?:^# .*\n)*)^{one.name}(?::[^=\n]+)? = ", re.MULTILINE)
    files = sorted(Path(source).parent.rglob("*.py")) if source.endswith("__init__.py") else [Path(source)]
    found = (defined.search(file.read_text(encoding="utf-8")) for file in files)
    lines = next((match[1].splitlines() for match in found if match), [])
    return " ".join(line.removeprefix("# ") for line in lines)


def _other_name(app: Sphinx, env: Any, node: Any, content: Any) -> Any:
    """Resolve a reference to a name by the place where it is defined, or by another room that has it."""
    if node.get("refdomain") != "py":
        return None
    path = _described_as(str(node["reftarget"]), str(node.get("py:module") or ""))
    if path is None:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", path, node, content)


def _link_names(app: Sphinx, page: Any) -> None:
    """Make a link of every name such as ``vecuq.gate.Gate`` that stands in a page as code."""
    from docutils import nodes
    from sphinx.addnodes import pending_xref

    for literal in list(page.findall(nodes.literal)):
        name = literal.astext()
        within = literal.parent
        if not _NAME.fullmatch(name) or isinstance(within, nodes.reference | nodes.title | pending_xref):
            continue
        path = _described_as(name, "")
        if path:
            link = pending_xref("", refdomain="py", reftype="obj", reftarget=path, refdoc=app.env.docname)
            within.replace(literal, link)
            link += literal


_NAME = re.compile(r"vecuq(\.\w+)+")


def _described_as(target: str, module: str) -> str | None:
    """Return the path under which the object that a reference names is described."""
    for start in (target, f"{module}.{target}", f"vecuq.{target}"):
        parts = start.split(".")
        for cut in range(len(parts), 0, -1):
            home = _home_in(".".join(parts[:cut]))
            if home:
                return ".".join([home, *parts[cut:]])
    return None


def _home_in(path: str) -> str | None:
    module, _, name = path.rpartition(".")
    if not module.startswith("vecuq"):
        return None
    try:
        value = getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None
    return _homes().get(id(value))

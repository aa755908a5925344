"""What a file holds, by its first bytes and, for plain text, its name: so that nothing is replaced by another kind."""

from __future__ import annotations

import gzip
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

from vecuq._files import saved_kind
from vecuq.table import PathLike, is_table_name

# What a kind is called in messages; any other kind is called by its own name.
WORDS = {
    "gate": "a gate",
    "live": "the state of a live gate",
    "model": "a model",
    "cross": "a model fitted with holdback='cross'",
    "conformal": "a model of another combiner",
    "monitor": "the state of a monitor",
    "pipeline": "a pipeline",
    "answer_pipeline": "a pipeline of answers",
    "estimator_pipeline": "a pipeline around a classifier",
    "table": "a table",
    "answers": "answers of a language model",
    "page": "a web page",
    "picture": "a picture",
    "sheet": "tables in Markdown or LaTeX",
    "card": "a card to be filled in",
    "onnx": "a model exported as ONNX",
    "scorer": "a model exported as JSON",
    "script": "a model exported as a script",
    "text": "text",
    "file": "something else",
}
_PICTURES = (".png", ".svg")
_BY_ENDING = {".html": "page", ".md": "sheet", ".tex": "sheet", **dict.fromkeys(_PICTURES, "picture")}
# How kinds begin that need no name.
_BEGINS = {
    b"PAR1": "table",
    b"ARROW1": "table",
    b"\xff\xff\xff\xff": "table",  # an Arrow stream
    b"\x89PNG": "picture",
    b"<!doctype html": "page",
    b"<html": "page",
    b"<svg": "picture",
    b'{"vecuq_answers"': "answers",
    b"\x08\x08\x12\x05vecuq": "onnx",  # the version of the format, and who wrote it
    b'{"kind":"vecuq-scorer"': "scorer",
    b"// Scores rows with a model that vecuq exported": "script",
}
_SHEETS = (b"|", b"\\begin{table}")
_READ = 2**12


def kind_to_write(out: PathLike) -> str:
    """Return what is written to a file of this name, if it is no model or state: a table, page, picture or sheet."""
    return "table" if is_table_name(out) else _BY_ENDING.get(Path(out).suffix.lower(), "file")


def kind_there(path: PathLike) -> str | None:
    """Return what a file holds, one of ``WORDS`` or another kind that vecuq saves; None if it is absent or empty."""
    file = Path(path)
    if not file.is_file() or not file.stat().st_size:
        return None
    return saved_kind(file) or _kind_by_content(file)


def _kind_by_content(file: Path) -> str:
    """Return the kind of a file that is no model or state."""
    with file.open("rb") as opened:
        start = opened.read(_READ)
    if start.startswith(b"PK\x03\x04"):
        return "table" if file.suffix.lower() == ".npz" else "file"
    if start.startswith(b"\x1f\x8b"):
        return _kind_of_text(_unpacked(file), file) if is_table_name(file) else "file"
    return _kind_of_text(start, file)


def _kind_of_text(start: bytes, file: Path) -> str:
    """Return the kind of a text: any text in a file with the name of a table is one."""
    text = start.removeprefix(BOM_UTF8).lstrip()
    if text.startswith(b"<?xml") and b"<svg" in text:
        return "picture"
    known = next((kind for begin, kind in _BEGINS.items() if text[: len(begin)].lower() == begin.lower()), None)
    if known is not None:
        return known
    if b"\0" in start and not start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "file"
    if is_table_name(file):
        return "table"
    return "sheet" if kind_to_write(file) == "sheet" and text.startswith(_SHEETS) else "text"


def _unpacked(file: Path) -> bytes:
    try:
        with gzip.open(file, "rb") as opened:
            return opened.read(_READ)
    except (OSError, EOFError, zlib.error):
        return b"\0"

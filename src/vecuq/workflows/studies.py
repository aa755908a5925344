"""The paper's studies: their tables and pictures written to a folder, with one page that shows them all."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq._check import one_of
from vecuq._draw import FORMATS
from vecuq._files import atomic_folder
from vecuq.errors import SettingError, VecuqError
from vecuq.table import PathLike
from vecuq.workflows.contents import kind_to_write
from vecuq.workflows.places import refuse_replacing

if TYPE_CHECKING:
    from vecuq.paper import Study

# Repeated here, so that `--help` need not import the studies; a test compares them.
STUDY_NAMES = (
    "toy",
    "blobs",
    "images",
    "letters",
    "limits",
    "ablation",
    "extremes",
    "measures",
    "limitations",
    "text",
)


_PAGE = "index.html"


def reproduce(
    name: str,
    folder: PathLike | None = None,
    *,
    data_dir: PathLike | None = None,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Study, ...]:
    """Run one of the paper's studies or, with ``"all"``, all of them.

    With a ``folder``, write their tables (csv, Markdown, LaTeX), pictures (PNG, SVG) and one page that shows them.
    ``data_dir`` holds scores of larger models, which are not ours to bundle, for more tables of the study of text.
    ``force`` replaces also files of another kind; ``progress`` is called with what is being done.
    """
    paper = _room_of_studies()
    if data_dir is not None and name not in ("text", "all"):
        raise SettingError(f"data_dir= holds scores for the study 'text'; {name!r} does not use it. Leave it out.")
    if folder is not None:
        refuse_replacing(Path(folder) / _PAGE, writes="page", force=force)
    runs = (
        paper.STUDIES if data_dir is None else {**paper.STUDIES, "text": lambda: paper.reproduce_text(Path(data_dir))}
    )
    studies = []
    for study in tuple(runs) if name == "all" else (one_of("study", name, (*runs, "all")),):
        progress(f"study {study}")
        studies.append(runs[study]())
    if folder is not None:
        progress("drawing and writing")
        write_studies(tuple(studies), folder, force=force)
    return tuple(studies)


def _room_of_studies() -> Any:
    """Return the room of the studies, which a wheel of vecuq leaves to a package of its own."""
    try:
        return import_module("vecuq.paper")
    except ModuleNotFoundError as error:
        if error.name != "vecuq.paper":
            raise
        raise VecuqError(
            "The studies are a package of their own, vecuq-paper, which is not installed. Run "
            "`pip install ./packaging/vecuq-paper ./paper-data` in a clone of the vecuq repository."
        ) from None


def write_studies(studies: tuple[Study, ...], folder: PathLike, *, force: bool = False) -> None:
    """Write everything that studies have to show: all of it, or nothing."""
    from vecuq._draw import to_png, to_svg
    from vecuq.paper import render_page

    with atomic_folder(folder) as part:
        for study in studies:
            for sheet in (*study.sheets, *study.printed):
                for ending, form in FORMATS.items():
                    (part / f"{sheet.name}.{ending}").write_bytes(form(sheet).encode())
            for picture in study.pictures:
                drawn = picture.draw()
                stem = f"{study.name}_{picture.name}"
                (part / f"{stem}.png").write_bytes(to_png(drawn))
                (part / f"{stem}.svg").write_bytes(to_svg(drawn))
        (part / _PAGE).write_bytes(render_page(studies).encode())
        for file in part.iterdir():
            refuse_replacing(Path(folder) / file.name, writes=kind_to_write(file), force=force)

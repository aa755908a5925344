"""The paper's studies, with their tables written to a folder."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq._check import one_of
from vecuq.table import write_atomic
from vecuq.workflows.watch import PathLike

if TYPE_CHECKING:
    from vecuq.paper import Study

__all__ = ["reproduce"]


def reproduce(name: str, folder: PathLike | None = None) -> tuple[Study, ...]:
    """Run one of the paper's studies, or all; write their tables as csv into ``folder`` if there is one."""
    from vecuq.paper import STUDIES

    chosen = tuple(STUDIES) if name == "all" else (one_of("study", name, (*STUDIES, "all")),)
    studies = tuple(STUDIES[study]() for study in chosen)
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for study in studies:
            write_atomic(Path(folder) / f"{study.name}.csv", _csv_bytes(study.rows))
    return studies


def _csv_bytes(rows: Sequence[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()

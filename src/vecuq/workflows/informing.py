"""What a saved file holds, in plain values."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vecuq._check import existing_file
from vecuq._files import saved_header
from vecuq._load import load
from vecuq.errors import ModelFileError
from vecuq.table import EXTENSIONS, PathLike


def info(path: PathLike) -> dict[str, Any]:
    """Return kind, version, checksum, size and date of a saved file, and what it says of itself.

    The file is loaded, so that a cut or altered one is refused. A monitor's state saved by vecuq 0.1.0 cannot be
    loaded without its model; of that the header alone is shown.
    """
    file = existing_file(path)
    header = saved_header(file)
    if not header:
        hint = " It is a table: `vecuq doctor` looks at tables." if file.suffix.lower() in EXTENSIONS else ""
        raise ModelFileError(
            f"{file} was not saved by vecuq; a model, pipeline, gate, monitor, Conformal or a "
            f"service's store was expected.{hint}"
        )
    return {**_file_facts(file, header), **_described(file, header)}


def _file_facts(file: Path, header: dict[str, Any]) -> dict[str, Any]:
    facts = file.stat()
    return {
        "file": str(file),
        "kind": header.get("kind"),
        "saved by": f"vecuq {header.get('library')}, format {header.get('format')}",
        "checksum": header.get("checksum"),
        "bytes": facts.st_size,
        "date": datetime.fromtimestamp(facts.st_mtime, UTC).isoformat(timespec="seconds"),
    }


def _described(file: Path, header: dict[str, Any]) -> dict[str, Any]:
    if header.get("kind") == "monitor" and "model" not in header:
        return {name: header[name] for name in ("alpha", "direction", "rows", "alarms") if name in header}
    described: dict[str, Any] = load(file).describe()
    return described

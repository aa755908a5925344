"""Which files a monitor has counted, by their content, so that a job that runs again does not count one twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

# As many files are remembered, the latest ones; a state grows by 56 bytes for each.
MOST = 10_000
_DIGEST = 32
_LAST_SECOND = 253_402_300_799
_NUMBERS = ("time", "rows", "watched")


@dataclass(frozen=True)
class CountedFile:
    """When a file was counted, in seconds since 1970, how many rows it had, and how many could be watched."""

    time: int
    rows: int
    watched: int

    @property
    def date(self) -> str:
        """The time in words, such as ``2026-03-01 12:00 UTC``."""
        return f"{datetime.fromtimestamp(self.time, UTC):%Y-%m-%d %H:%M} UTC"


@dataclass
class CountedFiles:
    """The files that were counted, by the SHA-256 of their bytes, in the order in which they came."""

    by_digest: dict[bytes, CountedFile] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.by_digest)

    def find(self, digest: bytes) -> CountedFile | None:
        """Return what is known of a file; None if it was not counted, or so many others since that it is forgotten."""
        return self.by_digest.get(digest)

    def add(self, digest: bytes, file: CountedFile) -> None:
        """Remember a file, and forget the earliest beyond ``MOST``."""
        self.by_digest.pop(digest, None)
        self.by_digest[digest] = file
        for oldest in list(self.by_digest)[:-MOST]:
            del self.by_digest[oldest]

    def arrays(self) -> dict[str, Any]:
        """Return everything as arrays, to be saved."""
        digests = np.frombuffer(b"".join(self.by_digest), dtype=np.uint8).reshape(-1, _DIGEST)
        numbers = {name: [getattr(file, name) for file in self.by_digest.values()] for name in _NUMBERS}
        return {"sha256": digests, **{name: np.array(column, dtype=np.int64) for name, column in numbers.items()}}

    @staticmethod
    def of(arrays: dict[str, Any]) -> CountedFiles:
        """Return what :meth:`arrays` gave; no arrays are no files, as in states of earlier versions."""
        return CountedFiles(dict(_files_of(arrays)) if arrays else {})


def _files_of(arrays: dict[str, Any]) -> Iterator[tuple[bytes, CountedFile]]:
    """Yield every file with its digest; raise if the arrays do not fit together."""
    digests, numbers = arrays["sha256"], [arrays[name] for name in _NUMBERS]
    if digests.dtype != np.uint8 or digests.shape[1:] != (_DIGEST,) or len(digests) > MOST:
        raise ValueError("the checksums of counted files have the wrong shape")
    if any(column.dtype != np.int64 or column.shape != digests.shape[:1] or (column < 0).any() for column in numbers):
        raise ValueError("the counted files are not whole numbers, one for each checksum")
    if (numbers[0] > _LAST_SECOND).any():
        raise ValueError("a file was counted after the year 9999")
    times, rows, watched = (column.tolist() for column in numbers)
    for digest, *found in zip(digests, times, rows, watched, strict=True):
        yield digest.tobytes(), CountedFile(*found)

"""A large request while it is worked on in a thread: where its files are, until when, and what becomes of its rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vecuq._check import Array
from vecuq.decide import Decided
from vecuq.service.context import Service
from vecuq.service.formats import Format
from vecuq.service.keeping_rows import Held, counted, kept
from vecuq.service.refusal import Refusal
from vecuq.service.served import Snapshot
from vecuq.service.wire import Options
from vecuq.service.work import Deadline

# Values of rows, their categories, and their texts.
AsTheyCame = tuple[Array, Sequence[Any] | None, Sequence[str | None] | None]


@dataclass
class Job:
    """One large request. The body is a file in ``folder``, and the answer becomes one there too."""

    service: Service
    snapshot: Snapshot
    options: Options
    folder: Path
    came: Format
    out: Format
    deadline: Deadline
    loop: asyncio.AbstractEventLoop
    n_rows: int = field(default=0)

    @property
    def body(self) -> Path:
        """Where the body is."""
        return self.folder / f"body{self.came.ending or '.json'}"

    @property
    def answer(self) -> Path:
        """Where the answer goes."""
        return self.folder / f"answer{self.out.ending or '.json'}"

    def pass_rows(self, n_rows: int) -> None:
        """Count rows before they are scored; raise if they are too many, or it takes too long."""
        self.deadline.check()
        self.n_rows += n_rows
        refuse_many(self.n_rows, self.service.settings.limits.rows)

    def keep(self, scored: Decided, ids: Sequence[str | None], about: Callable[[], AsTheyCame]) -> Held:
        """Count rows, hand them to the recorder if they go there, and wait for what holds; it lives in the loop."""
        self.loop.call_soon_threadsafe(counted, self.service, self.snapshot, scored)
        if not self.is_recorded:
            return scored, None
        values, by, texts = about()
        keeping = kept(self.service, self.snapshot, values, scored, ids, by=by, texts=texts)
        return asyncio.run_coroutine_threadsafe(keeping, self.loop).result(self.deadline.seconds)

    @property
    def is_recorded(self) -> bool:
        """Whether rows go to the recorder."""
        return self.service.recorder is not None and self.options.record


def refuse_many(n_rows: int, most: int) -> None:
    """Raise if a request has more rows than it may."""
    if n_rows > most:
        raise Refusal(413, "too_many_rows", f"A request may have {most:,} rows, and more came. Send them in parts.")


def no_rows() -> Refusal:
    """Return the refusal of a body without rows."""
    return Refusal(422, "bad_rows", "The body has no rows, so there is nothing to score.")

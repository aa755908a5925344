"""What a run of questions costs, and when it has cost enough."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from vecuq.answers import Answerer, Prices, Usage
from vecuq.errors import SettingError, VecuqError

Item = TypeVar("Item")


class Budget:
    """The tokens of one run at given prices."""

    def __init__(self, answerer: Answerer, prices: Prices | None) -> None:
        self._answerer, self._prices = answerer, prices
        self._start = self._counted() or Usage()
        if prices is not None and self._counted() is None:
            raise SettingError(f"{answerer.name} counts no tokens, so that prices mean nothing; leave them out.")

    def _counted(self) -> Usage | None:
        return getattr(self._answerer, "usage", None)

    def _used(self) -> Usage:
        """Return the tokens since the start; the answerer may have served others before."""
        now = self._counted() or Usage()
        return Usage(*(after - before for after, before in zip(now, self._start, strict=True)))

    def affordable(self, questions: Iterable[Item]) -> Iterator[Item]:
        """Yield questions until those that are done have cost as much as allowed."""
        most = None if self._prices is None else self._prices.most
        for question in questions:
            if self._prices is not None and most is not None and self._prices.of(self._used()) >= most:
                return
            yield question

    def refuse_uncounted(self) -> None:
        """Raise if a limit is set and the server does not report what it counts."""
        limited = self._prices is not None and self._prices.most is not None
        if limited and not self._used().replies:
            raise VecuqError(
                "The server does not report its tokens, so that `max_cost` cannot be kept. Leave it out; answers on "
                "disk are kept."
            )

    def spent(self) -> tuple[dict[str, int] | None, float | None]:
        """Return the tokens and their cost, as far as they are known."""
        if self._counted() is None:
            return None, None
        used = self._used()
        return used._asdict(), None if self._prices is None else self._prices.of(used)

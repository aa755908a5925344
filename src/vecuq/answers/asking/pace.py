"""How many questions at once: one more while all goes well, half as many when the server asks for fewer requests."""

from __future__ import annotations

from typing import Literal

from vecuq._run import resolve_jobs

AUTO = "auto"
_START, _MOST = 2, 32


class Pace:
    """Additive increase, multiplicative decrease, as in the congestion control of networks.

    Parameters
    ----------
    at_once
        ``"auto"`` starts with 2 questions and goes up to 32; a number starts with that many, and is the most. -1 is
        as many as cores.

    Examples
    --------
    >>> pace = Pace(8)
    >>> pace.room
    8
    >>> pace.done(slow_downs=1)
    >>> pace.room
    4
    """

    def __init__(self, at_once: int | Literal["auto"] | None) -> None:
        self.most = _MOST if at_once == AUTO else resolve_jobs(at_once)  # type: ignore[arg-type]
        self._room = float(_START if at_once == AUTO else self.most)
        self._seen = self._from_before = 0

    @property
    def room(self) -> int:
        """How many questions may be under way now."""
        return int(self._room)

    def done(self, *, slow_downs: int) -> None:
        """Take account of a question that is done; ``slow_downs`` counts since the start.

        After a cut, the questions that were under way say nothing about the new number.
        """
        busy, self._seen = slow_downs > self._seen, slow_downs
        if self._from_before:
            self._from_before -= 1
        elif busy:
            self._from_before = self.room - 1
            self._room = max(1.0, self._room / 2)
        else:
            # One more after as many answers as there is room for.
            self._room = min(float(self.most), self._room + 1 / self._room)

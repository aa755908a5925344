"""Whether a solver that goes on at its pace can ever arrive: known after twenty sweeps instead of a thousand."""

from __future__ import annotations

import math
from collections.abc import Callable

from vecuq.errors import ConvergenceError
from vecuq.ranker.settings import Settings

Progress = Callable[[int, float], None]

# A small epsilon has a first phase, in which mass finds its place: the marginal error, at most 2, falls by about the
# same amount in every sweep, or by ever less. Below this error it falls faster, and nobody can say how fast.
_SETTLED = 0.5
_EVERY, _FIRST = 10, 20


class Forecast:
    """Takes the marginal error after every sweep, and raises once the sweeps that are left cannot suffice.

    Where ``on_failure="warn"`` keeps whatever plan there is, it never does.
    """

    def __init__(self, settings: Settings, progress: Progress | None) -> None:
        self.settings, self.progress = settings, progress
        self.best = self.earlier = math.inf

    def __call__(self, sweep: int, marginal_error: float) -> None:
        """Pass the error on, and look at the pace from time to time."""
        if self.progress is not None:
            self.progress(sweep, marginal_error)
        self.best = min(self.best, marginal_error)
        if sweep % _EVERY == 0:
            if _FIRST <= sweep < self.settings.max_iter and self.settings.on_failure == "error":
                self._judge(sweep)
            self.earlier = self.best

    def _judge(self, sweep: int) -> None:
        """Raise if the error, at the pace of the last sweeps, stays in its first phase to the end."""
        fallen = self.earlier - self.best
        at_the_end = self.best - fallen * (self.settings.max_iter - sweep) / _EVERY
        if at_the_end > _SETTLED:
            raise ConvergenceError(
                f"The transport plan will not converge: marginal error {self.best:.2g} after {sweep} sweeps, wanted "
                f"{self.settings.tol:.0e}, and at this pace still {at_the_end:.1g} after {self.settings.max_iter:,}. "
                f"Raise `epsilon` (now {self.settings.epsilon:g})."
            )

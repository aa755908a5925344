"""Verdict: what a pipeline says of one answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from vecuq._check import one_line
from vecuq.decide import Decided
from vecuq.measures import text


@dataclass(frozen=True, repr=False)
class Verdict:
    """What is known of one answer, and the decision.

    Attributes
    ----------
    uncertainty
        Higher is more uncertain; NaN where no measure could be computed, or one is infinite.
    p_value
        How often an in-distribution answer is at least as uncertain; None where the model held back no rows.
    p_wrong, accept
        The calibrated probability that the answer is wrong, and whether it may be trusted; None without labels. An
        answer without an uncertainty is not accepted, nor one with another number of samples than the labelled ones.
    refused
        Why the gate refuses the answer, whatever its score; None where its score decides, or there is no gate.
    missing
        The measures that this answer does not allow, each with the reason; and ``samples`` or ``question``, where it
        was not made as the fitted answers were.
    values
        The measures by name; NaN where missing.
    why
        Which measure did it, in one sentence; computed on first use.
    decided
        The same as columns of one row, as the service records it.
    """

    uncertainty: float
    p_value: float | None
    p_wrong: float | None
    accept: bool | None
    refused: str | None
    missing: dict[str, str]
    values: dict[str, float]
    explain: Callable[[], str] = field(compare=False)
    decided: Decided = field(compare=False)

    @cached_property
    def why(self) -> str:
        """Which measure did it, in one sentence."""
        return self.explain()

    def __repr__(self) -> str:
        numbers = {"uncertainty": self.uncertainty, "p_value": self.p_value, "p_wrong": self.p_wrong}
        shown = [f"{name}={'None' if value is None else f'{value:.4g}'}" for name, value in numbers.items()]
        lacks = f", missing {one_line(', '.join(self.missing))}" if self.missing else ""
        return f"Verdict(accept={self.accept}, {', '.join(shown)}{lacks})"


def reasons_of(measured: text.MeasuredAnswer) -> dict[str, str]:
    """Return why measures are missing; an infinite one leaves the answer without an uncertainty too."""
    infinite = {name: "infinite" for name, value in measured.values.items() if math.isinf(value)}
    return {**measured.reasons, **infinite}

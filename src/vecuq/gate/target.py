"""What a gate is to keep: one target in the words that people use, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vecuq._check import in_range, number
from vecuq.errors import SettingError

KINDS = ("accuracy", "quality", "flag_recall", "flag_precision", "cost", "budget", "rows")


@dataclass(frozen=True)
class Target:
    """One target. ``value`` is a share, or for ``"rows"`` a number of rows; ``"cost"`` has two prices instead."""

    kind: str
    value: float
    cost_wrong: float = 0.0
    cost_review: float = 0.0

    @property
    def allowed(self) -> float:
        """The mean loss of accepted rows that is allowed; 1 where the target sets no limit to it."""
        return round(1.0 - self.value, 12) if self.kind in ("accuracy", "quality") else 1.0

    @property
    def is_certified(self) -> bool:
        """Whether labels certify the target, rather than choose or measure something."""
        return self.kind in ("accuracy", "quality", "flag_recall", "flag_precision")

    @property
    def words(self) -> str:
        """The target as it is named in messages."""
        names = {
            "accuracy": f"accuracy {self.value:g}",
            "quality": f"mean quality {self.value:g}",
            "flag_recall": f"recall {self.value:g} of the flag",
            "flag_precision": f"precision {self.value:g} of the flag",
            "cost": f"the lowest cost at {self.cost_wrong:g} per wrong answer and {self.cost_review:g} per review",
            "budget": f"review of at most {self.value:.3g} of the rows",
            "rows": f"review of {self.value:g} rows per batch",
        }
        return names[self.kind]


def target_of(
    *,
    accuracy: float | None = None,
    error: float | None = None,
    quality: float | None = None,
    flag_precision: float | None = None,
    flag_recall: float | None = None,
    cost_wrong: float | None = None,
    cost_review: float | None = None,
    budget: float | None = None,
) -> Target:
    """Return the one target that was named; accuracy 0.95 if none was.

    Examples
    --------
    >>> target_of(error=0.1)
    Target(kind='accuracy', value=0.9, cost_wrong=0.0, cost_review=0.0)
    """
    shares: dict[str, Any] = {
        "accuracy": accuracy,
        "error": error,
        "quality": quality,
        "flag_precision": flag_precision,
        "flag_recall": flag_recall,
    }
    given = [name for name, value in {**shares, "budget": budget}.items() if value is not None]
    given += ["cost_wrong"] if cost_wrong is not None or cost_review is not None else []
    if len(given) > 1:
        raise SettingError(f"A gate has one target; got {'= and '.join(given)}=. Give one of them.")
    if not given:
        return Target("accuracy", 0.95)
    if given == ["cost_wrong"]:
        return _costs(cost_wrong, cost_review)
    if given == ["budget"]:
        return _budget(budget)
    share = in_range(given[0], shares[given[0]], 0.0, 1.0, ends="()")
    return Target("accuracy", round(1.0 - share, 12)) if given == ["error"] else Target(given[0], share)


def _costs(wrong: float | None, review: float | None) -> Target:
    if wrong is None or review is None:
        raise SettingError("A cost needs both prices: cost_wrong= of a wrong answer, and cost_review= of a review.")
    in_range("cost_wrong", wrong, 0.0, ends="()")
    in_range("cost_review", review, 0.0, ends="()")
    return Target("cost", 0.0, float(wrong), float(review))


def _budget(budget: Any) -> Target:
    """Return a share below 1, or a whole number of rows per batch."""
    amount = number("budget", budget)
    if 0 < amount < 1:
        return Target("budget", amount)
    if amount >= 1 and amount == int(amount):
        return Target("rows", amount)
    raise SettingError(f"budget must be a share below 1 or a whole number of rows per batch; got {budget!r}.")

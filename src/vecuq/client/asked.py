"""What a client may ask for and report: options of scoring, feedback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

import msgspec

from vecuq.errors import TableError
from vecuq.service import Feedback


class ScoreOptions(TypedDict, total=False):
    """What a request to score may ask for.

    alpha
        Adds ``flagged``: rows whose p-value is at most alpha.
    explain
        Adds ``why`` and the contribution of every column.
    missing
        ``nan`` leaves rows with missing values without a score, ``marginal`` scores them by the other columns,
        ``error`` refuses them.
    confidence
        With alpha: the probability with which the rate of false alarms holds.
    by
        The field with the category, where the gate has categories.
    id
        The field with the id; ``id`` if left out.
    record
        False: the service neither keeps these rows nor counts them.
    """

    alpha: float | None
    explain: bool
    missing: Literal["nan", "marginal", "error"]
    confidence: float | None
    by: str | None
    id: str
    record: bool


def feedback_fields(found: Sequence[Feedback | Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return feedback as it is sent: only what is known."""
    if isinstance(found, Mapping | Feedback):
        raise TableError("feedback must be a list; got one of it. Put it into a list: [found].")
    given = [msgspec.structs.asdict(_as_feedback(one, place)) for place, one in enumerate(found)]
    return [{name: value for name, value in one.items() if value is not None} for one in given]


def _as_feedback(given: Feedback | Mapping[str, Any], place: int) -> Feedback:
    """Return a dict as feedback; say what is wrong with it."""
    if isinstance(given, Feedback):
        return given
    try:
        return msgspec.convert(_plain_values(given), Feedback)
    except msgspec.ValidationError as error:
        names = ", ".join(Feedback.__struct_fields__)
        raise TableError(
            f"Feedback {place:,} (counting from 0) must be a Feedback, or a dict with id and some of {names}: {error}."
        ) from None


def _plain_values(given: Any) -> Any:
    """Return the values of a dict as Python has them, where NumPy or pandas gave them."""
    if not isinstance(given, Mapping):
        return given
    return {name: value.item() if hasattr(value, "item") else value for name, value in given.items()}

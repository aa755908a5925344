"""What the service answers, typed. A field that the model does not give, or nobody asked for, is None."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class ScoredRow(msgspec.Struct, frozen=True):
    """What is known of one row.

    ``uncertainty`` is higher for rows that are more uncertain, and None where a value is missing. ``audit`` is True for
    rows that were drawn at random for the audit: find out whether they are right, and send it as feedback.
    """

    uncertainty: float | None = None
    p_value: float | None = None
    flagged: bool | None = None
    accept: bool | None = None
    p_wrong: float | None = None
    audit: bool | None = None
    why: str | None = None
    contributions: dict[str, float | None] | None = None
    id: str | None = None


class Scored(msgspec.Struct, frozen=True):
    """Rows in the order in which they were sent, and the model that scored them."""

    model: str
    checksum: str
    rows: list[ScoredRow]


class Judged(msgspec.Struct, frozen=True):
    """What is known of one answer of a language model, and whether it may be trusted."""

    uncertainty: float | None = None
    p_value: float | None = None
    p_wrong: float | None = None
    accept: bool | None = None
    audit: bool | None = None
    why: str | None = None
    missing: dict[str, str] = {}
    values: dict[str, float | None] = {}
    model: str = ""
    checksum: str = ""
    id: str | None = None


class ModelState(msgspec.Struct, frozen=True):
    """Which version of a model answers; ``error`` says why a newer file was not taken."""

    generation: int | None = None
    checksum: str | None = None
    error: str | None = None


class Ready(msgspec.Struct, frozen=True):
    """Whether every model can answer."""

    ready: bool
    models: dict[str, ModelState] = {}

    def __bool__(self) -> bool:
        return self.ready


class ServedModel(msgspec.Struct, frozen=True):
    """A model as the service describes it; ``about`` holds everything that the service said."""

    name: str
    kind: str
    checksum: str
    columns: list[str] = []
    n_held: int | None = None
    gate: dict[str, Any] | None = None
    is_answers: bool = False
    about: dict[str, Any] = {}


class QueuedRow(msgspec.Struct, frozen=True):
    """A row that was kept, and waits for somebody to look at it."""

    id: str
    model: str
    checksum: str
    time: float  # in seconds since 1970
    values: dict[str, float | None] = {}
    uncertainty: float | None = None
    p_value: float | None = None
    accept: bool | None = None
    p_wrong: float | None = None
    audit: bool | None = None
    by: str | None = None
    texts: Any = None  # of an answer: question, answer, samples
    overdue: bool | None = None  # of the audit: it counts as wrong until its label comes


class Queue(msgspec.Struct, frozen=True):
    """Rows that somebody should look at; the id of the last one, as ``after``, asks for more."""

    kind: Literal["audit", "review"]
    rows: list[QueuedRow]


class LiveGateState(msgspec.Struct, frozen=True):
    """How the promise of a gate stands; ``words`` says it in sentences."""

    state: str  # proven, unproven or broken
    bound: float | None = None
    words: str = ""
    audited: int = 0
    counted: int = 0
    wrong: int = 0
    pending: int = 0


class Live(msgspec.Struct, frozen=True):
    """The state of a model in the running service: totals, gate, drift, and series over time."""

    model: str
    totals: dict[str, int] = {}
    gate: LiveGateState | None = None
    drift: dict[str, Any] | None = None
    series: dict[str, Any] = {}

"""What becomes of scored rows that have ids: drawn for the audit or not, logged or not, decided once for good."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import one_line
from vecuq.errors import TableError
from vecuq.gate import row_ids
from vecuq.service.keeping.gates import LiveGates
from vecuq.service.keeping.store import REVIEWED, Logged, Store, number, row_bytes
from vecuq.service.recorder import Recorded, ScoredRows
from vecuq.service.refusal import Refusal


@dataclass(frozen=True)
class Outcome:
    """The answer to the client, and which rows came for the first time."""

    decided: Recorded
    fresh: NDArray[np.bool_]


def decide(store: Store, gates: LiveGates, rows: ScoredRows, *, share: float, at: float) -> Outcome:
    """Decide rows that have ids, and log them; one that came before keeps its decision, and is not logged again."""
    places = [k for k, name in enumerate(rows.ids) if name is not None]
    names = _checked([rows.ids[k] for k in places])
    model = store.model(rows.model)
    before = store.logged(model, names)
    fresh = np.ones(len(rows.ids), dtype=bool)
    accept = None if rows.accept is None else np.array(rows.accept, dtype=bool)
    audit = np.zeros(len(fresh), dtype=bool) if accept is not None and rows.model in gates.live else None
    new: dict[str, int] = {}  # the first row of each id
    for k, name in zip(places, names, strict=True):
        if name in before:
            fresh[k] = False
            _as_before(name, before[name], rows.checksum, k, accept, audit)
        elif new.setdefault(name, k) != k:
            fresh[k] = False
            _refuse_two(name, new[name], k, accept)
    if new and accept is not None and audit is not None and gates.audits(rows.model, rows.checksum) is not None:
        chosen = np.fromiter(new.values(), dtype=np.intp, count=len(new))
        accept[chosen], audit[chosen] = _drawn(gates, rows.model, list(new), accept[chosen])
    _log(store, model, rows, new, (accept, audit), share=share, at=at)
    for k, name in zip(places, names, strict=True):  # an id that came twice in one request
        if name in new and accept is not None and audit is not None:
            accept[k], audit[k] = accept[new[name]], audit[new[name]]
    return Outcome(Recorded(accept, audit), fresh)


def _checked(names: list[Any]) -> list[str]:
    try:
        return row_ids(names)
    except TableError as error:
        raise Refusal(422, "bad_rows", str(error)) from None


def _drawn(gates: LiveGates, model: str, names: list[str], accept: NDArray[np.bool_]) -> Any:
    try:
        done = gates.decided(model, names, accept)
    except TableError as error:
        raise Refusal(409, "contradiction", str(error).removesuffix(" Nothing of this call was counted.")) from None
    return done.accept, done.audit


def _as_before(name: str, known: Logged, checksum: str, k: int, accept: Any, audit: Any) -> None:
    """Give a row the decision that it has; the same model cannot decide one row in two ways."""
    if accept is None or known.accept is None:
        return
    if known.checksum == checksum and bool(known.accept) != accept[k]:
        _refuse_other(name, accepted=bool(known.accept))
    accept[k] = bool(known.accept)
    if audit is not None:
        audit[k] = bool(known.audit)


def _refuse_two(name: str, first: int, k: int, accept: Any) -> None:
    if accept is not None and accept[first] != accept[k]:
        _refuse_other(name, accepted=bool(accept[first]))


def _refuse_other(name: str, *, accepted: bool) -> None:
    before = "accepted" if accepted else "not accepted"
    raise Refusal(
        409,
        "contradiction",
        f"The id {one_line(name, most=40)!r} was {before} before, and now the scores say otherwise: an id must belong "
        f"to one row for good.",
    )


def _log(
    store: Store, model: int, rows: ScoredRows, new: dict[str, int], done: tuple[Any, Any], *, share: float, at: float
) -> None:
    """Keep new rows: those of the audit, those with feedback, and a share of the others, chosen by a hash of the id."""
    accept, audit = done
    reviewed = store.with_feedback(model, list(new)) if new else {}
    kept = [
        (name, k)
        for name, k in new.items()
        if (audit is not None and audit[k]) or name in reviewed or share >= 1.0 or _hash(name) < share
    ]
    if not kept:
        return
    shape, values = store.shape(rows.checksum, rows.columns), row_bytes(rows.values[[k for _, k in kept]])
    store.log(
        [
            (
                model,
                name,
                at,
                shape,
                row,
                number(rows.uncertainty[k]),
                None if rows.p_value is None else number(rows.p_value[k]),
                None if accept is None else int(accept[k]),
                None if rows.p_wrong is None else number(rows.p_wrong[k]),
                None if audit is None else int(audit[k]),
                0 if audit is None else int(audit[k]),
                REVIEWED if name in reviewed else 0,
                None if rows.by is None else rows.by[k],
                None if rows.texts is None else rows.texts[k],
            )
            for (name, k), row in zip(kept, values, strict=True)
        ]
    )


def _hash(name: str) -> float:
    """Return a number in [0, 1) that depends on the id alone, and says nothing of the draw for the audit."""
    digest = hashlib.blake2b(name.encode(), key=b"log", digest_size=8).digest()
    return int.from_bytes(digest, "little") / 2.0**64

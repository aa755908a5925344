"""Retention: rows that are too old or too many go, with their feedback, in small steps; awaited audits stay."""

from __future__ import annotations

import time

from vecuq.service.keeping.gates import LiveGates
from vecuq.service.keeping.store import Store
from vecuq.service.settings import StoreSettings

_STEP = 200
# Seconds that one round may take; more if there are far too many rows.
_BUDGET, _HASTE = 0.02, 0.2
_FREE_PAGES = 1_024
DAY = 86_400.0


def retain(store: Store, gates: LiveGates, settings: StoreSettings, *, now: float) -> int:
    """Delete some of what is not to be kept any longer; return how many rows went."""
    _close_audits(store, gates)
    oldest = now - settings.keep_days * DAY
    late = store.n_rows > 1.05 * settings.keep_rows
    end = time.monotonic() + (_HASTE if late else _BUDGET)
    gone = 0
    while (went := _step(store, oldest, store.n_rows - settings.keep_rows)) and time.monotonic() < end:
        gone += went
    gone += went
    _forget_strays(store, oldest)
    _give_back(store)
    return gone


def _step(store: Store, oldest: float, excess: int) -> int:
    """Delete the oldest rows, at most ``_STEP``."""
    first = store.run(
        "SELECT seq, model, id, at FROM scored WHERE pending = 0 ORDER BY seq LIMIT ?", (_STEP,)
    ).fetchall()
    going = [row for k, row in enumerate(first) if k < excess or row[3] < oldest]
    about = [(model, name) for _, model, name, _ in going]
    store.run_many("DELETE FROM scored WHERE seq = ?", [(row[0],) for row in going])
    for model, name in about:
        store.n_feedback -= store.run("DELETE FROM feedback WHERE model = ? AND id = ?", (model, name)).rowcount
    store.run_many("DELETE FROM history WHERE model = ? AND id = ?", about)
    store.n_rows -= len(going)
    return len(going)


def _forget_strays(store: Store, oldest: float) -> None:
    """Delete old feedback on rows that are not in the log."""
    stray = store.run(
        "SELECT seq, model, id FROM (SELECT seq, model, id, at FROM feedback ORDER BY seq LIMIT ?) AS f WHERE at < ? "
        "AND NOT EXISTS (SELECT 1 FROM scored AS s WHERE s.model = f.model AND s.id = f.id)",
        (_STEP, oldest),
    ).fetchall()
    store.run_many("DELETE FROM feedback WHERE seq = ?", [(seq,) for seq, _, _ in stray])
    store.run_many("DELETE FROM history WHERE model = ? AND id = ?", [about for _, *about in stray])
    store.n_feedback -= len(stray)


def _close_audits(store: Store, gates: LiveGates) -> None:
    """No label is awaited for rows that came before all that the live gate remembers one by one."""
    for name, live in gates.live.items():
        first = next(iter(live.ledger.labels), None)
        if first is not None and live.ledger.closed.n_rows:
            model = store.model(name)
            store.run(
                "UPDATE scored SET pending = 0 WHERE model = ? AND pending = 1 AND seq < "
                "(SELECT seq FROM scored WHERE model = ? AND id = ?)",
                (model, model, first),
            )


def _give_back(store: Store) -> None:
    """Make the file smaller, some pages at a time."""
    if store.run("PRAGMA freelist_count").fetchone()[0] > _FREE_PAGES:
        for _ in range(_STEP):
            store.run("PRAGMA incremental_vacuum(1)")  # Python takes one step of it, which frees one page

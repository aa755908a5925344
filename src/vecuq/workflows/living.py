"""A gate over time, on disk: rows are decided and drawn for an audit, labels come, and a state outlives every run."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import in_range
from vecuq._files import atomic_files, locked
from vecuq.decide import Decided
from vecuq.errors import ModelFileError, SettingError, TableError
from vecuq.gate import Epoch, Gate, LiveGate, Updated
from vecuq.options import PLAIN, ScoreOptions
from vecuq.table import PathLike, TableLike, TableReader, is_stdio
from vecuq.workflows.decided_tables import Beside
from vecuq.workflows.gating import load_gate
from vecuq.workflows.labelled_rows import LabelColumns, correct_in, values_in
from vecuq.workflows.monitoring import DEFAULT_WAIT
from vecuq.workflows.places import kind_word, load_any_model, refuse_place
from vecuq.workflows.scored_rows import Scored
from vecuq.workflows.scoring import score_rows
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class DecidedLive:
    """A table with decisions on disk, and the live gate after them."""

    scored: Scored
    live: LiveGate


@dataclass(frozen=True)
class LabelsTaken:
    """What became of the labels of a table, how many rows had none, and the live gate after them."""

    updated: Updated
    unlabelled: int
    live: LiveGate


@dataclass(frozen=True)
class LiveSettings:
    """How a live gate begins; a setting that is None is the default, or that of the state."""

    audit: float | None = None
    confidence: float | None = None
    overdue: int | None = None
    random_state: int | None = None

    def given(self) -> dict[str, Any]:
        """Return the settings that were given."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def refuse_others(self, state: PathLike, live: LiveGate) -> None:
        """Raise if a state was begun with other settings, which cannot change on the way."""
        begun = {
            "audit": live.audit,
            "confidence": live.confidence,
            "overdue": live.ledger.overdue,
            "random_state": live.seed,
        }
        for name, value in self.given().items():
            if value != begun[name]:
                raise SettingError(
                    f"{state} was begun with {name}={begun[name]:g}, which cannot become {value:g} on the way. Leave "
                    f"{name} out, or begin with another state file."
                )


def _recorded(live: LiveGate, ids: str) -> Beside:
    """Return what becomes of rows: some are drawn for the audit, and an id that came before keeps its decision."""

    def record(batch: pa.RecordBatch, found: Decided) -> tuple[Decided, dict[str, Any]]:
        done = live.record(batch[ids].to_pylist(), np.asarray(found.accept))
        return found.accepting(done.accept), {"audit": done.audit}

    return Beside(needs={ids: "named as the id of every row"}, record=record, adds=("audit",))


def decide_live(
    gate: PathLike | None,
    new: TableLike,
    out: PathLike,
    *,
    state: PathLike,
    ids: str,
    asked: ScoreOptions = PLAIN,
    settings: LiveSettings | None = None,
    stdout_format: str = "jsonl",
    wait: float = DEFAULT_WAIT,
    force: bool = False,
    watch: Watch = NOBODY,
) -> DecidedLive:
    """Decide the rows of a table with a live gate: adds ``accept``, ``p_wrong`` and ``audit``, and renews the state.

    A row that a run has decided before keeps its decision, so a job may be run again. The state is saved before the
    table appears: whatever the table says, the state knows. If the job is killed, run it again.

    Parameters
    ----------
    gate
        The saved gate; None to go on from ``state`` alone. Another gate than that of the state is an error: see
        :func:`recalibrate_live`.
    new
        The rows, as :func:`score` takes them.
    out
        Where the rows go, with columns added.
    state
        Where the live gate is kept; begun if it is not there.
    ids
        The column with the id of every row.
    asked
        What else is added to the rows, and which column holds the categories.
    settings
        How a new state begins; others than those of a state that is there are an error.
    stdout_format
        As for :func:`score`.
    wait
        For how many seconds to wait while another run uses the state.
    force
        Whether ``out`` may replace a file that the job reads, or one that holds no table.
    watch
        Called as rows are scored, and when the job has to wait.
    """
    reads = [new, *([] if gate is None else [gate])]
    refuse_place(state, writes="live", reads=reads, force=None)
    refuse_place(out, reads=[*reads, state], force=force)
    with locked(state, wait=in_range("wait", wait, 0.0), waiting=watch.waiting):
        live = _begun_or_resumed(state, gate, settings or LiveSettings())
        how: dict[str, Any] = {"beside": _recorded(live, ids), "stdout_format": stdout_format, "watch": watch}
        # A table appears in the end; standard output is written as it comes.
        whole: Any = nullcontext((out,)) if is_stdio(out) else atomic_files(out)
        with whole as (place,):
            scored = score_rows(live.gate, state, new, place, asked, **how)
            live.save(state)
    return DecidedLive(scored, live)


def update_live(
    state: PathLike,
    labelled: TableLike,
    labels: LabelColumns,
    *,
    ids: str,
    unknown: str = "refuse",
    wait: float = DEFAULT_WAIT,
    watch: Watch = NOBODY,
) -> LabelsTaken:
    """Take the labels of a table, joined by id, and renew the state; rows without a label are left out.

    ``unknown`` is as in :meth:`vecuq.LiveGate.update`.
    """
    refuse_place(state, writes="live", reads=[labelled], force=None)
    table = TableReader(labelled).whole()
    names = values_in(table, ids, "the id of every row") or []
    correct = correct_in(table, labels)
    known = ~np.isnan(correct)
    with locked(state, wait=in_range("wait", wait, 0.0), waiting=watch.waiting):
        live = load_live(state)
        with_label = [name for name, yes in zip(names, known, strict=True) if yes]
        done = live.update(with_label, correct[known], unknown=unknown)
        live.save(state)
    return LabelsTaken(done, int((~known).sum()), live)


def recalibrate_live(
    state: PathLike, gate: PathLike, *, wait: float = DEFAULT_WAIT, watch: Watch = NOBODY
) -> tuple[Epoch, LiveGate]:
    """Let a live gate go on with another gate; return what the epoch before came to, and the live gate."""
    refuse_place(state, writes="live", reads=[gate], force=None)
    better = load_gate(gate)
    with locked(state, wait=in_range("wait", wait, 0.0), waiting=watch.waiting):
        live = load_live(state)
        ended = live.recalibrate(better)
        live.save(state)
    return ended, live


def load_live(state: PathLike) -> LiveGate:
    """Read a live gate; refuse any other saved kind."""
    found = load_any_model(state)
    if not isinstance(found, LiveGate):
        raise ModelFileError(f"{state} holds a {kind_word(found)}; the state of a live gate is needed here.")
    return found


def _begun_or_resumed(state: PathLike, gate: PathLike | None, settings: LiveSettings) -> LiveGate:
    begins = not Path(state).exists()
    if begins and gate is None:
        raise TableError(f"There is no state {state} yet; give the gate with which it begins.")
    given: Gate | None = None if gate is None else load_gate(gate)
    if begins and given is not None:
        return LiveGate(given, **settings.given())
    live = load_live(state)
    settings.refuse_others(state, live)
    if given is not None and given.to_bytes() != live.gate.to_bytes():
        raise SettingError(
            f"{state} was begun with another gate than {gate}. Recalibrate it, which begins a new epoch, or begin with "
            f"another state file."
        )
    return live

"""A gate over time, on disk: rows are decided and drawn for an audit, labels come, and a state outlives every run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vecuq._check import Array, in_range, wanted_columns
from vecuq._files import atomic_files, locked
from vecuq.errors import ModelFileError, SettingError, TableError
from vecuq.gate import Epoch, Gate, LiveGate, Updated
from vecuq.ranker import Ranking
from vecuq.table import PathLike, TableLike, TableReader, is_stdio
from vecuq.workflows.gating import load_gate
from vecuq.workflows.judging import Judge
from vecuq.workflows.labelled_rows import LabelColumns, correct_in, values_in
from vecuq.workflows.monitoring import DEFAULT_WAIT
from vecuq.workflows.places import kind_word, load_any_model, refuse_place
from vecuq.workflows.scored_batches import Wanted
from vecuq.workflows.scoring import Scored, score_rows, scoring_model
from vecuq.workflows.watch import NOBODY, Watch

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Decided:
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


@dataclass(frozen=True)
class LiveJudge(Judge):
    """A live gate on its walk through a table: it also draws rows for the audit, by their ids."""

    live: LiveGate | None = None
    ids: str = "id"

    added: ClassVar[tuple[str, ...]] = ("accept", "p_wrong", "audit")

    def refuse(self, present: Sequence[str]) -> None:
        """Raise, before any row is read, if a column that is needed is not there."""
        super().refuse(present)
        wanted_columns([self.ids], present, purpose="named as the id of every row")

    def decided(self, batch: pa.RecordBatch, ranking: Ranking, values: Array) -> dict[str, Any]:
        """Return the columns that the gate adds to a batch; an id that came before has the decision made then."""
        import pyarrow as pa

        found = super().decided(batch, ranking, values)
        if self.live is None:
            return found
        done = self.live.record(batch[self.ids].to_pylist(), np.asarray(found["accept"]))
        return found | {"accept": pa.array(done.accept), "audit": pa.array(done.audit)}


def decide_live(
    gate: PathLike | None,
    new: TableLike,
    out: PathLike,
    *,
    state: PathLike,
    ids: str,
    by: str | None = None,
    settings: LiveSettings | None = None,
    wanted: Wanted | None = None,
    stdout_format: str = "jsonl",
    wait: float = DEFAULT_WAIT,
    force: bool = False,
    watch: Watch = NOBODY,
) -> Decided:
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
    by
        For a gate with categories: the column that holds them.
    settings
        How a new state begins; others than those of a state that is there are an error.
    wanted
        What else is added to the rows.
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
        judge = LiveJudge(live.gate, by, live=live, ids=ids)
        model = scoring_model(live.gate.model, state)
        with _whole(out) as place:
            scored = score_rows(
                model, new, place, wanted or Wanted(), stdout_format=stdout_format, judge=judge, watch=watch
            )
            live.save(state)
    return Decided(scored, live)


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


@contextmanager
def _whole(out: PathLike) -> Iterator[PathLike]:
    """Yield where to write a table that appears in the end; standard output is written as it comes."""
    if is_stdio(out):
        yield out
        return
    with atomic_files(out) as (part,):
        yield part

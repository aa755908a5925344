"""Deciding: how rows are decided. Made and checked once; it keeps nothing between calls, and any face may use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, wanted_columns
from vecuq.conformal import flagged, largest_selected
from vecuq.decide.found import Decided
from vecuq.decide.refused import BY_MAKING, REFUSALS, Facts, refused_by
from vecuq.errors import SettingError
from vecuq.gate import EVERYTHING, accepted_below
from vecuq.options import PLAIN, ScoreOptions

if TYPE_CHECKING:
    from vecuq.decide.made import Made, Making
    from vecuq.decide.together import Seen
    from vecuq.gate import Gate
    from vecuq.ranker import Ranker, Ranking


@dataclass(frozen=True, eq=False)
class Deciding:
    """How rows are decided, by a ranker, what is asked for, and a gate.

    Parameters
    ----------
    ranker
        What orders the rows.
    options
        What is added to them.
    gate
        What accepts them; None where nothing is.
    made
        How the labelled answers were made, if their measures depend on it; others are refused.
    n_jobs
        Threads that many rows are shared among, as in scikit-learn.
    cutoff, limits
        What :meth:`settle` found: the largest p-value that is selected, and up to which score each unit accepts.

    Examples
    --------
    >>> from vecuq import VecUQ
    >>> model = VecUQ().fit(np.random.default_rng(0).gamma(1.0, size=(500, 2))).ranker_
    >>> Deciding(model, ScoreOptions(alpha=0.05)).of(np.array([[0.1, 0.1], [9.0, 9.0]])).flagged
    array([False,  True])
    """

    ranker: Ranker
    options: ScoreOptions = PLAIN
    gate: Gate | None = None
    made: Made | None = None
    n_jobs: int | None = None
    cutoff: float | None = None
    limits: Array | None = None

    def __post_init__(self) -> None:
        asked = self.options
        if asked.alpha is not None:
            self.rate  # noqa: B018 - refuses what the held-back rows cannot deliver
        if asked.missing == "marginal":
            self.ranker.require_kept_rows()
        if asked.explain:
            self.ranker.baseline  # noqa: B018 - old models keep no medians
        if self.gate is None and asked.by is not None:
            raise SettingError("by= is for a gate with categories; this is a model without a gate.")

    @cached_property
    def rate(self) -> float:
        """The p-value up to which rows are flagged."""
        asked = self.options
        return self.ranker.flag_rate(asked.alpha, confidence=asked.confidence, missing=asked.missing)

    @cached_property
    def by_batch(self) -> bool:
        """Whether the gate decides rows together: a batch is what :meth:`settle` saw, or else one call."""
        return self.gate is not None and not self.gate.learned_.decider.by_threshold

    @cached_property
    def _thresholds(self) -> Array | None:
        """Up to which score each unit accepts; None where that hangs on the batch."""
        if self.gate is None or self.by_batch:
            return None
        return self.gate.learned_.decider.limits(np.empty(0), np.empty(0, dtype=np.intp))

    @property
    def needs_all_rows(self) -> bool:
        """Whether all rows must be seen before any is decided."""
        return self.by_batch or self.options.select is not None

    @property
    def added(self) -> list[str]:
        """The columns that are added to rows, without contributions."""
        asked, has_gate = self.options, self.gate is not None
        wanted = {
            "uncertainty": True,
            "p_value": self.ranker.has_p_values,
            "flagged": asked.alpha is not None,
            "selected": asked.select is not None,
            "accept": has_gate,
            "p_wrong": has_gate,
            "why": asked.explain,
        }
        return [name for name, is_added in wanted.items() if is_added]

    def absent_from(self, present: Sequence[str], *, where: str = "The table") -> tuple[str, ...]:
        """Return the score columns that rows lack; raise if they are needed."""
        columns = self.ranker.columns
        absent = tuple(name for name in columns if name not in present)
        if absent and (self.options.missing != "marginal" or len(absent) == len(columns)):
            wanted_columns(columns, present, purpose="needed as score columns", where=where)
        return absent

    def refuse_by(self, present: Sequence[str]) -> None:
        """Raise if a gate needs a column of categories that is not named, or not there."""
        if self.gate is None:
            return
        has_units, by = self.gate.learned_.units != EVERYTHING, self.options.by
        if has_units and by is None:
            raise SettingError("This gate has a certificate per category; name the column of categories with by=.")
        if not has_units and by is not None:
            raise SettingError("This gate was fitted without categories; leave by= out.")
        if by is not None:
            wanted_columns([by], present, purpose="named as by")

    def of(self, values: Array, categories: Any = None, making: Making | None = None) -> Decided:
        """Decide rows: their scores, (rows, columns), in the direction in which higher is more uncertain.

        Parameters
        ----------
        values
            The columns of the ranker, in its order; NaN where missing.
        categories
            The category of every row, where the gate has categories.
        making
            How each answer was made; without it, nothing is refused for that.
        """
        return self.ranked(self._rank(values), values, categories, making)

    def ranked(self, ranking: Ranking, values: Array, categories: Any = None, making: Making | None = None) -> Decided:
        """Decide rows that this ranker has ranked already."""
        if self.options.select is not None and self.cutoff is None:
            raise SettingError("select looks at all rows together: decide by settle(look(rows)).")
        flags = selected = accept = p_wrong = why = contributions = is_refused = facts = None
        if ranking.p_values is not None:
            flags = None if self.options.alpha is None else flagged(ranking.p_values, self.rate)
            selected = None if self.cutoff is None else np.asarray(ranking.p_values <= self.cutoff)
        if self.gate is not None:
            facts = self._facts(self.gate, ranking, values, categories, making)
            is_refused = refused_by(REFUSALS, facts)
            accept, p_wrong = self._accepted(self.gate, facts) & ~is_refused, self.gate.p_wrong_of_scores(facts.scores)
        if self.options.explain:
            why, contributions = self.explained(values, flags)
        known = (ranking.uncertainty, ranking.p_values, flags, selected, accept, p_wrong)
        return Decided(*known, why, contributions, is_refused, facts)

    def explained(self, values: Array, chosen: NDArray[np.bool_] | None = None) -> tuple[list[str | None], Array]:
        """Return a sentence for each chosen row (for all by default), and what each column adds to the uncertainty."""
        ranker, missing = self.ranker, self.options.missing
        contributions = ranker.explain(ranker.as_table(values), missing=missing, n_jobs=self.n_jobs)
        chosen = np.ones(len(values), dtype=bool) if chosen is None else chosen
        found = iter(ranker.reasons(values[chosen], contributions[chosen], missing=missing))
        return [next(found) if one else None for one in chosen], contributions

    def look(self, values: Array, categories: Any = None, making: Making | None = None) -> Seen:
        """Return what is to be remembered of rows that are decided with others; the sum of all goes to settle."""
        from vecuq.decide.together import Seen  # most rows are decided one by one

        ranking = self._rank(values)
        seen = Seen(len(values)) if self.options.select is None else Seen.of_p_values(np.asarray(ranking.p_values))
        if self.gate is None or not self.by_batch:
            return seen
        facts = self._facts(self.gate, ranking, values, categories, making)
        return replace(seen, scores=(_counting(facts),), units=(facts.units,))

    def settle(self, seen: Seen) -> Deciding:
        """Return how rows are decided when all of them were seen."""
        settled = self
        if self.options.select is not None:
            method = self.options.select
            rate = self.ranker.rate_of(self.options.alpha, method=method, n_rows=seen.n_rows)
            cutoff = largest_selected(seen.p_values, seen.times, rate, method)
            if not cutoff:
                self.ranker.warn_none_selected(rate, method=method, n_rows=int(seen.times.sum()))
            settled = replace(settled, cutoff=cutoff)
        if self.gate is not None and self.by_batch:
            settled = replace(settled, limits=self.gate.learned_.decider.limits(*seen.by_unit()))
        return settled

    def _rank(self, values: Array) -> Ranking:
        # Rows without a score are counted by the caller, once for all batches.
        table = self.ranker.as_table(values)
        return self.ranker.rank(table, missing=self.options.missing, n_jobs=self.n_jobs, warn=False)

    def _facts(self, gate: Gate, ranking: Ranking, values: Array, categories: Any, making: Making | None) -> Facts:
        scoring = gate.scoring
        scores = scoring.settled(ranking.uncertainty, values, ranking.p_values)
        units = gate.units_of(categories, len(scores))
        return Facts(scores, units, scoring.guarded(ranking.p_values), making, self.made)

    def _accepted(self, gate: Gate, facts: Facts) -> NDArray[np.bool_]:
        scores, limits = _counting(facts), self._thresholds if self.limits is None else self.limits
        if limits is None:
            limits = gate.learned_.decider.limits(scores, facts.units)
        return accepted_below(scores, facts.units, limits)


def _counting(facts: Facts) -> Array:
    """Return the scores by which rows are decided; one that was not made as the labelled rows has none."""
    if facts.making is None:
        return facts.scores
    return np.where(refused_by(BY_MAKING, facts), np.nan, facts.scores)

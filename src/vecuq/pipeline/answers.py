"""AnswerPipeline: answers of a language model in, a decision for each out; saved as one file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from copy import copy
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any, Unpack

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from vecuq._check import Array, finite_rows, keywords_only
from vecuq._files import tensor_bytes, write_tensors
from vecuq.answers import record_of
from vecuq.decide import Deciding, Made, Making, made_in_words
from vecuq.errors import CalibrationError, SettingError, TableError
from vecuq.gate import Certificate, Gate, certificate_section, warn_unlike
from vecuq.measures import Measure, find_measures, text
from vecuq.options import PLAIN, ScoreOptions
from vecuq.pipeline.choosing import chosen_measures
from vecuq.pipeline.measured import look_at_questions, look_at_samples, measured_answers
from vecuq.pipeline.splitting import Split, labels_of, rows_of, some_of, split_rows
from vecuq.pipeline.unlike import Coverage
from vecuq.pipeline.verdict import Verdict, reasons_of
from vecuq.ranker import FEWEST, How, Ranker, Ranking, VecUQ, card_of, learn_weights
from vecuq.table import ScoreTable


class AnswerPipeline(BaseEstimator):  # type: ignore[misc]
    """Measures, comparison of texts, ranker and gate in one scikit-learn estimator of answers.

    Parameters
    ----------
    measures
        Names of text measures or compositions; by default at most five that nearly all answers of the map allow.
    settings
        How texts are compared, a :class:`vecuq.measures.text.TextSettings`.
    estimator
        The :class:`vecuq.VecUQ` that ranks the measures, unfitted; by default ``VecUQ(missing="marginal")``, which
        scores answers that lack some measures by the others.
    accuracy, confidence
        With labels: the accuracy of accepted answers, and with which probability it holds; see :class:`vecuq.Gate`.
    random_state
        Seed of the split of labelled answers; None is a fixed seed.

    Attributes
    ----------
    measures_ : tuple of str
        The measures, which are the columns of the ranker.
    ranker_, gate_ : Ranker, Gate or None
        What ranks and what decides; there is no gate without labels.
    split_ : dict of str to int
        How many answers fitted the map, learned weights and certified the gate, and how many of the map's were left
        out for a missing measure.
    made_ : Made or None
        Least and most samples, and whether there were questions, of the answers that certified the gate (that fitted
        the map, without labels). An answer with another number of samples is not accepted. None if nobody said.
    fields_ : tuple of str
        Which fields of the lines held labels, groups and categories, where ``vecuq fit`` read files.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> def answer(doubt):
    ...     return {"text": "Paris", "samples": ["Paris" if rng.random() > doubt else "Lyon" for _ in range(8)]}
    >>> doubts = rng.random(900)
    >>> wrong = rng.random(900) < doubts**3 / 2
    >>> judge = AnswerPipeline(measures=["consistency"], accuracy=0.9).fit(map(answer, doubts), wrong)
    >>> judge.split_
    {'map': 300, 'weights': 0, 'gate': 600, 'incomplete': 0}
    >>> judge("Paris", samples=["Paris"] * 8).accept, judge("Paris", samples=["Lyon"] * 8).accept
    (True, False)
    """

    measures_: tuple[str, ...]
    settings_: text.TextSettings
    estimator_: VecUQ
    ranker_: Ranker
    gate_: Gate | None
    split_: dict[str, int]
    date_: str
    made_: Made | None
    fields_: tuple[str, ...]
    _said: set[str]  # what was warned of already

    @keywords_only
    def __init__(
        self,
        *,
        measures: str | Sequence[str] | None = None,
        settings: text.TextSettings | None = None,
        estimator: VecUQ | None = None,
        accuracy: float = 0.95,
        confidence: float = 0.9,
        random_state: int | None = None,
    ) -> None:
        self.measures = measures
        self.settings = settings
        self.estimator = estimator
        self.accuracy = accuracy
        self.confidence = confidence
        self.random_state = random_state

    def set_params(self, **params: Any) -> AnswerPipeline:
        """Set parameters by name; ``estimator__alpha`` and its like also where the estimator is the default one."""
        nested = any(name.startswith("estimator__") for name in params)
        if nested and params.get("estimator", self.estimator) is None:
            params["estimator"] = default_estimator()
        super().set_params(**params)
        return self

    def fit(
        self, records: Iterable[Any], wrong: Any = None, *, correct: Any = None, groups: Any = None, by: Any = None
    ) -> AnswerPipeline:
        """Fit map, weights and gate, each to other answers.

        Parameters
        ----------
        records
            Answers: :class:`vecuq.answers.AnswerRecord`, mappings, or replies as :meth:`judge` takes them. A random
            sample of the answers to be decided.
        wrong, correct
            1 or True where an answer is wrong (or right), None or NaN where nobody knows. Without labels there is no
            gate: answers get an uncertainty and a p-value, and no decision.
        groups
            Which answers come together (sessions, documents): a group is never split, and the promise rests on groups.
        by
            The category of every answer: each has a certificate of its own, see :meth:`vecuq.Gate.fit`.
        """
        settings = text.TextSettings() if self.settings is None else self.settings
        table, making = measured_answers(records, self._wanted(), settings)
        return self.fit_measured(table, wrong, correct=correct, groups=groups, by=by, making=making)

    def fit_measured(
        self,
        table: ScoreTable,
        wrong: Any = None,
        *,
        correct: Any = None,
        groups: Any = None,
        by: Any = None,
        making: Making | None = None,
    ) -> AnswerPipeline:
        """Fit to measures that were computed before, by these ``settings``; see :meth:`fit`.

        ``making`` says how each answer was made, ``Making.of(records)``. Without it nobody notices if new answers come
        with another number of samples.
        """
        labels = labels_of(wrong, correct, len(table))
        if making is not None:
            making.refuse_other_length(len(table))
        if labels is None and by is not None:
            raise TableError("by= names categories with a certificate each, which need labels: give wrong= too.")
        self.settings_ = text.TextSettings() if self.settings is None else self.settings
        seed, self.fields_ = 0 if self.random_state is None else self.random_state, ()
        parts = split_rows(labels, groups, len(table), seed)
        if self.measures is None:
            self.measures_ = chosen_measures(rows_of(table, parts.map), n_map=len(parts.map))
        else:
            self.measures_ = tuple(one.name for one in self._wanted())
        table = table.select(self.measures_)
        self._fit_ranker(table, parts, labels, groups)
        rows = parts.map[finite_rows(table.values[parts.map])] if labels is None else parts.gate
        self.made_ = None if making is None or not len(rows) else making.over(rows)
        self.gate_, self.date_ = None, datetime.now(UTC).isoformat(timespec="seconds")
        if labels is not None:
            about: dict[str, Any] = {"groups": some_of(groups, parts.gate), "by": some_of(by, parts.gate)}
            about["unlabelled"] = self.held_back()
            gate = Gate(self.estimator_, accuracy=self.accuracy, confidence=self.confidence, random_state=seed)
            gate.fit(rows_of(table, parts.gate), labels[parts.gate] == 0, **about)
            self._take(gate)
        self._said = set()
        return self

    def held_back(self) -> ScoreTable | None:
        """Return the measures of the map's held-back answers, which set the thresholds of a gate; None if too few.

        They are other answers than labelled ones, even where their measures are equal.
        """
        check_is_fitted(self)
        held = self.ranker_.kept.held
        return self.ranker_.as_table(held) if len(held) > 1 else None

    def without_warnings(self) -> AnswerPipeline:
        """Return the same pipeline, which does not warn of answers that were made otherwise: verdicts say it."""
        check_is_fitted(self)
        other = copy(self)
        other._said = {"samples", "question"}
        return other

    def with_gate(self, gate: Gate, *, made: Made | None = None) -> AnswerPipeline:
        """Return a pipeline that decides by another gate, fitted to ``estimator_`` and measures of other answers.

        ``made`` says how these answers were made; without it, as those of the gate before.
        """
        check_is_fitted(self)
        if gate.model is not self.estimator_:
            raise SettingError("The gate needs the model of this pipeline: Gate(pipeline.estimator_, ...).")
        other = copy(self)
        other._take(gate)
        other.made_, other._said = self.made_ if made is None else made, set()
        return other

    def _take(self, gate: Gate) -> None:
        """Decide by a gate from now on; it may have left out answers that are equal to some of the map."""
        self.gate_ = gate
        self.split_ = {**self.split_, "gate": len(gate.learned_.labelled.scores)}

    def _wanted(self) -> tuple[Measure, ...]:
        names = [self.measures] if isinstance(self.measures, str) else self.measures
        return find_measures(names, modality="text")

    def _fit_ranker(self, table: ScoreTable, parts: Split, labels: Array | None, groups: Any) -> None:
        """Fit the map to complete answers, with weights where enough labels of both kinds learn them."""
        estimator = clone(default_estimator() if self.estimator is None else self.estimator)
        if estimator.columns is not None or estimator.flip:
            raise SettingError("measures= chooses the columns here; leave columns= and flip= of the estimator out.")
        to_weigh, rows = parts.weights[finite_rows(table.values[parts.weights])], parts.map
        if labels is not None and min(np.sum(labels[to_weigh] == kind) for kind in (0, 1)) >= FEWEST:
            weights = learn_weights(rows_of(table, to_weigh), labels[to_weigh] > 0)
            estimator.set_params(weights=weights)
        else:
            to_weigh, rows = to_weigh[:0], np.sort(np.concatenate([parts.map, parts.weights]))
        whole = rows[finite_rows(table.values[rows])]
        if len(whole) < 2:
            raise CalibrationError(
                f"Only {len(whole):,} of {len(rows):,} answers of the map have all measures {list(self.measures_)}. "
                f"Name measures that the answers allow, or leave measures= out."
            )
        self.estimator_ = estimator.fit(rows_of(table, whole), groups=some_of(groups, whole))
        self.ranker_ = self.estimator_.ranker_
        counts = {"map": len(whole), "weights": len(to_weigh), "gate": 0}
        self.split_ = {**counts, "incomplete": len(rows) - len(whole)}

    def judge(self, reply: Any, samples: Any = (), *, question: str | None = None, by: Any = None) -> Verdict:
        """Return what is known of one answer, and whether it may be trusted.

        Parameters
        ----------
        reply
            The answer: a reply of a provider's package or its dict, a text, or an :class:`vecuq.answers.AnswerRecord`.
        samples
            Further answers to the same question, drawn at random, in any of these forms.
        question
            The question, which some measures need.
        by
            The category of the answer, where the gate has categories.
        """
        if not hasattr(self, "ranker_"):  # what scikit-learn's check finds too, in a hundredth of the time
            check_is_fitted(self)
        record = record_of(reply, samples=samples, question=question)
        measured = text.measure_record(record, _found(self.measures_), self.settings_)
        values, making = np.array([list(measured.values.values())]), Making.of_records([record])
        found = self.deciding().of(values, None if by is None else [by], making)
        coverage = self._coverage()
        coverage.warn(making)
        return Verdict(
            uncertainty=float(found.uncertainty[0]),
            p_value=None if found.p_value is None else float(found.p_value[0]),
            p_wrong=None if found.p_wrong is None else float(found.p_wrong[0]),
            accept=None if found.accept is None else bool(found.accept[0]),
            refused=None if found.refused is None else found.refused[0],
            missing={**reasons_of(measured), **coverage.reasons(making)},
            values=measured.values,
            explain=partial(self._why, values),
            decided=found,
        )

    __call__ = judge

    def measure(self, records: Iterable[Any]) -> ScoreTable:
        """Return the measures of answers as a score table; NaN where an answer does not allow one."""
        return self._measured(records)[0]

    def rank(self, records: Iterable[Any], **how: Unpack[How]) -> Ranking:
        """Return score, rank image and p-value of every answer; see :meth:`vecuq.Ranker.rank`."""
        table = self.measure(records)
        return self.ranker_.rank(table, **How(**{**self.estimator_.how(), **how}))

    def uncertainty(self, records: Iterable[Any], **how: Unpack[How]) -> Array:
        """Return one number per answer; higher is more uncertain."""
        return self.rank(records, **how).uncertainty

    def p_values(self, records: Iterable[Any], **how: Unpack[How]) -> Array:
        """Return conformal p-values; see :meth:`vecuq.Ranker.p_values`."""
        table = self.measure(records)
        return self.ranker_.p_values(table, **How(**{**self.estimator_.how(), **how}))

    def accept(self, records: Iterable[Any], *, by: Any = None) -> NDArray[np.bool_]:
        """Return which answers may be trusted; see :meth:`vecuq.Gate.accept`.

        An answer with another number of samples than those that certified the gate is not.
        """
        return self.accept_measured(*self._measured(records), by=by)

    def accept_measured(self, table: ScoreTable, making: Making, *, by: Any = None) -> NDArray[np.bool_]:
        """Return which answers may be trusted, by their measures and how they were made; see :meth:`accept`."""
        gate = self._gate()
        found = self.deciding().of(table.values, by, making)
        self.warn_of(making)
        if found.facts is not None and found.accept is not None:
            warn_unlike(gate.learned_, found.facts.scores[found.alike], accepted=found.accept[found.alike])
        return np.asarray(found.accept)

    def deciding(self, asked: ScoreOptions = PLAIN) -> Deciding:
        """Return how measures of answers are decided; a missing measure as the pipeline does it, unless refused."""
        if asked.missing == "nan":
            asked = msgspec.structs.replace(asked, missing=self.estimator_.missing)
        made = self.made_ if look_at_samples(_found(self.measures_), self.settings_) else None
        return Deciding(self.ranker_, asked, self.gate_, made)

    def warn_of(self, making: Making) -> None:
        """Warn of answers that the certificate is not about."""
        self._coverage().warn(making)

    def p_wrong(self, records: Iterable[Any], *, interval: bool = False) -> Array:
        """Return the calibrated probability that each answer is wrong; see :meth:`vecuq.Gate.p_wrong`."""
        gate, table = self._gate(), self.measure(records)
        ranking = self.ranker_.rank(table, missing=self.estimator_.missing, warn=False)
        scores = gate.scoring.settled(ranking.uncertainty, table.values, ranking.p_values)
        return gate.p_wrong_of_scores(scores, interval=interval)

    def why(self, records: Iterable[Any]) -> list[str]:
        """Return one short sentence per answer: which measure did it; see :meth:`vecuq.Ranker.why`."""
        table = self.measure(records)
        return self.ranker_.why(table, missing=self.estimator_.missing)

    def certificate(self) -> Certificate:
        """Return what is promised of accepted answers, under which assumption, and what the labels showed."""
        return self._gate().certificate()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pipeline to one file, whole or not at all; :func:`vecuq.load` reads it."""
        from vecuq.pipeline.answer_file import parts_of

        write_tensors(path, *parts_of(self))

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write."""
        from vecuq.pipeline.answer_file import parts_of

        return tensor_bytes(*parts_of(self))

    def describe(self) -> dict[str, Any]:
        """Return the measures, how texts are compared, the split, and what gate and ranker say of themselves."""
        check_is_fitted(self)
        own = {"measures": list(self.measures_), "comparison": self.settings_.to_dict(), "split": dict(self.split_)}
        own |= made_in_words(self.made_)
        gate = {} if self.gate_ is None else {"gate": self.gate_.describe()}
        return {**own, **gate, **self.ranker_.describe()}

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Show a fitted pipeline as a card in notebooks, an unfitted one as scikit-learn does."""
        if not hasattr(self, "ranker_"):
            return dict(super()._repr_mimebundle_(**kwargs))
        facts = {} if self.gate_ else {"gate": "none: fitted without labels"}
        made = [] if self.gate_ is None else [certificate_section(self.gate_.certificate())]
        return {"text/plain": repr(self), "text/html": card_of(self.ranker_, "AnswerPipeline", facts, before=made)}

    def _coverage(self) -> Coverage:
        found = _found(self.measures_)
        looks = look_at_samples(found, self.settings_), look_at_questions(found)
        return Coverage(self.made_, self.gate_ is not None, *looks, said=self._said)

    def _measured(self, records: Iterable[Any]) -> tuple[ScoreTable, Making]:
        check_is_fitted(self)
        return measured_answers(records, _found(self.measures_), self.settings_)

    def _gate(self) -> Gate:
        check_is_fitted(self)
        if self.gate_ is None:
            raise CalibrationError(
                "This pipeline was fitted without labels, so it decides nothing; fit it again with wrong= or correct=."
            )
        return self.gate_

    def _why(self, values: Array) -> str:
        return self.ranker_.why(ScoreTable(self.measures_, values), missing=self.estimator_.missing)[0]


def default_estimator() -> VecUQ:
    """Return the estimator of a pipeline that was given none."""
    return VecUQ(missing="marginal")


@lru_cache(maxsize=32)
def _found(names: tuple[str, ...]) -> tuple[Measure, ...]:
    return find_measures(names, modality="text")

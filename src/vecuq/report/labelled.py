"""What labels say: curves with intervals, and a comparison with each column and other ways to combine them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecuq._check import Array, finite_rows
from vecuq._draw import Section, Sheet, paragraph, sheet_table
from vecuq.errors import VecuqError, VecuqWarning
from vecuq.evaluation import Bootstrap, Evaluation, comparison_sheet, evaluate, verdicts
from vecuq.report.pictures import figure_html
from vecuq.report.subject import Subject
from vecuq.table import ScoreTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OURS = "uncertainty"
# Rows that are evaluated, and calibration rows that baselines learn from; of more a random draw.
MOST_EVALUATED, MOST_LEARNED = 10_000, 5_000
# One metric per task; the intervals of ROC-AUC need no resamples.
METRICS = {
    "ood roc_auc": "ROC-AUC out-of-distribution",
    "error roc_auc": "ROC-AUC errors",
    "selective accuracy_coverage_area": "accuracy over all coverages",
    "generation prediction_rejection_ratio": "prediction rejection ratio",
}
RESAMPLES = 200


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows with labels, and how uncertain each method finds them."""

    subject: Subject
    rows: NDArray[np.intp]
    n_labelled: int
    truth: dict[str, Array]
    groups: list[int] | None
    failed: dict[str, str]
    methods: dict[str, Array]

    @staticmethod
    def of(subject: Subject) -> Judged | None:
        """Take the rows that have a score and a label; None where there is none."""
        labels = {name: label for name in subject.beside.labels if (label := subject.label(name)) is not None}
        if not labels:
            return None
        known = subject.scored & finite_rows(subject.values)
        known &= np.any([~np.isnan(label) for label in labels.values()], axis=0)
        labelled = np.flatnonzero(known)
        rows = subject.drawn(labelled, MOST_EVALUATED)
        if not len(rows):
            return None
        others, failed = _baselines(subject, rows)
        values = subject.values[rows]
        columns = {_beside(name): values[:, k] for k, name in enumerate(subject.ranker.columns)}
        methods = {OURS: subject.uncertainty[rows], **columns, **others}
        truth = {name: label[rows] for name, label in labels.items()}
        groups = None if subject.groups is None else subject.groups[rows].tolist()
        return Judged(subject, rows, len(labelled), truth, groups, failed, methods)

    @property
    def own(self) -> dict[str, Array]:
        """The methods without the baselines."""
        n = 1 + len(self.subject.ranker.columns)
        return dict(list(self.methods.items())[:n])

    @property
    def drawn(self) -> str:
        """What part of the rows was evaluated, in words."""
        if len(self.rows) == self.n_labelled:
            return f"{self.n_labelled:,} rows with labels and a score."
        return f"A random draw of {len(self.rows):,} of {self.n_labelled:,} rows with labels and a score."


def _beside(column: str) -> str:
    """Return what a column is called beside the methods, one of which may have its very name."""
    return f"{column} (column)" if column == OURS or column.endswith("()") else column


def _baselines(subject: Subject, rows: NDArray[np.intp]) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the uncertainty by every other combiner, learned from the calibration rows, and which could not learn."""
    if subject.beside.calibration is None or len(subject.ranker.columns) < 2:
        return {}, {}
    from vecuq.baselines import baselines

    ranker = subject.ranker
    known = ranker.values_of(subject.beside.calibration)
    known = known[finite_rows(known)]
    learned = known[subject.drawn(np.arange(len(known)), MOST_LEARNED)]
    # Directions are settled already: both tables are in the direction in which higher is more uncertain.
    calibration, new = (ScoreTable(ranker.columns, np.asarray(part)) for part in (learned, subject.values[rows]))
    found: dict[str, Array] = {}
    failed: dict[str, str] = {}
    for baseline in baselines().values():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", VecuqWarning)
                found[f"{baseline.name}()"] = baseline.make().fit(calibration).uncertainty(new)
        except VecuqError as error:
            failed[f"{baseline.name}()"] = str(error)
    return found, failed


def labelled_sections(subject: Subject) -> list[Section]:
    """Return the curves and the comparison; nothing without labels."""
    judged = Judged.of(subject)
    if judged is None:
        return []
    curves = [*_curves(judged), *_reliability(judged)]
    about = f"{judged.drawn} Intervals hold if these rows are a random sample{_together(judged)}."
    if {"error", "ood"} <= judged.truth.keys():
        about += " Errors are looked for among in-distribution rows only, except for p_wrong."
    shown = Section("labels", "What the labels say", paragraph(about, kind="soft") + "".join(curves))
    return [shown, *_comparison(judged)] if curves else _comparison(judged)


def _together(judged: Judged) -> str:
    return ", independent of each other" if judged.groups is None else " of groups"


def _curves(judged: Judged) -> list[str]:
    """Return risk-coverage and rejection curves, with a band for the uncertainty."""
    from vecuq.plots import rejection, risk_coverage

    found, truth = [], judged.truth
    if "error" in truth:
        inside = _own_rows(truth)
        if inside.any():
            axes = risk_coverage(_of(judged.own, inside), truth["error"][inside], **_grouped(judged, inside))
            found.append(_figure(axes, "Risk-coverage curves", "Lower is better: the error rate of the rows kept."))
    if "quality" in truth:
        inside = ~np.isnan(truth["quality"])
        if inside.any():
            axes = rejection(_of(judged.own, inside), truth["quality"][inside], **_grouped(judged, inside))
            found.append(_figure(axes, "Rejection curves", "Higher is better: the mean quality of the answers kept."))
    return found


def _own_rows(truth: Mapping[str, Array]) -> NDArray[np.bool_]:
    """Return the rows whose errors count: labelled, and not out of distribution."""
    known = ~np.isnan(truth["error"])
    return np.asarray(known & (truth["ood"] == 0)) if "ood" in truth else np.asarray(known)


def _of(methods: Mapping[str, Array], rows: NDArray[np.bool_]) -> dict[str, Array]:
    return {name: values[rows] for name, values in methods.items()}


def _grouped(judged: Judged, rows: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the groups of rows for a plot that draws whole ones; nothing where rows are independent."""
    return {} if judged.groups is None else {"groups": np.asarray(judged.groups)[rows]}


def _figure(axes: Axes, title: str, words: str) -> str:
    return figure_html(
        axes, title=title, caption=f"{words} The band of the bold line is a 95 % interval at each share."
    )


def _reliability(judged: Judged) -> list[str]:
    """Return how well a gate's probability of being wrong agrees with the labels."""
    decision = judged.subject.decision
    if decision is None or "error" not in judged.truth:
        return []
    from vecuq.plots import reliability

    p_wrong, wrong = decision.p_wrong[judged.rows], judged.truth["error"]
    known = ~np.isnan(p_wrong) & ~np.isnan(wrong)
    if not known.any():
        return []
    axes = reliability(p_wrong[known], wrong[known], **_grouped(judged, known))
    words = "On the diagonal, rows are wrong as often as p_wrong says. Bars are 95 % intervals, each by itself."
    return [figure_html(axes, title="Reliability of p_wrong", caption=words)]


def _comparison(judged: Judged) -> list[Section]:
    """Return the table of every method with intervals, and a sentence on each task."""
    try:
        found = evaluate(
            judged.methods,
            **judged.truth,
            metrics=list(METRICS),
            bootstrap=Bootstrap(resamples=RESAMPLES, random_state=0),
            groups=judged.groups,
        )
    except VecuqError as error:
        return [Section("comparison", "Comparison with each column", paragraph(str(error), kind="soft"))]
    keys = [one.metric.key for one in found.comparisons]
    said = "".join(paragraph(_in_words(str(one), one.metric), code=False) for one in verdicts(found, keys))
    table = sheet_table(_sheet(found, keys, list(judged.own)[1:]))
    return [Section("comparison", _heading(judged), said + table + paragraph(_remarks(judged), kind="soft"))]


def _in_words(verdict: str, key: str) -> str:
    """Return a verdict that begins with the name of its metric as the table has it."""
    words = verdict.replace(key, METRICS[key], 1)
    return words[:1].upper() + words[1:]


def _sheet(found: Evaluation, keys: list[str], columns: list[str]) -> Sheet:
    """Return one line per method: every metric with its interval, and how often it wins and loses."""
    whole = comparison_sheet(found, keys, columns)
    heads = {"method": "score", **{key: METRICS[key] for key in keys}, "wins": "wins", "losses": "losses"}
    rows = tuple({head: row[key] for key, head in heads.items()} for row in whole.rows)
    down = {heads[key]: higher for key, higher in whole.down.items() if key in keys}
    return replace(whole, rows=rows, down=down)


def _heading(judged: Judged) -> str:
    others = " and the baselines" if len(judged.methods) > len(judged.own) else ""
    return f"Comparison with each column{others}"


def _remarks(judged: Judged) -> str:
    """Return how the baselines were made, or what it takes to have them."""
    said = [
        judged.drawn,
        "In brackets 95 % intervals; bold is best, italics second. Wins and losses: differences larger than chance "
        "explains, all pairs and metrics judged at once.",
    ]
    if len(judged.methods) > len(judged.own):
        said.append("name() is a baseline, fitted on the calibration rows; see vecuq.baselines.")
    elif len(judged.subject.ranker.columns) > 1:
        said.append("Baselines need the calibration rows: `vecuq report ... --calibration FILE`.")
    said += [f"{name} could not be fitted: {reason}" for name, reason in judged.failed.items()]
    return " ".join(said)

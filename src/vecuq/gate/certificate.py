"""Certificate: what a gate promises, under which assumption, and what the labels showed. Frozen, and printable."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from vecuq._draw import fragment
from vecuq.gate.rule import Rule
from vecuq.gate.scoring import MODEL
from vecuq.gate.settings import GateSettings, Learned
from vecuq.gate.target import Target
from vecuq.gate.units import EVERYTHING

_GRADED, _ON_AVERAGE = "mean loss", "error rate on average"

# So many categories of a pool are named.
_NAMED = 8


@dataclass(frozen=True)
class Certificate:
    """What was promised, when, and on which evidence.

    Attributes
    ----------
    promise
        The promise in one sentence.
    assumption
        What it rests on.
    certified
        Whether the labels certify the target; if not, nothing is accepted. True where the target needs no proof.
    n_labels, n_groups, n_accepted, n_errors
        Labelled rows, groups of them (0: rows are independent), those accepted, and the wrong ones among these (for a
        graded quality, their summed loss).
    bound
        An upper bound on the error rate (the mean loss) of accepted rows; 1 - bound is the certified accuracy.
    coverage, coverage_interval
        The share of labelled rows that is accepted, and an interval for the share of all rows.
    threshold
        Rows are accepted up to this uncertainty; None where there is no single threshold.
    order, guard, confidence
        Which order was used; the p-value below which rows are not accepted; the confidence of the promise.
    unit
        The category that it speaks of, a pool of categories, or all rows.
    cost, cost_bound
        Cost per row on the labelled rows and an upper bound on it, where there are prices.
    date, model, labels
        When it was issued, and the checksums of the model and of the labelled rows.
    bounded
        What ``bound`` is about: the error rate, for a graded quality the mean loss, or with ``promise="average"`` the
        error rate on average, of which ``confidence`` says nothing.
    units
        One certificate per category, where categories were given.
    """

    promise: str
    assumption: str
    certified: bool
    n_labels: int
    n_groups: int
    n_accepted: int
    n_errors: float
    bound: float
    coverage: float
    coverage_interval: tuple[float, float]
    threshold: float | None
    order: str
    guard: float | None
    confidence: float
    unit: str
    date: str
    model: str
    labels: str
    cost: float | None = None
    cost_bound: float | None = None
    bounded: str = "error rate"
    units: tuple[Certificate, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def to_markdown(self) -> str:
        """Return the certificate as a Markdown section."""
        lines = [f"**{_escaped(self.promise)}**", "", f"Assumption: {_escaped(self.assumption)}", ""]
        lines += ["| what | figure |", "|---|---|", *(f"| {key} | {_escaped(text)} |" for key, text in self.facts())]
        if self.units:
            lines += ["", "| category | labels | wrong | coverage | certified |", "|---|---|---|---|---|"]
            lines += [
                f"| {_escaped(one.unit)} | {one.n_labels:,} | {one.n_errors:g} of {one.n_accepted:,} | "
                f"{one.coverage:.3f} | {'yes' if one.certified else 'no'} |"
                for one in self.units
            ]
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        width = max(len(key) for key, _ in self.facts())
        lines = [self.promise, f"Assumption: {self.assumption}"]
        lines += [f"  {key:<{width}}  {text}" for key, text in self.facts()]
        names = max((len(one.unit) for one in self.units), default=0)
        lines += [
            f"  {one.unit:<{names}}  {one.n_labels:>6,} labels  coverage {one.coverage:.3f}  "
            f"{'certified' if one.certified else 'nothing accepted'}"
            for one in self.units
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from vecuq.gate.displays import certificate_section

        return fragment("", [certificate_section(self)])

    def _errors(self) -> str:
        """Return how many accepted rows are wrong, or, of a graded quality, their mean loss."""
        if self.bounded != _GRADED:
            return f"{int(self.n_errors):,} of these wrong"
        return f"with a mean loss of {self.n_errors / max(self.n_accepted, 1):.4f}"

    def facts(self) -> list[tuple[str, str]]:
        """Return the figures in words, in the order in which people ask for them."""
        low, high = self.coverage_interval
        groups = f" in {self.n_groups:,} groups" if self.n_groups else ""
        found = [
            ("coverage", f"{self.coverage:.3f} of the rows are accepted ({low:.3f} to {high:.3f})"),
            ("labels", f"{self.n_labels:,}{groups}; {self.n_accepted:,} accepted, {self._errors()}"),
            (self.bounded, f"at most {_up(self.bound)}" if self.bound < 1 else "not bounded"),
            (
                "confidence",
                f"{self.confidence:g}" + ", of the interval of coverage only" * (self.bounded == _ON_AVERAGE),
            ),
            (
                "threshold",
                "none" if self.threshold is None else f"{_score_word(self.order)} up to {self.threshold:.6g}",
            ),
            ("order", self.order),
        ]
        if self.guard is not None:
            found.append(("guard", f"rows with a p-value below {self.guard:g} are not accepted"))
        if self.cost is not None and self.cost_bound is not None:
            found.append(("cost per row", f"{self.cost:.4g} on the labelled rows, at most {_up(self.cost_bound)}"))
        return [*found, ("date", self.date), ("model", self.model), ("labelled rows", self.labels)]


def certificate_of(settings: GateSettings, learned: Learned, *, model: str, labels: str) -> Certificate:
    """Return the certificate of a gate; with categories, one about all of them that holds one for each."""
    decider = learned.decider
    sums = {"model": model, "labels": labels}
    singly = tuple(_of_rule(settings, learned, rule, sums) for rule in decider.rules)
    if learned.units == EVERYTHING:
        return singly[0]
    together = _of_rule(settings, learned, replace(decider.together(), unit="a category"), sums)
    jointly = "all together" if learned.simultaneous else "each by itself"
    count = f"{sum(one.certified for one in singly)} of {len(singly)} categories are certified, {jointly}. "
    sentence = f"{count}{together.promise}{_pool_words(learned)}"
    return replace(together, promise=sentence, threshold=None, unit="", units=singly)


def _pool_words(learned: Learned) -> str:
    """Return which categories share a certificate; of many, the first and how many more."""
    pooled = learned.units.pooled
    if not pooled:
        return ""
    more = f" and {len(pooled) - _NAMED:,} more" if len(pooled) > _NAMED else ""
    return f" {learned.units.names[-1]!r} pools categories with few labels: {', '.join(pooled[:_NAMED])}{more}."


def _of_rule(settings: GateSettings, learned: Learned, rule: Rule, sums: dict[str, str]) -> Certificate:
    target, has_cost = settings.target, settings.target.kind == "cost"
    grouped = learned.labelled.groups is not None
    return Certificate(
        promise=promise_of(target, rule, promise=settings.promise, confidence=settings.confidence),
        assumption=assumption_of(promise=settings.promise, grouped=grouped, guard=settings.guard),
        certified=rule.certified or not target.is_certified,
        n_labels=rule.n_labels,
        n_groups=rule.n_groups,
        n_accepted=rule.n_accepted,
        n_errors=rule.n_errors,
        bound=rule.bound,
        coverage=rule.coverage,
        coverage_interval=rule.coverage_interval(settings.delta),
        threshold=rule.threshold if learned.decider.by_threshold and np.isfinite(rule.threshold) else None,
        order=learned.order,
        guard=settings.guard,
        confidence=settings.confidence,
        unit=rule.unit,
        date=learned.date,
        cost=rule.cost if has_cost else None,
        cost_bound=rule.cost_bound if has_cost else None,
        bounded=_bounded(settings),
        model=sums["model"],
        labels=sums["labels"],
    )


def _bounded(settings: GateSettings) -> str:
    """Return what the bound is about."""
    if settings.promise == "average":
        return _ON_AVERAGE
    return _GRADED if settings.target.kind == "quality" else "error rate"


def _score_word(order: str) -> str:
    """Return what the threshold is about: the model's uncertainty, or the column or sum that was the order."""
    return "uncertainty" if order == MODEL else order


def promise_of(target: Target, rule: Rule, *, promise: str, confidence: float) -> str:
    """Return the promise in one sentence; where nothing is certified, that."""
    of_unit = f" of {rule.unit}" if rule.unit else ""
    if target.is_certified and not rule.certified:
        return f"Nothing is certified: the labels do not prove {target.words}, so no row{of_unit} is accepted."
    percent, sure = f"{100 * target.value:.4g} %", f"With confidence {100 * confidence:g} %"
    if promise == "average":
        most = f"{100 - 100 * target.value:.4g} %"
        return f"Of the rows{of_unit} accepted from one batch, at most {most} are wrong on average."
    sentences = {
        "accuracy": f"{sure}, at least {percent} of the accepted rows{of_unit} are right.",
        "quality": f"{sure}, the mean quality of the accepted rows{of_unit} is at least {target.value:g}.",
        "flag_recall": f"{sure}, at least {percent} of all wrong rows{of_unit} are flagged, that is not accepted.",
        "flag_precision": f"{sure}, at least {percent} of the flagged rows{of_unit} are wrong.",
        "cost": f"{sure}, errors and reviews{of_unit} cost at most {_up(rule.cost_bound)} per row.",
        "budget": f"About {percent} of the rows{of_unit} go to review; {sure.lower()}, at most "
        f"{_up(100 * rule.bound)} % of the others are wrong.",
        "rows": f"All but the {target.value:g} most uncertain rows of a batch are accepted; nothing is promised about "
        f"their accuracy.",
    }
    return sentences[target.kind]


def assumption_of(*, promise: str, grouped: bool, guard: float | None) -> str:
    """Return what the promise rests on."""
    drawn = (
        "The groups of labelled rows are a random sample of the groups to be decided, and the promise is about a "
        "random row of a random group"
        if grouped
        else "The labelled rows are a random sample of the rows to be decided, independent of each other"
    )
    batch = " A batch is one call, one file or one request." if promise == "average" else ""
    aside = " Rows with small p-values are not accepted, labelled ones alike." if guard is not None else ""
    return (
        f"{drawn}; none of them fitted the model, learned its weights or chose the order; target and number of labels "
        f"were fixed before the labels were seen.{batch}{aside}"
    )


def _up(bound: float) -> str:
    """Return four digits of an upper bound, rounded up: less was not proven."""
    if not 0 < bound < np.inf:
        return f"{bound:g}"
    unit = 10.0 ** (np.floor(np.log10(bound)) - 3)
    return f"{np.ceil(bound / unit - 1e-6) * unit:.4g}"


def _escaped(text: str) -> str:
    """Return text that stays text in Markdown."""
    for mark in "\\`*_{}[]<>|#":
        text = text.replace(mark, f"\\{mark}" if mark not in "<>" else {"<": "&lt;", ">": "&gt;"}[mark])
    return " ".join(text.split())

"""Everything that can be computed, by name; third parties add to it through the entry points ``vecuq.measures``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache, partial
from typing import Any

from vecuq._check import from_packages
from vecuq.errors import SettingError
from vecuq.measures import confidence
from vecuq.measures.gaussian import GaussianMixture, Mahalanobis, RelativeMahalanobis
from vecuq.measures.neighbours import KNearest
from vecuq.measures.risk import APPROXIMATIONS, RULES, risk

ENTRY_POINTS = "vecuq.measures"
MODALITIES = ("classifier", "text")
DENSITIES: dict[str, type[Any]] = {
    "mahalanobis": Mahalanobis,
    "relative_mahalanobis": RelativeMahalanobis,
    "gmm": GaussianMixture,
    "knn": KNearest,
}


@dataclass(frozen=True)
class Measure:
    """One column that can be computed.

    ``needs`` is ``"logits"`` (probabilities do as well), ``"raw logits"`` (they do not) or ``"training"``. In the first
    two cases ``compute`` maps logits (members, rows, classes) to one number per row, higher = more uncertain. In the
    last it is a class with ``fit(embeddings, labels)``, which returns an object with ``score(embeddings)`` and
    ``arrays()``; embeddings are a list with one (rows, d) array-like per member. The class called with these arrays
    by name returns an equal object.

    A text measure (``modality="text"``) says in ``needs`` what an answer must have, in words; its ``compute`` maps the
    :class:`vecuq.measures.text.AnswerFeatures` of one answer to one number.
    """

    name: str
    about: str
    needs: str
    compute: Any
    modality: str = "classifier"


def _risk_measures() -> list[Measure]:
    out = []
    for rule in RULES:
        spelt = rule.replace("-", "_")
        for i in APPROXIMATIONS:
            compute = partial(risk, kind="bayes", rule=rule, truth=i)
            out.append(
                Measure(f"bayes_{spelt}_{i}", f"Bayes risk, {rule} score, truth: {_WORDS[i]}", "logits", compute)
            )
        for kind in ("excess", "total"):
            for i in APPROXIMATIONS:
                for j in APPROXIMATIONS:
                    compute = partial(risk, kind=kind, rule=rule, truth=i, prediction=j)
                    about = f"{kind.capitalize()} risk, {rule} score, truth: {_WORDS[i]}, prediction: {_WORDS[j]}"
                    out.append(Measure(f"{kind}_{spelt}_{i}_{j}", about, "logits", compute))
    return out


_WORDS = {1: "each member", 2: "their mean", 3: "central"}


def _other_measures() -> list[Measure]:
    def of(function: Callable[[Any], Any], needs: str = "logits") -> Measure:
        return Measure(function.__name__, _first_line(function), needs, function)

    plain = [confidence.msp, confidence.entropy, confidence.margin]
    ensemble = [confidence.mutual_information, confidence.variation_ratio]
    raw = [confidence.max_logit, confidence.energy]
    densities = [Measure(name, _first_line(kind), "training", kind) for name, kind in DENSITIES.items()]
    return [*map(of, plain), *map(of, ensemble), *(of(function, "raw logits") for function in raw), *densities]


def is_risk(measure: Measure) -> bool:
    """Whether a measure is one of the risk family, whose members share most of their work."""
    return isinstance(measure.compute, partial) and measure.compute.func is risk


def _first_line(documented: Any) -> str:
    return str(documented.__doc__).strip().splitlines()[0].rstrip(".")


@lru_cache(maxsize=2)
def known_measures(modality: str) -> dict[str, Measure]:
    """Return every measure of a modality, ``"classifier"`` or ``"text"``, by name: ours and installed packages'."""
    known = {measure.name: measure for measure in _ours(modality)}

    def refused(one: Measure) -> bool:
        return one.modality not in MODALITIES or (one.modality == modality and one.name in known)

    for added in from_packages(ENTRY_POINTS, Measure, refused):
        if added.modality == modality:
            known[added.name] = added
    return known


def _ours(modality: str) -> list[Measure]:
    if modality == "classifier":
        return [*_other_measures(), *_risk_measures()]
    from vecuq.measures.text.catalogue import text_measures

    return text_measures()


def list_measures() -> dict[str, tuple[str, ...]]:
    """Return the names of everything that can be computed, by modality.

    Examples
    --------
    >>> "mutual_information" in list_measures()["classifier"]
    True
    """
    return {modality: tuple(known_measures(modality)) for modality in MODALITIES}


_RULE_NAMES = tuple(rule.replace("-", "_") for rule in RULES)
# The paper's compositions, by name.
compositions: dict[str, tuple[str, ...]] = {
    "eat_m": ("bayes_log_1", "excess_log_1_1", "total_log_1_1", "mahalanobis"),
    "excess_log": ("excess_log_1_1", "excess_log_1_2", "excess_log_2_1", "excess_log_1_3", "excess_log_3_1"),
    "total_rules": tuple(f"total_{rule}_1_2" for rule in _RULE_NAMES),
    "bayes_rules": tuple(f"bayes_{rule}_1" for rule in _RULE_NAMES),
    "excess_rules": tuple(f"excess_{rule}_1_3" for rule in _RULE_NAMES),
}


def find_measures(measures: Sequence[str] | None, *, modality: str = "classifier") -> tuple[Measure, ...]:
    """Return the named measures of a modality, each once; None stands for all, a composition for its columns."""
    known, composed = known_measures(modality), compositions_of(modality)
    if measures is None:
        return tuple(known.values())
    bare = [name.removeprefix(f"{modality}.") for name in measures]  # as `vecuq measures` prints them
    wanted = list(dict.fromkeys(column for name in bare for column in composed.get(name, (name,))))
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, [*known, *composed], n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise SettingError(
                f"There is no measure {name!r}.{hint} vecuq.measures.list_measures() returns the names of all."
            )
    if not wanted:
        raise SettingError("At least one measure is needed; got none.")
    return tuple(known[name] for name in wanted)


def compositions_of(modality: str) -> dict[str, tuple[str, ...]]:
    """Return the compositions of a modality, by name."""
    if modality == "classifier":
        return compositions
    from vecuq.measures.text.catalogue import text_compositions

    return text_compositions

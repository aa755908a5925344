"""One entry per measure, metric and baseline: what the registries say of it, and what ``entries.toml`` adds."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from vecuq.baselines import baselines
from vecuq.evaluation import METRICS, TASKS
from vecuq.measures import is_risk, known_measures

UP = "Higher = more uncertain."
_NEEDS = {
    "logits": "logits or probabilities",
    "raw logits": "logits, not probabilities",
    "training": "embeddings, and training rows",
}


@dataclass(frozen=True)
class Entry:
    """What the catalogue says of one number."""

    section: str  # "classifier", "risk", "text", "metric" or "baseline"
    name: str
    about: str
    needs: str
    formula: str  # LaTeX
    range: str  # LaTeX, an interval
    direction: str
    references: tuple[str, ...]
    rises: str = ""  # names the experiment that checks the direction
    picture: str = ""  # names the drawing; entries of one family share one
    made_of: Any = None  # the registry's own object


@lru_cache(maxsize=1)
def added() -> dict[str, Any]:
    """Return what the registries lack, as ``entries.toml`` has it."""
    return tomllib.loads((Path(__file__).parent / "entries.toml").read_text(encoding="utf-8"))


def entries() -> list[Entry]:
    """Return the whole catalogue, in the order of the registries."""
    classifier = known_measures("classifier").values()
    return [
        *(_measure("classifier", found) for found in classifier if not is_risk(found)),
        *(_risk(found) for found in classifier if is_risk(found)),
        *(_measure("text", found) for found in known_measures("text").values()),
        *(_metric(found) for found in METRICS),
        *(_baseline(found) for found in baselines().values()),
    ]


def _measure(section: str, found: Any) -> Entry:
    more = added()[section][found.name]
    direction = f"{UP} {added()['rises'][more['rises']]}"
    needs = _NEEDS.get(found.needs, found.needs)
    kept = (more["formula"], more["range"], direction, _cited(more["references"]), more["rises"], more["picture"])
    return Entry(section, found.name, found.about, needs, *kept, found)


def _risk(found: Any) -> Entry:
    choice, risk = found.compute.keywords, added()["risk"]
    kind, rule = risk["kinds"][choice["kind"]], risk["rules"][choice["rule"]]
    truth, prediction = _placed("\\eta", choice["truth"], rule), _placed("q", choice.get("prediction"), rule)
    formula = ",\\quad ".join(part for part in (kind["formula"], rule["score"], truth, prediction) if part)
    references = _cited(["kotelevskii2025", "hofman2024", "gneiting2007"])
    direction = f"{UP} {added()['rises'][kind['rises']]}"
    kept = (formula, rule[choice["kind"]], direction, references, kind["rises"])
    return Entry("risk", found.name, found.about, _NEEDS["logits"], *kept, f"{choice['kind']}_{choice['rule']}", found)


def _placed(letter: str, approximation: int | None, rule: dict[str, str]) -> str:
    """Say what stands in for the truth or the prediction, in LaTeX."""
    if approximation is None:
        return ""
    if approximation == 1:
        return f"{letter} \\in \\{{p^{{(1)}}, \\dots, p^{{(M)}}\\}} \\text{{ averaged}}"
    chosen = "\\bar p" if approximation == 2 else rule["central"]
    return f"{letter} {chosen}" if chosen.startswith("\\propto") else f"{letter} = {chosen}"


def _metric(found: Any) -> Entry:
    more = added()["metric"][found.name]
    way = "Higher is better." if found.higher_is_better else "Lower is better."
    direction = f"{way} {added()['rises']['better_order']}"
    kept = (more["formula"], more["range"], direction, _cited(more["references"]), "better_order", more["picture"])
    return Entry("metric", found.key, _sentence(found.meaning), TASKS[found.task], *kept, found)


def _baseline(found: Any) -> Entry:
    more = added()["baseline"][found.name]
    references = _cited(more["references"]) if "references" in more else (found.citation.rstrip("."),)
    direction = f"{UP} {added()['rises'][more['rises']]}"
    needs = "score columns of calibration rows"
    kept = (more["formula"], more["range"], direction, references, more["rises"], "levels")
    return Entry("baseline", found.name, found.about, needs, *kept, found)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cited(keys: list[str]) -> tuple[str, ...]:
    return tuple(added()["references"][key].rstrip(".") for key in keys)

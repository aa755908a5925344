"""The catalogue of measures as it is printed: one line per family of risks, one line for every other measure."""

from __future__ import annotations

from typing import Any

from vecuq.cli.talk import echo, print_lines
from vecuq.measures import Measure, compositions_of, is_risk, known_measures

_NEEDS = {"logits": "", "raw logits": " [logits only]", "training": " [--train]"}


def catalogue() -> dict[str, Any]:
    """Return every measure and composition as plain values."""
    return {
        "measures": _listed("classifier"),
        "compositions": _composed("classifier"),
        "text_measures": _listed("text"),
        "text_compositions": _composed("text"),
    }


def _listed(modality: str) -> list[dict[str, str]]:
    return [
        {"name": found.name, "modality": found.modality, "needs": found.needs, "about": found.about}
        for found in known_measures(modality).values()
    ]


def _composed(modality: str) -> dict[str, list[str]]:
    return {name: list(columns) for name, columns in compositions_of(modality).items()}


def print_catalogue() -> None:
    """Print the measures by group, each with one line."""
    known = known_measures("classifier").values()
    risks, others = [m for m in known if is_risk(m)], [m for m in known if not is_risk(m)]
    _print_group("Confidence and agreement", {m.name: _about(m) for m in others if m.needs != "training"})
    _print_group("Distance from the training rows", {m.name: _about(m) for m in others if m.needs == "training"})
    _print_group(f"Risks under a proper score ({len(risks)})", _families(risks))
    echo("  i, j: 1 each member in turn, 2 their mean, 3 the central prediction; i for the truth, j for the prediction")
    _print_group(
        "Compositions of the paper", {name: ", ".join(columns) for name, columns in _composed("classifier").items()}
    )
    # Both have a measure `msp`; the prefix, which is not part of a column's name, distinguishes them.
    texts = {f"text.{name}": found.about for name, found in known_measures("text").items()}
    composed = {f"text.{name}": ", ".join(columns) for name, columns in _composed("text").items()}
    _print_group("Answers of a language model (columns are named without `text.`)", texts | composed)


def _about(found: Measure) -> str:
    return found.about + _NEEDS.get(found.needs, f" [{found.needs}]")


def _families(risks: list[Measure]) -> dict[str, str | None]:
    """Return one line for all the approximations of a kind of risk under a rule."""
    lines: dict[str, str | None] = {}
    for found in risks:
        choice = found.compute.keywords
        family = f"{choice['kind']}_{choice['rule'].replace('-', '_')}"
        lines[f"{family}_i" if choice["kind"] == "bayes" else f"{family}_i_j"] = found.about.partition(", truth")[0]
    return lines


def _print_group(title: str, lines: dict[str, str | None] | dict[str, str]) -> None:
    echo(f"\n{title}")
    print_lines({f"  {name}": text for name, text in lines.items()})

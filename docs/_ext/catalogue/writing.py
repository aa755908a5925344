"""The catalogue in its pages: a mark ``<!-- catalogue: text -->`` becomes its entries, each with a picture."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalogue import classifier_pictures, task_pictures, text_pictures
from catalogue.canvas import saved
from catalogue.entries import Entry, added, entries

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PICTURES = "reference/catalogue/pictures"
MARK = re.compile(r"<!-- catalogue: (\w+) -->")
DRAWN: dict[str, Callable[[Entry], Any]] = {
    function.__name__: function
    for function in (
        *(classifier_pictures.simplex, classifier_pictures.members, classifier_pictures.logits),
        *(classifier_pictures.plane, text_pictures.tokens, text_pictures.samples, text_pictures.sequences),
        *(text_pictures.stated, task_pictures.roc, task_pictures.fpr, task_pictures.precision, task_pictures.risk),
        *(task_pictures.accuracy, task_pictures.coverage, task_pictures.rejection, task_pictures.levels),
    )
}
# What each kind of picture shows, for those who cannot see it and as its caption.
SHOWN = {
    "simplex": "Over all predictions of three classes; each corner is a certain prediction.",
    "members": "Two members of an ensemble, two classes.",
    "logits": "One model, two classes.",
    "plane": "Two classes of training rows (dots and triangles) in the plane.",
    "tokens": "An answer of two tokens; the model gets less sure of the first.",
    "samples": "Ten samples; texts count as similar only if they are equal.",
    "sequences": "Ten equal samples that get less likely.",
    "stated": "By what the model states.",
    "roc": "ROC curve of the bundled example; the area is the metric.",
    "fpr": "ROC curve of the bundled example; the mark is the metric.",
    "precision": "Precision-recall curve of the bundled example; the area is the metric.",
    "risk": "Risk-coverage curve of the bundled example; the shaded area is the metric.",
    "accuracy": "Accuracy-coverage curve of the bundled example; the area is the metric.",
    "coverage": "Risk-coverage curve of the bundled example; the mark is the metric.",
    "rejection": "Prediction-rejection curve of the bundled example, errors as quality 0.",
    "levels": "Two columns of the bundled example; dots are calibration rows.",
}


def setup(app: Sphinx) -> dict[str, Any]:
    """Draw the pictures before Sphinx looks for them, and fill in the pages as it reads them."""
    app.connect("config-inited", lambda app, config: draw_all(Path(app.srcdir) / PICTURES))
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def draw_all(folder: Path) -> None:
    """Draw every picture; those that are there already are kept, unless the code or the data changed."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / "drawn.txt"
    if mark.exists() and mark.read_text(encoding="utf-8") == _print():
        return
    for name, draw in pictures(entries()).items():
        saved(draw(), folder / f"{name}.png")
    mark.write_text(_print(), encoding="utf-8")


def filled(text: str) -> str:
    """Return a page with the entries of a section in place of its mark."""
    return MARK.sub(lambda match: section_text(match[1]), text)


def section_text(section: str) -> str:
    """Return all entries of a section as Markdown."""
    chosen = [one for one in entries() if one.section == section]
    if section == "risk":
        return _risk_families(chosen)
    return "\n\n".join([_overview(chosen), *map(_described, chosen)])


def _fill(app: Sphinx, name: str, source: list[str]) -> None:
    if MARK.search(source[0]):
        app.env.note_dependency(str(Path(__file__).parent / "entries.toml"))
        source[0] = filled(source[0])


def pictures(known: list[Entry]) -> dict[str, Callable[[], Any]]:
    """Return how to draw each picture, by its name."""
    own = {picture_name(one): (lambda one=one: DRAWN[one.picture](one)) for one in known if one.section != "risk"}
    families = {
        f"risk-{kind}-{rule}": (lambda kind=kind, rule=rule: classifier_pictures.risks(kind, rule))
        for kind in added()["risk"]["kinds"]
        for rule in added()["risk"]["rules"]
    }
    return own | families


def picture_name(one: Entry) -> str:
    """Return the file of an entry's picture, without its ending."""
    if one.section == "risk":
        return "risk-" + one.picture.replace("_", "-", 1)
    return f"{one.section}-{one.name}".replace("_", "-").replace(" ", "-")


def _overview(chosen: list[Entry]) -> str:
    head = "| name | range | needs |\n|---|---|---|"
    rows = "\n".join(
        f"| [`{one.name}`](#{_anchor(one.name)}) | ${_in_table(one.range)}$ | {one.needs} |" for one in chosen
    )
    return f"{head}\n{rows}"


def _in_table(formula: str) -> str:
    return formula.replace("|", "\\vert ")


def _anchor(name: str) -> str:
    return name.replace(" ", "-")


def _described(one: Entry) -> str:
    """Return one entry: what it is, formula, range, direction, references, picture."""
    return "\n\n".join(
        [
            f"## {one.name}",
            f"![{one.name}: {SHOWN[one.picture]}](pictures/{picture_name(one)}.png)",
            f"*{SHOWN[one.picture]}*",
            f"{one.about}.",
            f"$$\n{one.formula}\n$$",
            f"- Range: ${one.range}$\n- Direction: {one.direction}\n- Needs: {one.needs}\n- Reference: {cited(one)}",
        ]
    )


def cited(one: Entry) -> str:
    """Return the references as Markdown, arXiv numbers as links."""
    return "; ".join(map(_linked, one.references)) + "."


def _linked(reference: str) -> str:
    text, found, number = reference.partition(", arXiv:")
    return f"{text}, [arXiv:{number}](https://arxiv.org/abs/{number})" if found else text


def _risk_families(risks: list[Entry]) -> str:
    family, parts = added()["risk"], []
    for kind, of_kind in family["kinds"].items():
        parts += [f"## {kind.capitalize()} risk", of_kind["about"], f"$$\n{of_kind['formula']}\n$$"]
        for rule in family["rules"]:
            parts.append(_family(kind, rule, [one for one in risks if one.picture == f"{kind}_{rule}"]))
    return "\n\n".join([*parts, f"## References\n\n{cited(risks[0])}"])


def _family(kind: str, rule: str, members: list[Entry]) -> str:
    """Return the measures of one kind of risk under one rule, with all their approximations."""
    of_rule, first = added()["risk"]["rules"][rule], members[0]
    shown = "Two members, two classes: P(class 1) of member 1 to the right, of member 2 upwards"
    shown += "." if kind == "bayes" else "; the truth by row, the prediction by column."
    names = ", ".join(f"`{one.name}`" for one in members)
    return "\n\n".join(
        [
            f"### {kind}, {rule} score",
            f"![{kind} risk, {rule} score. {shown}](pictures/{picture_name(first)}.png)",
            f"*{shown}*",
            f"$$\n{of_rule['score']}\n$$",
            f"- Central prediction (3): ${of_rule['central']}$\n- Range: ${first.range}$\n"
            f"- Direction: {first.direction}\n- Needs: {first.needs}\n- Names: {names}",
        ]
    )


def _print() -> str:
    """Return what changes whenever a picture may look different."""
    here = sorted(Path(__file__).parent.glob("*.*"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in here if file.suffix in (".py", ".toml"))).hexdigest()

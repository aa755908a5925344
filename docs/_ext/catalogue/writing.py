"""The pages of the catalogue, written before Sphinx reads them; a picture that is there already is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalogue import classifier_pictures, task_pictures, text_pictures
from catalogue.canvas import saved
from catalogue.entries import Entry, added, entries

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = "reference/catalogue"
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
    """Write pages and pictures before Sphinx looks for them."""
    app.connect("config-inited", lambda app, config: write_pages(Path(app.srcdir) / FOLDER))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(folder: Path) -> None:
    """Write every page and every picture that changed."""
    folder.mkdir(parents=True, exist_ok=True)
    known = entries()
    for name, text in pages(known).items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    if _is_new(folder / "drawn.txt"):
        for name, draw in pictures(known).items():
            saved(draw(), folder / f"{name}.png")
        (folder / "drawn.txt").write_text(_print(), encoding="utf-8")


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


def pages(known: list[Entry]) -> dict[str, str]:
    """Return the text of each page by its file name."""
    return {
        "classifier.md": _page("classifier", "Measures of classifiers", known),
        "risk.md": _risk_page([one for one in known if one.section == "risk"]),
        "text.md": _page("text", "Measures of language-model answers", known),
        "metrics.md": _page("metric", "Metrics", known),
        "baselines.md": _page("baseline", "Baselines", known),
    }


_INTRODUCED = {
    "classifier": "$p^{(i)}$ is the prediction of member $i$ of $M$, $\\bar p$ their mean, $z$ logits over $K$ "
    "classes, $f$ an embedding. One model is an ensemble with $M = 1$. The [risks](risk.md) have their own page.",
    "text": "$\\ell_t$ is the log-probability and $H_t$ the entropy at token $t$ of $T$, $s_j$ the similarity of the "
    "answer to sample $j$ of $n$, $S_{ij}$ that of two samples, $A$ their affinity and $W$ the same made symmetric, "
    "$p_i$ the probability of sample $i$, $C$ a class of meaning. How texts are compared: "
    "[comparing](../../comparing.md).",
    "metric": "$u$ is the uncertainty; the first rows are the least uncertain ones. Intervals and tests: "
    "[evaluate](../../evaluate.md).",
    "baseline": "Other ways to make one number of several scores, learned from the same calibration rows: $s_k$ is "
    "score $k$ of $m$ of a new row, $c_k$ are the scores of the $N$ calibration rows, $z$ are z-scores, $C$ is their "
    "correlation matrix and $p_k = (1 + \\#\\{c_k \\ge s_k\\}) / (N + 1)$. How they compare with vecuq: "
    "[when it helps](../../when-it-helps.md).",
}


def _page(section: str, title: str, known: list[Entry]) -> str:
    chosen = [one for one in known if one.section == section]
    parts = [f"# {title}", _INTRODUCED[section], _overview(chosen), *map(_described, chosen)]
    return "\n\n".join(parts) + "\n"


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
            f"![{one.name}: {SHOWN[one.picture]}]({picture_name(one)}.png)",
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


def _risk_page(risks: list[Entry]) -> str:
    family = added()["risk"]
    about = (
        f"{len(risks)} measures of an ensemble's prediction under a proper score $S(q, k)$: what a prediction $q$ "
        "earns when class $k$ comes true. The truth $\\eta$ is unknown, so both are approximated from the members: "
        "`bayes_RULE_i`, `excess_RULE_i_j` and `total_RULE_i_j`, with i for the truth and j for the prediction."
    )
    listed = "\n".join(f"- **{number}**: {words}" for number, words in family["approximations"].items())
    parts = ["# Risks under proper scores", about, listed]
    for kind, of_kind in family["kinds"].items():
        parts += [f"## {kind.capitalize()} risk", of_kind["about"], f"$$\n{of_kind['formula']}\n$$"]
        parts += [
            _family(kind, rule, [one for one in risks if one.picture == f"{kind}_{rule}"]) for rule in family["rules"]
        ]
    return "\n\n".join([*parts, f"Reference: {cited(risks[0])}"]) + "\n"


def _family(kind: str, rule: str, members: list[Entry]) -> str:
    """Return the measures of one kind of risk under one rule, with all their approximations."""
    of_rule, first = added()["risk"]["rules"][rule], members[0]
    shown = "Two members, two classes: P(class 1) of member 1 to the right, of member 2 upwards"
    shown += "." if kind == "bayes" else "; the truth by row, the prediction by column."
    names = ", ".join(f"`{one.name}`" for one in members)
    return "\n\n".join(
        [
            f"### {kind}, {rule} score",
            f"![{kind} risk, {rule} score. {shown}]({picture_name(first)}.png)",
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


def _is_new(mark: Path) -> bool:
    return not mark.exists() or mark.read_text(encoding="utf-8") != _print()

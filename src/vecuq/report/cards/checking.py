"""How each statement of a card can be checked: exact commands, with the name of the file; other names are examples."""

from __future__ import annotations

import csv
import io
import math
import shlex
from collections.abc import Sequence

from vecuq._draw import printable
from vecuq.baselines import Conformal
from vecuq.gate import Gate
from vecuq.ranker import CrossRanker, Ranker
from vecuq.report.cards.card import Check
from vecuq.report.cards.promises import has_ties
from vecuq.report.cards.subject import Subject


def checks_of(subject: Subject) -> tuple[Check, ...]:
    """Return what to run, from the file itself to the rows of later days."""
    if not subject.content:
        return ()
    of_file = (_same_file(subject), *_model_inside(subject))
    if subject.needs_classifier:
        return (*of_file, *_in_python(subject))
    return (*of_file, *_rows(subject))


def _same_file(subject: Subject) -> Check:
    name = shlex.quote(subject.name)
    return Check(
        "The file is the one of this card, and whole: the first line prints the SHA-256 of the file, the second "
        "reads every byte, refuses a file that was altered, and prints the checksum inside it.",
        (f"sha256sum {name}", f"vecuq info {name}"),
    )


def _model_inside(subject: Subject) -> tuple[Check, ...]:
    if not isinstance(subject.thing, Gate):
        return ()
    return (
        Check(
            "The model inside is the one that you know, if the same vecuq saved it: its SHA-256 is that of this card.",
            ("sha256sum model.vecuq",),
        ),
    )


def _in_python(subject: Subject) -> tuple[Check, ...]:
    load = f"model = vecuq.load({subject.name!r}, estimator=classifier)  # refuses another classifier"
    rate = "model.flag(fresh_features, alpha=0.05).mean()  # in-distribution rows: about 0.05"
    if subject.gate is not None:
        load = load.replace("model = ", "gate = ")
        rate = "print((~correct[gate.accept(later_features)]).mean())  # labels of a random sample, as booleans"
    return (Check("The promise on fresh rows, together with the classifier.", ("import vecuq", load, rate), "python"),)


def _rows(subject: Subject) -> tuple[Check, ...]:
    name, rows = shlex.quote(subject.name), "jsonl" if subject.takes_answers else "parquet"
    found = []
    gate = subject.gate
    by = " --by CATEGORY" if gate is not None and gate.certificate().units else ""
    if gate is not None and _can_be_audited(gate) and subject.live is None:
        found.append(_audit(subject, gate, rows, by))
    if subject.live is not None:
        found.append(Check("The state of the audit, with labels that came since.", (f"vecuq live {name}",)))
    if _has_rates(subject):
        fresh = "fresh.npz" if subject.pipeline is not None and not subject.takes_answers else f"fresh.{rows}"
        found.append(
            Check(
                f"The false-alarm rate: the share of fresh in-distribution rows that is flagged. {_expected(subject)}",
                (f"vecuq score {name} {fresh}{by} --alpha 0.05 -o scored.parquet",),
            )
        )
    if isinstance(subject.thing, Ranker | Gate) and isinstance(subject.order, Ranker) and subject.pipeline is None:
        found.append(_drift(subject))
    return tuple(found)


def _can_be_audited(gate: Gate) -> bool:
    """Whether there is a promise about accepted rows, which later labels can confirm."""
    return gate.target.kind in ("accuracy", "quality") and gate.certified_


def _audit(subject: Subject, gate: Gate, rows: str, by: str) -> Check:
    """Return how later labels show whether a promise was kept; those of groups are drawn and counted by group."""
    grouped = gate.learned_.labelled.groups is not None
    labels = "--wrong LABEL" if subject.takes_answers else "--correct IS_CORRECT"
    labels = "--quality-column QUALITY" if gate.target.kind == "quality" else labels
    no_draw = subject.takes_answers or grouped
    drawn = () if no_draw else (f"vecuq sample later.{rows} -n 500 -o to_label.csv",)
    later = f"later.{rows}" if subject.takes_answers else "labelled.csv"
    sample = "groups at random, label their rows" if grouped else "a random sample, label it"
    asks = "look at the error rate of one batch" if gate.promise == "average" else "ask whether the promise was kept"
    group = " --group GROUP" if grouped else ""
    return Check(
        f"The promise on later rows: draw {sample}, and {asks}.",
        (*drawn, f"vecuq audit {shlex.quote(subject.name)} {later} {labels}{by}{group}"),
    )


def _expected(subject: Subject) -> str:
    """Return what the share of flagged rows at 0.05 should be."""
    order = subject.order
    if isinstance(order, CrossRanker):
        return f"At most {0.1 + 1.9 * (len(order.folds) - 1) / (order.n_units + len(order.folds)):.3f} is promised."
    held = order.held_ if isinstance(order, Conformal) else order.held
    if has_ties(held, 0.05):
        return "It is below 0.05, because scores tie."
    return "It is about 0.05; for nine of ten calibration sets it lies in the interval of the table of flags."


def _has_rates(subject: Subject) -> bool:
    """Whether rows can be flagged at 0.05, by a command that takes this file."""
    order = subject.order
    if isinstance(order, CrossRanker):
        return order.n_units >= 19
    held = order.held_ if isinstance(order, Conformal) else order.held if isinstance(order, Ranker) else None
    if held is None or subject.live is not None or (isinstance(order, Ranker) and not order.diagnostics.n_held):
        return False
    return math.isfinite(held.threshold(0.05))


def _drift(subject: Subject) -> Check:
    name = shlex.quote(subject.name)
    order = subject.ranker
    columns = "" if order is None else _option("--columns", order.columns)
    flip = "" if order is None else _option("--flip", sorted(order.flipped))
    no_stream = isinstance(subject.thing, Gate) or isinstance(order, CrossRanker)
    watch = () if no_stream else (f"vecuq monitor {name} later.parquet --state drift.vecuq",)
    return Check(
        "The calibration rows, which the owner keeps, and whether later rows are still like them.",
        (f"vecuq doctor calibration.parquet later.parquet{columns}{flip}", *watch),
    )


def _option(option: str, names: Sequence[str]) -> str:
    """Return an option with names as a shell takes them; nothing without any, or where one cannot be printed."""
    if not names or any(printable(name) != name for name in names):
        return ""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return f" {option} {shlex.quote(line.getvalue())}"

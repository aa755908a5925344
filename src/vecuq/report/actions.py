"""What to do now: a few actions, chosen by what was found and by what is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from vecuq._check import Array
from vecuq.conformal import fewest_labels
from vecuq.gate import EVERYTHING
from vecuq.report.audit import Contradiction
from vecuq.report.commands import Commands
from vecuq.report.counts import Counts
from vecuq.report.drift import Drift
from vecuq.report.plain import count, rows_word
from vecuq.report.subject import Subject

# More is no longer a list of what to do first.
MOST_ACTIONS = 4
# A first gate: the usual target, and labels enough to have a chance of proving it.
_ACCURACY, _LABELS = 0.95, 300


@dataclass(frozen=True, eq=False)
class Acting:
    """What the actions are chosen by."""

    subject: Subject
    counts: Counts
    drift: Drift
    contradiction: Contradiction
    rows: dict[str, Any]

    @property
    def run(self) -> Commands:
        """The commands about this model and these rows."""
        return Commands(self.subject.beside.origin)

    @property
    def is_calm(self) -> bool:
        """Whether nothing speaks for a change."""
        return self.counts.tone == "calm" and not self.drift.moved and not self.contradiction.is_broken


def actions_of(acting: Acting) -> list[dict[str, Any]]:
    """Return the first few actions, the most urgent first."""
    found = (one for choose in _CHOICES for one in choose(acting))
    return [one for _, one in zip(range(MOST_ACTIONS), found, strict=False)]


def _action(text: str, command: str | None = None, anchor: str | None = None) -> dict[str, Any]:
    return {"text": text, "command": command, "anchor": anchor}


def _when_broken(acting: Acting) -> Iterator[dict[str, Any]]:
    """Stop a gate whose promise the labels contradict, and fit another."""
    if acting.contradiction.is_broken:
        text = "Do not rely on this gate. Check the promise, then fit a new one on labels of rows like these."
        yield _action(text, _audit(acting), "certificate")
    elif acting.contradiction.unlike is not None:
        text = f"Label a random sample of these rows: the certificate is about rows like its {_labels(acting)} labels."
        yield _action(text, _sample(acting), "certificate")


def _sample(acting: Acting) -> str | None:
    """Return the command that draws rows to be labelled."""
    n = min(_LABELS, acting.subject.n_rows)
    return acting.run.of_table("sample", "-n", str(n), "-o", "to_label.csv", model=False)


def _audit(acting: Acting) -> str | None:
    """Return the command that checks the promise of this gate; none where an accepted row has no label."""
    subject, beside, gate = acting.subject, acting.subject.beside, acting.subject.beside.gate
    if gate is None or subject.decision is None:
        return None
    graded = gate.target.kind == "quality"
    given = subject.label("quality" if graded else "error")
    if given is None or np.isnan(given[subject.decision.accepted]).any():
        return None
    categories = ["--by", beside.by] if gate.learned_.units != EVERYTHING and beside.by else []
    labels = _gate_labels(beside.origin.labels, graded=graded)
    return acting.run("audit", *labels, *_grouped(acting), *categories)


def _grouped(acting: Acting) -> list[str]:
    """Return the option that names the column of rows that come together."""
    return ["--group", acting.subject.beside.group] if acting.subject.beside.group else []


def _labels(acting: Acting) -> str:
    gate = acting.subject.beside.gate
    return "" if gate is None else f"{gate.learned_.labelled.n_rows:,}"


def _when_unscored(acting: Acting) -> Iterator[dict[str, Any]]:
    """Fill in what is missing, or score what is there."""
    subject = acting.subject
    lost = subject.n_rows - subject.n_scored
    if not lost:
        return
    n = _n_marginal(subject)
    text = f"Fill in the values that {rows_word(lost)} {'lacks' if lost == 1 else 'lack'}"
    these = "these rows" if n == lost else f"{count(n)} of them"
    more = f", or score {these} from the columns that they have." if n else "."
    yield _action(text + more, acting.run.again("--missing", "marginal", *_alpha(acting)) if n else None)


def _n_marginal(subject: Subject) -> int:
    """Return how many rows without a score would have one from the columns that they have."""
    kept = subject.ranker.kept
    if not (len(kept.held) and len(kept.draws)):
        return 0
    values = subject.values[~subject.scored]
    usable = ~np.isinf(values).any(axis=1) & np.isfinite(values).any(axis=1) & np.isnan(values).any(axis=1)
    return int(usable.sum())


def _alpha(acting: Acting) -> list[str]:
    """Return the option that flags the same rows again, at the rate of this report."""
    alpha = float(acting.subject.ranker.settings.alpha)
    return ["--alpha", f"{alpha:g}"] if acting.subject.rate == alpha and acting.subject.has_held else []


def _review(acting: Acting) -> Iterator[dict[str, Any]]:
    """Look at the rows that call for it, most uncertain first."""
    rows = acting.rows
    n, table = rows["n_such"], rows["table"]
    if not n:
        return
    text = f"{_which_rows(acting, n)}{_leading(rows)}"
    if table is not None:
        yield _action(f"{text} {table} holds all of them.", None, "rows")
        return
    name = "flagged.csv" if rows["what"] == "flagged" else "review.csv"
    command = acting.run.again(*_alpha(acting), "--table", name)
    yield _action(f"{text} As a table with reasons:" if command else text, command, "rows")


def _which_rows(acting: Acting, n: int) -> str:
    """Return which rows to review, without the full stop."""
    if acting.subject.decision is not None:
        which = f"Review the {count(n)} rows that are" if n > 1 else "Review the row that is"
        return f"{which} not accepted"
    which = f"the {count(n)} flagged rows" if n > 1 else "the flagged row"
    if acting.is_calm:
        return f"If you review any rows, begin with {which}; about as many are expected by chance"
    return f"Review {which}, most uncertain first" if n > 1 else f"Review {which}"


def _leading(rows: dict[str, Any]) -> str:
    """Return which column leads in most of the rows, if one does."""
    named = Counter(row["leading"] for row in rows["rows"] if row["leading"] is not None)
    name, times = named.most_common(1)[0] if named else ("", 0)
    if len(rows["scores"]) < 2 or 2 * times <= len(rows["rows"]) or len(rows["rows"]) < 5:
        return "."
    return f". In {count(times)} of {count(len(rows['rows']))} the leading column is {name}."


def _refit(acting: Acting) -> Iterator[dict[str, Any]]:
    """Hold rows back where a model has none."""
    if not acting.subject.has_held:
        text = "For p-values and a false-alarm rate, fit a model that holds calibration rows back"
        known, ranker = acting.subject.beside.origin.calibration, acting.subject.ranker
        if known is None:
            yield _action(f"{text}: `vecuq fit` with `--holdback 0.5`.")
            return
        named = [word for name in ranker.columns for word in ("--columns", name)]
        named += [word for name in ranker.columns if name in ranker.flipped for word in ("--flip", name)]
        words = [known, *named, "--holdback", "0.5", "-o", "refitted.vecuq"]
        yield _action(f"{text}.", acting.run("fit", *words, model=False, new=False))


def _changed(acting: Acting) -> Iterator[dict[str, Any]]:
    """Find out what changed, where something has."""
    if acting.is_calm or not acting.subject.n_scored or not acting.subject.has_held:
        return
    moved = acting.drift.words
    if not moved and acting.counts.tone == "calm":
        return
    where = f": {moved} moved" if moved else ""
    text = f"Find out what changed{where}. If the change is here to stay, fit a new model on rows like these."
    yield _action(text, acting.run.of_model("monitor", *_grouped(acting)), "drift")


def _check_gate(acting: Acting) -> Iterator[dict[str, Any]]:
    """Check the promise of a gate with labels, or draw rows to label."""
    found = acting.contradiction
    if acting.subject.decision is None or not acting.subject.n_scored or found.is_broken or found.unlike is not None:
        return
    if acting.contradiction.audit is not None:
        text = "Check the promise again when more labels are in."
        yield _action(text, _audit(acting), "certificate")
        return
    if acting.contradiction.is_own:
        text = "Label a random sample of later rows, and check with `vecuq audit` that the promise holds."
        yield _action(text, None, "certificate")
        return
    text = "Label a random sample of these rows, and check with `vecuq audit` that the promise holds."
    yield _action(text, _sample(acting))


def _make_gate(acting: Acting) -> Iterator[dict[str, Any]]:
    """Turn labels into a gate, or draw rows to label."""
    subject = acting.subject
    if subject.decision is not None or not subject.n_scored:
        return
    error, quality = (_known_labels(subject, name) for name in ("error", "quality"))
    if error is not None:
        yield _prove(acting, error)
    elif quality is not None:
        text = (
            "If these rows are a random sample, let their qualities prove with `vecuq gate` which rows may be trusted "
            "without review: `--quality-column`, and as `--quality` the mean that you need."
        )
        yield _action(text, None, "labels")
    else:
        fewest = fewest_labels(1.0 - _ACCURACY, 0.1)
        text = (
            f"To accept rows without review, label a random sample (at least {fewest} rows, better {_LABELS}) and "
            f"prove an accuracy with `vecuq gate`."
        )
        yield _action(text, _sample(acting))


def _known_labels(subject: Subject, name: str) -> Array | None:
    """Return labels of which at least one is known."""
    found = subject.label(name)
    return None if found is None or np.isnan(found).all() else found


def _prove(acting: Acting, error: Array) -> dict[str, Any]:
    """Propose a gate on these labels; `vecuq gate` takes complete ones only."""
    if np.isnan(error).any():
        text = (
            "If the labelled rows are a random sample, put them into a table of their own, and let their labels prove "
            "with `vecuq gate` which rows may be trusted without review."
        )
        return _action(text, None, "labels")
    target = ["--accuracy", f"{_ACCURACY:g}", "-o", "gate.vecuq"]
    words = [*_gate_labels(acting.subject.beside.origin.labels), *_grouped(acting), *target]
    text = "If these rows are a random sample, let their labels prove which rows may be trusted without review."
    return _action(text, acting.run("gate", *words), "labels")


def _gate_labels(labels: tuple[str, ...], *, graded: bool = False) -> list[str]:
    """Return the options that name the labels which a gate takes, from among all options of labels."""
    names = {"--quality": "--quality-column"} if graded else {"--wrong": "--wrong", "--correct": "--correct"}
    found = [(names[name], column) for name, column in zip(labels[::2], labels[1::2], strict=False) if name in names]
    return list(found[0]) if found else []


def _keep_watching(acting: Acting) -> Iterator[dict[str, Any]]:
    """Go on watching, where all is well."""
    if acting.is_calm and acting.subject.n_scored and acting.subject.has_held and acting.subject.decision is None:
        text = "Nothing has to be done. Keep watching for drift as rows come in."
        yield _action(text, acting.run.of_model("monitor", *_grouped(acting), "--state", "drift.vecuq"), "drift")


_CHOICES = (_when_broken, _when_unscored, _refit, _keep_watching, _review, _changed, _check_gate, _make_gate)

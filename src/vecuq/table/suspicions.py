"""What a score column may really be, by its name and its values: a confidence, an id, a label or a time."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vecuq._check import Array
from vecuq.table.directions import against_the_others

# More rows say nothing new about what a column is.
MOST_ROWS = 2_000
# Fewer distinct values, or fewer rows, may be as they are by chance.
FEWEST_ROWS = 20

_CONFIDENT = re.compile(
    r"confiden|certain|likelihood|log_?prob|log_?lik|max_?prob"
    r"|(^|_)(conf|probs?|probability|probabilities|softmax|similarity|accuracy|logp)(_|$)"
)
# What reverses the meaning of such a word, at the beginning of a word; or makes a spread of it.
_REVERSED = re.compile(
    r"^[-\u2212~]|(?<![a-z])(neg|minus|inv|non|not|un(?=lik|conf|cert)|error|wrong|fail|incorrect|1\s*[-_\u2212])"
    r"|entropy|varian|(^|_)(var|std|sd|width|interval|loss|range|spread|disagreement)(_|$)"
)
# Measures of vecuq that are uncertainties, whatever their names say.
_OURS = (
    "lexical_similarity",
    "min_token_probability",
    "self_certainty",
    "verbalised_confidence",
    "linguistic_confidence",
)
# pandas writes and reads its index as "Unnamed: 0".
_ID = re.compile(r"(^|_)(ids?|idx|index|uid|uuid|guid|row_?(no|nr|num|number|id))$|^(row|key|serial|seq|unnamed_\d+)$")
_LABEL = re.compile(r"^(y|y_?(true|pred|test|train)|labels?|targets?|ground_?truth|truth|gt|gold)$")
# Names that scores may have too: these are labels if the values are whole numbers.
_OUTCOME = re.compile(
    r"^((is|was|has)_\w+|class(es)?|pred(s|icted|ictions?)?|errors?|wrong|(in)?correct|ood|outliers?|fold|split)$"
    r"|_(labels?|targets?|class)$"
)
_TIME = re.compile(r"(^|_)(time_?stamp|date_?time|date|unix_?time|(created|updated|modified)(_?(at|on))?)$")
_CLOCK = re.compile(r"^(event_|start_|end_)?(time|ts|epoch|year|month|day|hour|step)$")
# 2000 to 2040 in seconds since 1970.
_EPOCH = (946_684_800.0, 2_208_988_800.0)
_BY_NAME = "by its name"
_UNITS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}


@dataclass(frozen=True)
class Suspicion:
    """A score column that looks like something else.

    Parameters
    ----------
    column
        Its name.
    kind
        What it looks like: ``"confidence"``, ``"id"``, ``"label"`` or ``"time"``.
    why
        What says so, in words.
    spearman
        For a confidence found by its values: its rank correlation with the columns that it goes against.
    """

    column: str
    kind: str
    why: str
    spearman: float | None = None


def find_suspicions(
    columns: Sequence[str], values: Array, *, flipped: Collection[str] = (), directions: bool = True
) -> tuple[Suspicion, ...]:
    """Return the score columns that look like something else, at most one suspicion for each.

    Looks at no more than 2,000 rows, evenly spaced.

    Parameters
    ----------
    columns
        Names of the score columns.
    values
        Their scores, (rows, columns), flipped columns negated; NaN where missing.
    flipped
        Columns that were declared confidences, which are beyond suspicion.
    directions
        Whether to look for confidences, too.

    Examples
    --------
    >>> scores = np.random.default_rng(0).gamma(1.0, size=(50, 1))
    >>> table = np.hstack([scores, np.arange(50.0)[:, None]])
    >>> [(found.column, found.kind) for found in find_suspicions(["knn", "row"], table)]
    [('row', 'id')]
    """
    rows = values[spread_rows(len(values))]
    found = {
        name: one
        for k, name in enumerate(columns)
        if name not in flipped and (one := _no_score(name, rows[:, k])) is not None
    }
    if len(found) == len(columns):  # values that all columns share are their scale, and say nothing of one of them
        found = {name: one for name, one in found.items() if one.why == _BY_NAME}
    if directions:
        left = [k for k, name in enumerate(columns) if name not in found]
        names = [columns[k] for k in left]
        for one in _confidences(names, np.asarray(rows[:, left], dtype=float), flipped):
            found[one.column] = one
    return tuple(found[name] for name in columns if name in found)


def spread_rows(n_rows: int) -> slice:
    """Return evenly spaced rows, few enough to look at all of them."""
    return slice(None, None, max(1, -(-n_rows // MOST_ROWS)))


def sounds_confident(name: str) -> bool:
    """Whether a name speaks of confidence, and not of its opposite."""
    words = _words(name)
    return bool(_CONFIDENT.search(words)) and not _REVERSED.search(words) and words not in _OURS


def _words(name: str) -> str:
    """Return a name in lower case, its words separated by underscores."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip()).lower()
    return re.sub(r"(?<=\w)[-\s.:/]+(?=\w)", "_", spaced)


def _no_score(name: str, column: Array) -> Suspicion | None:
    """Return what a column is if it is no score at all."""
    known = np.asarray(column[np.isfinite(column)], dtype=float)
    if not len(known):
        return None
    # Beyond 2^53 every float is a whole number.
    words, whole = _words(name), bool(((known == np.floor(known)) & (np.abs(known) < 2**53)).all())
    for kind, why in (*_as_time(words, known, whole), *_as_id(words, known, whole), *_as_label(words, known, whole)):
        return Suspicion(name, kind, why)
    return None


def _as_time(words: str, known: Array, whole: bool) -> Iterator[tuple[str, str]]:
    if _TIME.search(words) or (_CLOCK.search(words) and (whole or _rises(known))):
        yield "time", _BY_NAME
    if len(known) < FEWEST_ROWS or known.min() == known.max():
        return
    for unit, scale in _UNITS.items():
        if _EPOCH[0] * scale <= known.min() and known.max() <= _EPOCH[1] * scale:
            yield "time", f"its values are dates in {unit} since 1970"
    if whole and _are_dates(known):
        yield "time", "its values are dates written as YYYYMMDD"


def _are_dates(known: Array) -> bool:
    month, day = known // 100 % 100, known % 100
    in_calendar = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    return bool(in_calendar.all() and known.min() >= 19_000_101 and known.max() <= 21_001_231)


def _as_id(words: str, known: Array, whole: bool) -> Iterator[tuple[str, str]]:
    if whole and _ID.search(words):
        yield "id", _BY_NAME
    if whole and len(known) >= FEWEST_ROWS and len(np.unique(known)) == len(known):
        yield "id", "whole numbers, no two alike"


def _as_label(words: str, known: Array, whole: bool) -> Iterator[tuple[str, str]]:
    if _LABEL.search(words) or (whole and _OUTCOME.search(words)):
        yield "label", _BY_NAME
    if len(known) >= FEWEST_ROWS and set(np.unique(known)) == {0.0, 1.0}:
        yield "label", "it is 0 or 1"


def _rises(known: Array) -> bool:
    return len(known) >= FEWEST_ROWS and all(a < b for a, b in pairwise(known))


def _confidences(columns: Sequence[str], rows: Array, flipped: Collection[str]) -> Iterator[Suspicion]:
    """Yield the columns that sound like a confidence or fall as the others rise."""
    sounding = [name not in flipped and sounds_confident(name) for name in columns]
    found = against_the_others(rows, trusted=[not sounds for sounds in sounding])
    others = [columns[k] for k in found.along if not sounding[k]]
    for k, name in enumerate(columns):
        rho = found.against.get(k)
        # A name means little where the column rises with others that are above suspicion.
        reasons = [_BY_NAME] if sounding[k] and not (others and k in found.along) else []
        reasons += (
            [] if rho is None else [_falling(rho, others or [columns[j] for j in found.along], is_even=found.is_even)]
        )
        if reasons and name not in flipped:
            yield Suspicion(name, "confidence", " and because it ".join(reasons), rho)


def _falling(rho: float, others: Sequence[str], *, is_even: bool) -> str:
    """Return in words which columns a column goes against."""
    listed = " and ".join(map(repr, others)) if len(others) < 3 else "the others"
    either = "; one side is reversed" if is_even else ""
    return f"falls as {listed} rise{'s' if len(others) == 1 else ''}, rank correlation {rho:.2f}{either}"

"""The facts of a report as plain values: nothing is drawn or formatted here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from vecuq._check import Array, finite_rows, missing_counts
from vecuq._version import __version__
from vecuq.doctor import chance_of_as_many, plain_sum, rank_correlation
from vecuq.errors import ModelFileError, TableError
from vecuq.plots import MOST_POINTS, drawn_columns
from vecuq.ranker import Diagnostics, Ranker, Ranking, Settings, leading_names, meanings_of
from vecuq.report.words import notes_on
from vecuq.table import is_added, python_cells

if TYPE_CHECKING:
    import pyarrow as pa

MOST_TOP_ROWS = 15
MOST_OTHER_COLUMNS = 4


def summarise(
    ranker: Ranker, new: pa.Table, ranking: Ranking, *, title: str, evaluation: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Return all that a report says of a ranking, as values that JSON can hold; what has no value is None.

    Parameters are those of :func:`vecuq.report.build_report`.
    """
    if len(new) != len(ranking.uncertainty):
        raise TableError(
            f"The table has {len(new):,} rows and the ranking {len(ranking.uncertainty):,}. "
            f"Give the table that was ranked."
        )
    values = ranker.values_of(new)
    summary = {
        "title": title,
        "library": __version__,
        **_finding(ranker, ranking),
        "missing": missing_counts(values, ranker.columns),
        "has_held": ranker.diagnostics.n_held > 0,
        "has_p": ranking.p_values is not None,
        "drawn": [*drawn_columns(ranker, values), "uncertainty"][:2],
        "flipped": sorted(ranker.flipped),
        "has_box": len(ranker.active) > 1,
        "n_drawn": min(int(np.isfinite(ranking.uncertainty).sum()), MOST_POINTS),
        "relations": _relations(ranker, values, ranking.uncertainty),
        "plain_sum": spearman(plain_sum(ranker, values), ranking.uncertainty),
        "signed": ranker.scaler.signed,
        "top": _top_rows(ranker, new, values, ranking),
        "evaluation": _evaluation_table(evaluation),
        "settings": _explained(ranker.settings.to_dict(), meanings_of(Settings)),
        "diagnostics": _explained(ranker.diagnostics.to_dict(), meanings_of(Diagnostics)),
    }
    return {**summary, "notes": notes_on(summary, ranker.diagnostics)}


def _finding(ranker: Ranker, ranking: Ranking) -> dict[str, Any]:
    """Return how many rows lie above the threshold, how many would by chance, and how rare that many are."""
    scored = ranking.uncertainty[np.isfinite(ranking.uncertainty)]
    threshold, held = ranker.threshold(), ranker.held
    n_above = int((scored > threshold).sum())
    beyond = held.above(threshold)
    rate = (1 + beyond) / (1 + held.count)
    # Rows that come in groups are flagged together, so that no law of single rows says how rare as many are.
    single = ranker.diagnostics.n_held and ranker.n_groups is None
    return {
        "n_rows": len(ranking.uncertainty),
        "n_scored": len(scored),
        "n_above": n_above,
        "alpha": float(ranker.settings.alpha),
        "threshold": _finite(threshold),
        "expected": rate * len(scored),
        "chance": chance_of_as_many(n_above, len(scored), int(beyond), held.count) if single else None,
        "n_units": held.count,
        "unit": held.unit,
        "rates": list(held.interval(max(ranker.settings.alpha, 1 / (1 + held.count))))
        if ranker.diagnostics.n_held
        else None,
    }


def spearman(a: Array, b: Array) -> float | None:
    """Return the rank correlation over the rows that have both; None if one is constant or fewer than 3 have."""
    both = np.isfinite(a) & np.isfinite(b)
    if both.sum() < 3:
        return None
    return _finite(rank_correlation(a[both], b[both]))


def _relations(ranker: Ranker, values: Array, uncertainty: Array) -> list[dict[str, Any]]:
    """Return how each score column goes with the final order."""
    return [
        {
            "name": name,
            "spearman": spearman(values[:, k], uncertainty),
            "flipped": name in ranker.flipped,
            "constant": k not in ranker.active,
        }
        for k, name in enumerate(ranker.columns)
    ]


def _top_rows(ranker: Ranker, new: pa.Table, values: Array, ranking: Ranking) -> dict[str, Any]:
    """Return the most uncertain rows, with their ids, scores as they came, and leading column."""
    scored = np.flatnonzero(np.isfinite(ranking.uncertainty))
    order = np.lexsort((scored, -ranking.uncertainty[scored]))
    chosen = scored[order[:MOST_TOP_ROWS]]
    others = _other_columns(ranker, new)
    cells = {name: python_cells(new[name].take(chosen)) for name in others}
    scores = _as_given(ranker, values)[chosen].tolist()
    whole = [_is_whole(values[:, k]) for k in range(len(ranker.columns))]
    leading = leading_columns(ranker, values[chosen])
    rows = [
        {
            "row": int(row),
            "others": [_plain(cells[name][k]) for name in others],
            "scores": [_number(value, whole=one) for value, one in zip(scores[k], whole, strict=True)],
            "uncertainty": float(ranking.uncertainty[row]),
            "p_value": None if ranking.p_values is None else float(ranking.p_values[row]),
            "leading": leading[k],
        }
        for k, row in enumerate(chosen)
    ]
    return {"others": others, "scores": list(ranker.columns), "rows": rows}


def _as_given(ranker: Ranker, values: Array) -> Array:
    """Return the scores in the direction in which they came."""
    return np.asarray(values * [-1.0 if name in ranker.flipped else 1.0 for name in ranker.columns])


def _is_whole(column: Array) -> bool:
    """Whether a column counts something: all of its values are whole numbers."""
    known = column[np.isfinite(column)]
    return bool((known == np.floor(known)).all())


def _number(value: float, *, whole: bool) -> float | int | None:
    if not math.isfinite(value):
        return None
    return int(value) if whole else float(value)


def leading_columns(ranker: Ranker, values: Array) -> list[str | None]:
    """Return the column that :meth:`vecuq.Ranker.why` names first for each row; None where none stands out.

    A model of an older vecuq keeps no medians to compare with, so it has none for any row.
    """
    missing = "nan" if finite_rows(values).all() else "marginal"
    try:
        contributions = ranker.explain(ranker.as_table(values), missing=missing)
    except ModelFileError:
        return [None] * len(values)
    return leading_names(ranker.columns, contributions)


def _other_columns(ranker: Ranker, new: pa.Table) -> list[str]:
    """Return the first few columns that look like ids, texts or labels, ids first: neither scores nor our results."""
    import pyarrow as pa

    others = [field for field in new.schema if field.name not in ranker.columns and not is_added(field.name)]
    kept = [field.name for field in others if not pa.types.is_floating(field.type)]
    return sorted(kept, key=lambda name: not name.lower().endswith("id"))[:MOST_OTHER_COLUMNS]


def _evaluation_table(evaluation: list[dict[str, Any]] | None) -> dict[str, Any] | None:
    """Return headings in the order of their first use, and rows with None where a key is absent."""
    if not evaluation:
        return None
    headings = list(dict.fromkeys(key for row in evaluation for key in row))
    return {"headings": headings, "rows": [[_plain(row.get(name)) for name in headings] for row in evaluation]}


def _explained(values: dict[str, Any], meanings: dict[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "value": _plain(value), "meaning": meanings.get(name, "")} for name, value in values.items()]


def _plain(value: Any) -> Any:
    """Return a number, a truth value, None or a text: what JSON holds and the page can show."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_plain(inner)}" for name, inner in value.items())
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None

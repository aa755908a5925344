"""The saved file of a Conformal: the rows that its combiner learns from again, and the held-back rows."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct
from sklearn.utils.validation import check_is_fitted

from vecuq._check import Array, one_of, unique_names
from vecuq._files import SORTED, AtLeastOne, Names, Numbers, Rate, Share, check_arrays, checked_header, refuse
from vecuq.baselines.conformal import Conformal
from vecuq.baselines.registry import OURS
from vecuq.errors import ModelFileError
from vecuq.table import ScoreTable

_ARRAYS = {
    "map": Numbers("learned columns"),
    "held": Numbers("rows columns"),
    "calibration": Numbers("rows", SORTED),
}
# Another processor may differ by rounding. Trees of another scikit-learn differ by more, and are refused.
_TOLERANCE = 1e-6
_BY_NAME: dict[str, Any] = {kind.__name__: kind for kind in OURS}
# Neighbours and trees beyond this are a file that would never load.
_MOST = 100_000


class ConformalHeader(Struct):
    """What the header of a saved Conformal states."""

    combiner: str
    columns: Names
    named: bool
    flipped: tuple[str, ...]
    parameters: dict[str, Annotated[int, Meta(ge=0, le=2**32 - 1)] | None]
    alpha: Rate
    holdback: Share
    n_map: AtLeastOne
    n_held: AtLeastOne
    random_state: int | None = None
    groups: AtLeastOne | None = None

    def __post_init__(self) -> None:
        one_of("the combiner", self.combiner, tuple(_BY_NAME))
        unique_names(self.columns)
        if not set(self.flipped) <= set(self.columns):
            raise ValueError("the flipped columns are not among the columns")
        if any((self.parameters.get(name) or 0) > _MOST for name in ("k", "n_trees")):
            raise ValueError(f"the combiner looks at more than {_MOST:,} rows or trees")


def parts_of(fitted: Conformal) -> tuple[str, dict[str, Any], dict[str, Array]]:
    """Return kind, header and arrays of a file; a combiner of another package is refused."""
    check_is_fitted(fitted)
    combiner, known = fitted.combiner_, fitted.combiner_.fitted_columns_
    if type(combiner) not in OURS:
        raise ModelFileError(
            f"{type(combiner).__name__} is not a combiner of vecuq, so it cannot be saved without pickle. Save its "
            f"column, and use Conformal with the name of that column."
        )
    given = combiner.get_params(deep=False)
    header: dict[str, Any] = {
        "combiner": type(combiner).__name__,
        "columns": list(known.columns),
        "named": known.named,
        "flipped": sorted(known.flipped),
        "parameters": {name: _plain(value) for name, value in given.items() if name not in ("columns", "flip")},
        "alpha": float(fitted.alpha),
        "holdback": float(fitted.holdback),
        "random_state": _plain(fitted.random_state),
        "n_map": len(fitted.map_rows_),
        "n_held": len(fitted.held_rows_),
    }
    arrays: dict[str, Any] = {"map": fitted.map_rows_, "held": fitted.held_rows_, "calibration": fitted.held_.scores}
    if fitted.groups_ is not None:
        return "conformal", {**header, "groups": fitted.held_.count}, {**arrays, "groups": fitted.groups_}
    return "conformal", header, arrays


def conformal_of(header: dict[str, Any], arrays: dict[str, Array]) -> Conformal:
    """Let the combiner learn again from its rows; raise if a part of the file makes no sense."""
    known = checked_header(header, ConformalHeader)
    sizes = {"columns": len(known.columns), "learned": known.n_map, "rows": known.n_held}
    check_arrays(arrays, _ARRAYS, **sizes)
    combiner = _BY_NAME[known.combiner](
        **known.parameters, columns=list(known.columns), flip=sorted(known.flipped) or None
    )
    combiner.n_features_in_ = len(known.columns)
    if known.named:
        combiner.feature_names_in_ = np.array(known.columns, dtype=object)
    combiner.learn(ScoreTable(known.columns, arrays["map"], flipped=frozenset(known.flipped)))
    _refuse_other_scores(combiner.score_rows(arrays["held"]), arrays["calibration"])
    made = Conformal(combiner, holdback=known.holdback, alpha=known.alpha, random_state=known.random_state)
    groups = _groups_of(known, arrays, sizes["rows"])
    return made.keep(combiner, arrays["map"], arrays["held"], arrays["calibration"], groups)


def _groups_of(known: ConformalHeader, arrays: dict[str, Array], n_rows: int) -> Any:
    """Return the group of every held-back row, numbered in the order in which they come; None without groups."""
    if (known.groups is None) != ("groups" not in arrays):
        raise ValueError("the header and the arrays differ on whether rows come in groups")
    if known.groups is None:
        return None
    check_arrays(arrays, {"groups": Numbers("rows", dtype="int64")}, rows=n_rows)
    names, first = np.unique(arrays["groups"], return_index=True)
    if not np.array_equal(names, np.arange(known.groups)) or (np.diff(first) < 0).any():
        raise ValueError(f"'groups' must number {known.groups:,} groups in the order in which they come")
    return arrays["groups"]


def _refuse_other_scores(again: Array, saved: Array) -> None:
    """Raise if the combiner, learned again, does not give the held-back rows the scores that were saved."""
    wrong = ~(np.abs(again - saved) <= _TOLERANCE * (1.0 + np.abs(saved)))
    refuse("calibration", "the score of its row", wrong, len(saved))


def _plain(value: Any) -> int | None:
    return None if value is None else int(value)

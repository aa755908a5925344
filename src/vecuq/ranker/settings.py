"""Every choice of the method in one frozen place, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vecuq._check import in_range, one_of, whole_number
from vecuq.errors import SettingError
from vecuq.ranker.column_groups import ColumnGroups
from vecuq.ranker.weights import Weights
from vecuq.transport import GRIDS, SCALINGS, Reference, named_reference, reference_name

# More reference points take more memory than a machine has.
MOST_TARGETS = 10_000_000


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a ranker is fitted. The defaults are ours; :meth:`paper` gives the paper's method and nothing else.

    Parameters
    ----------
    reference
        The law over which calibration rows are spread; outward means more uncertain. ``"beta"``, ``"exponential"``,
        ``"ball"`` (signed scores), with parameters as in ``"beta(2, 5)"``, or an object with ``signed`` and
        ``targets(n_columns, n_targets)``.
    epsilon
        Entropic regularisation, on scaled scores: how much the map is smoothed.
    scaling
        How columns are brought to one scale: ``"featurewise"``, ``"global"``, ``"identity"`` or ``"quantile"``.
    anchors
        How many times the calibration maximum the outer anchors lie out; 0 for none.
    anchor_mass
        Largest share of the total mass that the anchors may take; None gives each anchor the mass of one row.
    overshoot
        Weight of the distance beyond the calibration box, which keeps far rows in order; 0 is the paper.
    holdback
        Share of the calibration rows that is kept out of the map, for p-values and thresholds. ``"cross"``, for
        fewer than about 200 rows, holds every row back once, from one of five maps; the promise is weaker
        (:class:`vecuq.ranker.CrossRanker`).
    grid
        Where the reference points lie: ``"midpoint"``, the Cartesian grid of the paper, or ``"authors"``, the points
        of their code.
    n_targets
        Number of reference points (rounded up to a full grid), ``"auto"``, or ``"rows"``: as many as calibration
        rows and anchors.
    solver
        ``"auto"``, ``"separable"`` (grids, any epsilon), ``"sketch"`` (grids, smooth kernels, one pass over the rows)
        or ``"dense"`` (any points).
    tol
        Largest marginal error of the transport plan.
    max_iter
        How many sweeps the solver may take.
    on_failure
        ``"error"`` or ``"warn"`` when the plan misses ``tol``.
    alpha
        False-alarm rate of ``predict`` and the default of ``flag``.
    random_state
        Seed of the split into map rows and held-back rows; None is a fixed seed too.
    weights
        How much each column counts: a dict by column name, or what :func:`vecuq.learn_weights` returns. They multiply
        the scaled columns, whatever the scaling; learned ones belong to ``"featurewise"``. None: all alike.
    column_groups
        Columns that are ranked together before the groups are ranked: a dict from group names to columns, or a list of
        lists; every score column in one group. None: more than ten columns are grouped by their correlations, fewer
        need no groups.
    """

    reference: str | Reference = "beta"
    epsilon: float = 0.5
    scaling: str = "featurewise"
    anchors: float = 5.0
    anchor_mass: float | None = None
    overshoot: float = 0.5
    holdback: float | str = 0.5
    grid: str = "midpoint"
    n_targets: int | str = "auto"
    solver: str = "auto"
    tol: float = 1e-9
    max_iter: int = 1000
    on_failure: str = "error"
    alpha: float = 0.05
    random_state: int | None = None
    weights: Mapping[str, float] | None = None
    column_groups: Mapping[str, Sequence[str]] | Sequence[Sequence[str]] | None = None

    def __post_init__(self) -> None:
        named_reference(self.reference)
        in_range("epsilon", self.epsilon, 0.0, ends="()")
        one_of("scaling", self.scaling, SCALINGS)
        in_range("anchors", self.anchors, 0.0)
        if self.anchor_mass is not None:
            in_range("anchor_mass", self.anchor_mass, 0.0, 1.0, ends="()")
        in_range("overshoot", self.overshoot, 0.0, 1e6, ends="[]")  # scores stay finite, however far a row lies
        if not isinstance(self.holdback, str):
            in_range("holdback", self.holdback, 0.0, 1.0)
        elif self.holdback != "cross":
            raise SettingError(f"holdback must be a share from 0 to 1 or 'cross'; got {self.holdback!r}.")
        one_of("grid", self.grid, GRIDS)
        self._check_targets()
        one_of("solver", self.solver, ("auto", "separable", "sketch", "dense"))
        in_range("tol", self.tol, 0.0, 1.0, ends="()")
        whole_number("max_iter", self.max_iter, 1)
        one_of("on_failure", self.on_failure, ("error", "warn"))
        in_range("alpha", self.alpha, 0.0, 1.0, ends="()")
        if self.random_state is not None:
            whole_number("random_state", self.random_state, 0)
        self._check_weights()
        object.__setattr__(self, "column_groups", ColumnGroups.of(self.column_groups))

    def _check_weights(self) -> None:
        weights = Weights.of(self.weights)
        if weights is not None and weights.learned and self.scaling != "featurewise":
            raise SettingError(f"Learned weights belong to scaling='featurewise'; got scaling={self.scaling!r}.")
        object.__setattr__(self, "weights", weights)

    def _check_targets(self) -> None:
        if isinstance(self.n_targets, str):
            one_of("n_targets", self.n_targets, ("auto", "rows"))
        elif whole_number("n_targets", self.n_targets, 2) > MOST_TARGETS:
            raise SettingError(f"n_targets must be at most {MOST_TARGETS:,}; got {self.n_targets!r}.")

    @property
    def share(self) -> float:
        """The share of rows that is held back, where it is one."""
        if isinstance(self.holdback, str):
            raise SettingError("holdback='cross' needs all rows at once, in fit. Give a share here, such as 0.5.")
        return self.holdback

    @staticmethod
    def paper(**changes: Any) -> Settings:
        """Return the paper's method and nothing else; ``changes`` override single settings."""
        return Settings(**{**PAPER, **changes})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: a reference object by its representation, weights and groups where there are some."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["reference"] = self.reference if isinstance(self.reference, str) else reference_name(self.reference)
        groups = ColumnGroups.of(self.column_groups)
        values["weights"] = None if self.weights is None else dict(self.weights)
        values["column_groups"] = None if groups is None else groups.to_dict()
        values = {name: value for name, value in values.items() if name not in _OPTIONAL or value is not None}
        return {key: value.item() if hasattr(value, "item") else value for key, value in values.items()}


# Left out of the plain values where there are none.
_OPTIONAL = ("weights", "column_groups")

PAPER: dict[str, Any] = {"overshoot": 0.0, "holdback": 0.0, "n_targets": "rows"}

"""Models of every kind that can be exported, rows to score, and what it means that two scorers agree."""

from dataclasses import dataclass

import numpy as np
import numpy.testing as npt
from hypothesis import strategies as st

from vecuq import ScoreTable, Settings, fit_ranker
from vecuq.transport import Grid


@dataclass(frozen=True)
class SignedGrid:
    """A signed reference that is a full grid, uneven on purpose: only a full grid can be exported."""

    signed: bool = True

    def targets(self, n_columns, n_targets):
        axis = np.array([-1.0, -0.4, -0.1, 0.3, 1.0])
        return Grid((axis,) * n_columns, np.full((5,) * n_columns, 5.0**-n_columns))


def fitted(n_columns, seed=0, *, n_rows=120, flip=(), constant=False, groups=None, **settings):
    """Return a ranker of rows with many ties, and the rows."""
    rng = np.random.default_rng(seed)
    rows = rng.gamma(1.0, size=(n_rows, n_columns)) * 10.0 ** rng.integers(-3, 4, size=n_columns)
    rows[n_rows // 2 :] = rows[rng.integers(0, n_rows // 2, size=n_rows - n_rows // 2)]
    if constant:
        rows = np.column_stack([rows, np.full(n_rows, 7.0)])
    names = [f"c{k}" for k in range(rows.shape[1])]
    table = ScoreTable(names, rows).flip([name for name in names if name in flip])
    return fit_ranker(table, Settings(**settings), groups=groups), rows


def new_rows(rows, seed=0):
    """Return rows near, equal to and far from the calibration rows, and rows with missing values."""
    rng = np.random.default_rng(seed)
    size = 20, rows.shape[1]
    drawn = rows[rng.integers(0, len(rows), 20)]
    spread = np.ptp(rows, axis=0) + 1.0
    far = [drawn + rng.normal(size=size) * spread * factor for factor in (1.0, 3.0, 1e6, 1e12)]
    lost = drawn.copy()
    lost[np.arange(20), rng.integers(0, rows.shape[1], 20)] = rng.choice([np.nan, np.inf, -np.inf], 20)
    edges = np.array([[1e300], [-1e300], [1.7e308], [-1.7e308]]) * np.ones(rows.shape[1])
    return np.concatenate([rows[:30], *far, drawn * rng.random(size), lost, edges])


def ranking_of(ranker, rows):
    """Return what the library says of rows in the user's direction."""
    return ranker.rank(ScoreTable(ranker.columns, rows).flip(ranker.flipped), warn=False)


def assert_agree(ranker, ranking, uncertainty, p_values):
    """Compare somebody's scores and p-values with those of the library."""
    ours = ranking.uncertainty
    npt.assert_array_equal(np.isnan(uncertainty), np.isnan(ours))
    known = ~np.isnan(ours)
    npt.assert_allclose(uncertainty[known], ours[known], rtol=1e-12, atol=1e-12)
    if ranking.p_values is None:
        assert p_values is None
        return
    held, lower = ranker.held.scores, ours[known] * (1.0 - 1e-9)
    gaps = np.abs(held - lower[:, None]).min(axis=1)
    clear = gaps > 1e-12 * np.maximum(1.0, lower)
    npt.assert_array_equal(p_values[known][clear], ranking.p_values[known][clear])
    assert np.isnan(p_values[~known]).all()


@st.composite
def models(draw):
    """Draw a ranker that can be exported, and the rows that it was fitted to."""
    n_columns = draw(st.integers(1, 6))
    constant = draw(st.booleans())
    names = [f"c{k}" for k in range(n_columns + constant)]
    weighted = draw(st.booleans())
    weights = {name: draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])) for name in names} | {"c0": 1.0} if weighted else None
    return fitted(
        n_columns,
        draw(st.integers(0, 99)),
        constant=constant,
        flip=draw(st.sets(st.sampled_from(names))),
        groups=draw(st.sampled_from([None, np.arange(120) // 3])),
        reference=draw(st.sampled_from(["beta", "exponential", "beta(2, 5)", "beta(0.1, 0.1)", SignedGrid()])),
        epsilon=draw(st.sampled_from([0.1, 0.5, 1.9999999, 2.0, 10.0]) | st.floats(0.2, 3.0)),
        scaling=draw(st.sampled_from(["featurewise", "global", "quantile"])),
        anchors=draw(st.sampled_from([0.0, 5.0])),
        overshoot=draw(st.sampled_from([0.0, 0.5, 1.0000001])),
        holdback=draw(st.sampled_from([0.0, 0.5])),
        n_targets=draw(st.sampled_from(["auto", 50, 5000])),
        weights=weights,
        tol=1e-6,
        max_iter=5000,
    )

"""The registry: every combiner by name, and packages that add to it."""

import numpy as np
import pytest

from vecuq import _check, baselines
from vecuq.baselines import Baseline, find_baselines, list_baselines, registry
from vecuq.errors import SettingError, VecuqWarning


class Point:
    """An entry point as importlib.metadata finds it."""

    def __init__(self, name, loaded):
        self.name, self.loaded = name, loaded

    def load(self):
        if isinstance(self.loaded, Exception):
            raise self.loaded
        return self.loaded


@pytest.fixture
def installed(monkeypatch):
    """Pretend that packages with these entry points are installed."""

    def install(*points):
        monkeypatch.setattr(_check, "entry_points", lambda group: points if group == "vecuq.baselines" else ())
        registry.baselines.cache_clear()

    yield install
    registry.baselines.cache_clear()


def test_every_name_of_the_interface_is_there():
    wanted = {"sum", "mean_rank", "max_rank", "pca", "fisher", "mahalanobis", "isolation_forest"}
    assert wanted | {"minmax_sum", "z_sum", "harmonic", "cauchy", "knn", "copula"} == set(list_baselines())


def test_every_name_is_a_combiner_of_the_package_with_a_meaning_and_a_citation():
    for name, found in registry.baselines().items():
        assert found.make is getattr(baselines, name)
        assert name in baselines.__all__
        assert len(found.about) > 20
        assert not found.about.endswith(".")
        assert found.citation.endswith(".") or name == "sum"


def test_combiners_are_found_by_name_and_a_slip_gets_a_hint():
    assert [found.name for found in find_baselines(["pca", "sum", "pca"])] == ["pca", "sum"]
    with pytest.raises(SettingError, match="Did you mean 'mean_rank'"):
        find_baselines(["meanrank"])
    with pytest.raises(SettingError, match="At least one baseline"):
        find_baselines([])


def test_a_combiner_of_another_package_is_listed_and_made(installed):
    class First(baselines.Combiner):
        def _learn(self, rows):
            return lambda new: new[:, 0]

    installed(Point("first", Baseline("first", "the first varying column", "", First)))
    assert list_baselines()[-1] == "first"
    (found,) = find_baselines(["first"])
    model = found.make().fit([[0.0, 1.0], [2.0, 2.0]])
    np.testing.assert_array_equal(model.uncertainty([[3.0, 4.0]]), [3.0])


@pytest.mark.parametrize(
    "loaded",
    [ImportError("no such module"), "not a baseline", Baseline("sum", "ours", "", baselines.sum)],
    ids=["absent", "something else", "a name that is taken"],
)
def test_a_broken_package_is_told_and_leaves_ours_alone(installed, loaded):
    installed(Point("broken", loaded))
    with pytest.warns(VecuqWarning, match="'broken'"):
        assert len(list_baselines()) == 13

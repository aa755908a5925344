"""The registry: everything by name, and packages that add to it."""

import numpy as np
import numpy.testing as npt
import pytest

from vecuq import ClassifierOutputs, _check
from vecuq.errors import ColumnError, SettingError, VecuqWarning
from vecuq.measures import Measure, compositions, find_measures, list_measures, measure, registry


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
        monkeypatch.setattr(_check, "entry_points", lambda group: points if group == "vecuq.measures" else ())
        registry.known_measures.cache_clear()

    yield install
    registry.known_measures.cache_clear()


def doubt(logits):
    return 1.0 - logits.max(axis=(0, 2))


def test_every_name_of_the_interface_is_there():
    names = set(list_measures()["classifier"])
    assert len(names) == 84 + 7 + 4
    assert names >= {"bayes_log_1", "excess_log_1_1", "total_brier_1_2", "msp", "entropy", "mutual_information"}
    assert names >= {
        "margin",
        "max_logit",
        "energy",
        "variation_ratio",
        "mahalanobis",
        "relative_mahalanobis",
        "gmm",
        "knn",
    }


def test_the_compositions_of_the_paper_are_made_of_known_measures():
    assert compositions["eat_m"] == ("bayes_log_1", "excess_log_1_1", "total_log_1_1", "mahalanobis")
    assert len(compositions["excess_log"]) == 5
    for name, columns in compositions.items():
        assert tuple(found.name for found in find_measures([name])) == columns


def test_every_measure_says_what_it_is_and_what_it_needs():
    for found in registry.known_measures("classifier").values():
        assert len(found.about) > 10
        assert found.needs in ("logits", "raw logits", "training")


def test_a_measure_of_another_package_is_listed_and_computed(installed):
    installed(Point("doubt", Measure("doubt", "one minus the largest logit", "logits", doubt)))
    assert "doubt" in list_measures()["classifier"]
    logits = np.random.default_rng(0).normal(size=(2, 5, 3))
    npt.assert_array_equal(measure(ClassifierOutputs.of(logits=logits), ["doubt"]).values[:, 0], doubt(logits))


@pytest.mark.parametrize(
    "loaded",
    [ImportError("no such module"), RuntimeError("broken"), "not a measure", Measure("msp", "ours", "logits", doubt)],
    ids=["absent", "broken", "something else", "a name that is taken"],
)
def test_a_broken_package_only_warns(installed, loaded):
    installed(Point("doubt", loaded), Point("fine", Measure("fine", "works", "logits", doubt)))
    with pytest.warns(VecuqWarning, match="doubt"):
        names = list_measures()["classifier"]
    assert {"msp", "fine"} <= set(names)
    assert registry.known_measures("classifier")["msp"].about != "ours"


def test_a_measure_that_gives_the_wrong_shape_is_told(installed):
    installed(Point("flat", Measure("flat", "one number for all", "logits", lambda logits: 1.0)))
    with pytest.raises(ColumnError, match="'flat' gave shape"):
        measure(ClassifierOutputs.of(logits=np.zeros((2, 3))), ["flat"])


def test_an_unknown_name_is_told_with_the_nearest():
    with pytest.raises(SettingError, match="Did you mean 'mutual_information'"):
        find_measures(["mutual_informaton"])
    with pytest.raises(SettingError, match="At least one"):
        find_measures([])


def test_a_measure_that_comes_twice_is_one_column():
    assert [found.name for found in find_measures(["msp", "eat_m", "mahalanobis"])] == ["msp", *compositions["eat_m"]]

import numpy as np
import pytest

from vecuq import Settings, fit_ranker
from vecuq.paper import STUDIES
from vecuq.paper.extremes import compositions, keeps_order
from vecuq.paper.toy import toy_scores


def test_the_toy_gives_the_authors_digits():
    figures = STUDIES["toy"]().figures
    expected = {"misclassification": (0.765928, 0.444899, 0.710329), "ood": (0.098877, 0.999980, 0.999883)}
    for task, digits in expected.items():
        ours = [figures[task][name] for name in ("u1", "u2", "VecUQ-OT")]
        assert ours == pytest.approx(digits, abs=1e-5 / 2)


def test_extremes_keep_the_base_order_on_real_scores():
    figures = STUDIES["extremes"]().figures
    assert len(figures) == 3
    for case in figures.values():
        assert case["order kept, VecUQ-OT (paper)"]
        assert case["order kept, VecUQ-OT (defaults)"]
        assert case["VecUQ-OT (paper)"] == case["base"] == case["VecUQ-OT (defaults)"]


@pytest.mark.parametrize("settings", [Settings.paper(), Settings(), Settings.paper(reference="exponential")])
@pytest.mark.parametrize("name", ["single component", "repeated five times", "with five constants"])
def test_one_signal_keeps_its_order_whatever_stands_beside_it(name, settings):
    data = toy_scores()
    calibration, new = data.calibration[:, 1], np.concatenate([data.test[:, 1], data.ood[:300, 1]])
    ranker = fit_ranker(compositions(calibration)[name], settings)
    assert keeps_order(new, ranker.uncertainty(compositions(new)[name]))


def test_keeps_order_can_fail():
    assert keeps_order(np.array([1.0, 2.0, 2.0]), np.array([5.0, 7.0, 7.0]))
    assert not keeps_order(np.array([1.0, 2.0, 2.0]), np.array([5.0, 7.0, 8.0]))
    assert not keeps_order(np.array([1.0, 2.0]), np.array([2.0, 1.0]))

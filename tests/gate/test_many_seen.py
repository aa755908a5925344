import numpy as np
import pytest

from vecuq import Gate, fit_ranker
from vecuq.errors import CalibrationWarning


def test_rows_that_a_large_model_may_have_seen_do_not_certify_it():
    rng = np.random.default_rng(0)
    rows = rng.gamma(1.0, size=(20_000, 2))
    right = rng.random(20_000) > rows.sum(axis=1) / 40
    model = fit_ranker(rows)
    with pytest.warns(CalibrationWarning, match=r"have fitted the model.* of which the model does not remember"):
        gate = Gate(model, accuracy=0.8).fit(rows, right)
    seen = model.overlap(rows).map
    assert gate.certificate().n_labels <= int((seen.decided & ~seen.rows).sum())

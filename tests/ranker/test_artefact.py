"""Model files: old ones stay readable, and say what they cannot do; new ones keep all that they need."""

from pathlib import Path

import numpy as np
import numpy.testing as npt
import pytest

from vecuq import fit_ranker, load
from vecuq._files import read_tensors, write_tensors
from vecuq._files.tensors import FORMAT
from vecuq.errors import CalibrationError, ModelFileError

OLD = Path(__file__).with_name("saved") / "format_1.vecuq"
NEW = np.array([[0.5, 0.5], [2.0, 0.1], [9.0, 4.0]])
ROWS = np.random.default_rng(0).gamma(1.0, size=(200, 2))


def test_a_model_of_format_1_scores_as_it_did():
    """Numbers printed by the version that wrote the file."""
    old = load(OLD)
    npt.assert_allclose(old.uncertainty(NEW), [0.6179489174863667, 0.6808169639028937, 1.7828396312031765], rtol=1e-13)
    npt.assert_allclose(old.p_values(NEW), [25 / 31, 17 / 31, 1 / 31])
    # That version printed the score itself; scores that equal it to nine digits are no longer above the threshold.
    assert 0.991917921279512 < old.threshold(0.1) < 0.991917921279512 * (1 + 2e-9)


def test_a_model_of_format_1_says_what_it_cannot_do():
    old = load(OLD)
    for ask in (old.explain, old.why, old.p_values_at_median):
        with pytest.raises(ModelFileError, match="did not keep the calibration medians"):
            ask(NEW)
    with pytest.raises(CalibrationError, match="saved by an older vecuq"):
        old.uncertainty(NEW, missing="marginal")


def test_a_model_of_format_1_can_be_saved_again(tmp_path):
    load(OLD).save(tmp_path / "again.vecuq")
    npt.assert_array_equal(load(tmp_path / "again.vecuq").uncertainty(NEW), load(OLD).uncertainty(NEW))


def test_new_files_state_the_new_format(tmp_path):
    fit_ranker(ROWS).save(tmp_path / "m.vecuq")
    header, _ = read_tensors(tmp_path / "m.vecuq")
    assert header["format"] == FORMAT == 2


@pytest.mark.parametrize("part", ["kept.held", "kept.centre", "kept.draws"])
def test_parts_that_do_not_fit_are_damage(tmp_path, part):
    fit_ranker(ROWS).save(tmp_path / "m.vecuq")
    header, arrays = read_tensors(tmp_path / "m.vecuq")
    plain = {name: value for name, value in header.items() if name not in ("format", "kind", "library")}
    for changed in ({**arrays, part: arrays[part][..., :1]}, {k: v for k, v in arrays.items() if k != part}):
        write_tensors(tmp_path / "bad.vecuq", "model", plain, changed)
        with pytest.raises(ModelFileError, match=f"was altered or damaged: '{part}'"):
            load(tmp_path / "bad.vecuq")

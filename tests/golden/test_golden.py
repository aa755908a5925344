"""Numbers and files of the version before the house was rearranged: the same to 1e-12, and still readable."""

import json
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pytest
from golden_numbers import FIXTURE, RECORDED, all_numbers
from saved_kinds import NUMBERS, loaded, numbers_of

from vecuq import load
from vecuq._removed import KINDS
from vecuq.errors import ModelFileError

SAVED = Path(__file__).with_name("saved")
KNOWN = json.loads((SAVED / "numbers.json").read_text())


@pytest.fixture(scope="module")
def numbers():
    return all_numbers(RECORDED)


def test_every_number_on_the_bundled_data_is_what_it_was(numbers):
    with np.load(FIXTURE) as before:
        assert set(before) <= set(numbers)
        for name in before:
            # Differences over steps of 1e-4, and a small epsilon, multiply what another NumPy rounds otherwise.
            atol = 1e-10 if name.endswith("gradient") else 1e-11 if name.startswith("small_epsilon") else 1e-12
            npt.assert_allclose(numbers[name][:40], before[name], rtol=1e-12, atol=atol, err_msg=name)


def test_models_saved_by_0_1_0_score_as_they_did():
    new, ranker = KNOWN["new"], load(SAVED / "ranker.vecuq")
    npt.assert_allclose(ranker.uncertainty(new), KNOWN["ranker"]["uncertainty"], rtol=1e-12)
    npt.assert_allclose(ranker.p_values(new), KNOWN["ranker"]["p_values"], rtol=1e-12)
    npt.assert_allclose(ranker.explain(new), KNOWN["ranker"]["explain"], atol=1e-12)
    cloud = load(SAVED / "cloud.vecuq").uncertainty(np.column_stack(list(new.values())))
    npt.assert_allclose(cloud, KNOWN["cloud"]["uncertainty"], rtol=1e-12)


def test_a_pipeline_saved_by_0_1_0_scores_as_it_did():
    pipeline, known = load(SAVED / "pipeline.vecuq"), KNOWN["pipeline"]
    npt.assert_allclose(pipeline.uncertainty(np.array(known["logits"])), known["uncertainty"], rtol=1e-12)
    npt.assert_allclose(pipeline.p_values(np.array(known["logits"])), known["p_values"], rtol=1e-12)


def test_a_monitor_saved_by_0_1_0_goes_on_with_its_model():
    monitor = load(SAVED / "monitor.vecuq", ranker=load(SAVED / "ranker.vecuq"))
    assert monitor.rows == KNOWN["monitor"]["rows"]
    npt.assert_allclose([stream.log_evidence for stream in monitor.streams], KNOWN["monitor"]["evidence"], rtol=1e-12)
    with pytest.raises(ModelFileError, match="without its model"):
        load(SAVED / "monitor.vecuq")


def test_a_model_with_the_dominance_tail_is_refused_by_the_last_version_that_reads_it():
    with pytest.raises(ModelFileError, match=r"dominance.vecuq cannot be loaded. .*vecuq 0.1.0 was the last"):
        load(SAVED / "dominance.vecuq")


def files_of_every_version(*, removed=False):
    return [path for path in sorted(Path(__file__).parent.glob("saved_*/*.vecuq")) if (path.stem in KINDS) == removed]


@pytest.mark.parametrize("path", files_of_every_version(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_every_kind_that_a_version_saved_says_what_it_said(path):
    known = json.loads(path.with_name("numbers.json").read_text())
    npt.assert_allclose(numbers_of(path.stem, loaded(path)), known[path.stem], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("path", files_of_every_version(removed=True), ids=lambda path: path.stem)
def test_a_file_of_a_kind_that_went_says_what_to_use(path):
    with pytest.raises(ModelFileError, match=KINDS[path.stem]):
        load(path)


def test_a_version_keeps_a_file_of_every_kind_that_can_be_loaded():
    from vecuq._load import _READERS

    kept = {path.parent.name: set() for path in files_of_every_version()}
    for path in files_of_every_version():
        kept[path.parent.name].add(path.stem)
    assert set(NUMBERS) == set(_READERS) == set.union(*kept.values())

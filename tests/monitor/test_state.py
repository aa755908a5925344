"""The saved state: whole and its own, or refused in one line; the same on another processor."""

from dataclasses import replace

import numpy as np
import pytest

from vecuq import Monitor, Ranker, fit_ranker, load
from vecuq._files import read_tensors, write_tensors
from vecuq.errors import ModelFileError


@pytest.fixture(scope="module")
def watched():
    return fit_ranker(np.random.default_rng(0).gamma(2.0, size=(120, 2)))


@pytest.fixture
def spoiled(watched, tmp_path):
    """Return how a state is read whose parts were changed, though its checksum is right."""
    monitor = Monitor(watched)
    monitor.observe(np.random.default_rng(1).gamma(2.0, size=(50, 2)))
    monitor.save(tmp_path / "state.vecuq")

    def read(change):
        header, arrays = read_tensors(tmp_path / "state.vecuq")
        change(header, arrays)
        kept = {name: value for name, value in header.items() if name not in ("format", "kind", "library")}
        write_tensors(tmp_path / "spoiled.vecuq", "monitor", kept, arrays)
        return load(tmp_path / "spoiled.vecuq", ranker=watched)

    return read


def shorten(name):
    def change(header, arrays):
        arrays[name] = arrays[name][:-5]

    return change


@pytest.mark.parametrize("part", ["scores", "breakers", "counts", "run", "staked", "lowest", "started"])
@pytest.mark.parametrize("stream", [0, 1, 3])
def test_a_part_of_the_wrong_length_is_damage(spoiled, stream, part):
    with pytest.raises(ModelFileError, match=r"was altered or damaged: .* must have the shape"):
        spoiled(shorten(f"{stream}.{part}"))


def count_one_more(header, arrays):
    arrays["0.counts"][0] += 1


def swap_scores(header, arrays):
    arrays["1.scores"] = arrays["1.scores"][::-1].copy()


def rename_a_stream(header, arrays):
    header["streams"][1]["name"] = "knn"


def forget_rows(header, arrays):
    header["rows"] = 10


def forget_all(header, arrays):
    header["streams"] = []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (count_one_more, "do not add up"),
        (swap_scores, "must be at least the one before it"),
        (rename_a_stream, "not those of the model"),
        (forget_all, "streams.*length >= 2"),
        (forget_rows, "more rows than there were"),
    ],
)
def test_parts_that_contradict_each_other_are_damage(spoiled, change, reason):
    with pytest.raises(ModelFileError, match=reason):
        spoiled(change)


@pytest.mark.parametrize(("version", "told"), [(None, "an older vecuq.*Start again"), (9, "a newer vecuq.*Upgrade")])
def test_a_state_of_another_version_is_refused_in_one_line(spoiled, version, told):
    def change(header, arrays):
        header.pop("version")
        if version:
            header["version"] = version

    with pytest.raises(ModelFileError, match=told) as caught:
        spoiled(change)
    assert "\n" not in str(caught.value)


def test_no_random_number_is_used_twice(watched):
    for seed in (0, 1, 7):
        monitor = Monitor(watched, random_state=seed)
        drawn = [stream.calibration.breakers for stream in monitor.streams]
        drawn += [monitor._draws(200, purpose).ravel() for purpose in (2, 3)]
        everything = np.concatenate([*drawn, np.random.default_rng(seed).random(500)])
        assert len(np.unique(everything)) == len(everything)


def one_step(scores, way):
    return np.nextafter(scores, way * np.inf)


@pytest.mark.parametrize("way", [-1, 1])
def test_scores_of_another_processor_tie_with_the_stored_ones_before_and_after_a_restore(monkeypatch, tmp_path, way):
    rng = np.random.default_rng(3)
    levels = fit_ranker(rng.integers(0, 3, size=(400, 2)) / 2)
    new = rng.integers(0, 3, size=(600, 2)) / 2
    at_home, elsewhere = Monitor(levels), Monitor(levels)
    at_home.observe(new)
    rank = Ranker.rank

    def a_little_off(ranker, data, **how):
        found = rank(ranker, data, **how)
        return replace(found, uncertainty=one_step(found.uncertainty, way))

    monkeypatch.setattr(Ranker, "rank", a_little_off)
    elsewhere.observe(new[:300])
    elsewhere.save(tmp_path / "state.vecuq")
    elsewhere = load(tmp_path / "state.vecuq", ranker=levels)
    elsewhere.observe(new[300:])
    assert elsewhere.alarms == at_home.alarms == ()
    assert elsewhere.evidence == at_home.evidence


def test_columns_that_were_computed_on_another_processor_tie_too():
    rng = np.random.default_rng(3)
    levels = fit_ranker(rng.integers(1, 4, size=(400, 2)) / 3)
    new = rng.integers(1, 4, size=(600, 2)) / 3
    at_home, elsewhere = Monitor(levels), Monitor(levels)
    at_home.observe(new)
    elsewhere.observe(one_step(new, 1))
    assert {name: elsewhere.evidence[name] for name in ("x0", "x1")} == {
        name: at_home.evidence[name] for name in ("x0", "x1")
    }

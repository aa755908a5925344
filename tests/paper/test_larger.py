"""Scores of larger models from files: read, judged by any quality, compared; what cannot be read is refused at once."""

import gzip
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pytest

from vecuq.errors import TableError
from vecuq.paper import choices, larger, reproduce_text, splits, text
from vecuq.paper.larger import absent_files, larger_tables
from vecuq.paper.score_sets import read_score_sets

SHARED = Path(__file__).parents[3] / "shared" / "data"


def a_set(name, *, seed=0, n_rows=120, columns=("good", "noise"), **changes):
    """Return the arrays of one set: the first column is the probability of being wrong, the others are noise."""
    rng = np.random.default_rng(seed)
    rows = rng.random((n_rows, len(columns)))
    arrays = {"x": rows.astype("float32"), "columns": np.array(columns), "wrong": (rows[:, 0] > rng.random(n_rows))}
    arrays = {**arrays, **changes}
    return {f"{name}/{key}": value for key, value in arrays.items() if value is not None}


def confidences_of(last, msp="0.{k}"):
    """Return a gzipped file of 60 sound answers and one more line."""
    lines = [f"arc,a,{k % 2},{msp.format(k=k)},{k},0.{k},{-k}" for k in range(10, 70)]
    return gzip.compress("\n".join([",".join(choices._HEADS), *lines, last]).encode())


def save(path, *sets):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **{key: value for arrays in sets for key, value in arrays.items()})
    return path


def test_wrong_answers_have_quality_zero_and_another_quality_is_taken_as_it_is(tmp_path):
    wrong = np.arange(120) % 3 == 0
    found = read_score_sets(save(tmp_path / "a.npz", a_set("one", wrong=wrong.astype("uint8"))))
    npt.assert_array_equal(found.subjects["one"][0].quality, 1.0 - wrong)
    comet = np.linspace(-1.0, 1.0, 120)
    found = read_score_sets(save(tmp_path / "b.npz", a_set("one", quality=comet)))
    npt.assert_array_equal(found.subjects["one"][0].quality, comet)


def test_constant_columns_and_incomplete_rows_are_left_out(tmp_path):
    arrays = a_set("one", columns=("good", "noise", "same"))
    arrays["one/x"][:, 2] = -1.0
    arrays["one/x"][5, 0] = np.nan
    found = read_score_sets(save(tmp_path / "a.npz", arrays))
    assert found.components == ("good", "noise")
    assert (len(found.subjects["one"][0]), found.subjects["one"][0].n_left_out) == (119, 1)


def test_runs_of_one_task_share_a_column_and_the_splits_take_them_in_turn(tmp_path, monkeypatch):
    sets = [a_set(f"CoD_run_{k}_gsm8k", seed=k) for k in range(2)]
    found = read_score_sets(save(tmp_path / "a.npz", *sets))
    assert {column: len(runs) for column, runs in found.subjects.items()} == {"gsm8k": 2}
    monkeypatch.setattr(splits, "N_SPLITS", 4)
    together = splits.over_splits(found.subjects, found.components).values["gsm8k"]["good"]
    alone = [splits.over_splits({"r": (run,)}, found.components).values["r"]["good"] for run in found.subjects["gsm8k"]]
    assert together == [alone[split % 2][split] for split in range(4)]


@pytest.mark.usefixtures("few")
def test_every_known_file_and_every_file_of_ones_own_gives_a_table_and_a_picture(tmp_path):
    for name in ("rank", "mcq", "reasoning"):
        save(tmp_path / "combining" / f"{name}.npz", a_set("one"))
    save(tmp_path / "text" / "comet.npz", a_set("wmt", quality=np.r_[-np.linspace(0.0, 1.0, 118), np.nan, np.nan]))
    study = reproduce_text(tmp_path)
    names = ["text", "text_reasoning", "text_mmlu", "text_nq_open", "text_own_comet"]
    assert [sheet.name for sheet in study.sheets] == names
    assert [picture.name for picture in study.pictures] == ["prr", "reasoning", "mmlu", "nq_open", "own_comet"]
    assert len(study.claims) == 3 + 4
    assert [row["Method"] for row in study.sheets[1].rows] == [*splits.OURS, "good", "noise"]
    assert study.figures["text_mmlu: one"]["good"] > study.figures["text_mmlu: one"]["noise"]
    assert f"these files were not given: {choices.CHOICES_FILE}." in study.differs
    assert " 2 of their answers lack a value" in study.differs


@pytest.mark.usefixtures("few")
def test_what_of_the_papers_data_cannot_be_had_is_said():
    study = reproduce_text()
    for name in ("AlignScore", "COMET", "XSum", "CoQA", "WMT14", "WMT19", "TriviaQA"):
        assert name in study.differs
    assert all(file in study.differs for file in absent_files(None))


@pytest.fixture
def few(monkeypatch):
    """The small models' answers replaced by noise: this is about the others."""
    rng = np.random.default_rng(3)
    judged = splits.JudgedScores({name: rng.random(60) for name in text.generations.MEASURES}, rng.random(60))
    monkeypatch.setattr(text, "text_scores", lambda: {"Small QA": judged})
    monkeypatch.setattr(splits, "N_SPLITS", 2)


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"images": np.zeros((4, 3))}, "needs an array NAME/x"),
        (a_set("one", columns=("a", "b")) | {"one/columns": np.array(["a", "b", "c"])}, "a name of its own"),
        (a_set("one", columns=("a", "a")), "a name of its own"),
        (a_set("one", wrong=None), "needs one/quality"),
        (a_set("one", wrong=np.zeros(7)), "a quality for each answer"),
        (a_set("one", wrong=np.full(120, 0.5)), "must be 0 or 1"),
        (a_set("one", wrong=np.zeros(120)), "0 of another quality"),
        (a_set("one", wrong=np.arange(120) < 9), "9 of another quality"),
        (a_set("one", columns=("a", "VecUQ-OT (Beta, FW)")), "need other names"),
        (a_set("Mean"), "need other names"),
        (a_set("one", quality=np.array(["good"] * 120)), "must be numbers"),
        (a_set("one", x=np.zeros((120, 2))), "columns that vary"),
        (a_set("one", n_rows=12), "needs 40 complete answers"),
        (a_set("one") | a_set("two", columns=("good", "other")), "files of their own"),
    ],
)
def test_a_malformed_file_is_refused_in_one_line_and_nothing_is_written(refused, tmp_path, arrays, complaint):
    save(tmp_path / "combining" / "mcq.npz", arrays)
    told = refused("reproduce", "text", "--data-dir", tmp_path, "-o", tmp_path / "out")
    assert complaint in told
    assert "mcq.npz" in told


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut"])
def test_a_file_that_is_no_archive_is_refused(refused, tmp_path, content):
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "mine.npz").write_bytes(content)
    told = refused("reproduce", "text", "--data-dir", tmp_path, "-o", tmp_path / "out")
    assert "mine.npz cannot be read as npz" in told


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"no gzip", "cannot be read as gzipped csv"),
        (gzip.compress(b"task,model\narc,a\n"), "it lacks ['correct', 'msp'"),
        (
            gzip.compress(b"task,model,correct,msp,max_logit,msp_prompt2,max_logit_prompt2\narc,a,1,x,1,1,1\n"),
            "cannot be read as gzipped csv with numbers",
        ),
        (gzip.compress(b"task,model,correct,msp,max_logit,msp_prompt2,max_logit_prompt2\n"), "it has none"),
        (confidences_of("arc,a,2,.5,1,.5,1"), "correct must be 0 or 1"),
        (confidences_of("arc,a,nan,.5,1,.5,1"), "correct must be 0 or 1"),
        (confidences_of("arc,b,1,.5,1,.5,1"), "b ARC needs 40 complete answers"),
    ],
    # Named, because a gzip file holds the time at which it was made, and every process must find the same tests.
    ids=["no gzip", "columns missing", "no number", "no rows", "a label of 2", "a missing label", "too few answers"],
)
def test_malformed_confidences_are_refused_in_one_line(refused, tmp_path, content, complaint):
    (tmp_path / choices.CHOICES_FILE).write_bytes(content)
    assert complaint in refused("reproduce", "text", "--data-dir", tmp_path, "-o", tmp_path / "out")


def test_confidences_with_missing_values_and_constant_ones_are_left_out(tmp_path):
    path = tmp_path / choices.CHOICES_FILE
    path.write_bytes(confidences_of("arc,a,1,nan,1,1,1", msp="0.5"))
    found = choices.choice_scores(path)
    assert found.components == ("- max. logit", "1 - MSP, prompt 2", "- max. logit, prompt 2")
    assert (len(found.subjects["a ARC"][0]), found.subjects["a ARC"][0].n_left_out) == (60, 1)


def test_a_column_where_no_score_stands_out_from_chance_is_named():
    def ratios(mean):
        lines = {name: [mean - 0.1, mean + 0.1] for name in (*splits.OURS, "good")}
        return splits.Ratios({"first": lines, "second": {name: [0.4, 0.5] for name in lines}})

    assert "above 0 on first: chance decides there." in text._without_signal(ratios(0.1), ["good"])
    assert text._without_signal(ratios(0.4), ["good"]) == ""


def test_a_folder_without_any_of_the_files_is_refused_by_the_option_s_name(refused, tmp_path):
    told = refused("reproduce", "text", "--data-dir", tmp_path, "-o", tmp_path / "out")
    assert told.startswith("error: --data-dir must hold at least one of combining/reasoning.npz")
    with pytest.raises(TableError, match="data_dir must hold"):
        larger_tables(tmp_path / "nowhere")


def test_on_real_scores_of_larger_models_the_rank_is_never_below_its_worst_score(monkeypatch):
    if not (SHARED / "combining").is_dir():
        pytest.skip("the scores of larger models are not part of the repository; they are not in ../shared/data")
    monkeypatch.setattr(splits, "N_SPLITS", 2)
    tables = {table.name: table.sets for table in larger_tables(SHARED)}
    assert set(tables) == {f"text_{name}" for name, _ in larger._FILES.values()}
    for name in ("text_nq_open", "text_reasoning"):
        found = splits.over_splits(tables[name].subjects, tables[name].components)
        for figures in found.means().values():
            assert min(figures[ours] for ours in splits.OURS) >= min(figures[one] for one in tables[name].components)

"""The text study: answers become columns, columns a table like the paper's, and what is not there is said."""

import gzip
import json
import math
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pytest
from msgspec.structs import replace

from vecuq import workflows
from vecuq.answers import read_answers
from vecuq.evaluation import prediction_rejection_ratio
from vecuq.paper import choices, generations, reproduce_text, splits
from vecuq.paper.generations import COMPONENTS, MEASURES, MODELS, TASKS, judged_scores, text_scores
from vecuq.paper.images import worse_than_worst
from vecuq.paper.splits import OURS, JudgedScores, over_splits
from vecuq.paper.study import printed_table

RECORDED = Path(__file__).parents[1] / "data" / "recorded_answers.jsonl.gz"
HEAD = "task,model,question,correct,msp,max_logit,msp_prompt2,max_logit_prompt2\n"


@pytest.fixture
def release(monkeypatch, tmp_path):
    """A small release in place of the real one: the same recorded translations for every model and task."""
    lines = gzip.decompress(RECORDED.read_bytes()).decode().splitlines()
    for model in MODELS:
        for task, reference in (("questions", None), ("translation", None), ("arithmetic", "7")):
            found = [json.loads(line) for line in lines]
            for k, row in enumerate(found):
                row["references"] = row["references"] if reference is None else [reference]
                row["greedy"]["text"] += f" {k}"
            (tmp_path / f"{model}_{task}.jsonl").write_text("\n".join(map(json.dumps, found)))
    monkeypatch.setattr(generations, "answers_file", lambda model, task: tmp_path / f"{model}_{task}.jsonl")
    monkeypatch.setattr(splits, "N_SPLITS", 3)
    return tmp_path


@pytest.fixture
def confidences(tmp_path):
    """A folder with multiple-choice confidences of one model on one task; the confident answers are right."""
    rng = np.random.default_rng(0)
    rows = [
        f"arc,Tiny,{k},{int(c > 0.5)},{c:.4f},{10 * c:.4f},{c:.4f},{9 * c:.4f}" for k, c in enumerate(rng.random(60))
    ]
    (tmp_path / choices.CHOICES_FILE).write_bytes(gzip.compress((HEAD + "\n".join(rows) + "\n").encode()))
    return tmp_path


@pytest.mark.usefixtures("release")
def test_the_table_has_the_papers_lines_and_a_column_per_model_and_task():
    study = reproduce_text()
    (sheet,) = study.sheets
    columns = [f"{model} {task}" for model in MODELS.values() for task in TASKS.values()]
    assert sheet.heads == ("Method", *columns, "Mean")
    assert [row["Method"] for row in sheet.rows] == [*OURS, *MEASURES]
    printed = [row["Method"] for row in printed_table("text", "").rows]
    assert [name.replace("NMTE", "MTE") for name in printed[2:-1]] == list(MEASURES)
    row = sheet.rows[3]
    assert row["Mean"].mean == pytest.approx(np.mean([row[column].mean for column in columns]))
    assert set(study.figures) == set(columns)
    assert len(study.claims) == 3
    assert choices.CHOICES_FILE in study.differs


@pytest.mark.nightly
@pytest.mark.usefixtures("release")
def test_the_terminal_shows_all_four_of_the_papers_tables_beside_our_one(run, tmp_path):
    shown = run("reproduce", "text", "-o", tmp_path / "out").stdout
    assert shown.count("The paper prints:") == 4
    assert shown.index("PRR at 50 % of Falcon-7B") < shown.index("- Never worse")


def test_the_second_table_is_there_where_its_file_is(release, confidences):
    assert release == confidences
    study = reproduce_text(confidences)
    assert [sheet.name for sheet in study.sheets] == ["text", "text_choices"]
    assert study.sheets[1].heads == ("Method", "Tiny ARC", "Mean")
    # Each confidence orders these answers perfectly, and so does their rank.
    assert all(figure == pytest.approx(1.0) for figure in study.figures["text_choices: Tiny ARC"].values())
    assert len(study.claims) == 4


@pytest.mark.usefixtures("confidences")
def test_confidences_are_turned_into_uncertainties(tmp_path):
    found = choices.choice_scores(tmp_path / choices.CHOICES_FILE).subjects["Tiny ARC"][0]
    assert set(found.quality) == {0.0, 1.0}
    for column in found.scores.values():
        assert column[found.quality == 0].min() > column[found.quality == 1].max()


def test_fitted_and_evaluated_rows_are_apart_and_all_methods_see_the_same():
    rng = np.random.default_rng(1)
    scores = {name: rng.gamma(2.0, size=80) for name in ("a", "b")}
    judged = JudgedScores(scores, rng.random(80))
    ratios = over_splits({"only": (judged,)}, ("a", "b"))
    order = np.random.default_rng(0).permutation(80)
    expected = prediction_rejection_ratio(scores["a"][order[20:]], judged.quality[order[20:]])
    assert ratios.values["only"]["a"][0] == expected
    assert ratios.methods == (*OURS, "a", "b")
    assert len(ratios.values["only"]["a"]) == splits.N_SPLITS == 20
    npt.assert_array_equal(ratios.average("a").mean, np.mean(ratios.values["only"]["a"]))


def test_an_answer_without_a_measure_is_left_out_and_counted():
    records = list(read_answers(RECORDED))
    records[3] = replace(records[3], greedy=replace(records[3].greedy, text=" "))
    whole, holed = judged_scores(list(read_answers(RECORDED)), "rouge_l"), judged_scores(records, "rouge_l")
    assert (len(whole), whole.n_left_out) == (48, 0)
    assert (len(holed), holed.n_left_out) == (47, 1)
    npt.assert_array_equal(holed.scores["MSP"], np.delete(whole.scores["MSP"], 3))


@pytest.mark.nightly
@pytest.mark.usefixtures("release")
def test_the_study_is_written_with_the_papers_four_tables_beside_it(tmp_path):
    workflows.reproduce("text", tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    tables = ("text", "paper_text", "paper_text_llama", "paper_text_mistral", "paper_text_falcon")
    assert names == {f"{stem}.{ending}" for stem in tables for ending in ("csv", "md", "tex")} | {
        "text_prr.png",
        "text_prr.svg",
        "index.html",
    }


@pytest.mark.nightly
@pytest.mark.usefixtures("paper_data")
def test_on_real_answers_the_rank_is_never_worse_than_its_worst_component():
    study = reproduce_text()
    for judged in text_scores().values():
        assert len(judged) + judged.n_left_out >= 200
        assert judged.n_left_out < 40
    figures = [figure for column in study.figures.values() for figure in column.values()]
    assert not any(map(math.isnan, figures))
    assert max(figures) < 1.0
    for name in OURS:
        assert worse_than_worst(study.figures, name, COMPONENTS) == 0


def test_the_release_holds_greedy_answers_and_samples_with_all_that_measures_need(paper_data):
    paths = [paper_data.answers_file(model, task) for model in MODELS for task in TASKS]
    assert sum(path.stat().st_size for path in paths) <= 10_000_000
    for path in paths:
        records = list(read_answers(path, strict=True))
        assert len(records) >= 200
        for record in records:
            assert len(record.samples) >= 5
            assert record.references
            assert all(one.logprobs is not None and one.tokens is not None for one in (record.greedy, *record.samples))
            assert record.greedy.entropies is not None
            assert record.greedy.entropy_top_k is None

"""`vecuq fit`, `score`, `gate`, `audit`, `info` and `report` with answers of a language model."""

import json
import re
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

from good_answers import sampled_answers
from vecuq import load
from vecuq.answers import AnswerRecord, read_answers, recognised_kind
from vecuq.cli import app
from vecuq.errors import CalibrationWarning
from vecuq.workflows import AnswerFiles, score

RUN = CliRunner()


def vecuq(*words, code=0):
    found = RUN.invoke(app, list(map(str, words)), env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"})
    assert found.exit_code == code, found.output + found.stderr
    return found


def write_answers(path, n_rows, seed, **more):
    """Write answers as OpenAI-style replies, a greedy one and samples, with a label, a topic and a session."""
    answers, wrong = sampled_answers(n_rows, seed)
    lines = []
    for k, (one, said) in enumerate(zip(answers, wrong, strict=True)):
        name = {"custom_id": f"q{seed}-{k}"}
        label = {"label": bool(said), "topic": k % 2, "session": f"s{k // 2}"}
        greedy = {"request": {"temperature": 0}, "response": reply([one])}
        drawn = {"request": {"temperature": 1}, "response": reply(one["samples"])}
        lines += [{**name, **greedy, **label, **more}, {**name, **drawn}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def reply(answers):
    return {"choices": [{"message": {"content": one["text"]}, "logprobs": logprobs(one)} for one in answers]}


def logprobs(one):
    words = one["text"].split(" ")
    tokens = [words[0], *(f" {word}" for word in words[1:])]
    return {"content": [{"token": t, "logprob": p} for t, p in zip(tokens, one["logprobs"], strict=False)]}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    write_answers(folder / "answers.jsonl", 400, 0)
    write_answers(folder / "new.jsonl", 60, 1)
    said = vecuq(
        *("fit", folder / "answers.jsonl", "--wrong", "label", "--accuracy", "0.7", "--jobs", "1"),
        *("--measures", "msp,consistency", "-o", folder / "bot.vecuq"),
    )
    (folder / "said.txt").write_text(said.output)
    return folder


def test_fit_says_how_answers_were_read_split_and_certified(files):
    said = (files / "said.txt").read_text()
    assert "400, read as openai" in said
    assert "msp, consistency" in said
    assert "133 for the map (66 of them held back for p-values), 267 for the gate" in said
    assert "With confidence 90 %, at least 70 % of the accepted rows are right." in said


def test_score_gives_the_numbers_of_judge_to_the_bit(files, tmp_path):
    out = tmp_path / "decided.parquet"
    vecuq("score", files / "bot.vecuq", files / "new.jsonl", "--keep", "label,topic", "--explain", "-o", out)
    table = pq.read_table(out)
    names = [
        "id",
        "label",
        "topic",
        "msp",
        "consistency",
        "uncertainty",
        "p_value",
        "accept",
        "p_wrong",
        "refused",
        "why",
    ]
    assert table.column_names[: len(names)] == names
    judge = load(files / "bot.vecuq")
    for record, row in zip(read_answers(files / "new.jsonl"), table.to_pylist(), strict=True):
        found = judge(record)
        assert record.id == row["id"]
        for name in ("uncertainty", "p_value", "accept", "p_wrong", "why"):
            assert getattr(found, name) == row[name]
        assert found.values == {name: row[name] for name in found.values}


def test_several_processes_give_the_same_table(files, tmp_path):
    for jobs in ("1", "2"):
        vecuq("score", files / "bot.vecuq", files / "answers.jsonl", "--jobs", jobs, "-o", tmp_path / f"{jobs}.csv")
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


def test_python_scores_files_as_the_command_does(files, tmp_path):
    done = score(files / "bot.vecuq", files / "new.jsonl", tmp_path / "a.csv")
    vecuq("score", files / "bot.vecuq", files / "new.jsonl", "-o", tmp_path / "b.csv")
    assert done.n_rows == 60
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_answers_without_log_probs_are_decided_by_the_other_measures(files, tmp_path):
    lines = [
        {"id": "a", "texts": ["Goethe wrote it"] * 4},
        {"id": "b", "texts": ["Goethe", "Schiller 1", "Heine 3", "Kleist 2"]},
    ]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    vecuq("score", files / "bot.vecuq", tmp_path / "texts.jsonl", "-o", tmp_path / "d.parquet")
    first, second = pq.read_table(tmp_path / "d.parquet").to_pylist()
    assert first["uncertainty"] < second["uncertainty"]
    vecuq("score", files / "bot.vecuq", tmp_path / "texts.jsonl", "--missing", "error", "-o", "d.parquet", code=1)


def with_fewer_samples(path, out, every=2):
    """Write the same lines, every second answer with two samples instead of four."""
    lines = list(map(json.loads, path.read_text().splitlines()))
    for k, line in enumerate(lines):
        if len(line["response"]["choices"]) > 1 and k % (2 * every) == 1:
            del line["response"]["choices"][2:]
    out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return out


def test_answers_with_another_number_of_samples_are_counted_and_not_accepted(files, tmp_path):
    mixed, out = with_fewer_samples(files / "new.jsonl", tmp_path / "mixed.jsonl"), tmp_path / "d.parquet"
    said = vecuq("score", files / "bot.vecuq", mixed, "-o", out)
    assert "30 answers with another number of samples are not accepted" in " ".join(said.stderr.split())
    assert json.loads(vecuq("score", files / "bot.vecuq", mixed, "--json", "-o", out).stdout)["n_uncovered"] == 30
    rows, judge = pq.read_table(out), load(files / "bot.vecuq")
    assert not any("vecuq" in name for name in rows.column_names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        found = [judge(record) for record in read_answers(mixed)]
    for name in ("uncertainty", "p_value", "accept", "p_wrong"):
        assert rows[name].to_pylist() == [getattr(one, name) for one in found]
    assert [one.accept for one in found if "samples" in one.missing] == [False] * 30
    assert any(one.accept for one in found)


def test_fit_and_info_say_how_many_samples_an_answer_had_and_python_counts_the_same(files):
    for said in ((files / "said.txt").read_text(), vecuq("info", files / "bot.vecuq").output):
        assert re.search(r"samples per answer:? +4\b", said)
    found = load(files / "bot.vecuq")
    records = list(read_answers(files / "answers.jsonl"))
    again = clone(found).fit(records, [record.meta["label"] for record in records])
    assert (again.made_, again.gate_.threshold_) == (found.made_, found.gate_.threshold_)
    assert found.made_.fewest_samples == found.made_.most_samples == 4


def test_an_audit_leaves_them_out_and_a_gate_of_their_own_accepts_them(files, tmp_path):
    write_answers(tmp_path / "more.jsonl", 200, 4)
    fewer = with_fewer_samples(tmp_path / "more.jsonl", tmp_path / "fewer.jsonl", every=1)
    audited = vecuq("audit", files / "bot.vecuq", fewer, "--wrong", "label", "--json")
    assert json.loads(audited.stdout)["n_accepted"] == 0
    assert "200 answers with another number of samples" in " ".join(audited.stderr.split())
    vecuq("gate", files / "bot.vecuq", fewer, "--wrong", "label", "--accuracy", "0.6", "-o", tmp_path / "g.vecuq")
    found = load(tmp_path / "g.vecuq")
    assert (found.made_.fewest_samples, found.made_.most_samples) == (2, 2)
    assert found.accept(read_answers(fewer)).any()


def test_categories_and_groups_are_fields_of_the_lines(files, tmp_path):
    bot = tmp_path / "bot.vecuq"
    fit = ("fit", files / "answers.jsonl", "--wrong", "label", "--by", "topic", "--group", "session")
    said = vecuq(*fit, "--accuracy", "0.6", "--jobs", "1", "-o", bot).output
    assert "134 for the map" in said
    found = load(bot)
    assert len(np.unique(found.gate_.learned_.labelled.groups)) == 133
    assert set(found.gate_.learned_.units.of_category) == {"0", "1"}
    new = ("score", bot, files / "new.jsonl")
    assert "--by" in vecuq(*new, "-o", tmp_path / "d.parquet", code=1).stderr
    vecuq(*new, "--by", "topic", "-o", tmp_path / "d.parquet")
    records = list(read_answers(files / "new.jsonl"))
    rows = pq.read_table(tmp_path / "d.parquet")["accept"].to_pylist()
    assert rows == [found(record, by=record.meta["topic"]).accept for record in records]


def test_labels_come_from_references_from_a_rule_and_from_a_scorer(files, tmp_path):
    path = write_answers(tmp_path / "a.jsonl", 200, 2, answer="Goethe wrote it")
    how = ("--accuracy", "0.6", "--measures", "consistency", "--jobs", "1", "-o", tmp_path / "b.vecuq")
    assert "All 133 labelled rows are right" in vecuq("fit", path, "--quality", "exact_match", *how).stderr
    vecuq("fit", path, "--quality", "rouge_l", "--correct", "quality>=0.7", *how)
    graded = write_answers(tmp_path / "g.jsonl", 200, 3, grade=0.4)
    said = vecuq("fit", graded, "--correct", "grade", *how, code=1).stderr
    assert "'grade' holds 0.4" in said
    assert "--correct 'grade>=0.7'" in said
    ours = [
        AnswerRecord(id=str(k), greedy=one.greedy, samples=one.samples, quality=float(k % 5 > 0)).to_line()
        for k, one in enumerate(read_answers(path))
    ]
    (tmp_path / "ours.jsonl").write_text("\n".join(ours))
    assert "read as vecuq" in vecuq("fit", tmp_path / "ours.jsonl", "--correct", "quality", *how).output


def test_a_field_that_no_line_has_is_named_with_the_nearest(files, tmp_path):
    said = vecuq("fit", files / "answers.jsonl", "--wrong", "lable", "-o", tmp_path / "b.vecuq", code=1).stderr
    assert "Did you mean 'label'?" in said
    assert not (tmp_path / "b.vecuq").exists()


def test_options_for_the_other_kind_of_file_are_refused(files, tmp_path):
    out = ("-o", tmp_path / "b.vecuq")
    assert "--flip" in vecuq("fit", files / "answers.jsonl", "--flip", "msp", *out, code=2).stderr
    assert "needs labels" in vecuq("fit", files / "answers.jsonl", "--accuracy", "0.9", *out, code=2).stderr
    pq.write_table(pa.table({"a": np.random.default_rng(0).random(60)}), tmp_path / "t.parquet")
    assert "--accuracy" in vecuq("fit", tmp_path / "t.parquet", "--accuracy", "0.9", *out, code=2).stderr
    vecuq("fit", tmp_path / "t.parquet", "-o", tmp_path / "m.vecuq")
    assert "--keep" in vecuq("score", tmp_path / "m.vecuq", tmp_path / "t.parquet", "--keep", "a", code=2).stderr


def test_a_jsonl_table_of_scores_is_still_a_table_and_says_so(tmp_path):
    rows = np.random.default_rng(0).random((60, 2))
    lines = [json.dumps({"text": f"row {k}", "entropy": a, "knn": b}) for k, (a, b) in enumerate(rows.tolist())]
    (tmp_path / "table.jsonl").write_text("\n".join(lines))
    assert recognised_kind(tmp_path / "table.jsonl") is None
    found = vecuq("fit", tmp_path / "table.jsonl", "-o", tmp_path / "m.vecuq")
    assert "read as a table of scores" in found.stderr
    assert load(tmp_path / "m.vecuq").columns == ("entropy", "knn")


def test_answers_beside_a_table_are_refused(files, tmp_path):
    pq.write_table(pa.table({"a": [0.5]}), tmp_path / "t.parquet")
    said = vecuq("fit", files / "answers.jsonl", tmp_path / "t.parquet", "-o", tmp_path / "b.vecuq", code=1).stderr
    assert "fit one at a time" in said


def test_gate_and_audit_take_a_pipeline_and_files_of_answers(files, tmp_path):
    write_answers(tmp_path / "more.jsonl", 200, 4)
    said = vecuq(
        *("gate", files / "bot.vecuq", tmp_path / "more.jsonl", "--wrong", "label", "--budget", "0.2"),
        *("-o", tmp_path / "bot2.vecuq"),
    )
    assert "bot2.vecuq" in said.output
    assert load(tmp_path / "bot2.vecuq").split_["gate"] == 200
    audited = vecuq("audit", files / "bot.vecuq", tmp_path / "more.jsonl", "--wrong", "label", "--json").output
    assert json.loads(audited)["n_labels"] == 200
    vecuq("fit", files / "answers.jsonl", "--jobs", "1", "-o", tmp_path / "none.vecuq")
    said = vecuq("audit", tmp_path / "none.vecuq", tmp_path / "more.jsonl", "--wrong", "label", code=1).stderr
    assert "without a gate" in said


def test_info_describes_it_and_other_commands_say_what_to_do_instead(files, tmp_path):
    found = json.loads(vecuq("info", files / "bot.vecuq", "--json").output)
    assert found["kind"] == "answer_pipeline"
    assert found["split"] == {"map": 133, "weights": 0, "gate": 267, "incomplete": 0}
    for command in ("report", "monitor"):
        said = vecuq(command, files / "bot.vecuq", files / "new.jsonl", code=1).stderr
        assert "holds a pipeline of answers" in said
        assert "vecuq measure" in said


def test_the_json_of_a_fit_says_all_that_the_lines_say(files, tmp_path):
    said = vecuq("fit", files / "answers.jsonl", "--wrong", "label", "--json", "-o", tmp_path / "b.vecuq").stdout
    found = json.loads(said)
    assert found["format"] == "openai"
    assert found["n_labels"] == 400
    assert sum(found["split"].values()) == 400
    assert found["gate"]["n_labels"] == found["split"]["gate"]


def test_a_pipeline_is_not_written_over_a_file_of_another_kind(files, tmp_path):
    (tmp_path / "notes").write_text("dear to somebody")
    said = vecuq("fit", files / "answers.jsonl", "-o", tmp_path / "notes", code=1).stderr
    assert "holds text" in said


def test_files_of_answers_are_one_file_or_several(files):
    assert AnswerFiles.of(files / "new.jsonl").paths == [files / "new.jsonl"]

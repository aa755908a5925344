"""Log-likelihoods of choices become a classifier's measures; verdicts become quality; --explain, --map and --kind."""

import json
import math

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest

from vecuq.measures import entropy, margin, msp


def document(k, logprobs, target, **more):
    return {
        "doc_id": k,
        "doc": {"question": f"q{k}", "choices": ["red", "green", "blue"][: len(logprobs)]},
        "target": target,
        "arguments": [[f"q{k}", f" {letter}"] for letter in "ABC"[: len(logprobs)]],
        "resps": [[[value, False]] for value in logprobs],
        "filter": "none",
        **more,
    }


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_softmax_over_choices_is_measured_row_by_row(run, tmp_path):
    logs = [(-1.0, -0.5, -3.0), (-0.1, -2.0), (-4.0, -0.2, -0.3)]
    path = write(tmp_path / "a.jsonl", *(document(k, one, 1) for k, one in enumerate(logs)))
    done = run("measure", path, "-o", tmp_path / "s.parquet")
    assert done.exit_code == 0, done.output
    assert "3 documents with log-likelihoods of 2 or 3 choices measured, 1 predicted wrong" in done.stdout
    table = pd.read_parquet(tmp_path / "s.parquet")
    assert list(table) == ["id", "msp", "entropy", "margin", "max_logit", "energy", "label", "prediction", "wrong"]
    for name, measure in (("msp", msp), ("entropy", entropy), ("margin", margin)):
        npt.assert_allclose(table[name], [measure(np.array([one]))[0] for one in logs], rtol=1e-12)
    first = math.exp(-0.5) / sum(map(math.exp, logs[0]))
    assert table["msp"][0] == pytest.approx(1 - first)
    assert list(table["prediction"]) == [1, 0, 1]
    assert list(table["wrong"]) == [0, 1, 0]


@pytest.mark.parametrize(
    ("target", "label"),
    [(1, 1), ("green", 1), ("B", 1), (" B", 1), ("1", 1), ([1], 1), (7, None), ("violet", None), ([0, 1], None)],
)
def test_a_target_is_a_number_the_text_of_a_choice_or_of_its_continuation(run, tmp_path, target, label):
    path = write(tmp_path / "a.jsonl", document(0, (-1.0, -0.5, -3.0), target), document(1, (-1.0, -2.0), 0))
    assert run("measure", path, "-o", tmp_path / "s.parquet").exit_code == 0
    found = pd.read_parquet(tmp_path / "s.parquet")
    assert (None if pd.isna(found["label"][0]) else found["label"][0]) == label
    assert pd.isna(found["wrong"][0]) == (label is None)


def test_newer_logs_copies_per_filter_and_lines_of_another_kind(run, tmp_path):
    texts = [[["-1.0", "False"]], [["-0.5", "True"]], [["-3.0", "False"]]]
    row = document(0, (-1.0, -0.5, -3.0), 1, resps=texts)
    generated = {"doc_id": 5, "doc": {}, "target": "x", "arguments": [], "resps": [["x"]]}
    single = document(6, (-1.0,), 0)
    path = write(tmp_path / "a.jsonl", row, {**row, "filter": "other"}, generated, single)
    done = run("measure", path, "-o", tmp_path / "s.parquet")
    assert len(pd.read_parquet(tmp_path / "s.parquet")) == 1
    assert "1 line repeated a document for another filter" in done.stderr
    assert "line 3: a generated text among log-likelihoods" in done.stderr
    assert "line 4: the log-likelihood of one text only" in done.stderr
    assert run("measure", path, "--strict", "-o", tmp_path / "t.parquet").exit_code == 1
    assert run("measure", path, "--quality", "rouge_l", "-o", tmp_path / "t.parquet").exit_code == 2


def test_log_likelihoods_among_generations_are_refused_with_words(run, tmp_path):
    generated = {"doc_id": 5, "doc": {}, "target": "x", "arguments": [], "resps": [["x", "y"]]}
    path = write(tmp_path / "a.jsonl", generated, document(0, (-1.0, -0.5), 1))
    done = run("measure", path, "-o", tmp_path / "s.parquet")
    assert done.exit_code == 0, done.output
    assert "line 2: `resps` holds log-likelihoods of given choices" in done.stderr


def test_a_verdict_in_the_file_becomes_quality_unless_another_is_wanted(run, tmp_path):
    rows = [{"q": f"q{k}", "s": ["a", "b"], "a": "a", "ref": "b", "ok": ok} for k, ok in enumerate((True, False))]
    path = write(tmp_path / "a.jsonl", *rows)
    told = ("--map", "question=q,samples=s,answer=a,references=ref,quality=ok", "--measures", "consistency")
    assert run("measure", path, *told, "-o", tmp_path / "s.parquet").exit_code == 0
    assert list(pd.read_parquet(tmp_path / "s.parquet")["quality"]) == [1.0, 0.0]
    assert run("measure", path, *told, "--quality", "exact_match", "-o", tmp_path / "t.parquet").exit_code == 0
    assert list(pd.read_parquet(tmp_path / "t.parquet")["quality"]) == [0.0, 0.0]
    without = run("measure", path, "--map", "question=q,samples=s", "-o", tmp_path / "u.parquet")
    assert "quality" not in without.stdout


def test_explain_prints_how_records_are_understood_and_writes_nothing(run, tmp_path):
    path = write(tmp_path / "a.jsonl", {"custom_id": "a", "choices": [{"message": {"content": "Paris"}}]})
    done = run("measure", path, "--explain", "-o", tmp_path / "s.parquet")
    assert done.exit_code == 0, done.output
    assert "read as openai, known by `choices`" in done.stdout
    assert "Paris" in done.stdout
    assert "not possible, no token log-probabilities: msp" in done.stdout
    assert not (tmp_path / "s.parquet").exists()
    told = json.loads(run("measure", path, "--explain", "--json").stdout)
    assert told["records"][0]["id"] == "a"
    assert "consistency" in told["absent"][0]
    choices = write(tmp_path / "b.jsonl", document(0, (-1.0, -0.5), 1))
    assert "measured as a classifier's outputs" in run("measure", choices, "--explain").stdout


def test_an_unknown_file_is_answered_with_a_map_to_copy(run, tmp_path):
    row = {"idx": 0, "samples": ["a", "b"], "gt": "18"}
    path = write(tmp_path / "a.jsonl", row)
    done = run("measure", path, "-o", tmp_path / "s.parquet")
    assert "Name its fields: --map samples=samples,references=gt." in done.stderr
    wrapped = tmp_path / "w.json"
    wrapped.write_text(json.dumps({"results": [row]}))
    hint = run("measure", wrapped, "-o", tmp_path / "s.parquet").stderr
    assert "--map 'records=results[*],samples=samples,references=gt'" in hint
    taken = ("--map", "records=results[*],samples=samples,references=gt")
    assert run("measure", wrapped, *taken, "-o", tmp_path / "s.parquet").exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--map", "samples"), "KEY=FIELD"),
        (("--map", "smaples=a"), "--map has no 'smaples'"),
        (("--kind", "opnai"), "kind"),
        (("--kind", "openai", "--map", "answer=a"), "leave out --kind openai"),
    ],
)
def test_options_that_make_no_sense_are_wrong_usage(run, tmp_path, words, said):
    done = run("measure", write(tmp_path / "a.jsonl", {"a": "b"}), *words)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())


def test_explain_says_measures_once_where_the_next_record_allows_the_same(run, tmp_path):
    rows = [{"question": f"q{k}", "generated_texts": ["Paris", "Lyon"]} for k in range(2)]
    rows += [{"question": "q2", "generated_text": "Paris"}]
    (tmp_path / "a.jsonl").write_text("\n".join([*map(json.dumps, rows), *["{}"] * 4]))
    done = run("measure", tmp_path / "a.jsonl", "--explain")
    lines = [line for line in done.stdout.splitlines() if line.startswith("possible")]
    assert len(lines) == 3
    assert lines[0].startswith("possible: consistency")
    assert lines[1:] == ["possible: the same measures as above", "possible: none"]
    assert "first_sample:" in done.stdout
    assert "note: 4 lines left out; could not be read. The first 3:" in done.stderr

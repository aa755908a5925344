"""`vecuq measure` compares answers as its options say and prints how."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

QUESTION = "What is the capital of Australia?"
JUDGE = ("--judge-url", "http://localhost:1/v1", "--judge-model", "m")
SAMPLES = ["It is Sydney.", "The capital of Australia is Canberra.", "Canberra is the capital of Australia."]


@pytest.fixture
def answers(tmp_path):
    rows = [
        {"id": "words", "question": QUESTION, "references": ["Canberra"], "samples": [{"text": t} for t in SAMPLES]},
        {
            "id": "numbers",
            "references": ["4"],
            "samples": [{"text": f"<think>5</think>Answer: {n}."} for n in "445"],
        },
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps({"vecuq_answers": 1, **row}) + "\n" for row in rows))
    return path


def measured(run, answers, tmp_path, *options):
    out = tmp_path / "scores.parquet"
    done = run("measure", answers, "-o", out, "--measures", "consistency", *options)
    assert done.exit_code == 0, done.output
    return done, pd.read_parquet(out).set_index("id")


def test_what_was_compared_is_printed_and_kept_beside_the_scores(run, answers, tmp_path):
    done, table = measured(run, answers, tmp_path)
    assert "texts compared: content words in 1, final answers (numbers) in 1 questions" in done.stdout
    assert "1 question with <think> or the like in the answers; --strip-think" in done.stderr
    assert table["consistency"]["words"] > 0.5
    metadata = pq.read_schema(tmp_path / "scores.parquet").metadata
    assert json.loads(metadata[b"vecuq.text_settings"])["similarity"] == "auto"
    told = json.loads(measured(run, answers, tmp_path, "--json")[0].stdout)
    assert told["compared"] == {"content words": 1, "final answers (numbers)": 1}
    assert told["n_asked"] is None


@pytest.mark.parametrize(("answer", "values"), [("first", [1.0, 0.5]), ("majority", [0.5, 0.5])])
def test_the_sample_that_stands_for_the_answer_is_chosen_and_judged(run, answers, tmp_path, answer, values):
    options = ("--answer", answer, "--similarity", "exact", "--extract", "regex:Canberra|Sydney|Answer: (.)")
    done, table = measured(run, answers, tmp_path, *options, "--quality", "exact_match", "--strip-think")
    assert "<think>" not in done.stderr
    assert list(table["quality"]) == [float(answer == "majority"), 1.0]
    assert list(table["consistency"]) == pytest.approx(values)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--similarity", "rogue_l"], "Did you mean 'rouge_l'?"),
        (["--similarity", "judge"], "--similarity judge needs --judge-url and --judge-model."),
        (["--similarity", "nli"], "--similarity nli needs --nli."),
        (["--extract", "number"], "--extract must be"),
        (["--extract", "regex:("], "regular expression"),
        (["--answer", "best"], "--answer must be one of"),
        (["--embed-url", "http://localhost:1/v1"], "--embed-url and --embed-model must be given together"),
        (["--nli", "http://localhost:1/v1"], "--nli-model"),
        ([*JUDGE, "--similarity", "exact"], "does not use judge"),
        ([*JUDGE, "--nli", "http://localhost:1/v1", "--nli-model", "m"], "must choose between"),
    ],
)
def test_options_that_cannot_be_are_wrong_usage(run, answers, tmp_path, options, told):
    done = run("measure", answers, "-o", tmp_path / "s.parquet", *options)
    assert done.exit_code == 2
    assert told in done.stderr
    assert not (tmp_path / "s.parquet").exists()


def test_a_file_that_is_no_model_is_an_error_of_one_line(run, answers, tmp_path):
    done = run("measure", answers, "-o", tmp_path / "s.parquet", "--nli", tmp_path / "nowhere")
    assert done.exit_code in (1, 2)
    assert "nowhere" in done.stderr


def test_a_pattern_that_hangs_ends_with_one_line(refused, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"vecuq_answers": 1, "id": "q", "samples": [{"text": "a" * 60 + "b"}, {"text": "b"}]}))
    assert "took more than" in refused("measure", path, "--extract", "regex:(a+)+$", "-o", tmp_path / "s.parquet")


def test_an_endpoint_that_is_away_is_named_and_nothing_is_written(run, answers, tmp_path, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    options = ("--judge-url", "http://127.0.0.1:9/v1", "--judge-model", "m")
    done = run("measure", answers, *options, "-o", tmp_path / "s.parquet")
    assert done.exit_code == 1
    assert "error: http://127.0.0.1:9 cannot be reached" in done.stderr
    assert not (tmp_path / "s.parquet").exists()


def test_a_part_that_no_answer_has_is_reported(run, answers, tmp_path):
    done, _ = measured(run, answers, tmp_path, "--extract", "json:anser")
    assert "--extract found nothing in 2 answers of 2;" in done.stderr
    done, _ = measured(run, answers, tmp_path, "--extract", "last_number")
    assert "--extract found nothing in 1 answer of 2;" in done.stderr
    done, _ = measured(run, answers, tmp_path)
    assert "--extract" not in done.stderr

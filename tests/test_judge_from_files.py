"""`vecuq fit` and `score` with answers in tables, wrapped documents and files that no format knows."""

import csv
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from good_answers import sampled_answers
from vecuq import load
from vecuq.cli import app
from vecuq.workflows import hold_answers

RUN = CliRunner()
FIT = ("--wrong", "label", "--accuracy", "0.7", "--jobs", "1")
MAP = "answer=said,samples=drawn,id=name"


def vecuq(*words, code=0):
    found = RUN.invoke(app, list(map(str, words)), env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"})
    assert found.exit_code == code, found.output + found.stderr
    return found


def records(n_rows, seed):
    answers, wrong = sampled_answers(n_rows, seed)
    return [
        {"name": f"0{k}", "said": one["text"], "drawn": [other["text"] for other in one["samples"]], "label": int(bad)}
        for k, (one, bad) in enumerate(zip(answers, wrong, strict=True))
    ]


def write_csv(path, rows, **renamed):
    names = {"said": "response", **renamed}
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        n_samples = len(rows[0]["drawn"])
        writer.writerow(["name", names["said"], *(f"sample_{k}" for k in range(n_samples)), "label"])
        writer.writerows([one["name"], one["said"], *one["drawn"], one["label"]] for one in rows)
    return path


@pytest.fixture
def wrapped(tmp_path):
    """Return a document of records that no format knows."""
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"about": "a run", "results": records(300, 0)}))
    return path


def test_a_csv_of_texts_is_fitted_and_scored_with_its_label(tmp_path):
    path, bot = write_csv(tmp_path / "texts.csv", records(300, 0)), tmp_path / "bot.vecuq"
    said = vecuq("fit", path, *FIT, "-o", bot).output
    assert "300, read as named fields (answer=response, samples=sample_*" in said
    assert "With confidence 90 %" in said
    vecuq("score", bot, path, "--keep", "name", "-o", tmp_path / "d.parquet")
    table = pq.read_table(tmp_path / "d.parquet")
    assert table["label"].to_pylist() == [one["label"] for one in records(300, 0)]
    assert table["name"][0].as_py() == "00"  # a name, not a number
    assert "roc_auc" in vecuq("evaluate", tmp_path / "d.parquet", "--wrong", "label").output


def test_a_map_reads_a_wrapped_document_alike_in_fit_and_score(tmp_path, wrapped):
    bot, told = tmp_path / "bot.vecuq", f"records=results[*],{MAP}"
    vecuq("fit", wrapped, "--map", told, *FIT, "-o", bot)
    vecuq("score", bot, wrapped, "--map", told, "-o", tmp_path / "a.csv")
    flat = tmp_path / "flat.jsonl"
    flat.write_text("".join(json.dumps(one) + "\n" for one in records(300, 0)))
    vecuq("score", bot, flat, "--map", MAP, "-o", tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_document_that_no_format_knows_is_refused_with_the_map_that_reads_it(tmp_path, wrapped):
    said = vecuq("fit", wrapped, "-o", tmp_path / "bot.vecuq", code=1).stderr
    assert "--map" in said
    assert said.count("\n") == 1


def test_a_table_of_scores_with_texts_is_a_table_unless_labels_of_answers_are_named(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "scores.csv"
    rows = [[f"a text {k}", *rng.random(2).round(3), k % 2] for k in range(60)]
    path.write_text("text,entropy,knn,label\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    found = vecuq("fit", path, "-o", tmp_path / "m.vecuq")
    assert "read as a table of scores" in found.stderr
    assert "--map answer=text" in found.stderr
    assert load(tmp_path / "m.vecuq").columns == ("entropy", "knn")
    assert not hold_answers([path])
    assert hold_answers([path], asked=True)


def test_log_likelihoods_of_choices_are_sent_to_measure(tmp_path):
    line = {"doc_id": 0, "doc": {}, "target": "0", "arguments": [["q", " a"], ["q", " b"]]}
    lines = [{**line, "doc_id": k, "resps": [[["-1.0", "False"]], [["-2.0", "False"]]]} for k in range(3)]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    said = vecuq("fit", tmp_path / "samples.jsonl", "-o", tmp_path / "m.vecuq", code=1).stderr
    assert "`vecuq measure` makes a table of scores of it" in said


def test_without_labels_the_last_lines_say_how_to_add_them(tmp_path):
    path = write_csv(tmp_path / "texts.csv", records(100, 0))
    said = vecuq("fit", path, "--jobs", "1", "-o", tmp_path / "bot.vecuq").output
    assert re.search(r"^labels +none", said, re.MULTILINE)
    assert "fit again with --wrong FIELD" in said
    assert load(tmp_path / "bot.vecuq").gate_ is None


class Judging(BaseHTTPRequestHandler):
    """Says yes or no, by the length of what it is asked."""

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        content = json.dumps({"choices": [{"message": {"content": ("yes", "no")[len(asked) % 2]}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def judge_url():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judging)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_gate_and_audit_take_the_model_that_a_pipeline_names(tmp_path, judge_url):
    model = ("--judge-url", judge_url, "--judge-model", "m")
    path, bot = write_csv(tmp_path / "texts.csv", records(120, 0)), tmp_path / "bot.vecuq"
    later = write_csv(tmp_path / "later.csv", records(120, 1))
    vecuq("fit", path, *FIT, "--measures", "consistency", *model, "-o", bot)
    for words in (("gate", bot, later, "--budget", "0.2", "-o", tmp_path / "b2.vecuq"), ("audit", bot, later)):
        assert "judge" in vecuq(*words, "--wrong", "label", code=1).stderr
        vecuq(*words, "--wrong", "label", *model)


def test_a_pipeline_of_answers_keeps_no_state_and_says_what_to_do(tmp_path):
    path = write_csv(tmp_path / "texts.csv", records(100, 0))
    vecuq("fit", path, "--jobs", "1", "-o", tmp_path / "bot.vecuq")
    said = vecuq("score", tmp_path / "bot.vecuq", path, "--state", tmp_path / "s.vecuq", code=1).stderr
    assert "`vecuq audit`" in said
    assert not (tmp_path / "s.vecuq").exists()

"""One reply gets the same verdict from Python, POST /judge, POST /score and `vecuq score`, to the bit."""

import json
import math

import faces
import pyarrow.parquet as pq
import pytest
from cases import JUDGES, REPLIES, bits, reply_line

from vecuq import load

pytestmark = pytest.mark.filterwarnings("ignore::vecuq.errors.VecuqWarning")
NUMBERS = ("uncertainty", "p_value", "accept", "p_wrong")
LINES = "".join(json.dumps(reply_line(name, text, samples)) + "\n" for name, (text, samples) in REPLIES.items())


def verdicts(path, by):
    """The verdict of Python on every reply."""
    judge = load(path)
    return {
        name: judge.judge(text, samples, question="Where?", **by) for name, (text, samples) in REPLIES.items() if text
    }


def number(one):
    return None if isinstance(one, float) and math.isnan(one) else one


def numbers(verdict):
    return {name: number(getattr(verdict, name)) for name in NUMBERS}


@pytest.fixture(params=JUDGES)
def judged(request, saved):
    """The path of a judge, what it says in Python, and its options."""
    by = {"by": "law"} if request.param == "judge_by" else {}
    return saved(request.param), verdicts(saved(request.param), by), by


def test_post_judge(judged):
    pytest.importorskip("fastapi")
    path, known, by = judged
    served = faces.Http(path)
    for name, verdict in known.items():
        text, samples = REPLIES[name]
        body = json.dumps({"reply": text, "samples": samples, "question": "Where?", **by})
        (answer,) = served.together(("/judge", {}, body, {"content-type": "application/json"}))
        assert answer.status_code == 200, answer.text
        found = answer.json()
        assert {one: found[one] for one in NUMBERS} == numbers(verdict)
        assert (found["missing"], found["why"]) == (verdict.missing, verdict.why)
        assert found["values"] == {column: number(value) for column, value in verdict.values.items()}


def test_files_of_answers(judged, run, tmp_path):
    path, known, by = judged
    (tmp_path / "lines.jsonl").write_text(LINES)
    words = ("--by", "subject") if by else ()
    done = run("score", path, tmp_path / "lines.jsonl", "-o", tmp_path / "out.parquet", *words)
    assert done.exit_code == 0, done.output
    table = pq.read_table(tmp_path / "out.parquet")
    rows = {row["id"]: row for row in table.to_pylist()}
    assert list(rows) == list(REPLIES)
    for name, verdict in known.items():
        assert bits(rows[name][one] for one in NUMBERS) == bits(numbers(verdict).values()), name
    pytest.importorskip("fastapi")
    about = {"content-type": faces.MEDIA["jsonl"]}
    (answer,) = faces.Http(path).together(("/score", {"by": "subject"} if by else {}, LINES, about))
    assert answer.status_code == 200, answer.text
    for line in map(json.loads, answer.text.splitlines()):
        assert bits(line[one] for one in NUMBERS) == bits(rows[line["id"]][one] for one in NUMBERS)

"""A bad line of answers is skipped with its place and changes nothing of those beside it; other files are refused."""

import json

import pytest
from damage import altered_json, as_json
from hunting import hunt
from hypothesis import strategies as st

from good_answers import LINES, good_line
from vecuq.answers import kinds, read_answers, record_of
from vecuq.errors import VecuqError


def read(path, **how):
    """The records of a file and what is said of the others, which is one printable line each."""
    try:
        reader = read_answers(path, **how)
        records, problems = list(reader), list(reader.problems)
    except VecuqError as error:
        records, problems = [], [str(error)]
    assert all(problem.isprintable() for problem in problems), problems
    return records, problems


def check_line(path, kind, line, as_kind):
    """Read a line between two good ones, and return whether it was taken; no record is worse for it."""
    good = [as_json(good_line(kind, f"good{k}")) for k in range(2)]
    # It stays one line, and is never taken for another kind of file.
    line = line.replace(b"\n", b" ").replace(b"\r", b" ").lstrip(b"\x80PK\x1f\xff\xfe")
    path.write_bytes(b"\n".join([good[0], line, good[1]]))
    records, problems = read(path, kind=as_kind)
    # Some formats name a question by what was asked; a good line asks "q of" its name.
    found = {key: one for one in records for key in (str(one.question).removeprefix("q of "), one.id)}
    assert {"good0", "good1"} <= set(found), problems
    for k in range(2):
        said = [*found[f"good{k}"].samples, *([found[f"good{k}"].greedy] if found[f"good{k}"].greedy else [])]
        assert said
        assert {answer.text for answer in said} <= {"x", "y"}
    return len(records) > 2


def check_memory(line):
    """Read a reply in memory: a record, or a clear error."""
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):  # nothing that could be in memory
        return False
    try:
        return bool(record_of(reply, samples=["x", reply]))
    except VecuqError:
        return False


def test_every_kind_of_answers_has_good_lines():
    assert set(LINES) == set(kinds()) - {"auto"}


@pytest.mark.parametrize("kind", LINES)
def test_a_bad_line_is_skipped_and_harms_no_other(kind, tmp_path):
    lines = st.integers(0, 20).flatmap(lambda place: altered_json(good_line(kind, "odd", place)))
    inputs = st.tuples(lines, st.sampled_from(("auto", "auto", kind)))
    hunt(inputs, lambda drawn: check_line(tmp_path / "a.jsonl", kind, *drawn), 10)
    hunt(lines, check_memory, 10)


def test_a_line_without_an_id_and_with_a_question_that_nobody_else_has_is_read(tmp_path):
    line = b'{"doc_id": null, "doc": {"question": "q"}, "resps": [""]}'
    assert check_line(tmp_path / "a.jsonl", "lm-eval", line, "auto")


TASK = {"config": {"epochs": 1}, "model": "m", "model_generate_config": {"temperature": 0}}
WHOLE = (
    {"eval": TASK, "samples": [good_line("inspect", f"good{k}") for k in range(2)]},
    {"results": {"version": 3, "results": [good_line("promptfoo", "good", k) for k in range(2)]}},
)


@pytest.mark.parametrize("whole", WHOLE, ids=["inspect", "promptfoo"])
def test_a_document_gives_answers_or_one_clear_line(whole, tmp_path):
    def check(content):
        (tmp_path / "answers.json").write_bytes(content)
        return bool(read(tmp_path / "answers.json")[0])

    hunt(altered_json(whole), check, 15, both=True)

"""The checks see what they are there for: each is shown something broken."""

import json
import os
import sys
import warnings

import numpy as np
import pyarrow as pa
import pytest

from vecuq import testing
from vecuq.answers import read_answers
from vecuq.testing import (
    BrokenPromiseError,
    check_command,
    check_reader,
    check_saved_file,
    check_scores,
    check_table_file,
)
from vecuq.testing.checks.commands import run_command
from vecuq.testing.hostile.cells import MARKUP
from vecuq.testing.hostile.servers import GOOD_REPLY, KEY

MODEL = testing.example("model")
ROWS = np.random.default_rng(0).gamma(1.0, size=(9, 2))


# Scores ------------------------------------------------------------------------------------------------------------


def test_a_good_model_passes_in_every_library():
    table = pa.table({"entropy": ROWS[:, 0], "knn": ROWS[:, 1]})
    frames = [testing.as_frame(table, library) for library in testing.LIBRARIES]
    assert check_scores(MODEL, frames) == len(testing.LIBRARIES)


def test_a_pipeline_passes_on_outputs():
    outputs = np.random.default_rng(1).normal(size=(3, 6, 4))
    assert check_scores(testing.example("pipeline"), [outputs]) == 1


class Batchwise:
    """Scores that depend on the other rows of a batch."""

    def uncertainty(self, table):
        return np.asarray(table)[:, 0] - np.asarray(table)[:, 0].mean()


class Forgetful:
    """Scores that are others after saving."""

    def __init__(self, to_bytes):
        self.to_bytes = to_bytes

    def uncertainty(self, table):
        return np.asarray(table)[:, 0]


class Bursting:
    def uncertainty(self, table):
        raise KeyError("x")


@pytest.mark.parametrize(
    ("model", "told"),
    [(Batchwise(), "first part"), (Forgetful(MODEL.to_bytes), "saved and loaded"), (Bursting(), "KeyError")],
    ids=["batch", "saved", "raises"],
)
def test_a_model_that_breaks_a_promise_is_seen(model, told):
    with pytest.raises(BrokenPromiseError, match=told):
        check_scores(model, [ROWS])


# Tables ------------------------------------------------------------------------------------------------------------


class Shifted:
    """A model that scores every row as if it were another."""

    columns = MODEL.columns

    def to_bytes(self):
        return MODEL.to_bytes()

    def uncertainty(self, table, **how):
        return MODEL.uncertainty(table, **how) + 1.0


def test_a_table_file_that_is_scored_wrongly_is_seen():
    content = b"entropy,knn\n0.5,0.25\n"
    assert check_table_file(MODEL, content, ".csv")
    with pytest.raises(BrokenPromiseError, match="wrong score"):
        check_table_file(Shifted(), content, ".csv")


def test_a_table_that_must_be_refused_is_refused():
    assert not check_table_file(MODEL, b"entropy,knn\n0.5,x\n", ".csv")
    assert not testing.check_table(MODEL, pa.table({"entropy": ["x"], "knn": [0.5]}), "pandas")


# Saved files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", testing.SAVED_KINDS)
def test_a_saved_file_that_is_not_changed_says_the_same(kind):
    content = testing.example(kind).to_bytes()
    header, arrays = testing.taken_apart(content)
    assert testing.put_together(header, arrays) == content
    assert check_saved_file(kind, content, testing.answers_of(kind, testing.load_again(testing.example(kind))))


def test_a_change_that_nobody_can_detect_changes_scores_and_is_seen():
    pipeline = testing.example("pipeline")
    header, arrays = testing.taken_apart(pipeline.to_bytes())
    header["temperature"] = 1.25
    expected = testing.answers_of("pipeline", pipeline)
    content = testing.put_together(header, arrays)
    with pytest.raises(BrokenPromiseError, match="wrong score"):
        check_saved_file("pipeline", content, expected)
    assert check_saved_file("pipeline", content, expected, may_differ=True)


# Answers and replies -----------------------------------------------------------------------------------------------


def first_only(path, kind):
    reader = read_answers(path, kind=kind)
    reader.__class__ = type(
        "FirstOnly", (type(reader),), {"__iter__": lambda self: iter(list(super(type(self), self).__iter__())[:1])}
    )
    return reader


def test_a_reader_that_loses_a_good_line_is_seen():
    assert check_reader(b'{"broken', "vecuq") == 2
    with pytest.raises(BrokenPromiseError, match="good lines lost"):
        check_reader(b'{"broken', "vecuq", read=first_only)


def test_a_good_reply_is_taken_and_its_answers_written():
    body = json.dumps(GOOD_REPLY).encode()
    assert testing.check_reply(b"HTTP/1.1 200 OK\r\n\r\n" + body).code == 0


def test_a_good_stream_is_taken_too():
    event = {"choices": [{"index": 0, "delta": {"content": "Goethe"}, "finish_reason": "stop"}]}
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    assert testing.check_reply(head + f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n".encode()).code == 0


def test_a_key_that_a_command_prints_is_seen(monkeypatch):
    def careless():
        sys.stderr.write(f"error: your key is {KEY}\n")
        sys.exit(1)

    monkeypatch.setattr("vecuq.cli.main", careless)
    with pytest.raises(BrokenPromiseError, match="key"):
        testing.check_reply(b"")


# Commands ----------------------------------------------------------------------------------------------------------


def leaves_a_part():
    open(".vecuq-1.part", "w").close()


def changes_its_input():
    with open("new.csv", "a") as file:
        file.write("x")


def prints_a_warning():
    warnings.warn("overflow", RuntimeWarning, stacklevel=1)


def raises():
    raise IndexError("x")


def exits_oddly():
    sys.exit(3)


def fails_without_a_word():
    sys.exit(1)


def prints_an_escape():
    sys.stdout.write("\x1b[31m")


def loses_a_file():
    os.unlink("new.csv")


@pytest.mark.parametrize(
    ("main", "told"),
    [
        (leaves_a_part, "left behind"),
        (changes_its_input, "input changed"),
        (prints_a_warning, "stray line"),
        (raises, "traceback: IndexError"),
        (exits_oddly, "exit code"),
        (fails_without_a_word, "error line"),
        (prints_an_escape, "escape"),
        (loses_a_file, "lost file"),
    ],
)
def test_a_command_without_manners_is_seen(monkeypatch, main, told):
    monkeypatch.setattr("vecuq.cli.main", main)
    with pytest.raises(BrokenPromiseError, match=told):
        check_command(["score", "new.csv"], {"new.csv": b"a\n"})


def test_a_page_that_would_run_a_name_is_seen(monkeypatch):
    def careless():
        with open("report.html", "w") as file:
            file.write(f"<td>{MARKUP}</td>")

    monkeypatch.setattr("vecuq.cli.main", careless)
    with pytest.raises(BrokenPromiseError, match="markup"):
        check_command(["report"])


def test_a_file_replaced_by_another_kind_is_seen(monkeypatch):
    def replaces():
        with open("model.vecuq", "w") as file:
            file.write("<!doctype html>")

    monkeypatch.setattr("vecuq.cli.main", replaces)
    with pytest.raises(BrokenPromiseError, match="overwritten"):
        check_command(["report", "-o", "model.vecuq"], {"model.vecuq": MODEL.to_bytes()})


def test_a_command_sees_its_stdin_and_leaves_this_process_as_it_was(tmp_path):
    before = sys.stdout, sys.argv
    (tmp_path / "model.vecuq").write_bytes(MODEL.to_bytes())
    done = run_command(["score", "model.vecuq", "-", "-o", "-"], tmp_path, stdin=b'{"entropy": 0.5, "knn": 0.25}\n')
    assert done.code == 0
    assert json.loads(done.stdout)["uncertainty"] == MODEL.uncertainty([[0.5, 0.25]])[0]
    assert (sys.stdout, sys.argv) == before

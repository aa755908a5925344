"""How many questions at once, and what it costs: as many as the server takes, and no more than was allowed."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.answers.asking import Pace, Plan, Prices, Usage
from vecuq.errors import SettingError
from vecuq.workflows import ask


def test_auto_starts_small_and_grows_by_one_per_round():
    pace = Pace("auto")
    rooms = []
    for _ in range(2 + 3 + 4):
        rooms.append(pace.room)
        pace.done(slow_downs=0)
    assert rooms[0] == 2
    assert pace.room == 4
    assert sorted(rooms) == rooms


def test_a_busy_server_halves_the_number_once_and_not_for_every_question_under_way():
    pace = Pace(16)
    for count in range(1, 16):
        pace.done(slow_downs=count)
    assert pace.room == 8
    pace.done(slow_downs=15)
    pace.done(slow_downs=16)
    assert pace.room == 4


@given(st.lists(st.integers(0, 2)), st.integers(1, 9))
def test_the_number_stays_between_one_and_what_was_given(steps, most):
    pace, count = Pace(most), 0
    for step in steps:
        count += step
        pace.done(slow_downs=count)
        assert 1 <= pace.room <= most


@pytest.mark.parametrize("taken", [1, 3, 10])
def test_the_number_settles_around_what_a_server_takes(taken):
    pace, refused, rooms = Pace("auto"), 0, []
    for _ in range(200):  # rounds, in which a server refuses what is too much for it
        room = pace.room
        rooms.append(room)
        refused += max(0, room - taken)
        for _ in range(room):
            pace.done(slow_downs=refused)
    assert set(rooms[50:]) <= set(range(1, taken + 3))
    assert max(rooms[50:]) > taken  # it keeps trying for more


class Plain:
    """A model that remembers what it was asked, and asks for fewer requests now and then."""

    name, n_slow_downs = "plain", 0

    def __init__(self):
        self.asked = []

    def answer(self, question, plan):
        from vecuq.answers import Answer

        self.asked.append(question.id)
        self.n_slow_downs = len(self.asked) // 20
        return Answer(text=question.text), []


def test_every_question_is_answered_once_however_many_run_at_once(write_questions, tmp_path, lines_of):
    model = Plain()
    done = ask(write_questions(200), tmp_path / "a.jsonl", model, Plan(samples=0), n_jobs="auto")
    everything = sorted(f"q{k}" for k in range(200))
    assert done.n_asked == 200
    assert sorted(row["id"] for row in lines_of(tmp_path / "a.jsonl")) == everything
    assert sorted(model.asked) == everything


def test_a_server_that_asks_for_fewer_requests_is_sent_fewer(
    server, write_questions, tmp_path, run, words, monkeypatch
):
    monkeypatch.setattr("vecuq.answers.asking.sending.time.sleep", lambda _: None)
    server.script = [(429, {})] * 3
    result = run(*words(write_questions(12), tmp_path / "a.jsonl", "--concurrency", "auto", "--json"))
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["n_asked"] == 12


def test_a_killed_run_of_many_at_once_goes_on_and_answers_nothing_twice(
    server, write_questions, tmp_path, run, words, lines_of
):
    questions, out = write_questions(40), tmp_path / "answers.jsonl"
    server.delay = 0.02
    line = ["-c", "from vecuq.cli import main; main()", *words(questions, out, "--concurrency", "auto")]
    process = subprocess.Popen([sys.executable, *map(str, line)], stderr=subprocess.PIPE)
    while not out.exists() or out.read_bytes().count(b"\n") < 5:
        assert process.poll() is None
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    kept = out.read_bytes().count(b"\n")
    server.delay = 0
    assert run(*words(questions, out, "--concurrency", "auto")).stdout.startswith(f"{40 - kept} questions answered")
    assert sorted(row["id"] for row in lines_of(out)) == sorted(f"q{k}" for k in range(40))


COUNTED = {"prompt_tokens": 1_000, "completion_tokens": 500}


def test_tokens_and_cost_are_printed_and_in_the_json(server, write_questions, tmp_path, run, words):
    server.usage = COUNTED
    prices = ("--price-input", "2", "--price-output", "10")
    result = run(*words(write_questions(2), tmp_path / "a.jsonl", *prices))
    # Two questions, each with one greedy answer and two samples in one request, as this server counts.
    assert "tokens: 6,000 read, 3,000 written; cost 0.0420" in result.stdout
    done = json.loads(run(*words(write_questions(3), tmp_path / "a.jsonl", *prices, "--json")).stdout)
    assert done["usage"] == {"prompt": 3_000, "completion": 1_500, "cached": 0, "reasoning": 0, "replies": 2}
    assert done["cost"] == pytest.approx(0.021)


@pytest.mark.parametrize("concurrency", ["1", "auto"])
def test_a_run_stops_before_the_question_after_its_limit_and_goes_on_with_another(
    server, write_questions, tmp_path, run, words, lines_of, concurrency
):
    server.usage, out = COUNTED, tmp_path / "a.jsonl"
    prices = ("--price-input", "2", "--price-output", "10", "--concurrency", concurrency)  # 0.021 a question
    result = run(*words(write_questions(9), out, *prices, "--max-cost", "0.04"))
    assert result.exit_code == 0
    answered = len(lines_of(out))
    assert 2 <= answered <= (2 if concurrency == "1" else 4)
    assert f"Stopped at --max-cost with {9 - answered} questions left" in result.stderr
    assert run(*words(write_questions(9), out, *prices)).stdout.startswith(f"{9 - answered} questions answered")
    assert sorted(row["id"] for row in lines_of(out)) == [f"q{k}" for k in range(9)]


def test_a_limit_that_cannot_be_kept_stops_after_one_question(server, write_questions, tmp_path, run, words, lines_of):
    result = run(*words(write_questions(5), tmp_path / "a.jsonl", "--price-input", "1", "--max-cost", "1"))
    assert result.exit_code == 1
    assert "does not report its tokens, so that --max-cost cannot be kept" in result.stderr
    assert len(lines_of(tmp_path / "a.jsonl")) == 1


def test_prices_of_a_model_that_counts_no_tokens_are_refused(write_questions, tmp_path):
    with pytest.raises(SettingError, match="counts no tokens"):
        ask(write_questions(1), tmp_path / "a.jsonl", Plain(), Plan(samples=0), prices=Prices(1, 1))


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 3}, Usage(5, 3, replies=1)),
        ({"input_tokens": 5, "output_tokens": 3}, Usage(5, 3, replies=1)),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 3,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
            Usage(5, 3, 4, 2, 1),
        ),
        ({"prompt_tokens": 5, "completion_tokens": 3, "prompt_tokens_details": None}, Usage(5, 3, replies=1)),
        ({"prompt_tokens": -5, "completion_tokens": 3}, None),
        ({"prompt_tokens": 10**30, "completion_tokens": 3}, None),
        ({"prompt_tokens": True, "completion_tokens": 3}, None),
        ({"prompt_tokens": "5", "completion_tokens": 3}, None),
        ([], None),
        (None, None),
    ],
)
def test_tokens_are_counted_where_they_make_sense(usage, counted):
    assert Usage.of(usage) == counted

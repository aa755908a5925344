"""Questions that are refused, while others are answered."""

import json

import pytest


def test_a_refused_question_is_named_and_the_others_are_answered(
    server, write_questions, tmp_path, run, words, lines_of
):
    questions, out = write_questions(5), tmp_path / "answers.jsonl"
    server.filtered = ("what is 1", "what is 3")
    result = run(*words(questions, out))
    assert result.exit_code == 1
    assert [row["id"] for row in lines_of(out)] == ["q0", "q2", "q4"]
    first, second, last = result.stderr.splitlines()
    assert first.startswith("note: Question 'q1' was refused: ")
    assert "HTTP 400: a filter is against it" in first
    assert second.startswith("note: Question 'q3' was refused: ")
    assert last == "error: 2 of 5 questions were refused, see above; the same command tries only these again."
    assert result.stdout.startswith("3 questions answered, ")


@pytest.mark.parametrize("jobs", [1, 3])
def test_only_refused_questions_are_asked_again(server, write_questions, tmp_path, run, jobs, words, lines_of):
    questions, out = write_questions(5), tmp_path / "answers.jsonl"
    server.filtered = ("what is 1", "what is 3")
    run(*words(questions, out, "--jobs", jobs))
    server.requests.clear()
    server.filtered = ("what is 3",)
    result = run(*words(questions, out, "--jobs", jobs, "--json"))
    assert result.exit_code == 1
    done = json.loads(result.stdout)
    assert (done["n_questions"], done["n_asked"], list(done["refused"])) == (5, 1, ["q3"])
    assert {body["messages"][-1]["content"] for _, _, body in server.requests} == {"what is 1", "what is 3"}
    server.filtered = ()
    assert run(*words(questions, out, "--jobs", jobs)).stdout.startswith("1 question answered, 4 before")
    assert sorted(row["id"] for row in lines_of(out)) == [f"q{k}" for k in range(5)]


def test_a_server_that_takes_no_question_at_all_is_not_asked_all_of_them(server, write_questions, tmp_path, run, words):
    questions, out = write_questions(30), tmp_path / "answers.jsonl"
    server.filtered = ("what",)
    result = run(*words(questions, out))
    assert result.exit_code == 1
    assert "The first 20 questions were all refused for the same reason" in result.stderr.splitlines()[-1]
    assert len(server.requests) == 20
    assert not out.exists()


def test_many_refused_questions_do_not_stop_the_others_once_one_was_answered(
    server, write_questions, tmp_path, run, words
):
    questions, out = write_questions(30), tmp_path / "answers.jsonl"
    server.filtered = tuple(f"what is {k}" for k in range(1, 10))
    assert "29 of 30 questions were refused" in run(*words(questions, out)).stderr
    server.filtered = tuple(f"what is {k}" for k in range(1, 9))
    assert "28 of 30 questions were refused" in run(*words(questions, out)).stderr


def test_a_question_at_which_the_server_always_fails_does_not_stop_the_others(
    server, write_questions, tmp_path, run, words, lines_of
):
    questions, out = write_questions(4), tmp_path / "answers.jsonl"
    server.filtered, server.refusal = ("what is 0",), 500
    for answered in (3, 0):
        result = run(*words(questions, out, "--tries", 1))
        assert result.exit_code == 1
        assert result.stdout.startswith(f"{answered} question")
        assert "error: 1 of 4 questions were refused" in result.stderr
    assert [row["id"] for row in lines_of(out)] == ["q1", "q2", "q3"]

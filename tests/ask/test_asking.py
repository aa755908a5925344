"""The whole way from questions to answers, killed and taken up again."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from vecuq.answers import Journal, parse_record, read_answers


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def words(server, questions, out, *more):
    return ["ask", questions, "--url", server.url, "--model", "tiny", "-o", out, "--samples", "2", *more]


def test_every_question_becomes_one_line_with_all_that_was_known_of_it(server, write_questions, tmp_path, run):
    out = tmp_path / "answers.jsonl"
    result = run(*words(server, write_questions(3), out))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("3 questions asked")
    records = list(read_answers(out, strict=True))
    assert [record.id for record in records] == ["q0", "q1", "q2"]
    assert (records[1].question, records[1].references, records[1].meta) == ("what is 1", ("1",), {"level": 1})
    assert (records[1].model, records[1].settings["samples"], len(records[1].samples)) == ("tiny", 2, 2)


def test_a_run_that_is_killed_goes_on_where_it_stopped_and_asks_nothing_twice(server, write_questions, tmp_path, run):
    questions, out = write_questions(12), tmp_path / "answers.jsonl"
    server.delay = 0.05
    program = "from vecuq.cli import main; main()"
    process = subprocess.Popen([sys.executable, "-c", program, *map(str, words(server, questions, out))])
    while not out.exists() or out.read_bytes().count(b"\n") < 3:
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = out.read_bytes()
    assert 3 <= before.count(b"\n") < 12
    whole = before[: before.rindex(b"\n") + 1]
    out.write_bytes(whole + whole.splitlines()[0][:100])  # and it died in the middle of a line
    server.delay = 0.0
    server.requests.clear()
    result = run(*words(server, questions, out))
    assert result.exit_code == 0, result.output
    assert out.read_bytes().startswith(whole)
    assert sorted(row["id"] for row in lines_of(out)) == sorted(f"q{k}" for k in range(12))
    asked = {body["messages"][-1]["content"] for _, _, body in server.requests}
    assert len(asked) == 12 - whole.count(b"\n")


def test_a_run_that_was_interrupted_equals_one_that_was_not(server, write_questions, tmp_path, run):
    questions, once, twice = write_questions(6), tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    run(*words(server, questions, once))
    run(*words(server, questions, twice))
    kept = twice.read_text().splitlines(keepends=True)
    twice.write_text("".join(kept[:2]) + kept[2][:-1])
    assert run(*words(server, questions, twice)).stdout.startswith("4 questions asked, 2 answered before")
    assert twice.read_bytes() == once.read_bytes()


def test_several_questions_at_once_give_the_same_answers(server, write_questions, tmp_path, run):
    questions, one, many = write_questions(20), tmp_path / "one.jsonl", tmp_path / "many.jsonl"
    run(*words(server, questions, one))
    assert run(*words(server, questions, many, "--jobs", "4")).exit_code == 0
    assert sorted(one.read_text().splitlines()) == sorted(many.read_text().splitlines())


def test_a_failure_in_the_middle_keeps_what_was_answered(server, write_questions, tmp_path, run):
    questions, out = write_questions(3), tmp_path / "answers.jsonl"
    server.script = [(200, server.answer("chat/completions", {"messages": [{"content": "x"}], "n": n})) for n in (1, 2)]
    server.script.append((404, {"error": "gone"}))
    result = run(*words(server, questions, out))
    assert result.exit_code == 1
    assert "gone" in result.stderr
    assert [row["id"] for row in lines_of(out)] == ["q0"]


def test_answers_of_other_settings_or_questions_do_not_mix(server, write_questions, tmp_path, run, refused):
    questions, out = write_questions(3), tmp_path / "answers.jsonl"
    run(*words(server, questions, out))
    assert "temperature 1.0 (now 0.5)" in refused(*words(server, questions, out, "--temperature", "0.5"))
    assert "prompt" in refused(*words(server, questions, out, "--system", "Be brief."))
    questions.write_text('{"id": "q0", "question": "something else"}\n')
    assert "another question" in refused(*words(server, questions, out))


def test_wrong_places_are_refused_without_a_trace(server, write_questions, tmp_path, refused):
    questions = write_questions(2)
    assert "holds the questions" in refused(*words(server, questions, questions))
    assert "is a folder" in refused(*words(server, questions, tmp_path))
    assert "no folder" in refused(*words(server, questions, tmp_path / "no" / "answers.jsonl"))
    (tmp_path / "notes.txt").write_text("my notes")
    assert "something else than answers" in refused(*words(server, questions, tmp_path / "notes.txt"))
    (tmp_path / "list.jsonl").write_text('{"a": 1}\n')
    assert "list.jsonl, line 1" in refused(*words(server, questions, tmp_path / "list.jsonl"))


def test_nothing_is_left_behind_when_nobody_answers(server, write_questions, tmp_path, refused):
    server.script = [(401, {"error": "no key"})]
    assert "--api-key-env" in refused(*words(server, write_questions(2), tmp_path / "answers.jsonl"))


def test_a_second_writer_is_refused(server, write_questions, tmp_path, run):
    pytest.importorskip("fcntl")
    out = tmp_path / "answers.jsonl"
    run(*words(server, write_questions(1), out))
    with Journal.opened(out):
        result = run(*words(server, write_questions(2), out))
    assert "written by another process" in result.stderr


def test_a_key_comes_from_the_environment_and_is_not_written(server, write_questions, tmp_path, run, monkeypatch):
    out = tmp_path / "answers.jsonl"
    monkeypatch.setenv("MY_KEY", "secret-word")
    assert run(*words(server, write_questions(1), out, "--api-key-env", "MY_KEY")).exit_code == 0
    assert server.requests[0][1]["Authorization"] == "Bearer secret-word"
    assert "secret-word" not in out.read_text()


def test_a_missing_key_is_named(server, write_questions, tmp_path, refused, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    told = refused(*words(server, write_questions(1), tmp_path / "a.jsonl", "--api-key-env", "MY_KEY"))
    assert "MY_KEY is not set" in told


@pytest.mark.parametrize(
    "wrong", [("--samples", "-1"), ("--temperature", "0"), ("--template", "no place"), ("--template", "@nowhere.txt")]
)
def test_settings_that_can_never_be_right_are_wrong_usage(server, write_questions, tmp_path, run, wrong):
    result = run(*words(server, write_questions(1), tmp_path / "answers.jsonl", *wrong))
    assert result.exit_code == 2


def test_a_template_may_come_from_a_file(server, write_questions, tmp_path, run):
    (tmp_path / "prompt.txt").write_text("Q: who?\nA: me\nQ: {question}\nA:\n")
    out = tmp_path / "answers.jsonl"
    run(*words(server, write_questions(1), out, "--template", f"@{tmp_path / 'prompt.txt'}", "--raw", "--stop", r"\n"))
    body = server.requests[0][2]
    assert body["prompt"] == "Q: who?\nA: me\nQ: what is 0\nA:"
    assert body["stop"] == ["\n"]


def test_without_the_package_a_local_model_says_what_to_install(write_questions, tmp_path, refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "cyllama", None)
    monkeypatch.setitem(sys.modules, "cyllama.llama", None)
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    told = refused("ask", write_questions(1), "--model", tmp_path / "model.gguf", "-o", tmp_path / "a.jsonl")
    assert "pip install 'vecuq[text]'" in told


def test_the_lines_of_the_file_are_our_schema(server, write_questions, tmp_path, run):
    out = tmp_path / "answers.jsonl"
    run(*words(server, write_questions(1), out))
    line = out.read_text().splitlines()[0]
    assert line.startswith('{"vecuq_answers":1,"id":"q0"')
    assert parse_record(line, "there").to_line() == line

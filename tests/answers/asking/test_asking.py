"""The whole way from questions to answers, killed and taken up again."""

import gzip
import os
import signal
import subprocess
import sys
import time

import pytest

from vecuq.answers import Journal, parse_record, read_answers


def test_every_question_becomes_one_line_with_all_that_was_known_of_it(write_questions, tmp_path, run, words):
    out = tmp_path / "answers.jsonl"
    result = run(*words(write_questions(3), out))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("3 questions answered")
    records = list(read_answers(out, strict=True))
    assert [record.id for record in records] == ["q0", "q1", "q2"]
    assert (records[1].question, records[1].references, records[1].meta) == ("what is 1", ("1",), {"level": 1})
    assert (records[1].model, records[1].settings["samples"], len(records[1].samples)) == ("tiny", 2, 2)


def test_a_run_that_is_killed_goes_on_where_it_stopped_and_asks_nothing_twice(
    server, write_questions, tmp_path, run, words, lines_of
):
    questions, out = write_questions(12), tmp_path / "answers.jsonl"
    server.delay = 0.05
    program = "from vecuq.cli import main; main()"
    process = subprocess.Popen([sys.executable, "-c", program, *map(str, words(questions, out))])
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
    result = run(*words(questions, out))
    assert result.exit_code == 0, result.output
    assert out.read_bytes().startswith(whole)
    assert sorted(row["id"] for row in lines_of(out)) == sorted(f"q{k}" for k in range(12))
    asked = {body["messages"][-1]["content"] for _, _, body in server.requests}
    assert len(asked) == 12 - whole.count(b"\n")


def test_a_run_that_was_interrupted_equals_one_that_was_not(write_questions, tmp_path, run, words):
    questions, once, twice = write_questions(6), tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    run(*words(questions, once))
    run(*words(questions, twice))
    kept = twice.read_text().splitlines(keepends=True)
    twice.write_text("".join(kept[:2]) + kept[2][:-1])
    assert run(*words(questions, twice)).stdout.startswith("4 questions answered, 2 before")
    assert twice.read_bytes() == once.read_bytes()


def test_several_questions_at_once_give_the_same_answers(write_questions, tmp_path, run, words):
    questions, one, many = write_questions(20), tmp_path / "one.jsonl", tmp_path / "many.jsonl"
    run(*words(questions, one))
    assert run(*words(questions, many, "--jobs", "4")).exit_code == 0
    assert sorted(one.read_text().splitlines()) == sorted(many.read_text().splitlines())


def test_a_failure_in_the_middle_keeps_what_was_answered(server, write_questions, tmp_path, run, words, lines_of):
    questions, out = write_questions(3), tmp_path / "answers.jsonl"
    server.script = [(200, server.answer("chat/completions", {"messages": [{"content": "x"}], "n": n})) for n in (1, 2)]
    server.script.append((404, {"error": "gone"}))
    result = run(*words(questions, out))
    assert result.exit_code == 1
    assert "gone" in result.stderr
    assert [row["id"] for row in lines_of(out)] == ["q0"]


def test_a_reply_that_breaks_off_costs_no_question(server, write_questions, tmp_path, run, monkeypatch, words):
    monkeypatch.setattr("vecuq.answers.asking.sending.time.sleep", lambda _: None)
    server.script = [(200, server.answer("chat/completions", {"messages": [{"content": "x"}]}), {"missing": 9})]
    result = run(*words(write_questions(1), tmp_path / "answers.jsonl"))
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("note: http://127.0.0.1")
    assert "closed the connection in the middle of a reply. Try 2 of 5 follows in 1." in result.stderr


@pytest.mark.parametrize(
    ("then", "told"),
    [
        (("--top-logprobs", "5"), "top_logprobs 20 (now 5)"),
        (("--renormalise",), "renormalise False (now True)"),
    ],
)
def test_entropies_of_two_kinds_do_not_mix(write_questions, tmp_path, run, refused, then, told, words):
    out = tmp_path / "answers.jsonl"
    run(*words(write_questions(2), out))
    assert told in refused(*words(write_questions(3), out, *then))


def test_other_questions_do_not_bring_other_settings_into_a_file(write_questions, tmp_path, run, refused, words):
    questions, out = write_questions(2), tmp_path / "answers.jsonl"
    run(*words(questions, out))
    questions.write_text('{"id": "new", "question": "something else"}\n')
    assert "temperature 1.0 (now 0.5)" in refused(*words(questions, out, "--temperature", "0.5"))


@pytest.mark.parametrize("name", ["answers.jsonl.gz", "answers.GZ"])
def test_a_packed_file_cannot_grow(write_questions, tmp_path, refused, name, words):
    assert "cannot grow line by line" in refused(*words(write_questions(1), tmp_path / name))


def test_a_packed_file_under_another_name_is_told_from_broken_answers(write_questions, tmp_path, refused, words):
    (tmp_path / "answers.jsonl").write_bytes(gzip.compress(b"{}"))
    assert "cannot grow line by line" in refused(*words(write_questions(1), tmp_path / "answers.jsonl"))


def test_answers_of_other_settings_or_questions_do_not_mix(write_questions, tmp_path, run, refused, words):
    questions, out = write_questions(3), tmp_path / "answers.jsonl"
    run(*words(questions, out))
    assert "temperature 1.0 (now 0.5)" in refused(*words(questions, out, "--temperature", "0.5"))
    assert "prompt" in refused(*words(questions, out, "--system", "Be brief."))
    questions.write_text('{"id": "q0", "question": "something else"}\n')
    assert "another question" in refused(*words(questions, out))


def test_wrong_places_are_refused_without_a_trace(write_questions, tmp_path, refused, words):
    questions = write_questions(2)
    assert "would be, one of the files that this job reads" in refused(*words(questions, questions))
    assert "is a folder" in refused(*words(questions, tmp_path))
    assert "no folder" in refused(*words(questions, tmp_path / "no" / "answers.jsonl"))
    (tmp_path / "notes.txt").write_text("my notes")
    assert "is not a file of answers" in refused(*words(questions, tmp_path / "notes.txt"))
    (tmp_path / "list.jsonl").write_text('{"a": 1}\n')
    assert "list.jsonl, line 1" in refused(*words(questions, tmp_path / "list.jsonl"))


def test_nothing_is_left_behind_when_nobody_answers(server, write_questions, tmp_path, refused, words):
    server.script = [(401, {"error": "no key"})]
    assert "--api-key-env" in refused(*words(write_questions(2), tmp_path / "answers.jsonl"))


def test_a_second_writer_is_refused(write_questions, tmp_path, run, words):
    pytest.importorskip("fcntl")
    out = tmp_path / "answers.jsonl"
    run(*words(write_questions(1), out))
    with Journal.opened(out):
        result = run(*words(write_questions(2), out))
    assert "written by another process" in result.stderr


def test_the_lines_of_the_file_are_our_schema(write_questions, tmp_path, run, words):
    out = tmp_path / "answers.jsonl"
    run(*words(write_questions(1), out))
    line = out.read_text().splitlines()[0]
    assert line.startswith('{"vecuq_answers":1,"id":"q0"')
    assert parse_record(line, "there").to_line() == line


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_run_stops_at_once_when_told_to_though_the_server_is_silent(server, write_questions, tmp_path, words, jobs):
    out, server.delay = tmp_path / "answers.jsonl", 120
    line = ["-c", "from vecuq.cli import main; main()", *words(write_questions(9), out, "--jobs", jobs)]
    process = subprocess.Popen([sys.executable, *map(str, line)], stderr=subprocess.PIPE, text=True)
    while len(server.requests) < jobs:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in told
    assert not out.exists()


def test_somebody_who_stops_a_run_is_told_how_to_go_on(server, write_questions, tmp_path, words, lines_of):
    out = tmp_path / "answers.jsonl"
    line = ["-c", "from vecuq.cli import main; main()", *words(write_questions(500), out)]
    process = subprocess.Popen([sys.executable, *map(str, line)], stderr=subprocess.PIPE, text=True)
    while not out.exists() or out.read_bytes().count(b"\n") < 3:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert "keeps all answers so far, and the same command continues from there" in told
    assert 3 <= len(lines_of(out)) < 500

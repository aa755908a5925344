"""Conversations in place of one question."""

import json

import pytest

from vecuq.answers.asking import Endpoint, Plan, read_questions
from vecuq.answers.asking.messages import asked_in, checked_messages
from vecuq.errors import TableError

TALK = [
    {"role": "user", "content": "Who wrote Faust?"},
    {"role": "assistant", "content": "Goethe."},
    {"role": "user", "content": [{"type": "text", "text": "When?"}, {"type": "image_url", "image_url": {"url": "x"}}]},
]
OWN = [{"role": "system", "content": "Be long."}, *TALK]


@pytest.fixture
def talk_file(tmp_path):
    def write(*talks):
        path = tmp_path / "talks.jsonl"
        path.write_text("".join(json.dumps({"messages": talk, "topic": "x"}) + "\n" for talk in talks))
        return path

    return write


def test_messages_are_sent_as_they_are_after_the_system_message(server, talk_file):
    (question,) = read_questions(talk_file(TALK))
    Endpoint(server.url, "tiny").answer(question, Plan(samples=0, system="Be brief."))
    assert server.requests[0][2]["messages"] == [{"role": "system", "content": "Be brief."}, *TALK]


def test_a_conversation_keeps_the_system_message_that_it_has(server, talk_file):
    (question,) = read_questions(talk_file(OWN))
    Endpoint(server.url, "tiny").answer(question, Plan(samples=0, system="Be brief."))
    assert server.requests[0][2]["messages"] == OWN


def test_the_record_has_what_was_said_before_the_answer(server, talk_file, tmp_path, run, words, lines_of):
    server.says = {}
    server.answer = lambda path, body: {"choices": [server.choice(True, "1808") for _ in range(body.get("n", 1))]}
    assert run(*words(talk_file(OWN), tmp_path / "a.jsonl")).exit_code == 0
    (line,) = lines_of(tmp_path / "a.jsonl")
    assert line["question"] == "Who wrote Faust?\nGoethe.\nWhen?\n[image_url]"
    assert line["meta"] == {"topic": "x"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("why", "must be a list of 1 to 1,000 messages"),
        ([], "must be a list"),
        ([{"role": "user", "content": "a"}] * 1001, "must be a list"),
        ([{"role": "user"}], "message 1 must have a `role` and a `content`"),
        ([{"role": "user", "content": "a"}, {"content": "b"}], "message 2 must have"),
        ([{"role": "user", "content": [5]}], "message 1 must have"),
        ([{"role": "user", "content": None}], "message 1 must have"),
        ([{"role": "system", "content": "a"}], "system messages only"),
    ],
)
def test_what_is_no_conversation_is_an_error_that_says_why(given, words):
    with pytest.raises(TableError, match=words):
        checked_messages(given, "there")


def test_a_call_of_a_tool_needs_no_content():
    talk = [TALK[0], {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}]
    assert asked_in(checked_messages(talk, "there")) == "Who wrote Faust?\n[tool call]"


def test_a_question_and_messages_at_once_are_refused(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"question": "why", "messages": TALK}) + "\n")
    with pytest.raises(TableError, match="line 1: either `question` or `messages`"):
        list(read_questions(path))


@pytest.mark.parametrize("option", [("--raw",), ("--template", "Q: {question}")])
def test_messages_need_the_chat_format(server, talk_file, tmp_path, refused, words, option):
    printed = refused(*words(talk_file(TALK), tmp_path / "a.jsonl", *option))
    assert "leave out --template and --raw" in printed
    assert not server.requests


def test_a_system_message_may_come_from_a_file(server, write_questions, tmp_path, run, words):
    (tmp_path / "system.txt").write_text("Be brief.\n")
    run(*words(write_questions(1), tmp_path / "a.jsonl", "--system", f"@{tmp_path / 'system.txt'}"))
    assert server.requests[0][2]["messages"][0] == {"role": "system", "content": "Be brief."}

"""Streamed replies: put together as the server would have sent them at once, or sent for again."""

import json
import socket
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.answers.asking import Endpoint, Plan, Question, RefusedQuestionError, RejectedError, Sender
from vecuq.answers.asking.streams import BrokenStreamError, is_stream, reply_of_stream
from vecuq.errors import TableError, VecuqError

ASKED, STREAM = Question("q1", "why is it so"), [("Content-Type", "text/event-stream")]


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("pieces", [1, 2, 5])
def test_a_stream_of_several_answers_gives_the_reply_that_comes_at_once(server, as_stream, raw, pieces):
    body = {"messages": [{"content": "why is it so"}], "prompt": "why is it so", "n": 3}
    whole = server.answer("completions" if raw else "chat/completions", body)
    found = reply_of_stream(as_stream(whole, pieces))
    for one, other in zip(found["choices"], whole["choices"], strict=True):
        assert one.get("text") == other.get("text")
        assert one.get("message", {}).get("content") == other.get("message", {}).get("content")
        assert one["logprobs"] == other["logprobs"]
        assert one["finish_reason"] == "stop"


def test_streams_and_whole_replies_give_the_same_answers_and_tokens(server):
    server.usage = {"prompt_tokens": 3, "completion_tokens": 2}
    streaming, plain = Endpoint(server.url, "tiny", stream=True), Endpoint(server.url, "tiny")
    for raw in (True, False):
        plan = Plan(samples=3, raw=raw)
        assert streaming.answer(ASKED, plan) == plain.answer(ASKED, plan)
    assert streaming.usage == plain.usage
    assert server.requests[0][2]["stream"] is True
    assert "stream" not in server.requests[-1][2]


EVENT = b'data: {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": %b}]}\n\n'
LAST = EVENT % b'"stop"'


@pytest.mark.parametrize(
    "content",
    [
        LAST,
        LAST + b"data: [DONE]\n\n",
        b": keep-alive\n\n" + LAST,
        b"event: chunk\nid: 1\n" + LAST,
        LAST.replace(b"\n", b"\r\n"),
        LAST.replace(b"data: ", b"data:").rstrip(b"\n"),
        b'data: {"choices": [{"delta":\ndata: {"content": "a"}, "finish_reason": "stop"}]}\n\n',
        b'data: {"choices": []}\n\n' + LAST + b'data: {"choices": [], "usage": null}\n\n',
    ],
)
def test_events_may_be_written_as_servers_do(content):
    assert is_stream(content)
    assert reply_of_stream(content)["choices"][0]["message"]["content"] == "a"


@pytest.mark.parametrize("content", [EVENT % b"null", LAST[:-20], b"data: ", b'data: {"choices": []}\n\n', b": x\n\n"])
def test_a_stream_that_ends_before_its_answers_is_broken(content):
    with pytest.raises(BrokenStreamError):
        reply_of_stream(content)


@pytest.mark.parametrize(
    "event",
    [
        b"[1]",
        b'{"choices": 5}',
        b'{"choices": [5]}',
        b'{"choices": [{"index": -1}]}',
        b'{"choices": [{"index": 1e9}]}',
        b'{"choices": [{"index": 99999999}]}',
        b'{"choices": [{"delta": 5}]}',
        b'{"choices": [{"delta": {"content": 5}}]}',
        b'{"choices": [{"text": [1]}]}',
        b'{"choices": [{"logprobs": {"content": 5}}]}',
        b"[" * 100_000,
    ],
)
def test_a_stream_that_makes_no_sense_is_refused_and_not_sent_for_again(server, event):
    server.script = [(200, b"data: " + event + b"\n\n", {"headers": STREAM})]
    with pytest.raises(RejectedError, match="stream that cannot be read"):
        Sender(server.url, pause=pytest.fail).post("there", {})


@pytest.mark.parametrize("missing", [1, 20, 60])
def test_a_broken_stream_is_sent_for_again(server, as_stream, missing):
    whole = as_stream(server.answer("chat/completions", {"messages": [{"content": "x"}]}))
    broken = whole[: len(whole) - len(b"data: [DONE]\n\n") - missing]
    server.script = [(200, broken, {"headers": STREAM}), (200, whole, {"headers": STREAM})]
    notes = []
    reply = Sender(server.url, on_retry=notes.append, pause=lambda _: None).post("there", {})
    assert reply == reply_of_stream(whole)
    assert len(notes) == (0 if missing == 1 else 1)  # only a line end is missing


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "overloaded", "code": 503}, "Try 2 of 5"),
        ({"message": "You exceeded your current quota", "code": "insufficient_quota"}, "used up"),
        ("out of memory", "Try 2 of 5"),
    ],
)
def test_an_error_in_the_middle_of_a_stream_is_what_it_would_be_at_its_beginning(server, as_stream, error, expected):
    begun = EVENT % b"null" + b"data: " + json.dumps({"error": error}).encode() + b"\n\n"
    fine = as_stream(server.answer("chat/completions", {"messages": [{"content": "x"}]}))
    server.script = [(200, begun, {"headers": STREAM}), (200, fine, {"headers": STREAM})]
    notes = []
    sender = Sender(server.url, on_retry=notes.append, pause=lambda _: None)
    try:
        sender.post("there", {})
    except VecuqError as stopped:
        notes.append(str(stopped))
    assert expected in notes[0]


@pytest.mark.parametrize("chunked", [True, False])
def test_a_stream_ends_where_it_says_so_though_its_connection_stays_open(chunked):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = threading.Event()

        def serve():
            connection, _ = listening.accept()
            with connection:
                connection.recv(65_536)
                head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                stream = LAST + b"data: [DONE]\n\n"
                if chunked:
                    head, stream = head + b"Transfer-Encoding: chunked\r\n", b"%x\r\n%b\r\n" % (len(stream), stream)
                connection.sendall(head + b"\r\n" + stream)
                over.wait(60)

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        try:
            reply = Sender(url, timeout=30, tries=1).post("there", {})
        finally:
            over.set()
            thread.join()
    assert reply["choices"][0]["message"]["content"] == "a"


PIECES = st.sampled_from(
    [LAST, EVENT % b"null", b"data: ", b"[DONE]", b"\n", b"\r\n", b":", b"{}", b"\xff", b'{"error": 1}']
)


@settings(max_examples=200)
@given(st.lists(PIECES | st.binary(max_size=8), max_size=8).map(b"".join))
def test_any_bytes_are_a_reply_or_one_clear_error(content):
    try:
        found = reply_of_stream(content)
    except TableError:
        return
    assert "choices" in found or "error" in found


def test_a_server_that_always_breaks_off_costs_one_question(server):
    server.script = [(200, EVENT % b"null", {"headers": STREAM})]
    with pytest.raises(RefusedQuestionError, match="closed the connection in the middle"):
        Endpoint(server.url, "tiny", tries=1).answer(ASKED, Plan(samples=0))

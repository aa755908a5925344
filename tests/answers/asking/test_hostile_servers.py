"""Servers that trickle, echo and babble: one question is left out, no key is repeated, and the next run goes on."""

import io
import json
import socket
import threading
import time
from contextlib import suppress
from traceback import format_exception

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.answers import AnswerRecord, read_answers
from vecuq.answers.asking import Endpoint, Plan, Question, RefusedQuestionError, Sender
from vecuq.answers.asking.address import Key
from vecuq.errors import SettingError, VecuqError, VecuqWarning

KEY = "sk-secret-0123456789abcdef"
FINE = b'{"fine": true}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n"


@pytest.fixture
def raw():
    """A server that says whatever a function does with its connection and the request."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.05)
    over, say = threading.Event(), []

    def serve():
        while not over.is_set():
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            with connection:
                connection.settimeout(20)
                with suppress(OSError):  # the client has had enough
                    say[-1](connection, connection.recv(65_536))

    thread = threading.Thread(target=serve)
    thread.start()

    def saying(function):
        say.append(function)
        return f"http://127.0.0.1:{listening.getsockname()[1]}/v1"

    yield saying
    over.set()
    thread.join()
    listening.close()


def trickling(fast, slow, *, after=b"", seconds=4):
    """Say something at once and then one byte now and then; all of it would take ten times as long as we wait."""

    def say(connection, _):
        connection.sendall(fast)
        for byte in slow:
            connection.sendall(bytes([byte]))
            time.sleep(seconds / len(slow))
        connection.sendall(after)

    return say


@pytest.mark.parametrize(
    "say",
    [
        trickling(HEAD, FINE),
        trickling(b"HTTP/1.1 200", HEAD[12:], after=FINE),
        trickling(b"", b"HTTP/1.1 100 Continue\r\n\r\n", after=HEAD + FINE),
        trickling(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"e\r\n" + FINE + b"\r\n0\r\n\r\n"),
        trickling(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", b": keep-alive\n\n" * 4),
    ],
    ids=["body", "headers", "continue", "chunks", "stream"],
)
def test_a_server_that_trickles_is_cut_off_at_the_timeout(raw, say):
    with pytest.raises(VecuqError, match=r"timed out: no whole reply within 0\.4 s"):
        Sender(raw(say), timeout=0.4, tries=1).post("there", {})


@pytest.mark.parametrize("kind", [b"application/json", b"text/event-stream"])
def test_a_reply_without_end_is_refused_at_the_limit(raw, kind, monkeypatch):
    monkeypatch.setattr("vecuq.answers.asking.sending._MOST_BYTES", 2**20)

    def say(connection, _):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\n\r\n")
        while True:
            connection.sendall(b"data: {}\n\n" * 1_000)

    with pytest.raises(VecuqError, match="returned more than 1 MiB"):
        Sender(raw(say), timeout=60, tries=1).post("there", {})


def test_a_server_that_reads_nothing_is_cut_off_too(raw):
    def say(connection, _):
        for _ in range(8):
            time.sleep(0.5)
            connection.sendall(b"H")  # an error once the client has gone
        connection.recv(2**25)
        connection.sendall(HEAD[1:] + FINE)

    with pytest.raises(VecuqError, match="timed out"):
        Sender(raw(say), timeout=0.4, tries=1).post("there", {"long": "x" * 2**24})


def test_a_server_may_take_its_time_within_the_timeout(raw):
    assert Sender(raw(trickling(HEAD, FINE, seconds=0.2)), timeout=60, tries=1).post("there", {}) == {"fine": True}


ESCAPED = b"".join(b"\\u%04x" % letter for letter in KEY.encode())
ECHOES = {
    "as a status line": b"%b\r\n\r\n",
    "as a status": b"HTTP/1.1 %b\r\n\r\n",
    "as the reason": b"HTTP/1.1 400 %b\r\nContent-Length: 0\r\n\r\n",
    "in an error": b'HTTP/1.1 400 No\r\n\r\n{"error": {"message": "wrong: %b"}}',
    "in a page": b"HTTP/1.1 401 No\r\n\r\n<html>%b",
    "in an escaped error": b'HTTP/1.1 403 No\r\n\r\n{"detail": "%b"}'.replace(b"%b", ESCAPED),
    "in a redirect": b"HTTP/1.1 302 Found\r\nLocation: http://localhost/?key=%b\r\n\r\n",
    "as a length": b"HTTP/1.1 200 OK\r\nContent-Length: %b\r\n\r\n",
    "as a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%b\r\n",
    "as a header": b"HTTP/1.1 200 OK\r\n%b %b\r\n\r\n",
    "as the reply": b"HTTP/1.1 200 OK\r\n\r\n%b",
    "as an answer": b'HTTP/1.1 200 OK\r\n\r\n{"choices": [{"text": "%b"}]}',
    "as a finish reason": b'HTTP/1.1 200 OK\r\n\r\n{"choices": [{"text": "", "finish_reason": "%b"}]}',
    "as another type": b'HTTP/1.1 200 OK\r\n\r\n{"choices": [{"text": {"%b": 1}, "message": "%b"}]}',
}


@pytest.mark.parametrize("reply", ECHOES.values(), ids=ECHOES)
def test_a_key_that_the_server_echoes_is_printed_and_written_nowhere(
    raw, reply, write_questions, tmp_path, run, monkeypatch
):
    def say(connection, request):
        echoed = next(line for line in request.split(b"\r\n") if line.lower().startswith(b"authorization"))
        times = reply.count(b"%b")
        connection.sendall(reply % ((echoed,) * times) if times else reply)

    url = raw(say)
    with pytest.raises(VecuqError) as caught:
        Endpoint(url, "m", api_key=KEY, tries=1).answer(Question("q", "why"), Plan(samples=0))
    assert KEY not in "".join(format_exception(caught.value))
    monkeypatch.setenv("MY_KEY", KEY)
    out = tmp_path / "answers.jsonl"
    words = ("ask", write_questions(1), "--url", url, "--model", "m", "-o", out, "--samples", 0, "--tries", 1)
    result = run(*words, "--api-key-env", "MY_KEY", "--debug")
    assert result.exit_code == 1
    assert "error: " in result.stderr
    assert KEY not in result.output
    assert not out.exists()


def test_a_key_is_not_shown_by_its_object():
    assert KEY not in repr(Key(KEY)) + str(Key(KEY)) + f"{vars(Endpoint('http://localhost', 'm', api_key=KEY))}"


def test_a_word_that_is_also_a_key_may_be_an_answer(server):
    server.script = [(200, {"choices": [{"message": {"content": "the set is EMPTY"}}]})]
    greedy, _ = Endpoint(server.url, "m", api_key="EMPTY").answer(Question("q", "why"), Plan(samples=0))
    assert greedy.text == "the set is EMPTY"


@pytest.mark.parametrize("url", ["http://10.1.2.3/v1", "http://models.example/v1", "http://[2001:db8::1]/v1"])
def test_a_key_over_plain_http_is_a_warning_that_names_the_server_alone(url):
    with pytest.warns(VecuqWarning, match="without encryption") as caught:
        Endpoint(url, "m", api_key=KEY)
    assert KEY not in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://models.example/v1", None),
        ("https://models.example/v1", KEY),
        ("http://localhost:8080/v1", KEY),
        ("http://model.localhost./v1", KEY),
        ("http://127.0.0.53/v1", KEY),
        ("http://[::1]:8080/v1", KEY),
    ],
)
def test_a_key_that_nobody_can_read_on_its_way_is_none(url, key):
    Endpoint(url, "m", api_key=key)


def test_the_note_about_plain_http_comes_before_the_first_request(server, write_questions, tmp_path, run, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setattr("vecuq.answers.asking.sending.is_open_to_others", lambda url: True)
    server.script = [(404, {"error": "no such model"})]
    words = ("ask", write_questions(1), "--url", server.url, "--model", "m", "-o", tmp_path / "a.jsonl")
    first, second = run(*words, "--api-key-env", "MY_KEY").stderr.splitlines()
    assert first.startswith("note: The key in --api-key-env goes to http://127.0.0.1")
    assert "no such model" in second


def choice(text="fine", piece="fine", finish="stop", value=-0.5):
    logprobs = {"content": [{"token": piece, "logprob": value}]}
    return {"message": {"content": text}, "logprobs": logprobs, "finish_reason": finish}


BAD = {
    "half a surrogate in the content": {"choices": [choice(text="\ud800")]},
    "half a surrogate in the finish reason": {"choices": [choice(finish="\ud83d")]},
    "NaN": {"choices": [choice(value=float("nan"))]},
    "a huge number": {"choices": [choice(value=10**4000)]},
    "wrong types": {"choices": [choice(piece=["a"])]},
    "choices that are none": {"choices": {"0": choice()}},
    "deep nesting": {"choices": [json.loads("[" * 900 + "]" * 900)]},
    "not JSON": b"<html>",
    "a list": b"[1]",
    "JSON that ends too early": b'{"choices": [',
    "nothing": b"",
    "nesting without end": b'{"choices": ' + b"[" * 200_000,
}


@pytest.mark.parametrize("reply", BAD.values(), ids=BAD)
def test_one_bad_reply_is_one_question_left_out_and_the_next_run_asks_it_again(
    server, write_questions, tmp_path, run, words, lines_of, reply
):
    questions, out = write_questions(3), tmp_path / "answers.jsonl"
    server.script = [(200, reply)]
    result = run(*words(questions, out, "--tries", 1))
    assert result.exit_code == 1
    note, error = result.stderr.splitlines()
    assert note.startswith("note: Question 'q0' was refused: ")
    assert error == "error: 1 of 3 questions were refused, see above; the same command tries only these again."
    assert [row["id"] for row in lines_of(out)] == ["q1", "q2"]
    assert run(*words(questions, out)).exit_code == 0
    assert sorted(row["id"] for row in lines_of(out)) == ["q0", "q1", "q2"]


WORDS = st.one_of(st.text(), st.text(alphabet="\ud800\udfffa\x00\n</s>"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
TOKENS = st.fixed_dictionaries(
    {}, optional={"token": WORDS | VALUES, "logprob": st.floats(max_value=0) | VALUES, "top_logprobs": VALUES}
)
CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "text": WORDS | VALUES,
        "message": st.fixed_dictionaries({"content": WORDS | VALUES}) | VALUES,
        "finish_reason": WORDS | VALUES,
        "logprobs": st.fixed_dictionaries({}, optional={"content": st.lists(TOKENS), "token_logprobs": VALUES})
        | VALUES,
    },
)


@settings(max_examples=50)
@given(reply=st.fixed_dictionaries({"choices": st.lists(CHOICES, max_size=3) | VALUES}) | VALUES)
def test_any_reply_is_answers_that_can_be_written_or_a_refused_question(reply):
    endpoint = Endpoint("http://localhost/v1", "m", tries=1)
    endpoint._sender._send = lambda request, timeout: io.BytesIO(json.dumps(reply).encode())
    try:
        greedy, samples = endpoint.answer(Question("q", "why"), Plan(samples=1))
    except RefusedQuestionError:
        pass
    else:
        AnswerRecord(id="q", greedy=greedy, samples=tuple(samples)).to_line().encode()


@pytest.mark.parametrize("depth", [300, 900])
def test_deep_fields_are_kept_or_refused_before_anything_is_sent(server, tmp_path, run, words, depth):
    questions = tmp_path / "questions.jsonl"
    deep = '{"a": ' * depth + "1" + "}" * depth
    questions.write_text('{"question": "why"}\n{"question": "how", "deep": ' + deep + "}\n")
    result = run(*words(questions, tmp_path / "answers.jsonl"))
    if result.exit_code == 0:
        assert len(list(read_answers(tmp_path / "answers.jsonl"))) == 2
    else:
        assert f"{questions}, line 2: its other fields cannot be kept beside the answers" in result.stderr
        assert server.requests == []


@pytest.mark.parametrize("option", ["--template", "--system", "--stop", "--model"])
def test_words_that_are_no_text_are_refused_before_anything_is_sent(
    server, write_questions, tmp_path, run, words, option
):
    given = "\udcff{question}"
    result = run(*words(write_questions(1), tmp_path / "answers.jsonl", option, given))
    assert result.exit_code in (1, 2)
    assert "unexpected" not in result.stderr
    assert server.requests == []


def test_an_answerer_whose_answers_cannot_be_written_loses_no_other_question(write_questions, tmp_path):
    from vecuq.answers import Answer
    from vecuq.workflows import ask

    class Odd:
        name = "odd"

        def answer(self, question, plan):
            return Answer.of("\ud800" if question.id == "q1" else "fine"), []

    done = ask(write_questions(3), tmp_path / "a.jsonl", Odd(), Plan(samples=0))
    assert (done.n_asked, list(done.refused)) == (2, ["q1"])
    assert "its answers cannot be written" in done.refused["q1"]


def test_an_answerer_whose_settings_cannot_be_written_is_refused_first(write_questions, tmp_path):
    from vecuq.workflows import ask

    class Odd:
        name, settings = "odd", {"model": object()}

    with pytest.raises(SettingError, match="name and settings cannot be written"):
        ask(write_questions(1), tmp_path / "a.jsonl", Odd(), Plan())

"""Replies of Ollama, whole and streamed."""

import gzip
import json

import pytest

from vecuq.answers import read_answers
from vecuq.answers.lines import LINE_BYTES, Entry
from vecuq.answers.ollama_chunks import whole_replies
from vecuq.errors import TableError


def row(token, logprob):
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


def chat(content, logprobs=None, done=True, **message):
    fields = {"model": "m", "message": {"role": "assistant", "content": content, **message}, "done": done}
    return {**fields, **({"done_reason": "stop"} if done else {}), **({"logprobs": logprobs} if logprobs else {})}


def test_chat_and_generate_are_read(only):
    answer = only(chat("Paris", [row("Paris", -0.5)])).greedy
    assert (answer.text, answer.logprobs, answer.finish) == ("Paris", (-0.5,), "stop")
    said = {"model": "m", "response": "Paris", "done": True, "done_reason": "length", "prompt": "Capital?"}
    record = only({**said, "logprobs": [row("Paris", -0.5)], "options": {"temperature": 1}})
    assert (record.question, record.model, record.samples[0].finish) == ("Capital?", "m", "length")


def test_the_log_probs_of_the_reasoning_are_not_those_of_the_answer(read):
    rows = [row("Paris", -3.0), row("?", -2.0), row("</think>", -1.0), row("Paris", -0.5)]
    (record,), notes = read(chat("Paris", rows, thinking="Paris?"))
    assert record.greedy.logprobs == (-0.5,)
    assert "reasoning" in notes


def test_a_tool_call_is_no_empty_answer(read):
    calls = [{"function": {"name": "weather", "arguments": {"city": "Paris"}}}]
    (record,), notes = read(chat("", [row("h", -0.5)], tool_calls=calls, thinking="h"))
    assert (record.greedy.text, record.greedy.finish) == ('weather({"city": "Paris"})', "tool_calls")
    assert record.greedy.logprobs is None
    assert "no log-probs of tool calls" in notes


def test_reasoning_alone_is_no_answer(only):
    with pytest.raises(TableError, match="reasoning alone"):
        only(chat("", thinking="Let me"))


def test_the_chunks_of_a_stream_become_one_answer(read):
    rows = [
        {**chat("Pa", [row("Pa", -0.5)], done=False), "id": "a"},
        chat("ris", [row("ris", -0.25)], done=False),
        {**chat("", None), "eval_count": 2},
        {**chat("Rome", [row("Rome", -1.0)]), "id": "b"},
    ]
    (first, second), _ = read(*rows)
    assert (first.id, first.greedy.text, first.greedy.logprobs) == ("a", "Paris", (-0.5, -0.25))
    assert first.greedy.finish == "stop"
    assert (second.id, second.greedy.text) == ("b", "Rome")


def test_streams_of_generate_join_their_texts_and_reasoning(read):
    pieces = [{"response": "", "thinking": "H"}, {"response": "", "thinking": "m"}, {"response": "x"}]
    rows = [{"model": "m", "done": False, **piece} for piece in pieces]
    (record,), _ = read(*rows, {"model": "m", "done": True, "response": "", "done_reason": "stop"})
    assert record.greedy.text == "x"


def test_two_streams_one_after_the_other_are_two_answers(read):
    rows = [chat("A", done=False), chat(""), chat("B", done=False), chat("")]
    records, _ = read(*rows)
    assert [one.greedy.text for one in records] == ["A", "B"]


@pytest.mark.parametrize("after", [[], [{"id": "z", "text": "other"}], [{**chat("B", done=False), "model": "other"}]])
def test_a_stream_without_its_end_is_refused_and_the_rest_is_read(write, after):
    reader = read_answers(write({**chat("good"), "id": "g"}, chat("A", done=False), *after))
    found = [record.greedy.text for record in reader]
    assert found == ["good", *(["other"] if "text" in (after or [{}])[0] else [])]
    assert '"done": true' in reader.problems[0]
    assert "line 2" in reader.problems[0]


def test_a_reply_of_another_id_does_not_go_on_with_a_stream_that_was_cut_off(write):
    reader = read_answers(write({**chat("x", done=False), "id": "cut"}, {**chat("Paris"), "id": "whole"}))
    assert [(record.id, record.greedy.text) for record in reader] == [("whole", "Paris")]
    assert reader.n_skipped == 1


def test_a_stream_in_a_file_that_is_torn_is_counted(tmp_path):
    lines = [json.dumps({**chat("good"), "id": "g"}), *[json.dumps(chat(f"{k}", done=False)) for k in range(2_000)]]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode())[:-50])
    reader = read_answers(path)
    assert [record.id for record in reader] == ["g"]
    assert reader.n_skipped == 2


def test_chunks_that_are_too_many_are_not_held():
    chunk = json.dumps({**chat("x" * 2**20, done=False)}).encode()
    entries = [Entry(k, f"line {k}", chunk) for k in range(1, 16)]
    end = Entry(16, "line 16", json.dumps(chat("")).encode())
    (found,) = whole_replies(iter([*entries, end]))
    assert (found.number, found.content) == (1, None)
    assert 15 * len(chunk) > LINE_BYTES


def test_other_lines_pass_as_they_are():
    entries = [Entry(1, "1", b'{"done": false}'), Entry(2, "2", b'not json "done": false'), Entry(3, "3", None)]
    assert list(whole_replies(iter(entries))) == entries

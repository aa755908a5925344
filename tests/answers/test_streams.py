"""Replies saved as streams are read as if they had come whole."""

import json
from contextlib import suppress

import pytest
from damage import altered, as_json
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vecuq.answers import LINE_BYTES, read_answers, streams
from vecuq.answers.streams import CUT_SHORT
from vecuq.errors import TableError


def chunk(piece=None, *, name="chatcmpl-1", index=0, finish=None, **delta):
    logprobs = None if piece is None else {"content": [{"token": piece, "logprob": -0.5, "top_logprobs": []}]}
    said = {"content": piece, **delta} if piece is not None else delta
    choice = {"index": index, "delta": said, "logprobs": logprobs, "finish_reason": finish}
    return {"id": name, "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def usage(name="chatcmpl-1"):
    return {"id": name, "object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 3}}


def answer(*pieces, name="chatcmpl-1"):
    return [
        chunk(role="assistant", name=name),
        *(chunk(one, name=name) for one in pieces),
        chunk(finish="stop", name=name),
    ]


def sse(*events, done=True):
    lines = [
        f"event: {event['type']}\ndata: {json.dumps(event)}\n" if "type" in event else f"data: {json.dumps(event)}\n"
        for event in events
    ]
    return "\n".join([": keep-alive", *lines, *(["data: [DONE]"] if done else [])])


def read(path, **options):
    reader = read_answers(path, **options)
    return list(reader), reader


def whole(path):
    records, reader = read(path, strict=True)
    assert reader.notes == []
    return [(record.id, record.greedy.text, record.greedy.logprobs, record.greedy.finish) for record in records]


PARIS = ("1", "Paris", (-0.5, -0.5), "stop")


def test_server_sent_events_and_lines_of_chunks_give_the_same_reply(write):
    events = [*answer("Par", "is"), usage()]
    assert whole(write(sse(*events))) == [PARIS]
    assert whole(write(*events)) == [PARIS]
    assert whole(write(json.dumps(events), name="chunks.json")) == [PARIS]
    assert whole(write(sse(*events), name="a.txt.gz")) == [PARIS]


def test_replies_follow_each_other_and_may_be_mixed(write):
    first, second = answer("Par", "is"), answer("Rome", name="chatcmpl-2")
    rome = ("2", "Rome", (-0.5,), "stop")
    assert whole(write(sse(*first) + "\n\n" + sse(*second))) == [PARIS, rome]
    assert whole(write(*first, *second)) == [PARIS, rome]
    assert whole(write(first[0], second[0], *first[1:3], *second[1:], first[3])) == [PARIS, rome]


def test_several_choices_are_kept_apart_by_their_index(write):
    events = [chunk("a"), chunk("b", index=1), chunk("A", index=0), chunk(finish="stop", index=1), chunk(finish="stop")]
    (record,), _ = read(write(sse(*events)))
    assert [(sample.text, sample.logprobs) for sample in record.samples] == [("aA", (-0.5, -0.5)), ("b", (-0.5,))]


def test_pieces_of_reasoning_refusals_and_calls_come_together(write):
    call = {"index": 0, "function": {"name": "f", "arguments": ""}}
    more = {"index": 0, "function": {"arguments": '{"a":'}}
    rest = {"index": 0, "function": {"arguments": " 1}"}}
    calls = [chunk(tool_calls=[one]) for one in (call, more, rest)]
    thoughts = [chunk(reasoning_content=one, name="chatcmpl-2") for one in ("Hm", ".")]
    refusal = [chunk(refusal=one, name="chatcmpl-3") for one in ("No", ".")]
    path = write(
        *calls,
        chunk(finish="tool_calls"),
        *thoughts,
        *answer("Paris", name="chatcmpl-2")[1:],
        *refusal,
        chunk(finish="stop", name="chatcmpl-3"),
    )
    records, _ = read(path, strict=True)
    assert [(one.greedy.text, one.greedy.finish) for one in records] == [
        ('f({"a": 1})', "tool_calls"),
        ("Paris", "stop"),
        ("No.", "refusal"),
    ]


def test_older_completions_are_put_together_too(write):
    def piece(text, finish=None):
        logprobs = {"tokens": [text], "token_logprobs": [-0.5], "top_logprobs": None}
        choice = {"index": 0, "text": text, "logprobs": logprobs, "finish_reason": finish}
        return {"id": "cmpl-1", "object": "text_completion", "choices": [choice]}

    assert whole(write(sse(piece("Par"), piece("is", "stop")))) == [PARIS]
    assert whole(write(piece("Par"), piece("is", "stop"))) == [PARIS]
    assert whole(write(piece("Paris", "stop"))) == [("1", "Paris", (-0.5,), "stop")]


@pytest.mark.parametrize("as_events", [True, False])
def test_a_stream_that_is_cut_short_gives_what_came_and_a_note(write, as_events):
    events = answer("Par", "is")[:-1]
    records, reader = read(write(sse(*events, done=False)) if as_events else write(*events))
    assert [(one.greedy.text, one.greedy.finish, one.greedy.logprobs) for one in records] == [
        ("Paris", None, (-0.5, -0.5))
    ]
    assert reader.notes == [f"1 answer: {CUT_SHORT}"]


def deltas(*pieces):
    row = {"type": "response.output_text.delta", "output_index": 0, "content_index": 0}
    return [{**row, "delta": one, "logprobs": [{"token": one, "logprob": -0.5, "top_logprobs": []}]} for one in pieces]


def response_events(*pieces, with_logprobs=True, status="completed"):
    rows = [row for one in deltas(*pieces) for row in one["logprobs"]] if with_logprobs else []
    content = [{"type": "output_text", "text": "".join(pieces), "logprobs": rows}]
    head = {"id": "resp_1", "object": "response", "model": "m"}
    done = {**head, "status": status, "output": [{"type": "message", "content": content}]}
    return [
        {"type": "response.created", "response": {**head, "status": "in_progress", "output": []}},
        *deltas(*pieces),
        {"type": f"response.{status}", "response": done},
    ]


@pytest.mark.parametrize("with_logprobs", [True, False])
def test_events_of_the_responses_api_give_its_reply(write, with_logprobs):
    events = response_events("Par", "is", with_logprobs=with_logprobs)
    assert whole(write(sse(*events, done=False))) == [PARIS]
    assert whole(write(*events)) == [PARIS]
    twice = whole(write(*events, *response_events("Rome")))
    assert twice == [PARIS, ("2", "Rome", (-0.5,), "stop")]


def test_events_of_the_responses_api_that_are_cut_short_give_what_came(write):
    call = {"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "name": "f"}}
    pieces = {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{}"}
    records, reader = read(write(*response_events("Par", "is")[:-1]))
    assert [(one.greedy.text, one.greedy.finish, one.greedy.logprobs) for one in records] == [
        ("Paris", None, (-0.5, -0.5))
    ]
    assert reader.notes == [f"1 answer: {CUT_SHORT}"]
    records, _ = read(write(call, pieces))
    assert records[0].greedy.text == "f()"


def test_a_response_that_never_ended_is_not_mixed_with_the_next(write):
    records, reader = read(write(*response_events("Par")[:-1], *response_events("Rome")))
    assert [record.greedy.text for record in records] == ["Par", "Rome"]
    assert reader.notes == [f"1 answer: {CUT_SHORT}"]


def test_a_stream_that_failed_is_reported_in_the_words_of_the_server(write):
    failed = {"type": "response.failed", "response": {"object": "response", "error": {"code": "x", "message": "busy"}}}
    with pytest.raises(TableError, match=r"the server returned an error \(x\): busy"):
        read(write(failed), strict=True)
    with pytest.raises(TableError, match=r"the server returned an error: overloaded"):
        read(write("data: " + json.dumps({"choices": [], "error": {"message": "overloaded"}})), strict=True)


def test_what_is_no_event_goes_through_as_it_is(write):
    ours = {"vecuq_answers": 1, "id": "a", "greedy": {"text": 'see "response.completed" and "text_completion"'}}
    assert [record.greedy.text for record in read(write(ours))[0]] == [ours["greedy"]["text"]]
    _, reader = read(write("data: {broken", json.dumps(ours)))
    assert "line 1: not valid JSON" in reader.problems[0]


def test_a_reply_longer_than_a_line_may_be_is_left_out_whole(write, monkeypatch):
    monkeypatch.setattr(streams, "LINE_BYTES", 2_000)
    long, short = answer(*["x" * 100] * 30), answer("Par", "is", name="chatcmpl-2")
    records, reader = read(write(sse(*long) + "\n" + sse(*short)))
    assert [record.greedy.text for record in records] == ["Paris"]
    assert reader.problems[0].endswith(f"longer than {LINE_BYTES:,} bytes, the limit of one line or entry.")
    assert reader.n_skipped == 1


def test_of_a_torn_file_what_came_of_a_stream_is_read(write):
    path = write(*answer(*(f"{k} " for k in range(3_000))), name="a.jsonl.gz")
    path.write_bytes(path.read_bytes()[:-500])
    records, reader = read(path)
    assert records[0].greedy.text.startswith("0 1 2")
    assert CUT_SHORT in reader.notes[0]
    assert "cannot be read" in reader.problems[0]


def piece(text, finish=None, *, name="r1", **more):
    token = {"chosenCandidates": [{"token": text, "logProbability": -0.5}]}
    candidate = {"content": {"parts": [{"text": text}], "role": "model"}, "index": 0, "logprobsResult": token}
    ending = {} if finish is None else {"finishReason": finish, "avgLogprobs": -3.0, "tokenCount": 1}
    return {
        "candidates": [{**candidate, **ending}],
        "modelVersion": "g",
        **({"responseId": name} if name else {}),
        **more,
    }


def test_pieces_of_gemini_give_its_reply(write):
    events = [piece("Par"), piece("is", "STOP")]
    assert whole(write(sse(*events, done=False))) == [PARIS]
    assert whole(write(*events)) == [PARIS]
    assert whole(write(json.dumps(events), name="pieces.json")) == [PARIS]
    assert whole(write(sse(piece("Par", name=None), piece("is", "STOP", name=None), done=False))) == [PARIS]
    usage = {"usageMetadata": {"totalTokenCount": 3}, "responseId": "r1"}
    rome = ("2", "Rome", (-0.5,), "stop")
    assert whole(write(*events, usage, piece("Rome", "STOP", name="r2"))) == [PARIS, rome]


def test_pieces_as_the_package_of_gemini_dumps_them_are_put_together_too(write):
    def dumped(text, finish):
        return {"candidates": [{"content": {"parts": [{"text": text}]}, "finish_reason": finish}], "response_id": "r1"}

    assert whole(write(dumped("Par", None), dumped("is", "STOP"))) == [("1", "Paris", None, "stop")]


def test_pieces_of_gemini_without_their_last_give_what_came_and_a_note(write):
    records, reader = read(write(piece("Par"), piece("is")))
    assert [(one.greedy.text, one.greedy.finish) for one in records] == [("Paris", None)]
    assert reader.notes == [f"1 answer: {CUT_SHORT}"]


def test_candidates_of_gemini_are_kept_apart_by_their_index(write):
    def both(*texts, finish=None):
        ending = {} if finish is None else {"finishReason": finish}
        listed = [{"content": {"parts": [{"text": one}]}, "index": k, **ending} for k, one in enumerate(texts)]
        return {"candidates": listed, "responseId": "r1"}

    (record,), _ = read(write(both("Par", "Ro"), both("is", "me", finish="STOP")), strict=True)
    assert [sample.text for sample in record.samples] == ["Paris", "Rome"]


def message_events(*deltas, stop="end_turn"):
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "c", "content": [], "stop_reason": None}
    blocks = {"text_delta": {"type": "text", "text": ""}, "thinking_delta": {"type": "thinking", "thinking": ""}}
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    found = [{"type": "message_start", "message": head}, {"type": "ping"}]
    for place, (kind, pieces) in enumerate(deltas):
        name = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}[kind]
        found.append({"type": "content_block_start", "index": place, "content_block": blocks.get(kind, call)})
        found += [{"type": "content_block_delta", "index": place, "delta": {"type": kind, name: one}} for one in pieces]
        found.append({"type": "content_block_stop", "index": place})
    return [*found, {"type": "message_delta", "delta": {"stop_reason": stop}}, {"type": "message_stop"}]


def test_events_of_anthropic_give_its_message(write):
    events = message_events(("thinking_delta", ["H", "m"]), ("text_delta", ["Par", "is"]))
    for path in (write(sse(*events, done=False)), write(*events)):
        records, reader = read(path, strict=True)
        assert [(one.greedy.text, one.greedy.finish, one.model) for one in records] == [("Paris", "stop", "c")]
        assert CUT_SHORT not in " ".join(reader.notes)
    again = message_events(("text_delta", ["Rome"]))
    records, _ = read(write(sse(*events, *again, done=False)), strict=True)
    assert [one.greedy.text for one in records] == ["Paris", "Rome"]


def test_a_call_of_a_tool_in_events_of_anthropic_has_its_arguments(write):
    events = message_events(("input_json_delta", ['{"b": 1,', ' "a": 2}']), stop="tool_use")
    (record,), _ = read(write(*events), strict=True)
    assert (record.greedy.text, record.greedy.finish) == ('f({"a": 2, "b": 1})', "tool_calls")


def test_events_of_anthropic_that_are_cut_short_give_what_came_and_a_note(write):
    records, reader = read(write(sse(*message_events(("text_delta", ["Par", "is"]))[:-3], done=False)))
    assert [(one.greedy.text, one.greedy.finish) for one in records] == [("Paris", None)]
    assert f"1 answer: {CUT_SHORT}" in reader.notes


def test_the_data_of_an_event_may_be_spread_over_several_lines(write):
    events = [json.dumps(one, indent=1).replace("\n", "\ndata: ") for one in answer("Par", "is", "{")]
    assert whole(write("\n\n".join(f"data: {one}" for one in events))) == [("1", "Paris{", (-0.5,) * 3, "stop")]


def test_a_line_of_data_that_is_cut_does_not_take_the_next_with_it(write):
    lines = [f"data: {json.dumps(one)}" for one in answer("Par", "is")]
    records, reader = read(write("\n".join([lines[0], "data: {", *lines[1:]])))
    assert [record.greedy.text for record in records] == ["Paris"]
    assert "line 2: not valid JSON" in reader.problems[0]


@pytest.mark.parametrize(
    "event",
    [
        chunk(content=5),
        chunk("is", index=-1),
        {**chunk(), "choices": [{"delta": 5}]},
        {**chunk(), "choices": [{"delta": {}, "logprobs": {"content": 5}}]},
    ],
)
def test_an_event_that_makes_no_sense_spoils_its_reply_and_no_other(write, event):
    first, second = answer("Par", "is"), answer("Rome", name="chatcmpl-2")
    records, reader = read(write(first[0], event, *first[1:], *second))
    assert [record.greedy.text for record in records] == ["Rome"]
    assert "an event of a stream cannot be read" in reader.problems[0]
    assert reader.n_skipped == 1


def test_a_whole_reply_and_a_streamed_one_are_two_questions(write):
    rome = {"choices": [{"message": {"content": "Rome"}, "finish_reason": "stop"}]}
    assert [one[:2] for one in whole(write(rome, *answer("Par", "is"), rome))] == [
        ("1", "Rome"),
        ("2", "Paris"),
        ("3", "Rome"),
    ]


WHOLE = [*answer("Par", "is"), *response_events("Rome"), *message_events(("text_delta", ["Lyon"])), piece("Nice")]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_events_in_any_order_with_odd_values_are_read_or_refused(write, data):
    events = data.draw(st.lists(st.sampled_from(WHOLE), min_size=1, max_size=8))
    place = data.draw(st.integers(0, len(events) - 1))
    events[place] = data.draw(altered(events[place]))
    with suppress(TableError):
        for record in read_answers(write(*(as_json(event).decode() for event in events))):
            assert record.greedy is not None or record.samples

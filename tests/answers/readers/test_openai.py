"""Chat completions, completions and batches as they really come."""

import pytest

from vecuq.answers import read_answers
from vecuq.answers.alignment import HIDDEN, NOT_OF_THE_TEXT
from vecuq.answers.readers.rows import FROM_TOP
from vecuq.errors import TableError
from vecuq.measures.text import measure_answer


def rows(*pieces, value=-0.5):
    return [{"token": piece, "logprob": value, "bytes": None, "top_logprobs": []} for piece in pieces]


def choice(message, *, logprobs=None, finish="stop"):
    return {"index": 0, "message": {"role": "assistant", **message}, "logprobs": logprobs, "finish_reason": finish}


def batch(name, *choices, status=200, **body):
    reply = {"id": "chatcmpl-1", "object": "chat.completion", "choices": list(choices), **body}
    return {"id": f"batch_req_{name}", "custom_id": name, "response": {"status_code": status, "body": reply}}


def asked(name, question, **settings):
    body = {"model": "m", "messages": [{"role": "user", "content": question}], **settings}
    return {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}


def read(*paths, **options):
    reader = read_answers(list(paths), **options)
    return list(reader), reader


def only(path):
    (record,), reader = read(path, strict=True)
    return record, reader.notes


def test_content_in_parts_is_the_text_of_its_parts_without_reasoning(write):
    parts = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Par"}, {"type": "text", "text": "is"}]
    record, notes = only(write(batch("a", choice({"content": parts}, logprobs={"content": rows("Par", "is")}))))
    assert (record.greedy.text, record.greedy.logprobs, notes) == ("Paris", (-0.5, -0.5), [])


def test_a_part_that_is_no_text_is_named(write):
    with pytest.raises(TableError, match="has a part of 'image_url'; only texts can be compared"):
        read(write(batch("a", choice({"content": [{"type": "image_url"}]}))), strict=True)


def test_a_refusal_is_an_answer_of_its_own_kind_with_its_own_log_probs(write):
    said = choice({"content": None, "refusal": "I can't."}, logprobs={"content": None, "refusal": rows("I", " can't.")})
    record, notes = only(write(batch("a", said)))
    assert (record.greedy.text, record.greedy.finish, record.greedy.logprobs) == ("I can't.", "refusal", (-0.5, -0.5))
    assert notes == []


def test_the_same_call_of_a_tool_has_the_same_text_however_it_is_written(write):
    def calls(arguments):
        called = [{"id": "c", "type": "function", "function": {"name": "weather", "arguments": arguments}}]
        return choice({"content": None, "tool_calls": called}, finish="tool_calls")

    spelt = ['{"city":"Oslo","unit":"C"}', '{ "unit": "C", "city": "Oslo" }', "not JSON "]
    record, _ = only(write(batch("a", *map(calls, spelt))))
    assert [sample.text for sample in record.samples] == [
        *['weather({"city": "Oslo", "unit": "C"})'] * 2,
        "weather(not JSON)",
    ]
    assert {sample.finish for sample in record.samples} == {"tool_calls"}
    assert record.samples[0].logprobs is None


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_log_probs_of_the_reasoning_are_never_counted_in(write, field):
    pieces = ["It", " is", " Paris", ".", "Paris"]
    logprobs = {"content": [*rows(*pieces[:4], value=-3.0), *rows("Paris", value=-0.25)]}
    record, notes = only(write(batch("a", choice({"content": "Paris", field: "It is Paris."}, logprobs=logprobs))))
    assert (record.greedy.tokens, record.greedy.logprobs) == (("Paris",), (-0.25,))
    assert notes == [f"1 answer: {HIDDEN}"]
    assert measure_answer(record, ["msp"]).values["msp"] == pytest.approx(0.25)


def test_tokens_of_the_reasoning_alone_leave_an_answer_without_log_probs(write):
    said = {"content": "Paris", "reasoning_content": "It is Paris"}
    lines = [batch(str(k), choice(said, logprobs={"content": rows("It", " is", " Paris")})) for k in range(3)]
    records, reader = read(write(*lines))
    assert [record.greedy.logprobs for record in records] == [None] * 3
    assert reader.notes == [f"3 answers: {NOT_OF_THE_TEXT}"]


def test_a_value_that_litellm_lost_is_taken_from_the_most_likely_tokens(write):
    top = [{"token": "Paris", "logprob": -0.1}, {"token": "X", "logprob": -9999.0}]
    row = {"token": "Paris", "logprob": -9999.0, "bytes": None, "top_logprobs": top}
    record, notes = only(write({"choices": [choice({"content": "Paris"}, logprobs={"content": [row]})]}))
    assert (record.greedy.logprobs, notes) == ((-0.1,), [f"1 answer: {FROM_TOP}"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (batch("a", status=400, error={"message": "too long"}), "(400): too long."),
        ({**batch("a"), "response": None, "error": {"code": "expired", "message": "late."}}, "(expired): late."),
        ({"choices": None, "error": {"message": "no quota", "code": 429}}, "(429): no quota."),
        ({"custom_id": "a", "response": {"status_code": 500, "body": "<html>"}}, "(500)."),
    ],
)
def test_an_error_is_reported_in_the_words_of_the_server(write, line, words):
    good = batch("b", choice({"content": "x"}))
    path = write(line, good)
    records, reader = read(path)
    assert [record.id for record in records] == ["b"]
    assert reader.problems == [f"{path}, line 1: the server returned an error {words}"]


@pytest.mark.parametrize("first", ["input", "output"])
def test_the_input_of_a_batch_brings_questions_and_temperatures_to_its_output(write, first):
    output = write(batch("b", choice({"content": "4"})), batch("a", choice({"content": "Paris"})))
    requests = [asked("a", "Capital of France?", temperature=0), asked("b", "2 + 2?", temperature=1), asked("c", "?")]
    given = write(*requests, name="input.jsonl")
    records, reader = read(*([given, output] if first == "input" else [output, given]), strict=True)
    found = {
        record.id: (record.question, record.greedy and record.greedy.text, len(record.samples)) for record in records
    }
    assert found == {"a": ("Capital of France?", "Paris", 0), "b": ("2 + 2?", None, 1)}
    assert reader.notes[0] == "1 question without an answer in these files left out."


def test_requests_alone_are_no_answers(write):
    with pytest.raises(TableError, match="hold requests alone; give the file of the replies too"):
        read(write(asked("a", "?")))


def completion(*texts, request=None, order=None):
    choices = [{"index": k, "text": text, "logprobs": None, "finish_reason": "stop"} for k, text in enumerate(texts)]
    return {
        "custom_id": "a",
        **({} if request is None else {"request": request}),
        "response": {"object": "text_completion", "choices": [choices[k] for k in order or range(len(choices))]},
    }


@pytest.mark.parametrize("settings", [{"n": 2}, {}])
def test_several_prompts_are_several_questions_and_never_samples(write, settings):
    request = {"prompt": ["Q1?", "Q2?"], "temperature": 1, **settings}
    records, _ = read(write(completion("A", "B", "C", "D", request=request, order=[3, 0, 2, 1])))
    found = [(record.id, record.question, [one.text for one in record.samples]) for record in records]
    assert found == [("a#1", "Q1?", ["A", "B"]), ("a#2", "Q2?", ["C", "D"])]


def test_greedy_and_sampled_answers_to_several_prompts_meet(write):
    greedy = write(completion("A", "C", request={"prompt": ["Q1?", "Q2?"], "temperature": 0}))
    sampled = write(completion(*"abcd", request={"prompt": ["Q1?", "Q2?"], "n": 2, "temperature": 1}), name="s.jsonl")
    records, _ = read(greedy, sampled)
    assert [(one.id, one.greedy.text, len(one.samples)) for one in records] == [("a#1", "A", 2), ("a#2", "C", 2)]


def test_choices_that_cannot_be_divided_among_the_prompts_are_refused(write):
    for settings, words in (({"n": 3}, "4 choices for 2 prompts; 3 each"), ({}, "3 choices for 2 prompts; 1 each")):
        texts = "abcd" if settings else "abc"
        with pytest.raises(TableError, match=words):
            read(write(completion(*texts, request={"prompt": ["Q1?", "Q2?"], **settings})), strict=True)


def test_several_prompts_of_a_batch_input_split_its_output(write):
    body = {"prompt": ["Q1?", "Q2?"], "n": 2, "temperature": 1}
    given = write({"custom_id": "a", "method": "POST", "url": "/v1/completions", "body": body}, name="input.jsonl")
    records, _ = read(write(completion(*"abcd")), given, strict=True)
    found = [(record.id, record.question, [one.text for one in record.samples]) for record in records]
    assert found == [("a#1", "Q1?", ["a", "b"]), ("a#2", "Q2?", ["c", "d"])]


def test_without_the_request_several_choices_are_samples(write):
    record, _ = only(write(completion("A", "B")))
    assert [one.text for one in record.samples] == ["A", "B"]


def test_a_question_in_parts_is_its_text_and_one_with_an_image_is_none(write):
    text, image = {"type": "text", "text": "Which city?"}, {"type": "image_url", "image_url": {}}
    request = asked("a", [text]), asked("b", [text, image])
    output = write(*(batch(name, choice({"content": "x"})) for name in "ab"))
    records, _ = read(output, write(*request, name="input.jsonl"))
    assert [record.question for record in records] == ["Which city?", None]

"""Several replies in one line, or in one list."""

import json

import pytest

from vecuq.answers import read_answers, record_of
from vecuq.errors import TableError


def sglang(text, *, size=5, **more):
    info = {"id": text, "finish_reason": {"type": "stop"}, "prompt_tokens": size}
    return {"text": text, "meta_info": {**info, "output_token_logprobs": [[-0.5, 3, text]]}, **more}


def tgi(text, *, seed=7):
    token = {"id": 1, "text": text, "logprob": -0.5, "special": False}
    return {"generated_text": text, "details": {"finish_reason": "length", "seed": seed, "tokens": [token]}}


def samples(record):
    return [(one.text, one.logprobs) for one in record.samples]


BOTH = [("Paris", (-0.5,)), ("Lyon", (-0.5,))]


@pytest.mark.parametrize("reply", [sglang, tgi])
def test_the_list_that_a_server_returns_on_a_line_is_samples_with_log_probs(write, reply):
    path = write(json.dumps([reply("Paris"), reply("Lyon")]), json.dumps([reply("Rome")]))
    first, second = read_answers(path, strict=True)
    assert samples(first) == BOTH
    assert (second.greedy or second.samples[0]).text == "Rome"


def test_replies_to_prompts_of_other_lengths_are_no_samples(write):
    path = write(json.dumps([sglang("Paris"), sglang("Rome", size=6)]))
    with pytest.raises(TableError, match="answer several prompts"):
        list(read_answers(path, strict=True))


def test_replies_that_have_their_questions_are_kept_apart(write):
    first, second = sglang("Paris", question="France?"), sglang("Rome", question="Italy?")
    for path in (write(json.dumps([first, second])), write(json.dumps([first, second]), name="a.json")):
        found = [(one.question, one.greedy.text) for one in read_answers(path, strict=True)]
        assert found == [("France?", "Paris"), ("Italy?", "Rome")]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_of_replies_without_prompts_is_refused_and_never_single_answers(write, indent):
    path = write(json.dumps([sglang("Paris"), sglang("Lyon"), sglang("Paris")], indent=indent), name="a.json")
    with pytest.raises(TableError, match="may be samples of one question or answers to several"):
        list(read_answers(path))
    (record,) = read_answers(write(json.dumps([sglang("Paris")], indent=indent), name="b.json"), strict=True)
    assert record.greedy.logprobs == (-0.5,)


def test_other_lists_on_a_line_are_refused(write):
    for line in ([], [1], [{"role": "user", "content": "q"}], [sglang("a"), {"b": 1}]):
        with pytest.raises(TableError, match="a JSON object was expected, not a list"):
            list(read_answers(write(json.dumps(line)), strict=True))


def test_a_torn_list_keeps_what_came_before(write):
    text = json.dumps([sglang("Paris"), sglang("Lyon")], indent=1)
    reader = read_answers(write(text[: text.index("Lyon")], name="a.json"))
    assert [record.greedy.text for record in reader] == ["Paris"]
    assert "not closed" in reader.problems[0]


def chat(text):
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}


def claude(text):
    return {"type": "message", "role": "assistant", "content": [{"type": "text", "text": text}]}


@pytest.mark.parametrize("reply", [chat, claude, sglang])
@pytest.mark.parametrize("question", [{"question": "Capital?"}, {"id": "q7"}, {"question": "Capital?", "id": "q7"}])
def test_samples_that_a_log_has_beside_its_response_are_samples(write, reply, question):
    line = {**question, "response": reply("Paris"), "samples": [reply("Paris"), reply("Lyon")], "ok": True}
    (record,) = read_answers(write(json.dumps(line)), strict=True)
    assert record.greedy.text == "Paris"
    assert [one.text for one in record.samples] == ["Paris", "Lyon"]
    assert record.meta["ok"] is True


def test_a_log_without_ids_and_questions_keeps_its_samples_apart(write):
    lines = [json.dumps({"response": chat(one), "samples": [one, "Rome"]}) for one in ("Paris", "Lyon")]
    found = list(read_answers(write(*lines), strict=True))
    assert [(one.greedy.text, [each.text for each in one.samples]) for one in found] == [
        ("Paris", ["Paris", "Rome"]),
        ("Lyon", ["Lyon", "Rome"]),
    ]


def test_an_error_among_the_samples_is_left_out_and_reported(write):
    line = {
        "question": "Capital?",
        "response": chat("Paris"),
        "samples": [chat("Paris"), {"error": {"message": "busy"}}],
    }
    reader = read_answers(write(json.dumps(line)), strict=True)
    (record,) = reader
    assert [one.text for one in record.samples] == ["Paris"]
    assert "A sample was left out: the server returned an error: busy." in " ".join(reader.notes)


def test_samples_beside_several_answers_are_refused(write):
    line = {"question": "Capital?", "response": {"choices": chat("Paris")["choices"] * 2}, "samples": ["Lyon"]}
    with pytest.raises(TableError, match="`samples` beside 2 answers"):
        list(read_answers(write(json.dumps(line)), strict=True))


def test_a_line_of_a_log_is_read_in_memory_as_from_a_file(write):
    line = {"id": "q7", "question": "Capital?", "response": chat("Paris"), "samples": [chat("Paris"), chat("Lyon")]}
    (from_file,) = read_answers(write(json.dumps(line)), strict=True)
    held = record_of(line)
    assert (held.greedy, held.samples, held.question) == (from_file.greedy, from_file.samples, from_file.question)

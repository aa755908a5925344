"""A reply in memory gives the record that its file would give."""

import dataclasses
import json

import pydantic
import pytest

from good_answers import LINES, good_line
from vecuq.answers import Answer, AnswerRecord, read_answers, record_of
from vecuq.answers.alignment import HIDDEN
from vecuq.errors import TableError


def reply(*texts, value=-0.5):
    def choice(index, text):
        rows = [{"token": text, "logprob": value, "bytes": None, "top_logprobs": []}]
        said = {"role": "assistant", "content": text}
        return {"index": index, "message": said, "logprobs": {"content": rows}, "finish_reason": "stop"}

    choices = [choice(*pair) for pair in enumerate(texts)]
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": choices}


class Completion(pydantic.BaseModel):
    id: str
    object: str
    model: str
    choices: list[dict]


class WithToDict:
    def __init__(self, fields):
        self._fields = fields

    def to_dict(self):
        return self._fields


@dataclasses.dataclass
class Dumped:
    outputs: list
    prompt: str


def texts(record):
    return record.greedy and record.greedy.text, [sample.text for sample in record.samples]


SINGLE = [
    (kind, place)
    for kind, lines in LINES.items()
    for place, line in enumerate(lines)
    if "body" not in line and "prompt" not in line.get("request", {})
]


@pytest.mark.parametrize(("kind", "place"), SINGLE)
def test_every_format_gives_the_same_answers_in_memory_as_in_a_file(write, kind, place):
    line = good_line(kind, "a", place)
    (of_file,) = read_answers(write(line), strict=True)
    of_memory = record_of(line)
    one = of_file.greedy or of_file.samples[0]
    assert (of_memory.greedy or of_memory.samples[0]) == one
    assert len(of_memory.samples) == len(of_file.samples) - (of_file.greedy is None and len(of_file.samples) == 1)
    assert of_memory.question == of_file.question


@pytest.mark.parametrize(
    "wrap", [dict, lambda one: Completion(**one), WithToDict, lambda one: {"response": Completion(**one)}]
)
def test_objects_and_mappings_are_the_same(wrap):
    record = record_of(wrap(reply("Paris")), samples=[wrap(reply("Lyon")), "Nice", reply("Paris")])
    assert texts(record) == ("Paris", ["Lyon", "Nice", "Paris"])
    assert record.greedy.logprobs == record.samples[0].logprobs == (-0.5,)
    assert record.samples[1].logprobs is None


def test_samples_may_be_one_reply_with_several_choices():
    assert texts(record_of("Paris", samples=Completion(**reply("Paris", "Lyon")))) == ("Paris", ["Paris", "Lyon"])


def test_several_choices_without_samples_are_samples():
    assert texts(record_of(reply("Paris", "Lyon"))) == (None, ["Paris", "Lyon"])


def test_samples_alone_need_no_reply():
    assert texts(record_of(None, samples=["Paris", "Lyon"])) == (None, ["Paris", "Lyon"])


def test_the_reply_is_the_answer_whatever_its_temperature():
    assert texts(record_of({**reply("Paris"), "temperature": 1.0}, samples=["Lyon"])) == ("Paris", ["Lyon"])


def test_a_dataclass_is_read_by_its_fields():
    record = record_of(Dumped(outputs=[{"text": " Paris", "finish_reason": "stop"}], prompt="Capital?"))
    assert (texts(record), record.question) == (("Paris", []), "Capital?")


def test_our_own_mappings_and_records_stay_as_they_are():
    given = {"text": "Paris", "logprobs": [-0.5, -0.1], "n_end": 1, "samples": ["Lyon"], "p_true": 0.9}
    record = record_of(given, id="q")
    assert (record.id, texts(record), record.greedy.n_end, record.p_true) == ("q", ("Paris", ["Lyon"]), 1, 0.9)
    assert record_of(record) == record
    line = json.loads(AnswerRecord(id="a", greedy=Answer(text="x")).to_line())
    assert texts(record_of(line, samples=[Answer(text="y")])) == ("x", ["y"])


def test_question_references_and_id_override_what_the_reply_says():
    given = {"id": "a", "question": "q", "references": ["r"], **{"choices": reply("x")["choices"]}}
    assert (record_of(given).question, record_of(given).references, record_of(given).id) == ("q", ("r",), "a")
    record = record_of(given, question="Q", references=["R"], id="A")
    assert (record.question, record.references, record.id) == ("Q", ("R",), "A")


def test_what_was_decided_is_kept_beside_the_answer():
    thinking = reply("Paris")
    hidden = [{"token": "Hm", "logprob": -3.0}, *thinking["choices"][0]["logprobs"]["content"]]
    thinking["choices"][0]["logprobs"]["content"] = hidden
    record = record_of(thinking, samples=[thinking])
    assert record.greedy.logprobs == (-0.5,)
    assert record.meta["notes"] == [HIDDEN]


@pytest.mark.parametrize(
    ("given", "samples", "words"),
    [
        (7, (), r"`reply` cannot be read: it must be a text, a mapping .* or None; got int"),
        (["Paris"], (), "got list"),
        ({"a": 1}, (), "`reply` cannot be read: no known kind of answers"),
        ({"choices": None}, (), "`reply` cannot be read: choices must be a list; got None"),
        ({"error": {"message": "busy"}, "choices": []}, (), "the server returned an error: busy"),
        (LINES["openai"][3], (), "it answers 2 questions"),
        ({"custom_id": "a", "body": {"messages": []}}, (), "it is a request, without an answer"),
        (reply("a", "b"), ["c"], "`reply` has 2 answers; beside `samples` it must be one"),
        ({"text": "x", "samples": ["y"]}, ["z"], "`reply` holds samples already"),
        ("x", "y", "`samples` must be a list of texts or replies; got one text"),
        ("x", [None], "`samples` must not hold None"),
        ("x", [3], "`samples` cannot be read: it must be a text, a mapping or an object"),
        ("x", [{"choices": [3]}], "`samples` cannot be read: a choice must be a JSON object"),
        ({"vecuq_answers": 1, "id": 3}, (), "`reply` cannot be read: id: "),
        (Completion, (), "got ModelMetaclass"),
    ],
)
def test_what_cannot_be_read_is_said_in_the_words_of_python(given, samples, words):
    with pytest.raises(TableError, match=words):
        record_of(given, samples=samples)


def test_an_id_must_be_a_text():
    with pytest.raises(TableError, match="`id` must be a text; got int"):
        record_of("x", id=3)

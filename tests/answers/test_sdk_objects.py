"""Replies as the packages of providers hold them: small classes with the fields that were seen in theirs."""

import enum
import json

import pydantic
import pytest

from vecuq.answers import read_answers, record_of


class Block(pydantic.BaseModel):
    """A block of Anthropic's package, which has one class per type."""

    type: str
    text: str | None = None
    thinking: str | None = None
    citations: list | None = None


class Message(pydantic.BaseModel):
    id: str = "msg_1"
    type: str = "message"
    role: str = "assistant"
    model: str = "c"
    content: list[Block]
    stop_reason: str | None = "end_turn"
    stop_sequence: str | None = None
    container: None = None


class FinishReason(str, enum.Enum):  # noqa: UP042 - as the package has it
    STOP = "STOP"


class PlainReason(enum.Enum):
    STOP = 1


class Logprob(pydantic.BaseModel):
    token: str | None = None
    token_id: int | None = None
    log_probability: float | None = None


class LogprobsResult(pydantic.BaseModel):
    chosen_candidates: list[Logprob] | None = None
    top_candidates: list | None = None


class Part(pydantic.BaseModel):
    text: str | None = None
    thought: bool | None = None
    function_call: None = None
    inline_data: None = None


class Content(pydantic.BaseModel):
    parts: list[Part] | None = None
    role: str | None = "model"


class Candidate(pydantic.BaseModel):
    content: Content | None = None
    finish_reason: FinishReason | PlainReason | None = None
    avg_logprobs: float | None = None
    token_count: int | None = None
    logprobs_result: LogprobsResult | None = None


class GenerateContentResponse(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(protected_namespaces=())  # pydantic 2.8 warns of names with model_

    sdk_http_response: dict | None = None
    candidates: list[Candidate] | None = None
    model_version: str | None = "g"
    response_id: str | None = "r1"
    prompt_feedback: None = None
    usage_metadata: None = None
    parsed: None = None


class ChatResponse(pydantic.BaseModel):
    """A reply of Ollama's package, which can also be read like a mapping."""

    model: str = "l"
    created_at: str | None = None
    done: bool = True
    done_reason: str | None = "stop"
    message: dict
    logprobs: list[dict] | None = None

    def __getitem__(self, name):
        return getattr(self, name)

    def get(self, name, default=None):
        return getattr(self, name, default)


def gemini(reason):
    parts = [Part(text="Hm.", thought=True), Part(text="Paris")]
    result = LogprobsResult(chosen_candidates=[Logprob(**{"token": "Paris", "log_probability": -0.5})])
    candidate = Candidate(content=Content(parts=parts), finish_reason=reason, logprobs_result=result)
    return GenerateContentResponse(candidates=[candidate])


THOUGHT = [Block(type="thinking", thinking="Hm."), Block(type="text", text="Paris")]
SDK_OBJECTS = {
    "anthropic": (
        Message(content=[Block(type="thinking", thinking="Hm."), Block(type="text", text="Paris")]),
        "c",
        None,
    ),
    "gemini": (gemini(FinishReason.STOP), "g", (-0.5,)),
    "gemini, plain": (gemini(PlainReason.STOP), "g", (-0.5,)),
    "ollama": (
        ChatResponse(message={"role": "assistant", "content": "Paris", "tool_calls": None}, logprobs=None),
        "l",
        None,
    ),
    "ollama, log-probs": (
        ChatResponse(
            message={"content": "Paris"}, logprobs=[{"token": "Paris", "logprob": -0.5, "top_logprobs": None}]
        ),
        "l",
        (-0.5,),
    ),
}


@pytest.mark.parametrize("name", SDK_OBJECTS)
def test_objects_of_other_packages_are_read_alone_and_beside_their_question(name):
    given, model, logprobs = SDK_OBJECTS[name]
    for record in (record_of(given, question="Why?"), record_of({"question": "Why?", "response": given})):
        answer = record.greedy
        assert (answer.text, answer.finish, answer.logprobs) == ("Paris", "stop", logprobs)
        assert (record.model, record.question) == (model, "Why?")
    several = record_of({"question": "Why?", "temperature": 1, "responses": [given, given]})
    assert [sample.text for sample in several.samples] == ["Paris", "Paris"]


def test_enumerations_that_were_written_as_text_say_the_same(write):
    line = json.dumps(gemini(FinishReason.STOP).model_dump(), default=str).replace('"STOP"', '"FinishReason.STOP"')
    (record,) = read_answers(write(line), strict=True)
    assert (record.greedy.text, record.greedy.finish) == ("Paris", "stop")

"""Every format knows its own lines, and nobody else's."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from good_answers import LINES, good_line
from vecuq.answers import formats, record_of

EXAMPLES = [(kind, place) for kind in LINES if kind != "vecuq" for place in range(len(LINES[kind]))]
FIELDS = sorted({name for kind in LINES for line in LINES[kind] for name in line} | {"details", "result", "stats"})
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=3), inner),
    max_leaves=12,
)


def matches(fields):
    return [name for name, one in formats().items() if one.recognises(fields)]


# Any line with a text has the form of a dump of texts; this format is tried last.
GENERAL = "huggingface"


@pytest.mark.parametrize(("kind", "place"), EXAMPLES)
def test_a_good_line_is_recognised_by_its_own_format_alone(kind, place):
    found = matches(good_line(kind, "a", place))
    assert found in ([kind], [kind, GENERAL])


def is_bare_reply(kind, line):
    """Whether a line is the reply of a server alone: not the result of an evaluation, and nothing around it."""
    of_runs = kind in ("lm-eval", "uqlm", "lm-polygraph", "inspect", "promptfoo")
    around = {"request", "result", "body"} & set(line) or isinstance(line.get("response"), dict)
    return not of_runs and not around and "prediction" not in line


BARE = [(kind, place) for kind, place in EXAMPLES if is_bare_reply(kind, LINES[kind][place])]
ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]


def test_every_provider_has_a_reply_among_them():
    known = {"openai", "openai-responses", "anthropic", "gemini", "ollama", "llamacpp", "sglang", "tgi", "vllm"}
    assert known | {GENERAL} == {kind for kind, _ in BARE}


@pytest.mark.parametrize(
    "around", [{"id": "i", "question": "Why?"}, {"request": {"model": "m", "messages": ASKED}}, {"messages": ASKED}]
)
@pytest.mark.parametrize(("kind", "place"), BARE)
def test_a_reply_is_read_beside_its_question_or_request(kind, place, around):
    reply = LINES[kind][place]
    line = {**around, "response": reply}
    assert matches(line) in ([kind], [kind, GENERAL])
    record = record_of(line)
    assert record.question == "Why?"
    assert (record.greedy, record.samples) == (record_of(reply).greedy, record_of(reply).samples)


@pytest.mark.parametrize(("kind", "place"), BARE)
def test_several_replies_in_one_line_are_samples_of_one_question(kind, place):
    reply = LINES[kind][place]
    single = record_of({"question": "Why?", "response": reply})
    record = record_of({"question": "Why?", "temperature": 1, "responses": [reply, reply]})
    said = (single.greedy, *single.samples) if single.greedy else single.samples
    assert record.samples == (*said, *said)
    assert record.question == "Why?"


def test_every_format_says_what_it_is_known_by():
    for name, one in formats().items():
        assert "`" in one.known_by, name
        assert one.name == name


@given(st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=3), json_values, max_size=6))
@settings(max_examples=150)
def test_no_recogniser_raises_whatever_a_line_holds(fields):
    for one in formats().values():
        assert isinstance(one.recognises(fields), bool)

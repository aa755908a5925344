"""The examples of docs/answers.md are read as the page says."""

import json
import re
from pathlib import Path

import pytest

from vecuq.answers import LINE_BYTES, SCHEMA_VERSION, formats, read_answers
from vecuq.answers.arrays import ARRAYS_BYTES
from vecuq.answers.eval_files import LIST_BYTES
from vecuq.answers.lines import MOST_BRACKETS
from vecuq.answers.schema import MOST_ANSWERS, MOST_TOKENS, Answer, AnswerRecord
from vecuq.answers.slimming import ENTRY_BYTES

PAGE = (Path(__file__).parents[2] / "docs" / "answers.md").read_text("utf-8")
LINES = re.findall(r"```json\n(.*)\n```", PAGE)


@pytest.mark.parametrize("line", LINES)
def test_every_line_of_the_page_is_read(write, line):
    (record,) = read_answers(write(line), strict=True)
    assert "Paris" in [answer.text for answer in (record.greedy, *record.samples) if answer is not None]
    assert record.question == "Capital of France?"


def test_there_is_a_line_of_every_format_and_a_word_on_every_field():
    read_as = {name for line in LINES[1:] for name, one in formats().items() if one.recognises(json.loads(line))}
    assert set(formats()) <= read_as
    assert f'"vecuq_answers": {SCHEMA_VERSION}' in LINES[0]
    for name in (*Answer.__struct_fields__, *AnswerRecord.__struct_fields__):
        assert f"`{name}`" in PAGE or f'"{name}' in PAGE, name


def test_the_bounds_of_the_page_are_those_of_the_code():
    assert f"{LINE_BYTES // 2**20} MiB, a million brackets" in PAGE
    assert MOST_BRACKETS == 1_000_000
    assert f"{MOST_TOKENS:,} and {MOST_ANSWERS:,}" in PAGE
    assert f"{ARRAYS_BYTES // 2**20} MiB, loaded whole" in PAGE
    assert f"{ENTRY_BYTES // 2**20} MiB, of which" in PAGE
    assert f"`.eval` archive | {LIST_BYTES // 2**20} MiB" in PAGE


def test_the_padding_of_the_example_is_cut(write):
    padded = next(line for line in LINES if "<pad>" in line)
    (record,) = read_answers(write(padded), strict=True)
    assert [(sample.logprobs, sample.n_end) for sample in record.samples] == [
        ((-0.1, -0.02), 1),
        ((-1.0, -2.0, -0.1), 1),
    ]

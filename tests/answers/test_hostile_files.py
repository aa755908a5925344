"""Files that are broken by chance or on purpose: one clear error per line, and bounded memory."""

import json
import subprocess
import sys
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vecuq.answers import LINE_BYTES, kinds, read_answers
from vecuq.errors import TableError

GOOD = {"vecuq_answers": 1, "id": "good", "greedy": {"text": "x", "logprobs": [-1.0]}}
TEMPLATES = [
    GOOD,
    {
        "id": "a",
        "temperature": 0,
        "choices": [
            {
                "message": {"content": "x"},
                "logprobs": {
                    "content": [{"token": "x", "logprob": -1, "top_logprobs": [{"token": "x", "logprob": -1}]}]
                },
            }
        ],
    },
    {"choices": [{"text": "x", "logprobs": {"tokens": ["x"], "token_logprobs": [-1], "top_logprobs": [{"x": -1}]}}]},
    {
        "custom_id": "a",
        "response": {"body": {"choices": [{"message": {"content": "x"}}]}},
        "request": {"body": {"messages": [{"content": "q"}]}},
    },
    {
        "request_id": "1",
        "outputs": [
            {
                "text": "x",
                "token_ids": [5],
                "logprobs": [{"5": {"logprob": -1, "decoded_token": "x"}}],
                "cumulative_logprob": -1,
            }
        ],
    },
    {
        "id": 1,
        "generated_texts": ["x", "y"],
        "transition_scores": [[-1], [-2]],
        "entropies": [[1], [2]],
        "tokens": [["x"], ["y"]],
        "entropy_top_k": 5,
    },
    {"doc_id": 1, "doc": {"question": "q"}, "target": "t", "arguments": [["q", {"temperature": 1}]], "resps": [["x"]]},
]
NO_TEXT = (b"\x80", b"PK", b"PAR1", b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff")
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -(10**400), 1e308, -1e308, float("inf"), float("-inf"), float("nan"), 2**63]),
    st.floats(),
    st.text(max_size=5),
    st.just("\ud800"),
    st.lists(st.integers() | st.text(max_size=3), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)


def places_in(value, before=()):
    """Every place in a nested value at which something else could stand."""
    yield before
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places_in(part, (*before, key))


def changed(value, place, odd):
    if not place:
        return odd
    copy = value.copy()
    copy[place[0]] = changed(value[place[0]], place[1:], odd)
    return copy


@st.composite
def nearly_right(draw):
    template = draw(st.sampled_from(TEMPLATES))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(list(places_in(template))))
        template = changed(template, place, draw(ODD))
    line = json.dumps(template)
    return line[: draw(st.integers(0, len(line)))] if draw(st.booleans()) else line


def read_beside_a_good_line(path, line, **options):
    """Read a file of one odd line and one good one; the good one must come through, whatever the other is."""
    path.write_bytes(line + b"\n" + json.dumps(GOOD).encode() + b"\n")
    reader = read_answers(path, **options)
    records = list(reader)
    assert "good" in [record.id for record in records]
    for problem in reader.problems:
        # A line with nothing but a bracket begins a list, of which the good line is the first entry.
        assert problem.startswith((f"{path}, line 1: ", f"{path}, after entry 1: ")) or "'good'" in problem
        assert len(problem) < 600
        assert problem.isprintable()
    return reader


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=250, deadline=None)
@given(line=nearly_right())
def test_a_line_that_is_nearly_right_is_read_or_skipped_with_its_place(tmp_path, line):
    if "good" in line:
        line = line.replace("good", "odd")
    read_beside_a_good_line(tmp_path / "answers.jsonl", line.encode())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(line=nearly_right(), kind=st.sampled_from(kinds()))
def test_a_line_read_as_the_wrong_kind_is_skipped_with_its_place(tmp_path, line, kind):
    path = tmp_path / "answers.jsonl"
    path.write_text(line + "\n")
    reader = read_answers(path, kind=kind)
    with suppress(TableError):  # nothing else may come; a file without any answers is such an error
        list(reader)
    unanswered = reader._noted.n_unanswered  # a record of our own without any answer is a question alone
    assert reader.n_read + reader.n_skipped + unanswered == (1 if line.strip() else 0)
    assert all(problem.startswith((f"{path}, line 1: ", f"{path}, after entry")) for problem in reader.problems)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(line=st.binary(max_size=200).filter(lambda line: not line.startswith(NO_TEXT)))
def test_noise_is_skipped_with_its_place(tmp_path, line):
    read_beside_a_good_line(tmp_path / "answers.jsonl", line.replace(b"\n", b" ").replace(b"\r", b" "))


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 1_000_000,
        b'{"a":' * 200_000,
        b'{"vecuq_answers":1,"id":"x","meta":' + b'{"a":' * 200_000,
        b"9" * 5_000_000,
    ],
    ids=["lists", "objects", "ours", "digits"],
)
def test_deep_nesting_and_endless_numbers_are_skipped(tmp_path, line):
    reader = read_beside_a_good_line(tmp_path / "answers.jsonl", line)
    assert reader.n_skipped == 1


def peak_of(path):
    tracemalloc.start()
    try:
        reader = read_answers(path)
        ids = [str(record.id) for record in reader]
        return ids, reader, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_line_of_100_mb_is_skipped_without_being_held(tmp_path):
    path = tmp_path / "answers.jsonl"
    with path.open("wb") as file:
        file.write(json.dumps(GOOD).encode() + b'\n{"id":"')
        for _ in range(100):
            file.write(b"a" * 1_000_000)
        file.write(b'"}\n' + json.dumps({**GOOD, "id": "last"}).encode() + b"\n")
    ids, reader, peak = peak_of(path)
    assert ids == ["good", "last"]
    assert reader.problems == [f"{path}, line 2: longer than {LINE_BYTES:,} bytes, the limit of one line or entry."]
    assert peak < 3 * LINE_BYTES


def ours(name):
    return {**GOOD, "id": name, "samples": [{"text": "x" * 100, "logprobs": [-1.0] * 200}] * 10}


def openai(name):
    content = [{"token": "x", "logprob": -1.0}] * 40
    return {"id": name, "choices": [{"message": {"content": "x" * 100}, "logprobs": {"content": content}}] * 10}


@pytest.mark.nightly
@pytest.mark.parametrize("row", [ours, openai])
def test_a_file_is_never_held_as_a_whole(tmp_path, row):
    path = tmp_path / "answers.jsonl"
    lines = [json.dumps(row(str(k))) + "\n" for k in range(100)]
    path.write_text("".join(lines[:10]))
    list(read_answers(path))  # what is made on first use does not count
    path.write_text("".join(lines))
    assert peak_of(path)[2] < path.stat().st_size / 2


@pytest.mark.nightly
def test_a_list_of_wrong_entries_is_one_error_and_not_as_many(tmp_path):
    path = tmp_path / "answers.jsonl"
    line = b'{"vecuq_answers":1,"id":"odd","samples":[' + b"[]," * 100_000 + b"[]]}"
    path.write_bytes(line + b"\n" + json.dumps(GOOD).encode())
    ids, reader, peak = peak_of(path)
    assert ids == ["good"]
    assert reader.problems[0].startswith(f"{path}, line 1: samples: ")
    assert peak < 60 * len(line)


# What docs/answers.md promises of any line.
MOST_MEMORY = 512 * 2**20
PEAK = """
import sys
from vecuq.answers import read_answers
reader = read_answers(sys.argv[1])
try:
    n_read = sum(1 for _ in reader)
except ValueError:
    n_read = 0
print(n_read, open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
"""


def filled(before, unit, after):
    """A line of many copies of something small, just under the limit."""
    many = (LINE_BYTES - len(before) - len(after) - 1) // (len(unit) + 1)
    return before + b",".join([unit] * many) + after


META = b'{"vecuq_answers":1,"id":"a","greedy":{"text":"x"},"meta":{"x":['
DUMP = b'{"id":"\\ud83d","generated_text":"\xf0\x9f\x98\x80","x":['
SAMPLES = b'{"vecuq_answers":1,"id":"\xf0\x9f\x98\x80","samples":['
RECORDED = b'{"vecuq_answers":1,"id":"a","greedy":{"text":"x"},'
# What a line is filled with, and whether it is read then; else it is refused for its brackets.
SHAPES = {
    "empty lists": (META, b"[[]]", b"]}}", 0),
    "objects beside a cut emoji": (DUMP, b'{"a":[]}', b"]}", 0),
    "as many brackets as may be, then texts": (DUMP + b'{"a":[]},' * 499_000, b'"\xc4\x81"', b"]}", 1),
    "log-probs": (SAMPLES, b'{"text":"x","logprobs":[' + b",".join([b"-9"] * 9_000) + b"]}", b"]}", 1),
    "similarities": (RECORDED + b'"similarity_of_samples":[', b"[" + b",".join([b"0.5"] * 9_000) + b"]", b"]}", 1),
    "similarities of NLI": (RECORDED + b'"nli_of_samples":[', b"[" + b",".join([b"[0,0,1]"] * 9_000) + b"]", b"]}", 0),
}


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak of a process")
@pytest.mark.parametrize("shape", SHAPES)
def test_no_line_takes_more_memory_than_is_stated(tmp_path, shape):
    *parts, n_read = SHAPES[shape]
    line = filled(*parts)
    assert 0.99 * LINE_BYTES < len(line) <= LINE_BYTES
    path = tmp_path / "answers.jsonl"
    path.write_bytes(line + b"\n")
    told = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, text=True, check=True).stdout.split()
    assert int(told[0]) == n_read
    assert int(told[1]) * 1024 < MOST_MEMORY


def test_a_list_of_any_length_is_never_held_as_a_whole(tmp_path):
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([ours(str(k)) for k in range(120)], indent=1))
    list(read_answers(path))  # what is made on first use does not count
    ids, _, peak = peak_of(path)
    assert len(ids) == 120
    # Some arrays of a piece of 1 MiB, which is looked at as a whole; the entries are held one at a time.
    assert peak < 24 * 2**20


def test_an_entry_of_100_mb_in_a_list_is_skipped_without_being_held(tmp_path):
    path = tmp_path / "answers.json"
    with path.open("wb") as file:
        file.write(b"[" + json.dumps(GOOD).encode() + b',{"id":"')
        for _ in range(100):
            file.write(b"a" * 1_000_000)
        file.write(b'"},' + json.dumps({**GOOD, "id": "last"}).encode() + b"]")
    ids, reader, peak = peak_of(path)
    assert ids == ["good", "last"]
    assert reader.problems == [f"{path}, entry 2: longer than {LINE_BYTES:,} bytes, the limit of one line or entry."]
    assert peak < 4 * LINE_BYTES


def test_halves_of_characters_become_question_marks_and_whole_ones_stay(tmp_path):
    path = tmp_path / "answers.jsonl"
    text = r"\ud83d\ude00 \ud83d \ude00 \\ud83d \\\ud83d\n"
    path.write_text('{"id": "a", "generated_text": "' + text + '"}\n')
    (record,) = read_answers(path, strict=True)
    assert record.greedy.text == "\U0001f600 ? ? \\ud83d \\?"

"""Lines as JSON values: a fast parser, and Python's own for what it refuses."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.answers.lines import parsed
from vecuq.errors import TableError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(VALUES)
def test_a_line_is_read_as_python_reads_it(value):
    line = json.dumps(value)
    if "\\u" not in line:  # half of a surrogate pair becomes a question mark
        assert repr(parsed(line.encode())) == repr(json.loads(line))


@pytest.mark.parametrize(
    "line", ["NaN", "[-Infinity, 1e999]", "-0", "1.0", "9" * 400, '{"a": 1, "a": 2}', "[1E5, 0.1]"]
)
def test_what_only_python_reads_is_read_too(line):
    assert repr(parsed(line.encode())) == repr(json.loads(line))


@pytest.mark.parametrize("line", [b"{", b"[1,]", b"01", b"[" * 100_000, b'"a" "b"', b'"\x01"', b"9" * 5_000])
def test_what_is_no_json_is_refused_in_one_sentence(line):
    with pytest.raises(TableError, match=r"^not valid JSON\.$"):
        parsed(line)

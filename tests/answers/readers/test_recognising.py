"""Every format knows its own lines, and nobody else's."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecuq.answers.readers import formats
from vecuq.testing.hostile.answers import LINES, good_line

EXAMPLES = [(kind, place) for kind in LINES if kind != "vecuq" for place in range(len(LINES[kind]))]
FIELDS = sorted({name for kind in LINES for line in LINES[kind] for name in line} | {"details", "result", "stats"})
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=3), inner),
    max_leaves=12,
)


def first_match(fields):
    return next((name for name, one in formats().items() if one.recognises(fields)), None)


@pytest.mark.parametrize(("kind", "place"), EXAMPLES)
def test_a_good_line_is_recognised_by_its_own_format_first(kind, place):
    assert first_match(good_line(kind, "a", place)) == kind


def test_every_format_says_what_it_is_known_by():
    for name, one in formats().items():
        assert "`" in one.known_by, name
        assert one.name == name


@given(st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=3), json_values, max_size=6))
@settings(max_examples=150)
def test_no_recogniser_raises_whatever_a_line_holds(fields):
    for one in formats().values():
        assert isinstance(one.recognises(fields), bool)

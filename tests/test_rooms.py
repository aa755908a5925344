"""The house keeps its walls and its budget."""

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import budget
import rooms


def test_every_room_has_a_storey_and_every_storey_a_room():
    standing = {
        path.name.removesuffix(".py")
        for path in rooms.SOURCE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert standing - {"__init__"} == {room for level in rooms.storeys() for room in level}


@pytest.mark.parametrize(
    ("line", "length"),
    [
        ("from vecuq.ranker import Ranker", 2),
        ("from vecuq.ranker.ranker import Ranker", 3),
        ("from vecuq.ranker import ranker", 3),
        ("import vecuq.ranker.ranker", 3),
    ],
)
def test_an_import_past_a_door_is_longer_than_two_names(line, length):
    assert max(len(path) for path in rooms.imported(ast.parse(line))) == length


def test_docstrings_comments_and_blank_lines_are_no_code():
    text = '"""A module."""\n\n# why\nx = (\n    1\n)\n\n\ndef f():\n    """Say."""\n    return x\n'
    assert rooms.code_lines(text, ast.parse(text)) == {4, 5, 6, 9, 11}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A budget in a file, with one earlier version."""
    monkeypatch.setattr(budget, "FILE", tmp_path / "budget.toml")
    monkeypatch.setattr(budget, "earlier", lambda: [{"rooms": {"a": 10, "b": 10}}])

    def write(text):
        budget.FILE.write_text("[rooms]\n" + text)

    return write


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a = 10\nb = 9", 0),
        ("a = 10\nb = 8", 1),  # b has 9 lines
        ("a = 12\nb = 9", 1),  # raised
        ("a = { at_most = 12, reason = 'a mend' }\nb = 9", 0),
        ("a = { at_most = 12, reason = ' ' }\nb = 9", 1),
        ("a = 10", 1),  # b has no budget
        ("a = 10\nb = 9\nc = 5", 1),  # a new room without a reason
    ],
)
def test_figures_may_fall_and_rise_only_with_a_reason(kept, text, found):
    kept(text)
    assert budget.check({"rooms": {"a": 10, "b": 9}}) == found


def test_lowering_never_raises_keeps_reasons_and_forgets_what_is_gone(kept):
    kept("a = 10\nb = { at_most = 20, reason = 'for now' }\nc = 4\n'd e' = 3")
    assert budget.lower({"rooms": {"a": 7, "b": 9, "d e": 5}}) == 1
    assert budget.budget() == {"rooms": {"a": 7, "b": {"at_most": 20, "reason": "for now"}, "d e": 3}}

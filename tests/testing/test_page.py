"""The page keeps its word: its example runs as it stands, and what it names exists."""

import re
from pathlib import Path

from vecuq import testing

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"


def test_the_example_of_the_page_runs_as_it_stands():
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    found = {}
    exec(compile(example, "testing.md", "exec"), found)  # noqa: S102 - our own text
    tests = [found[name] for name in found if name.startswith("test_")]
    assert len(tests) == 3
    for one in tests:
        one()


def test_every_strategy_and_check_that_is_public_is_on_the_page():
    page = PAGE.read_text("utf-8")
    named = set(re.findall(r"^\| `(\w+)\(", page, re.MULTILINE)) | {"altered"}
    assert named <= set(testing.__all__)
    assert {name for name in testing.__all__ if name.startswith("check_")} <= named


def test_without_hypothesis_one_line_says_what_to_install(monkeypatch):
    import importlib
    import sys

    import pytest

    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.delitem(sys.modules, "vecuq.testing")
    with pytest.raises(ImportError, match=r"pip install 'vecuq\[testing\]'"):
        importlib.import_module("vecuq.testing")

"""The page keeps its word: what it names exists. Its example is run in tests/docs."""

import re
from pathlib import Path

from vecuq import testing

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"


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
    with pytest.raises(ImportError, match="pip install hypothesis"):
        importlib.import_module("vecuq.testing")

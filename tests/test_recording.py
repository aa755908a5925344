"""The recording of the README: text stays text, scenes follow each other, and the picture shows today's commands."""

import importlib.util
import re
import sys
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.text import Text

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def recorder():
    if sys.platform == "win32":
        pytest.skip("A recording needs a pseudo-terminal, which Windows has not.")
    spec = importlib.util.spec_from_file_location("record_terminal", ROOT / "tools" / "record_terminal.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["record_terminal"] = module
    spec.loader.exec_module(module)
    return module


def test_output_is_wrapped_as_a_terminal_does_and_loses_nothing(recorder):
    lines = recorder.wrapped("short\n" + "x" * (2 * recorder.WIDTH + 5) + "\n\nend\n")
    assert [len(line) for line in lines] == [5, recorder.WIDTH, recorder.WIDTH, 5, 0, 3]


def test_what_a_program_prints_is_text_in_the_picture(recorder):
    scene = recorder.Scene("vecuq <&>", [Text.from_ansi("\x1b[1mbold</text><script>\x1b[0m plain")], 0.0)
    svg = ElementTree.fromstring(recorder.drawn([scene]))  # noqa: S314 - our own text
    texts = [one.text for one in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["$", "vecuq <&>", "bold</text><script>", " plain"]


def test_scenes_follow_each_other(recorder):
    first = recorder.Scene("vecuq a", [Text("one")], 0.0)
    assert first.start < first.typed < first.end


def test_a_command_is_run_in_a_terminal_of_its_own(recorder, tmp_path):
    assert recorder.in_terminal("vecuq --version", str(tmp_path)).startswith("vecuq ")


def test_the_picture_shows_the_commands_that_the_script_records(recorder):
    shown = unescape(re.search(r"<title>A terminal: (.*?)</title>", recorder.OUT.read_text("utf-8"))[1])
    assert shown == "; ".join(recorder.SCENES)

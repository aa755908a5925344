"""Whatever vecuq saves, reads or runs is attacked: it comes from the product's registries, or a test asks for more."""

from importlib import import_module

import pytest
import typer
from hypothesis import given, settings

from vecuq import testing
from vecuq._load import _READERS
from vecuq.answers import kinds
from vecuq.cli import app
from vecuq.table import EXTENSIONS
from vecuq.testing.hostile.answers import good_line
from vecuq.testing.hostile.commands import ARGUMENTS, GOOD_LINES, command_lines, parameters
from vecuq.testing.hostile.files import table_files
from vecuq.testing.hostile.saved import answers_of

COMMANDS = list(typer.main.get_command(app).commands)


def names(group):
    return {name.removeprefix(f"{group} ") for name in testing.targets() if name.startswith(f"{group} ")}


def test_every_saved_kind_reader_table_ending_and_command_is_a_target():
    assert names("saved") == set(_READERS)
    assert names("answers") == set(kinds()) - {"auto"}
    assert names("table") == set(EXTENSIONS)
    assert names("command") == set(COMMANDS)


@pytest.mark.parametrize("kind", _READERS)
def test_every_saved_kind_has_an_example_and_something_to_say(kind):
    made = testing.example(kind)
    assert answers_of(kind, testing.load_again(made))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_argument_of_a_command_has_files_and_every_command_a_line_that_works(command):
    wanted = {one.metavar for one in parameters(command) if one.param_type_name == "argument"}
    assert wanted <= set(ARGUMENTS), f"add files for {wanted - set(ARGUMENTS)} to vecuq/testing/command_lines.py"
    asks = command == "ask"  # needs a server; `reply` asks one
    assert asks or any(line.split()[0] == command for line in GOOD_LINES), f"add a good line of {command}"


def test_a_kind_that_comes_later_is_asked_for_by_name(monkeypatch):
    with pytest.raises(LookupError, match="Add an example of the saved kind 'ghost'"):
        testing.example("ghost")
    with pytest.raises(LookupError, match="Add a probe of the saved kind 'ghost'"):
        answers_of("ghost", None)
    with pytest.raises(LookupError, match="Add lines of answers of the kind 'bard'"):
        good_line("bard", "x")
    with pytest.raises(LookupError, match=r"Add a strategy for table files that end in \.orc"):
        table_files(".orc")
    monkeypatch.setattr(import_module("vecuq.testing.hostile.commands"), "ARGUMENTS", {})
    with pytest.raises(LookupError, match="Add files for the argument MODEL"):
        settings(database=None)(given(command_lines("score"))(lambda words: None))()

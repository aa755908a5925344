"""The house keeps its walls: imports point down, and go through the door of a room."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def rooms():
    spec = importlib.util.spec_from_file_location("rooms", ROOT / "tools" / "rooms.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["rooms"] = module
    spec.loader.exec_module(module)
    return module


def test_no_import_goes_up_and_none_past_an_init(rooms):
    assert rooms.broken() == []


def test_every_room_has_a_storey_and_every_storey_a_room(rooms):
    standing = {
        path.name.removesuffix(".py")
        for path in rooms.SOURCE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert standing - {"__init__"} == {room for level in rooms.storeys() for room in level}


def test_an_import_past_a_door_or_upwards_would_be_seen(rooms):
    levels = {"cli": 0, "ranker": 1, "table": 2}
    assert rooms.past_a_door(rooms.Import(ROOT, 1, "cli", "ranker.fit"))
    assert not rooms.past_a_door(rooms.Import(ROOT, 1, "ranker", "ranker.fit"))
    assert rooms.upwards(rooms.Import(ROOT, 1, "table", "ranker"), levels)
    assert not rooms.upwards(rooms.Import(ROOT, 1, "cli", "table"), levels)


def test_the_map_is_printed(rooms, capsys):
    assert rooms.main() == 0
    shown = capsys.readouterr().out
    assert "transport" in shown
    assert "no import goes up" in shown

"""Every promise has its line in the table of docs/validation, with a simulation behind it."""

import importlib
import inspect
import json
import runpy
from operator import attrgetter
from pathlib import Path

import pytest

import vecuq
from vecuq import conformal

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "validation"
PAGE = (FOLDER / "index.md").read_text("utf-8")
RESULTS = json.loads((FOLDER / "results.json").read_text("utf-8"))
VALIDATE = runpy.run_path(str(ROOT / "tools" / "validate.py"), run_name="validate")
PROMISES = VALIDATE["promises"]()
NAMED = {name for promise in PROMISES for name in promise.code}
# Rooms above the mathematics whose objects state a promise of their own.
ROOMS = ("gate", "monitor", "evaluation", "ranker", "baselines")


def promises_in(room):
    """Return the public names of a room whose docstring states a promise, an assumption or a confidence."""
    words = ("**Promise.**", "**Assumption.**", "Assumption and", "Promises,", "with probability 1 - delta")
    found = {name: getattr(room, name) for name in room.__all__}
    return {
        name
        for name, made in found.items()
        if (inspect.isfunction(made) or inspect.isclass(made)) and any(w in (made.__doc__ or "") for w in words)
    }


def test_every_promise_of_the_room_of_promises_is_in_the_table():
    assert len(promises_in(conformal)) > 20
    missing = {name for name in promises_in(conformal) if f"conformal.{name}" not in NAMED}
    assert not missing
    assert all(f"`{name}`" in PAGE for name in promises_in(conformal))


@pytest.mark.parametrize("name", ROOMS)
def test_every_object_above_that_states_a_promise_is_in_the_table(name):
    room = importlib.import_module(f"vecuq.{name}")
    assert {found for found in promises_in(room) if not {found, f"{name}.{found}"} & NAMED} == set()


@pytest.mark.parametrize("name", sorted(NAMED))
def test_every_name_in_the_table_exists(name):
    assert attrgetter(name)(vecuq) is not None


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.key)
def test_every_promise_was_kept_in_a_simulation_of_the_script_that_it_names(promise):
    checks = [check for check in RESULTS["checks"] if check["promise"] == promise.key]
    assert {check["script"] for check in checks} == {promise.script}
    assert [check for check in checks if check["assumed"]]
    assert all(check["verdict"] == ("kept" if check["assumed"] else "broken, as expected") for check in checks)


def test_the_results_are_those_of_full_runs_and_of_no_unknown_promise():
    assert RESULTS["full"]
    assert {check["promise"] for check in RESULTS["checks"]} == {promise.key for promise in PROMISES}


def test_the_table_of_the_page_is_the_one_that_the_results_give():
    assert VALIDATE["written"](PAGE, VALIDATE["table_of"](RESULTS)) == PAGE

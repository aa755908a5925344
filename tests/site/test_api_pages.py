"""Every public name has its place in the pages of the API; what is public is read here from the stubs by itself."""

import ast
import importlib
import re
from pathlib import Path

import pytest
from api import api_pages, comment_on, room_table
from public_names import Public, own_members

import vecuq

PAGES = api_pages()
STUB = ast.parse(Path(vecuq.__file__).with_suffix(".pyi").read_text("utf-8"))
IMPORTED = [(one.module, alias.asname) for one in STUB.body if isinstance(one, ast.ImportFrom) for alias in one.names]
ROOMS = [f"vecuq.{name}" for module, name in IMPORTED if module is None]


def entries_of(page):
    return set(
        re.findall(r"^\.\. (?:autoclass|autofunction|py:data):: (?:vecuq\.(?:\w+\.)*)?(\w+)$", page, re.MULTILINE)
    )


def listed(page):
    """Return the names that the tables of a page list, whether they are described there or elsewhere."""
    return {name.rpartition(".")[2] for name in re.findall(r"^   (~?\w[\w.]*)$", page, re.MULTILINE)}


def test_there_is_a_page_for_every_room_of_the_stub():
    assert {f"{room}.rst" for room in ROOMS} <= set(PAGES)
    assert all(f"(api/{room}.rst)" in room_table() for room in ROOMS)


def test_every_name_at_the_top_is_described_on_the_first_page():
    names = {name for module, name in IMPORTED if module is not None and name != "__version__"}
    assert names == entries_of(PAGES["vecuq.rst"])


@pytest.mark.parametrize("room", sorted(name.removesuffix(".rst") for name in PAGES if name != "vecuq.rst"))
def test_every_name_that_a_room_exports_is_on_its_page(room):
    module = importlib.import_module(room)
    public = getattr(module, "__all__", None)
    if public is None:
        tree = ast.parse(Path(module.__file__).read_text("utf-8"))
        defined = [one.name for one in tree.body if isinstance(one, ast.ClassDef | ast.FunctionDef)]
        public = [name for name in defined if not name.startswith("_")]
    own = {name for name in public if f"{room}.{name}.rst" not in PAGES}
    assert own == entries_of(PAGES[f"{room}.rst"]) | listed(PAGES[f"{room}.rst"]) & own
    assert own or room == "vecuq.cluster"  # which holds only rooms


def test_a_name_is_described_in_one_place():
    described = [
        name
        for page in PAGES.values()
        for name in re.findall(r"^\.\. auto(?:class|function):: (\S+)$", page, re.MULTILINE)
    ]
    assert len(described) == len(set(described))
    assert "vecuq.VecUQ" in described
    assert "vecuq.ranker.VecUQ" not in described


def test_members_are_those_that_vecuq_defines_and_documents():
    members = own_members(vecuq.VecUQ)
    assert {"fit", "uncertainty", "p_values"} <= set(members)
    assert not {"get_metadata_routing", "set_fit_request"} & set(members)


def test_a_constant_is_explained_by_the_comment_above_it():
    assert "p-values down to 1e-5" in comment_on(Public("vecuq.conformal", "MOST_HELD", "data"))

"""Versions: bounds are lower bounds only, one for each package, and the docs name those that were tested."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT, DATA = (
    tomllib.loads((folder / "pyproject.toml").read_text("utf-8")) for folder in (ROOT, ROOT / "paper-data")
)
EXTRAS = PROJECT["project"]["optional-dependencies"]
RUNTIME = PROJECT["project"]["dependencies"]
BUILD = [*PROJECT["build-system"]["requires"], *DATA["build-system"]["requires"]]
BOUND = re.compile(r"([A-Za-z0-9-]+)(?:\[\w+\])?>=(\d+(?:\.\d+)*)(?:; sys_platform != 'win32')?")


def bounds(requirements):
    return dict(BOUND.fullmatch(one).groups() for one in requirements if not one.startswith("vecuq["))


def pythons(project):
    prefix = "Programming Language :: Python :: 3."
    return [name.removeprefix(prefix[:-2]) for name in project["project"]["classifiers"] if name.startswith(prefix)]


@pytest.mark.parametrize(
    "requirement", sorted({*RUNTIME, *BUILD, *(one for extra in EXTRAS.values() for one in extra)})
)
def test_a_bound_is_a_lower_bound_and_nothing_else(requirement):
    """An upper bound would keep users from versions that work; none at all promises too much."""
    assert BOUND.fullmatch(requirement) or requirement.startswith("vecuq[")


def test_a_package_has_one_bound_wherever_it_is_named():
    named = [pair for part in (RUNTIME, BUILD, *EXTRAS.values()) for pair in bounds(part).items()]
    assert len(dict(named)) == len(set(named))


def test_the_lowest_python_is_the_first_that_is_tested():
    ci = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    tested = re.search(r"python: \[(.*)\]", ci)[1].replace('"', "").split(", ")
    assert tested == pythons(PROJECT)
    for project in (PROJECT, DATA):
        assert project["project"]["requires-python"] == f">={tested[0]}"


def test_the_docs_name_the_versions_that_are_declared():
    """`make test-lowest` runs with them; whoever changes a bound runs it and renews the page."""
    page = (ROOT / "docs" / "versions.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| ([A-Za-z0-9-]+) \| ([\d.]+) \|", page, flags=re.MULTILINE))
    assert rows == bounds([*RUNTIME, *EXTRAS["text"], *EXTRAS["nli"], *EXTRAS["onnx"]])
    assert all(f"Python {version}" in page for version in pythons(PROJECT))


def test_the_version_is_the_same_wherever_it_is_written():
    from vecuq import __version__

    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.search(r"^version: (\S+)$", citation, re.MULTILINE)[1] == __version__
    newest = re.search(r"^## (\d\S*) - (\S+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest[1] == __version__
    assert f"date-released: {newest[2]}" in citation

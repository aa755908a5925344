"""Every code block of every page runs, in page order, in an empty folder."""

from pathlib import Path

import pytest
from page_run import run_page

ROOT = Path(__file__).parents[2]
OTHERS = ("README.md", "CONTRIBUTING.md", "deploy/README.md", "examples/README.md")
# What the site builds is made of other pages.
MADE = ("_build", "generated", "auto_")
# These pages run a service or a study, and take half of the time of all.
LONG = (
    "docs/card.md",
    "docs/estimators.md",
    "docs/howto/production.md",
    "docs/howto/scheduled-refit.md",
    "docs/howto/scikit-learn.md",
    "docs/judge.md",
    "docs/notebook.md",
    "docs/recipes.md",
    "docs/report.md",
    "docs/service-feedback.md",
    "docs/service-operations.md",
    "docs/service.md",
)


def pages_in(root):
    """Return the pages of the project: new ones are found by themselves."""
    found = [root / name for name in OTHERS if (root / name).is_file()] + sorted((root / "docs").rglob("*.md"))
    return [page for page in found if not any(part.startswith(MADE) for part in page.relative_to(root).parts)]


def paged(page):
    """A page by its name; a long one is for the night."""
    name = page.relative_to(ROOT).as_posix()
    return pytest.param(page, id=name, marks=[pytest.mark.nightly] if name in LONG else [])


@pytest.mark.parametrize("page", [paged(page) for page in pages_in(ROOT)])
def test_the_blocks_of_a_page_run_as_they_stand(page, tmp_path):
    run_page(page, tmp_path)


def test_every_long_page_exists():
    assert [name for name in LONG if not (ROOT / name).is_file()] == []


def test_new_pages_are_found_and_built_ones_are_not(tmp_path):
    for name in ("README.md", "docs/a.md", "docs/howto/new.md", "docs/_build/a.md", "docs/reference/generated/b.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [page.relative_to(tmp_path).as_posix() for page in pages_in(tmp_path)] == [
        "README.md",
        "docs/a.md",
        "docs/howto/new.md",
    ]

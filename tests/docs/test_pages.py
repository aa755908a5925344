"""Every code block of every page runs, in page order, in an empty folder."""

from pathlib import Path

import pytest
from page_run import run_page

ROOT = Path(__file__).parents[2]
OTHERS = ("README.md", "CONTRIBUTING.md", "deploy/README.md", "examples/README.md")
# What the site builds is made of other pages.
MADE = ("_build", "generated", "auto_")


def pages_in(root):
    """Return the pages of the project: new ones are found by themselves."""
    found = [root / name for name in OTHERS if (root / name).is_file()] + sorted((root / "docs").rglob("*.md"))
    return [page for page in found if not any(part.startswith(MADE) for part in page.relative_to(root).parts)]


@pytest.mark.parametrize("page", pages_in(ROOT), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_blocks_of_a_page_run_as_they_stand(page, tmp_path):
    run_page(page, tmp_path)


def test_new_pages_are_found_and_built_ones_are_not(tmp_path):
    for name in ("README.md", "docs/a.md", "docs/howto/new.md", "docs/_build/a.md", "docs/reference/generated/b.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [page.relative_to(tmp_path).as_posix() for page in pages_in(tmp_path)] == [
        "README.md",
        "docs/a.md",
        "docs/howto/new.md",
    ]

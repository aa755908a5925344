"""The pages keep their word: links lead somewhere, the README is short. Their blocks are run in tests/docs."""

import re
from pathlib import Path

import pytest

from vecuq._files import limits

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HIDDEN = re.compile(r"^<!--.*?-->\n", re.MULTILINE | re.DOTALL)
# A terminal that is wide enough for every option, without colours.
PLAIN = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}


def anchors_of(page):
    """Return the anchors that a page's headings make, by GitHub's rule."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page):
    """Return the relative links of a page that lead nowhere."""
    for link in re.findall(r"\]\(([^)\s]+)\)", FENCED.sub("", page.read_text("utf-8"))):
        place, _, anchor = link.partition("#")
        target = (page.parent / place) if place else page
        if "://" not in link and not (target.exists() and (not anchor or anchor in anchors_of(target))):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_somewhere(page):
    assert list(broken_links(page)) == []


def test_a_link_to_nowhere_would_be_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A title\n[here](#a-title) [gone](gone.md) [no such part](#b) [web](https://example.org)\n")
    assert list(broken_links(page)) == ["gone.md", "#b"]


def test_the_readme_can_be_read_in_a_minute():
    text = HIDDEN.sub("", README.read_text("utf-8"))
    assert len(text.split()) < 600
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "adr").glob("0*.md")), ids=lambda page: page.stem)
def test_a_design_decision_takes_about_half_a_page(page):
    assert len(page.read_text("utf-8").split()) <= 350


def test_every_command_and_option_of_the_page_exists():
    from typer.testing import CliRunner

    from vecuq.cli import app

    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    commands = re.findall(r"^\| `vecuq ([a-z]+)", page, re.MULTILINE)
    helps = [CliRunner().invoke(app, [*words, "--help"], env=PLAIN) for words in ([], *([name] for name in commands))]
    assert [name for name, shown in zip(["", *commands], helps, strict=True) if shown.exit_code] == []
    known = set(re.findall(r"--[a-z-]+", "".join(shown.output for shown in helps)))
    assert set(re.findall(r"--[a-z][a-z-]+", page)) - known == set()


def test_the_limits_of_tables_are_those_that_the_page_states():
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    for stated in (
        f"| {limits.MOST_COLUMNS:,}; {limits.LONGEST_NAME:,} |",
        f"| {limits.ROW_BYTES // 2**20} MiB; {limits.LINE_BYTES // 2**20} MiB |",
        f"| {limits.MOST_LEVELS} levels |",
        f"| {limits.ROOM_GIB:g} GiB, or {limits.MOST_RATIO} times the size of the file if that is more |",
        f"| {limits.MOST_ROOMS} times that |",
        f"`{limits.ROOM_VARIABLE}`",
    ):
        assert stated in page


# Sentences that were once written, and promised more than the theorem behind them.
TOO_MUCH = (
    "a p-value that holds",
    "a threshold that keeps its false-alarm rate",
    "false alarms, ever",
    "a law of reference",
    "two hundred or more for p-values",
    "more rows than the 2^m - 1 anchors",
)
SAID = {
    "README.md": (
        "holds for exchangeable rows, on average over calibration sets",
        "does not rank better than a plain sum",
        "8 (2^m - 1) for m columns",
    ),
    "docs/decisions.md": (
        "No dependence in time",
        "Sessions are named",
        "You have one set, and it serves every decision",
        "If the calibration rows are complete, any regular share of missing values is a change",
        "for independent rows without drift, the chance of *ever* raising a false alarm",
        "This is a chance per monitor, not a share of the alarms",
        "To keep 1 % with 90 % confidence takes 230",
    ),
    "docs/method.md": ("A fit is not refused",),
}


def words_of(page):
    return " ".join(page.read_text("utf-8").split())


@pytest.mark.parametrize(
    "page",
    [*(page for page in PAGES if page.name != "CHANGELOG.md"), *sorted((ROOT / "src").rglob("*.py"))],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_no_page_promises_more_than_its_theorem(page):
    assert [sentence for sentence in TOO_MUCH if sentence in words_of(page)] == []


@pytest.mark.parametrize("page", SAID)
def test_what_a_promise_assumes_is_said_where_it_is_made(page):
    words = words_of(ROOT / page).replace("**", "")
    assert [sentence for sentence in SAID[page] if sentence not in words] == []

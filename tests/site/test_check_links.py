"""The check of the built site sees dead links, missing anchors and pictures, and other hosts."""

import pytest
from check_links import problems

GOOD = '<h1 id="top">A</h1><a href="b.html#part">b</a><a href="#top">up</a><a href="https://example.org">web</a>'
OTHER = '<h2 id="part">B</h2><img src="x.png"><link rel="stylesheet" href="own.css">'


@pytest.fixture
def site(tmp_path):
    (tmp_path / "a.html").write_text(GOOD)
    (tmp_path / "b.html").write_text(OTHER)
    (tmp_path / "x.png").write_bytes(b"")
    (tmp_path / "own.css").write_text("body { background: url('x.png') }")
    return tmp_path


def test_a_site_whose_links_resolve_has_no_problem(site):
    assert list(problems(site)) == []


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ('<a href="gone.html">x</a>', "gone.html: no such file"),
        ('<a href="b.html#gone">x</a>', "b.html#gone: no such anchor"),
        ('<a href="#gone">x</a>', "#gone: no such anchor"),
        ('<img src="gone.png">', "gone.png: no such file"),
        ('<img srcset="x.png, gone.png 2x">', "gone.png: no such file"),
        ('<a href="/b.html">x</a>', "must be relative"),
        ('<script src="https://cdn.example.org/x.js"></script>', "from another host"),
        ('<img src="//cdn.example.org/x.png">', "from another host"),
        ('<link rel="stylesheet" href="https://fonts.example.org/x.css">', "from another host"),
        ("<style>@import 'https://fonts.example.org/x.css';</style>", "from another host"),
        ('<p style="background: url(//cdn.example.org/x.png)">x</p>', "from another host"),
        ('<svg><image href="https://cdn.example.org/x.png"/></svg>', "from another host"),
        ('<object data="https://cdn.example.org/x.svg"></object>', "from another host"),
        ('<video poster="gone.png"></video>', "gone.png: no such file"),
    ],
)
def test_what_is_wrong_is_named(site, added, said):
    (site / "a.html").write_text(GOOD + added)
    (found,) = problems(site)
    assert found.startswith("a.html: ")
    assert said in found


def test_a_style_sheet_must_not_fetch_from_another_host(site):
    (site / "own.css").write_text(
        "@import 'https://fonts.example.org/x.css'; body { background: url(data:image/png;) }"
    )
    assert list(problems(site)) == ["own.css: fetches https://fonts.example.org/x.css from another host"]


def test_a_site_that_was_not_built_is_a_problem(tmp_path):
    assert "build the documentation first" in next(problems(tmp_path))

"""Pages are plain Markdown on GitHub; the site reads the same text with navigation and without its comments."""

from contents import prepared, split_code, toctree_of


def test_the_links_of_an_index_page_are_its_navigation_in_their_order():
    text = "# Start\n\nFirst [a](two.md), then [b](one.md#part), [c](../other.md) and [d](https://example.org/x.md).\n"
    assert "\n\ntwo\none\n```" in toctree_of(text, "docs/start/index.md")
    assert "other" not in toctree_of(text, "docs/start/index.md")


def test_marks_say_which_links_count_and_headings_become_captions():
    text = "[not](no.md)\n<!-- pages -->\n## Scores\n[Where from](../measures.md)\n<!-- /pages -->\n[nor](this.md)\n"
    found = toctree_of(text, "docs/reference/index.md")
    assert ":caption: Scores\n\nWhere from <../measures>\n" in found
    assert "no" not in found.replace("Where from", "").split()


def test_a_page_that_is_no_index_has_no_navigation():
    assert prepared("[a](two.md)\n", "docs/gate.md") == "[a](two.md)\n"


def test_comments_are_left_out_but_not_in_code():
    text = "Before.\n<!-- run\nx = 1\n\ny = 2\n-->\n```html\n<!-- kept -->\n```\n<!-- skip: no key -->\nAfter.\n"
    assert prepared(text, "docs/page.md") == "Before.\n\n```html\n<!-- kept -->\n```\n\nAfter.\n"


def test_a_fence_within_a_comment_does_not_begin_code():
    text = "<!-- run\nprint('''\n```\n''')\n-->\nThe end.\n"
    assert [is_code for is_code, _ in split_code(text)] == [False]


def test_links_to_scripts_and_to_files_outside_lead_to_the_pages_made_of_them():
    text = "[why](../gallery/plot_why.py) [log](../../CHANGELOG.md#unreleased) [file](../../deploy/Dockerfile)\n"
    found = prepared(text, "docs/concepts/vector.md")
    assert "(../built/gallery/plot_why.rst)" in found
    assert "(../project/changelog.md#unreleased)" in found
    assert "(../../deploy/Dockerfile)" in found


def test_a_file_from_outside_keeps_its_links_at_its_new_place():
    text = "See [the gate](docs/gate.md) and ![a picture](docs/img/x.png), `[not](this)` and [web](https://a.b/c).\n"
    found = prepared(text, "CHANGELOG.md", "docs/project/changelog.md")
    assert "(../gate.md)" in found
    assert "(../img/x.png)" in found
    assert "(https://a.b/c)" in found

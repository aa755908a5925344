"""Every kind of picture can be drawn, and every entry has one."""

import pytest
from catalogue.canvas import saved
from catalogue.entries import entries
from catalogue.writing import DRAWN, SHOWN, picture_name, pictures, section_text

KNOWN = entries()
FIRST = {one.picture: one for one in reversed(KNOWN) if one.section != "risk"}


def test_every_entry_has_a_picture_and_every_kind_a_caption():
    drawn = pictures(KNOWN)
    assert {picture_name(one) for one in KNOWN} == set(drawn)
    assert set(FIRST) == set(DRAWN) == set(SHOWN)


@pytest.mark.parametrize("kind", sorted(FIRST))
def test_a_picture_shows_something(kind, tmp_path):
    from PIL import Image

    file = tmp_path / "picture.png"
    saved(DRAWN[kind](FIRST[kind]), file)
    with Image.open(file) as picture:
        shades = picture.convert("L").getextrema()
    assert shades[0] < 120 < shades[1]


@pytest.mark.parametrize("section", ["classifier", "risk", "text", "metric", "baseline"])
def test_a_page_names_every_entry_of_its_section(section):
    text = section_text(section)
    for one in KNOWN:
        if one.section == section:
            assert f"`{one.name}`" in text
            assert f"pictures/{picture_name(one)}.png" in text

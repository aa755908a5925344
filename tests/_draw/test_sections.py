"""Fragments: escaped, without script, with rules that touch nothing but themselves."""

import re

import pytest

from vecuq._draw import (
    Ranged,
    Section,
    Sheet,
    facts_table,
    fold,
    fragment,
    fragment_css,
    html_card,
    name_html,
    paragraph,
    sheet_table,
    text_html,
)

ATTACK = "<img src=x onerror=alert(1)>\"'&</style><script>"


def rules(css):
    """Yield every selector of a style sheet, of those inside @media too."""
    plain = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    for heads in re.findall(r"([^{};]+)\{", plain):
        if not heads.strip().startswith("@media"):
            yield from _apart(heads)


def _apart(heads):
    """Split a list of selectors at the commas outside of brackets."""
    depth, start = 0, 0
    for place, letter in enumerate(heads):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            yield heads[start:place].strip()
            start = place + 1
    yield heads[start:].strip()


def test_every_rule_is_about_fragments_only():
    found = list(rules(fragment_css()))
    assert len(found) > 20
    assert [selector for selector in found if not selector.startswith(".vecuq")] == []


def test_a_rule_about_others_would_be_seen():
    found = list(rules(".vecuq:is(a, b:not(c) *), p { x: y } @media print { td { x: y } }"))
    assert found == [".vecuq:is(a, b:not(c) *)", "p", "td"]


def test_the_style_sheet_loads_nothing_and_cannot_end_early():
    assert not re.search(r"@import|url\(|</|expression|https?:", fragment_css())


@pytest.mark.parametrize(
    "made",
    [
        fragment(ATTACK, [Section("a", ATTACK, paragraph(ATTACK))]),
        html_card(ATTACK, {ATTACK: ATTACK}, folded={ATTACK: {ATTACK: ATTACK}}),
        fold(ATTACK, facts_table({ATTACK: ATTACK})),
        sheet_table(Sheet("x", ATTACK, ({ATTACK: ATTACK, "n": 1.0},))),
        name_html(3 * ATTACK),
    ],
)
def test_what_comes_from_a_user_is_text(made):
    assert "<img" not in made
    assert "<script" not in made
    assert "onerror=alert(1)&gt;" in made


def test_letters_that_turn_others_around_are_replaced():
    assert text_html("a\N{RIGHT-TO-LEFT OVERRIDE}b\x00") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}"


def test_a_long_name_is_short_and_whole_under_the_pointer():
    name = "distance " * 20 + "of layer 12"
    assert f'title="{name}"' in name_html(name)
    assert "of layer 12</bdi>" in name_html(name)
    assert "title" not in name_html("entropy")


def test_the_best_and_second_best_are_marked_and_numbers_stand_right():
    rows = tuple({"score": name, "auc": Ranged(value, value - 0.1, value)} for name, value in (("a", 0.7), ("b", 0.9)))
    made = sheet_table(Sheet("x", "t", rows, down={"auc": True}))
    assert '<td class="vq-num vq-best">0.900 [0.800, 0.900]</td>' in made
    assert '<td class="vq-num vq-second">0.700' in made
    assert '<th scope="col" class="vq-num"><bdi>auc</bdi></th>' in made
    assert "<td><bdi>a</bdi></td>" in made


def test_a_fragment_has_its_style_and_a_title_but_no_id():
    made = fragment("Gate", [Section("certificate", "The certificate", "<p>x</p>"), Section("more", "", "<p>y</p>")])
    assert made.startswith('<div class="vecuq vq-card"><style>')
    assert made.index("Gate") < made.index("The certificate") < made.index("<p>x</p>") < made.index("<p>y</p>")
    assert not re.search(r'\sid="', made)  # the same thing may be shown twice in a notebook


def test_words_between_backticks_are_code_and_stay_text():
    said = paragraph("see `vecuq fit <b>` and `")
    assert said == '<p class="vq-text">see <code>vecuq fit &lt;b&gt;</code> and `</p>'
    assert paragraph("a `name` of a user", code=False) == '<p class="vq-text">a `name` of a user</p>'


def test_shares_stand_to_the_right_as_numbers_do():
    rows = ({"name": "5 % off", "share": "5.5 %", "p": "below 1e-12"}, {"name": "b", "share": None, "p": "0.2"})
    page = sheet_table(Sheet("a", "b", rows))
    assert page.count('<td class="vq-num">') == 2
    assert '<td class="vq-num">5.5 %</td>' in page

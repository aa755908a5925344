"""The page as a file: one script, named by its checksum; rows as data and as a table; small whatever the texts are."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from facts_by_hand import facts_of, new_rows

from vecuq.ranker import scorer_source
from vecuq.report.columns import columns_of, shade
from vecuq.report.html import MOST_OF_A_MODEL, render_report, with_code
from vecuq.report.inline import SCRIPTS, STYLES, data_island, page_script, page_style, policy
from vecuq.report.table import rows_heading, table_data, within_reach


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text of scripts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts, self.inside = [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            traits, text = self.scripts.pop()
            self.scripts.append((traits, text + data))


@pytest.fixture(scope="module")
def page(facts):
    return render_report(facts)


def test_the_policy_names_the_one_script_that_runs_by_its_checksum(page):
    found = Elements(page)
    kinds = [traits.get("type") for traits, _ in found.scripts]
    assert kinds == ["application/json", "application/json", "module"]
    digest = base64.b64encode(hashlib.sha256(found.scripts[-1][1].encode()).digest()).decode()
    (rule,) = [traits["content"] for tag, traits in found.tags if traits.get("http-equiv") == "Content-Security-Policy"]
    assert rule.split("; ")[:2] == ["default-src 'none'", f"script-src 'sha256-{digest}'"]
    assert "unsafe-inline" not in rule.split("style-src")[0]


def test_the_page_refers_to_nothing_elsewhere_and_has_no_handler_in_it(page):
    found = Elements(page)
    assert {tag for tag, _ in found.tags} & {"link", "iframe", "img", "object", "base", "form"} == set()
    assert [name for _, traits in found.tags for name in traits if name.startswith("on") or name == "src"] == []
    assert all(traits["href"].startswith("#") for tag, traits in found.tags if tag == "a")


def test_the_script_never_parses_text_as_html_and_cannot_end_its_element():
    script = page_script(scorer_source())
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", script)
    assert not re.search(r"</script|<!--", script, re.IGNORECASE)
    assert not re.search(r"https?://|fetch\(|XMLHttpRequest|import\(", script)
    assert "</style" not in page_style()


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "a\u2028b\u2029", "&amp;", "\ud800", '"\\', "名"])
def test_data_in_a_page_is_what_it_was_and_cannot_leave_its_element(text):
    island = data_island({"x": [text]})
    assert json.loads(island) == {"x": [text]}
    assert not set(island) & set("<>&\u2028\u2029\ud800")


def test_the_rows_are_in_the_page_as_a_table_and_with_every_digit_as_data(page, facts):
    data = json.loads(Elements(page).scripts[0][1])
    roles = [column["role"] for column in data["columns"]]
    rows = facts["rows"]["rows"]
    assert [row[roles.index("id")] for row in data["rows"]] == [row["others"][0] for row in rows]
    assert [row[roles.index("uncertainty")] for row in data["rows"]] == [row["uncertainty"] for row in rows]
    scores = [k for k, role in enumerate(roles) if role == "score"]
    assert [[row[k] for k in scores] for row in data["rows"]] == [row["scores"] for row in rows]
    assert page.count("<tbody><tr><th scope") == len(rows)
    assert rows[0]["why"] in page


def test_the_columns_are_those_that_say_something(model, facts):
    roles = " ".join(column.role for column in columns_of(facts["rows"]))
    assert roles == "id uncertainty p_value accept flagged p_wrong wrong leading score score score other row"
    bare = facts_of(*model, new_rows(n_rows=3), others={}, labels=False)["rows"]
    for row in bare["rows"]:
        row["flagged"] = True
        row["accept"] = False
    bare["has_p"] = False
    assert table_data(columns_of(bare), bare["rows"])["alike"] == {"flagged": True, "accept": False}
    assert " ".join(column.role for column in columns_of(bare)) == "id uncertainty leading score score score"
    unnamed = {**facts["rows"], "headed": False}
    names = [column.name for column in columns_of(unnamed)]
    assert (names[0], names[-2:]) == ("row", ["id", "group"])


@pytest.mark.parametrize(
    ("percentile", "words", "level"),
    [(100.0, "P100", 4), (99.9, "P99", 3), (0.0, "P0", 0), (0.2, "P1", 0), (97.5, "P98", 3), (90.0, "P90", 2)],
)
def test_only_what_is_beyond_all_calibration_rows_is_0_or_100(model, percentile, words, level):
    facts = facts_of(*model, new_rows(n_rows=2))["rows"]
    facts["rows"][0]["percentiles"][0] = percentile
    column = next(one for one in columns_of(facts) if one.role == "score")
    assert f"<i> {words}</i>" in column.cell(facts["rows"][0])
    assert shade(percentile) == level


def test_a_constant_column_is_marked_and_never_shaded(model):
    facts = facts_of(*model, new_rows(n_rows=2))["rows"]
    facts["scores"][0]["constant"] = True
    facts["rows"][0]["percentiles"][0] = 100.0
    column = next(one for one in columns_of(facts) if one.role == "score")
    assert "constant" in column.head()
    assert column.cell(facts["rows"][0]).startswith('<td class="n">')


@pytest.mark.parametrize(
    ("what", "n_such", "n_shown", "words"),
    [
        ("flagged", 74, 74, "All 74 rows that are flagged"),
        ("flagged", 1, 1, "The one row that is flagged"),
        ("not accepted", 52331, 1000, "The 1,000 most uncertain of 52,331 rows that are not accepted"),
        ("most uncertain", 0, 50, "The 50 most uncertain rows"),
        ("most uncertain", 0, 1, "The most uncertain row"),
    ],
)
def test_the_heading_says_which_rows_these_are(what, n_such, n_shown, words):
    assert rows_heading({"what": what, "n_such": n_such, "n_shown": n_shown}) == words


def test_without_rows_the_page_says_so(facts):
    empty = {**facts, "rows": {**facts["rows"], "rows": [], "n_shown": 0, "n_such": 0}}
    assert "No row to show" in render_report(empty)


def test_a_thousand_rows_of_ten_columns_make_a_small_page(facts):
    rows, row = facts["rows"], facts["rows"]["rows"][0]
    numbers = np.random.default_rng(0).random((1_000, 10)).tolist()
    wide = {
        **rows,
        "scores": [{**rows["scores"][0], "name": f"measure_{k}"} for k in range(10)],
        "rows": [{**row, "scores": one, "percentiles": [round(100 * x, 1) for x in one]} for one in numbers],
    }
    assert 800_000 < len(render_report({**facts, "rows": wide}).encode()) < 1_500_000


@pytest.mark.parametrize("text", ["word " * 5_000, "很长的文字" * 5_000])
def test_long_texts_are_cut_until_all_of_them_fit(model, text):
    others = {"id": list(range(400)), "text": [text] * 400, "more": [text[:200]] * 400}
    facts = facts_of(*model, new_rows(n_rows=400), others=others)["rows"]
    cut = within_reach(facts)["rows"]
    kept = [cell.encode() for row in cut for cell in row["others"] if isinstance(cell, str)]
    assert sum(map(len, kept)) <= 510_000
    assert cut[0]["others"][1].endswith("…")
    assert cut[0]["others"][0] == facts["rows"][0]["others"][0]


def test_a_model_too_large_for_a_page_is_left_out_and_that_is_said(facts):
    large = {**facts, "whatif": {**facts["whatif"], "model": " " * (MOST_OF_A_MODEL + 1)}}
    page = render_report(large)
    assert 'id="model-data"' not in page
    assert "1.0 MB, too much for a page" in page


@pytest.mark.parametrize(
    ("table", "link"), [("flagged.csv", 'href="./flagged.csv"'), ("/data/x.csv", "<code>/data/x.csv</code>")]
)
def test_the_table_with_all_rows_is_a_link_if_it_lies_beside_the_page(facts, table, link):
    many = {**facts, "rows": {**facts["rows"], "what": "flagged", "n_such": 9_000, "table": table, "link": table}}
    assert link in render_report(many)


def test_code_between_backticks_is_escaped():
    assert with_code("run `a <b>` & c") == "run <code>a &lt;b&gt;</code> &amp; c"


def test_the_policy_changes_with_the_script():
    assert policy("a") != policy("b")


def test_the_pages_own_files_are_small():
    """As they are packed into the wheel; the scorer is in it already."""
    import zlib

    assert {*STYLES, *SCRIPTS} == {"page.css", "rows.css", "panel.css", "paper.css", *SCRIPTS}
    assert len(zlib.compress((page_style() + page_script("")).encode())) < 15_000

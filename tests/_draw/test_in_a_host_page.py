"""Fragments inside the page of a notebook: they change nothing of it, resist its rules, and read well in its theme."""

import numpy as np
import pytest

from vecuq import Gate, LiveGate, Monitor, VecUQ
from vecuq.evaluation import Bootstrap, evaluate

HOSTILE = ("</style><script>window.stolen = 1</script>", "预测熵 <img src=x onerror='window.stolen = 2'>")
# Rules in the manner of notebooks: tables small and to the right, rows striped, headings and paragraphs of their own.
HOST = """<!doctype html><html lang="en" {html}><head><meta charset="utf-8"><title>A notebook</title><style>
body {{ margin: 1em; font: 14px/1.3 Georgia, serif; background: {ground}; color: {ink}; }}
table {{ font-size: 11px; }} td, th {{ text-align: right; padding: 9px; border: 2px dotted teal; white-space: nowrap; }}
.output table {{ border: 0; border-collapse: separate; margin: 3em auto; table-layout: fixed; }}
.output thead {{ border-bottom: 3px solid teal; vertical-align: bottom; }}
.output td, .output th, .output tr {{ text-align: right; vertical-align: middle; padding: 0.5em; max-width: none; }}
.output tbody tr:nth-child(odd) {{ background: #444; color: #eee; }} .output tr:hover {{ background: crimson; }}
p, summary {{ margin: 2em; letter-spacing: .01em; }} svg {{ max-width: 100%; }} details {{ color: gray; }}
</style></head><body {body}>
<h1>Host</h1><p class="vq-textlike">Words</p><table id="own"><thead><tr><th>a</th></tr></thead>
<tbody><tr><td>1</td></tr><tr><td>2</td></tr></tbody></table><details><summary>More</summary>Text</details>
<svg width="40" height="20"><rect width="9" height="9"/><path d="M0 0L9 9" stroke="black"/></svg>
<div class="output" id="here"></div>
</body></html>"""
# What the host's own elements look like, before and after a fragment comes.
LOOKS = """() => [...document.querySelectorAll('*')].filter(one => !one.closest('#here') || one.id === 'here')
  .map(one => { const look = getComputedStyle(one); return [one.tagName, Object.fromEntries([...look]
    .filter(key => !/height|block-size|perspective-origin|transform-origin/.test(key))
    .map(key => [key, look.getPropertyValue(key)]))]; })"""
# Give the root and the body the marks of a theme, and no others.
MARK = """marks => [document.documentElement, document.body].forEach((one, k) => {
  [...one.attributes].forEach(old => one.removeAttribute(old.name));
  const found = /(.+)="(.+)"/.exec(marks[k]); if (found) one.setAttribute(found[1], found[2]); })"""
THEMES = {
    "plain light": ("", "", "light", False),
    "plain dark": ("", "", "dark", True),
    "jupyter dark": ("", 'data-jp-theme-light="false"', "light", True),
    "jupyter light": ("", 'data-jp-theme-light="true"', "dark", False),
    "vs code dark": ("", 'class="vscode-dark"', "light", True),
    "vs code light": ("", 'class="vscode-light"', "dark", False),
    "theme dark": ('data-theme="dark"', "", "light", True),
    "theme light": ('data-theme="light"', "", "dark", False),
    "colab dark": ('theme="dark"', "", "light", True),
}


@pytest.fixture(scope="module")
def shown():
    """Everything that shows itself, with hostile names, each as a piece of HTML."""
    rng = np.random.default_rng(0)
    known = dict(zip(HOSTILE, rng.gamma(1.0, size=(2, 200)), strict=True))
    model = VecUQ().fit(known)
    rows = rng.gamma(1.0, size=(600, 2))
    correct = rng.random(600) > rows.sum(axis=1) / 10
    labelled = dict(zip(HOSTILE, rows.T, strict=True))
    gate = Gate(model, accuracy=0.85).fit(labelled, correct, by=[HOSTILE[k % 2] for k in range(600)])
    done = evaluate(labelled, error=~correct, metrics=["roc_auc", "aurc"], bootstrap=Bootstrap(20))
    things = (model.ranker_, model.ranker_.rank(labelled), gate, gate.certificate(), LiveGate(gate, audit=0.5), done)
    cards = [one._repr_html_() for one in (*things, Monitor(model.ranker_))]
    return [model._repr_mimebundle_()["text/html"], *cards]


@pytest.fixture
def host(tab, tmp_path):
    """Open a page of a host: host("plain dark", width=400)."""

    def opened(theme, **looks):
        html, body, scheme, dark = THEMES[theme]
        ground, ink = ("#111", "#eee") if dark else ("white", "#222")
        path = tmp_path / "host.html"
        path.write_text(HOST.format(html=html, body=body, ground=ground, ink=ink), "utf-8")
        return tab(path.as_uri(), scheme=scheme, **looks)

    return opened


def insert(page, shown):
    page.evaluate("html => { document.getElementById('here').innerHTML = html }", "".join(shown))


def test_the_host_keeps_every_look_of_its_own(host, shown):
    page = host("plain light")
    before = page.evaluate(LOOKS)
    insert(page, shown)
    assert page.evaluate("document.querySelectorAll('.vecuq').length") == 8
    assert page.evaluate(LOOKS) == before
    assert len(before) > 15


def test_a_rule_without_its_mark_would_be_seen(host, shown):
    page = host("plain light")
    before = page.evaluate(LOOKS)
    insert(page, [shown[0].replace(".vecuq .vq-table ", "td, .vecuq .vq-table ", 1)])
    assert page.evaluate(LOOKS) != before


@pytest.mark.everyday
def test_names_are_text_and_nothing_runs(host, shown):
    page = host("plain light")
    insert(page, shown)
    assert page.evaluate("window.stolen") is None
    assert page.locator("#here script").count() == page.locator("#here img").count() == 0
    assert page.locator("#here").get_by_text("window.stolen = 1").count() > 3


def test_tables_look_like_fragments_and_not_like_the_host(host, shown):
    page = host("plain light")
    insert(page, shown)
    looks = page.evaluate(
        """() => [...document.querySelectorAll('#here .vq-table')].map(table => {
          const of = (one, key) => getComputedStyle(one)[key], row = table.querySelector('tbody tr');
          const cell = row.querySelector('td, th');
          return [of(row, 'backgroundColor'), of(cell, 'textAlign'), of(cell, 'borderLeftStyle'), of(table, 'fontSize'),
                  of(table, 'marginTop')] })"""
    )
    assert len(looks) > 8
    assert {row[0] for row in looks} == {"rgba(0, 0, 0, 0)"}
    assert {row[2] for row in looks} == {"none"}
    assert {row[3] for row in looks} == {"13px"}
    assert {row[4] for row in looks} == {"0px"}


def test_it_is_dark_where_the_page_is(host, shown):
    page = host("plain light")
    insert(page, shown[:1])
    dark = {}
    for theme, (html, body, scheme, _) in THEMES.items():
        page.emulate_media(color_scheme=scheme)
        page.evaluate(MARK, [html, body])
        ground = page.evaluate("getComputedStyle(document.querySelector('.vecuq')).backgroundColor")
        dark[theme] = {"rgb(23, 27, 33)": True, "rgb(255, 255, 255)": False}[ground]
    assert dark == {theme: looks[3] for theme, looks in THEMES.items()}


@pytest.mark.parametrize("theme", ["plain light", "jupyter dark"])
def test_everything_can_be_read_and_reached(host, shown, theme):
    from axe_playwright_python.sync_playwright import Axe

    page = host(theme, width=420)
    insert(page, shown)
    for one in page.locator("#here details").all():
        one.evaluate("one => { one.open = true }")
    found = Axe().run(page, context="#here").response["violations"]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in found] == []
    assert page.evaluate("document.querySelector('#here').scrollWidth <= window.innerWidth")

"""Each concept has a page with a picture, and no picture is older than the script that draws it."""

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONCEPTS, GALLERY = ROOT / "docs" / "concepts", ROOT / "docs" / "gallery"
DRAW = runpy.run_path(str(ROOT / "tools" / "draw_concepts.py"), run_name="draw_concepts")
SCRIPTS = sorted(GALLERY.glob("plot_*.py"))
PAGES = sorted(path for path in CONCEPTS.glob("*.md") if path.name != "index.md")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_every_picture_was_drawn_by_its_script_as_it_stands(script):
    picture = DRAW["picture_of"](script)
    remedy = "Draw it again: python tools/draw_concepts.py"
    assert DRAW["drawn_from"](picture) == DRAW["checksum"](script), remedy
    assert picture.stat().st_size < 300_000


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_page_shows_one_picture_with_a_text_for_those_who_do_not_see_it_and_names_its_script(page):
    text = page.read_text("utf-8")
    (alt, picture), *more = re.findall(r"!\[([^]]*)\]\(\.\./img/concepts/([a-z-]+\.png)\)", text)
    assert not more
    assert len(alt) > 60
    script = f"plot_{picture.removesuffix('.png').replace('-', '_')}.py"
    assert f"](../gallery/{script})" in text
    assert (GALLERY / script).exists()


def test_every_page_and_every_script_is_used():
    index = (CONCEPTS / "index.md").read_text("utf-8")
    assert all(f"]({page.name})" in index for page in PAGES)
    shown = "".join(page.read_text("utf-8") for page in PAGES)
    assert all(f"](../gallery/{script.name})" in shown for script in SCRIPTS)


def test_the_figures_of_combining_are_those_of_their_sources():
    made = constants()
    helps = (ROOT / "docs" / "when-it-helps.md").read_text("utf-8")
    weights = (ROOT / "docs" / "adr" / "0040-weights.md").read_text("utf-8")
    gates = (ROOT / "benchmarks" / "GATES.md").read_text("utf-8")
    assert all(f"{value:.3f}" in helps for value in made["ORDERS"].values())
    gains = zip(made["LABELS"], made["SHRUNK"], made["PLAIN"], strict=True)
    lines = {n: (f"{shrunk:+.4f}".replace("0.", "."), f"{plain:+.4f}".replace("0.", ".")) for n, shrunk, plain in gains}
    assert all(f"| {shrunk} | {plain} |" in weights for shrunk, plain in lines.values())
    for family, name in (("multiple choice", "mcq"), ("vision-language", "vlm"), ("reasoning", "reasoning")):
        best, gate, minmax, worst = (f"{value:.3f}" for value in made["COVERAGE"][family])
        line = re.search(rf"\| {name} \| 500 \| {gate} \| {best} \(.*?\) \| [\d.]+ \| {worst} \| {minmax} \|", gates)
        assert line, family


def constants():
    """Return the numbers that the script names, without drawing."""
    tree = ast.parse((GALLERY / "plot_combining.py").read_text("utf-8"))
    named = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    return {node.targets[0].id: ast.literal_eval(node.value) for node in named if node.targets[0].id.isupper()}

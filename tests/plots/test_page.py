"""The page about notebooks shows the pictures that its own code writes."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "notebook.md"


def test_every_picture_of_the_page_is_written_by_its_code():
    text = PAGE.read_text("utf-8")
    code = "".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    shown = set(re.findall(r"\(img/notebook/([\w.]+)\)", text))
    assert len(shown) == 4
    assert shown - {"displays.png"} <= set(re.findall(r'savefig\("([\w.]+)"', code))
    assert all((PAGE.parent / "img" / "notebook" / name).is_file() for name in shown)

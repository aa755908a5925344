"""What stands inside of a page: data that no text can break out of, and the policy that lets only our script run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files
from typing import Any

STYLES = ("page.css", "rows.css", "panel.css", "paper.css")
SCRIPTS = ("elements.js", "choosing.js", "rows.js", "saving.js", "panel.js", "start.js")
# A browser ends a script element at "</script", whatever the script says; "<!--" changes how it looks for the end.
# Lone surrogates cannot be encoded, and the two separators end a line in older scripts.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def data_island(value: Any) -> str:
    r"""Return a value as JSON text that may stand inside of a script element.

    Examples
    --------
    >>> print(data_island(["</script>", 0.1]))
    ["\u003c/script\u003e",0.1]
    """
    return escaped_json(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def escaped_json(text: str) -> str:
    """Return JSON text without a letter that means something to the page around it; its value stays the same."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def page_style() -> str:
    """Return the rules of the page itself, beside those of fragments."""
    return "\n".join(map(_read, STYLES))


def page_script(scorer: str) -> str:
    """Return the one script of a page: the scorer, if any, and in a block of its own what the page does."""
    own = "\n".join(map(_read, SCRIPTS))
    return f"{scorer}\n{{\n{own}}}\n"


def policy(script: str) -> str:
    """Return a content security policy under which nothing is loaded and this script alone is run.

    Examples
    --------
    >>> policy("alert(1)").split("; ")[1]
    "script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules = ("default-src 'none'", f"script-src 'sha256-{digest}'", "style-src 'unsafe-inline'", "img-src data:")
    return "; ".join((*rules, "base-uri 'none'", "form-action 'none'"))


def _read(name: str) -> str:
    return (files("vecuq.report") / "page" / name).read_text("utf-8")

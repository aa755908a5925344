"""Draw the pictures of docs/concepts by the scripts of docs/gallery; each picture carries the checksum of its script.

``python tools/draw_concepts.py`` draws those whose script has changed, ``--all`` every one. A test compares checksums,
so that no page shows a picture of an older script.
"""

from __future__ import annotations

import hashlib
import os
import runpy
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
GALLERY, PICTURES = DOCS / "gallery", DOCS / "img" / "concepts"
# The text chunk of a PNG that names what it was drawn from.
MARK = "Source"


def checksum(script: Path) -> str:
    """Return what identifies a script and the look that all of them share."""
    return hashlib.sha256(script.read_bytes() + (GALLERY / "_look.py").read_bytes()).hexdigest()[:16]


def picture_of(script: Path) -> Path:
    """Return where the picture of a script is."""
    return PICTURES / f"{script.stem.removeprefix('plot_').replace('_', '-')}.png"


def drawn_from(picture: Path) -> str | None:
    """Return the checksum that a picture carries; None without one."""
    from PIL import Image

    if not picture.exists():
        return None
    with Image.open(picture) as image:
        found = image.info.get(MARK)
    return None if found is None else str(found)


def draw(script: Path) -> None:
    """Run a script and keep its last figure."""
    os.environ["MPLBACKEND"] = "Agg"
    import matplotlib.pyplot as plt

    if str(GALLERY) not in sys.path:
        sys.path.insert(0, str(GALLERY))
    runpy.run_path(str(script), run_name="__main__")
    picture = picture_of(script)
    picture.parent.mkdir(parents=True, exist_ok=True)
    plt.gcf().savefig(picture, dpi=120, metadata={MARK: checksum(script)})
    plt.close("all")
    print(f"drew {picture.relative_to(DOCS.parent)} ({picture.stat().st_size // 1024} KiB)")


def main() -> None:
    """Draw what is out of date."""
    for script in sorted(GALLERY.glob("plot_*.py")):
        if "--all" in sys.argv or drawn_from(picture_of(script)) != checksum(script):
            draw(script)


if __name__ == "__main__":
    main()

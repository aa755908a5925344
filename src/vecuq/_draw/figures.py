"""What all pictures share: colours, an empty figure, and the figure as a file. No pyplot, no global state."""

from __future__ import annotations

import base64
import io
import warnings

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vecuq._draw.colours import GREY, INK, LINE, PAPER


def blank(width: float = 6.4, height: float = 4.4) -> tuple[Figure, Axes]:
    """Return a figure of one panel that is still readable at half its width."""
    figure = Figure(figsize=(width, height), dpi=200, layout="constrained", facecolor=PAPER)
    return figure, tidy(figure.subplots())


def tidy(axes: Axes) -> Axes:
    """Give a panel a quiet frame, a light grid and large digits."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(labelsize=12, colors=INK, color=GREY)
    axes.set_axisbelow(True)
    axes.grid(color=LINE, linewidth=0.8)
    return axes


def to_png(figure: Figure) -> bytes:
    """Return the figure as PNG bytes, the same for the same figure."""
    return _bytes(figure, "png", {"Software": None})


def to_data_uri(figure: Figure) -> str:
    """Return the figure as an address that holds it, so that a page needs no other file."""
    return "data:image/png;base64," + base64.b64encode(to_png(figure)).decode()


def to_svg(figure: Figure, *, dpi: float | None = None) -> bytes:
    """Return the figure as SVG bytes, the same for the same figure; text is text, in whatever font has its letters.

    ``dpi`` is that of images inside it; by default the figure's own.
    """
    import matplotlib

    # Names inside the file come from the salt, not from chance.
    with matplotlib.rc_context({"svg.hashsalt": "vecuq", "svg.fonttype": "none"}):
        return _bytes(figure, "svg", {"Date": None, "Creator": None}, dpi=dpi)


def _bytes(figure: Figure, kind: str, metadata: dict[str, str | None], dpi: float | None = None) -> bytes:
    out = io.BytesIO()
    with warnings.catch_warnings():
        # A column name may be in a script that the plot's font lacks; the page itself shows it in full.
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*")
        # Labels that leave no room for a panel, such as numbers of sixteen digits: it is drawn all the same.
        warnings.filterwarnings("ignore", message=".*not applied because axes sizes collapsed.*")
        figure.savefig(out, format=kind, metadata=metadata, dpi="figure" if dpi is None else dpi)
    return out.getvalue()

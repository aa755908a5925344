"""One look for all pictures: colours that colour-blind readers can tell apart, on an opaque white ground.

An opaque ground keeps a picture readable on light and dark pages alike.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

# Of Okabe and Ito's palette; amber is darkened, so that lines of it are seen on white.
BLUE, VERMILION, GREEN, AMBER, GREY = "#0072B2", "#D55E00", "#009E73", "#B87400", "#5F6B76"


def panels(
    n_columns: int = 1, n_rows: int = 1, *, width: float = 9.6, height: float = 3.7, **how: Any
) -> Any:
    """Return axes side by side, without the upper and right frame."""
    plt.rcParams.update(
        {"figure.facecolor": "white", "savefig.facecolor": "white", "font.size": 9.5}
    )
    size = (width, height)
    figure, found = plt.subplots(
        n_rows, n_columns, figsize=size, layout="constrained", squeeze=False, **how
    )
    figure.get_layout_engine().set(wspace=0.06, hspace=0.08)
    for ax in found.ravel():
        ax.spines[["top", "right"]].set_visible(False)
    return found.ravel() if n_columns * n_rows > 1 else found[0, 0]


def bare(ax: Axes, title: str = "", **labels: Any) -> None:
    """Set a title to the left and the labels of the axes."""
    ax.set(**labels)
    ax.set_title(title, loc="left", fontsize=10)

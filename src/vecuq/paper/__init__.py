"""Every table and figure of the paper, as studies that can be run."""

from collections.abc import Callable

from vecuq.paper.ablation import reproduce_ablation
from vecuq.paper.blobs import reproduce_blobs
from vecuq.paper.extremes import reproduce_extremes
from vecuq.paper.images import reproduce_images
from vecuq.paper.letters import reproduce_letters
from vecuq.paper.limitations import reproduce_limitations
from vecuq.paper.limits import reproduce_limits
from vecuq.paper.rules import reproduce_measures
from vecuq.paper.study import Study, render_page
from vecuq.paper.text import reproduce_text
from vecuq.paper.toy import reproduce_toy

__all__ = ["STUDIES", "Study", "render_page", "reproduce_text"]

# By name, in the order of the paper.
STUDIES: dict[str, Callable[[], Study]] = {
    "toy": reproduce_toy,
    "blobs": reproduce_blobs,
    "images": reproduce_images,
    "letters": reproduce_letters,
    "limits": reproduce_limits,
    "ablation": reproduce_ablation,
    "extremes": reproduce_extremes,
    "measures": reproduce_measures,
    "limitations": reproduce_limitations,
    "text": reproduce_text,
}

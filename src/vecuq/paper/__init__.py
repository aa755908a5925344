"""Every table of the paper that is built so far, as a study that can be run."""

from collections.abc import Callable

from vecuq.paper.extremes import reproduce_extremes
from vecuq.paper.study import Study
from vecuq.paper.toy import reproduce_toy

__all__ = ["STUDIES", "Study"]

STUDIES: dict[str, Callable[[], Study]] = {"toy": reproduce_toy, "extremes": reproduce_extremes}

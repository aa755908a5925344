"""What a verb is asked for: one record per verb, checked when it is made, and shared by every face."""

from __future__ import annotations

from typing import Literal

import msgspec

from vecuq.errors import SettingError

__all__ = ["PLAIN", "ScoreOptions"]

Missing = Literal["nan", "error", "marginal"]
MISSING: tuple[str, ...] = ("nan", "error", "marginal")
# The third choice of Ranker.select, "none", is the column `flagged`.
SELECT = ("bh", "by")


class ScoreOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What `score` adds to every row, what becomes of rows with missing scores, and how the rows are written.

    Parameters
    ----------
    alpha, confidence
        Adds ``flagged``: at this false-alarm rate, with this confidence; see :meth:`vecuq.Ranker.flag`.
    explain
        Adds one contribution per score column and, for flagged rows (for all of them without an alpha), ``why``.
    missing
        See :meth:`vecuq.Ranker.rank`.
    select
        ``"bh"`` or ``"by"`` adds ``selected``: see :meth:`vecuq.Ranker.select`. It looks at all rows together.
    by
        For a gate with categories: the column that holds them.
    replace
        Whether columns of an earlier scoring are replaced; otherwise they are an error.
    sort, top
        Whether the most uncertain rows come first; so many of them only, none without a score.
    formulas
        Whether texts that a spreadsheet would compute stay as they are in csv and tsv files.
    """

    alpha: float | None = None
    confidence: float | None = None
    explain: bool = False
    missing: str = "nan"
    select: str | None = None
    by: str | None = None
    replace: bool = False
    sort: bool = False
    top: int | None = None
    formulas: bool = True

    def __post_init__(self) -> None:
        from vecuq._check import in_range, one_of, whole_number

        one_of("missing", self.missing, MISSING)
        if self.confidence is not None:
            in_range("confidence", self.confidence, 0.0, 1.0, ends="()")
            if self.alpha is None:
                raise SettingError("confidence needs a rate to be confident of. Give alpha=0.05, for example.")
        if self.alpha is not None:
            in_range("alpha", self.alpha, 0.0, 1.0, ends="()")
        if self.top is not None:
            whole_number("top", self.top, 1)
        if self.select is not None:
            one_of("select", self.select, SELECT)
            if self.alpha is None:
                raise SettingError(
                    f"select={self.select!r} needs a rate. Give alpha=0.1, for example: the share of selected rows "
                    f"that may be wrong."
                )


PLAIN = ScoreOptions()

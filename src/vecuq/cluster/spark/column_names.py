"""Names of columns that Spark would read as something else than a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from vecuq.errors import ColumnError


def quoted(name: str) -> str:
    """Return a column's name as Spark takes it literally, whatever dots it has.

    Examples
    --------
    >>> quoted("a.b")
    '`a.b`'
    """
    return "`" + name.replace("`", "``") + "`"


def numbered(df: Any) -> Any:
    """Return the frame with columns ``c0``, ``c1`` and so on: ``mapInArrow`` cannot take a name with a dot."""
    return df.toDF(*(f"c{k}" for k in range(len(df.columns))))


def refuse_doubled(df: Any, added: Sequence[str], dropped: Collection[str]) -> None:
    """Raise for names that Spark cannot tell apart in the scored frame; by default it does not look at their case."""
    plain = str if df.sparkSession.conf.get("spark.sql.caseSensitive") == "true" else str.lower
    names = [*(name for name in df.columns if name not in dropped), *added]
    times = Counter(map(plain, names))
    doubled = sorted(name for name in names if times[plain(name)] > 1)
    if doubled:
        raise ColumnError(f"Spark takes these columns for one, once scored: {doubled}. Rename or drop some of them.")

"""What goes wrong in an executor, said in one line on the driver."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vecuq import errors
from vecuq._check import one_line
from vecuq.errors import SettingError, VecuqError

# The last line of a Python traceback, which Spark sends back as text.
_OURS = re.compile(r"^\s*vecuq\.errors\.(\w+): (.+)$", re.MULTILINE)
_NO_VECUQ = re.compile(r"ModuleNotFoundError: No module named 'vecuq['.]")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Raise errors of vecuq in executors as the one line that they are, without the traces of Python and Java.

    Spark scores when rows are wanted, so put this around what wants them.

    Examples
    --------
    >>> with clear_errors():  # doctest: +SKIP
    ...     scored.write.parquet("ranked")
    """
    try:
        yield
    except Exception as error:
        known = error_of(str(error)) if _is_sparks(error) else None
        if known is None:
            raise
        raise known from None


def error_of(said: str) -> VecuqError | None:
    r"""Return the error of ours that a failure of Spark reports; None if it is none of ours.

    Examples
    --------
    >>> error_of("Traceback ...\nvecuq.errors.TableError: Row 3 has no score. Partition 7.\n")
    TableError('Row 3 has no score. Partition 7.')
    """
    if _NO_VECUQ.search(said):
        return SettingError(
            "The Python of the executors has no vecuq. Install the driver's version there too, send an environment "
            "that has it (spark.archives), or set PYSPARK_PYTHON to one before the session starts."
        )
    found = _OURS.search(said)
    kind = getattr(errors, found[1], None) if found else None
    if found is None or not (isinstance(kind, type) and issubclass(kind, VecuqError)):
        return None
    return kind(one_line(found[2], most=2_000))


@contextmanager
def named_partition() -> Iterator[None]:
    """Add the number of the partition to what vecuq refuses there."""
    try:
        yield
    except VecuqError as error:
        raise type(error)(f"{error} Partition {partition_number()}.") from None


def partition_number() -> int:
    """Return which partition this executor works on."""
    from pyspark import TaskContext

    context: Any = TaskContext.get()
    return int(context.partitionId()) if context is not None else 0


def _is_sparks(error: Exception) -> bool:
    """Whether Spark raised this: pyspark's own errors, and those of Java where it passes them on as they are."""
    return type(error).__module__.split(".")[0] in ("pyspark", "py4j")

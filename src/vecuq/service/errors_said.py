"""What the library raises, as refusals: the same sentences, without paths and without what only an operator can do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from vecuq.errors import CalibrationError, ColumnError, SettingError, VecuqError
from vecuq.service.refusal import Refusal

_WORDS = ((ColumnError, "bad_columns"), (SettingError, "bad_option"), (CalibrationError, "bad_option"))
# An environment variable of the server is no advice for a client.
_FOR_OPERATORS = " If you trust it"
BODY = "The body"


def refusal_of(error: VecuqError, *, hide: str = "") -> Refusal:
    """Return the refusal of what the library refused; ``hide`` is a folder whose files messages must not show."""
    word = next((word for kind, word in _WORDS if isinstance(error, kind)), "bad_rows")
    said = str(error).partition(_FOR_OPERATORS)[0]
    return Refusal(422, word, re.sub(re.escape(hide) + r"[^\s:,;'\"]*", BODY, said) if hide else said)


@contextmanager
def refusing(*, hide: str = "") -> Iterator[None]:
    """Raise refusals in place of what the library raises."""
    try:
        yield
    except VecuqError as error:
        raise refusal_of(error, hide=hide) from None

"""A text without what makes no difference: case, punctuation, articles, spaces."""

from __future__ import annotations

import re
import string
import unicodedata

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_POINT_IN_NUMBER = re.compile(r"(?<=\d)\.(?=\d)")


def normalised(text: str) -> str:
    """Return a text in lower case without punctuation and articles; a text with nothing else stays as it is.

    The normalisation of SQuAD (Rajpurkar et al., 2016), except that a point between digits stays.

    Examples
    --------
    >>> normalised("The Eiffel Tower, 3.5!")
    'eiffel tower 3.5'
    """
    lower = unicodedata.normalize("NFC", text).lower()
    kept = _POINT_IN_NUMBER.sub("\0", lower)
    bare = "".join(letter for letter in kept if not _is_punctuation(letter)).replace("\0", ".")
    return " ".join(_ARTICLES.sub(" ", bare).split()) or " ".join(lower.split())


def _is_punctuation(letter: str) -> bool:
    return letter in string.punctuation or (not letter.isascii() and unicodedata.category(letter).startswith("P"))

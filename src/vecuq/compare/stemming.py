"""Stems of English words, so that "cats" and "cat" are one word to ROUGE.

Porter, An algorithm for suffix stripping (1980), with the later amendments that the package ``rouge-score`` uses.
A word reads [C](VC)^m[V] with C and V runs of consonants and vowels, and a rule (suffix, replacement) applies to the
first suffix that fits, if the measure m of what remains is large enough.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

Rules = tuple[tuple[str, str], ...]
_IRREGULAR = {"skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "innings": "inning"}
_IRREGULAR |= {"outings": "outing", "cannings": "canning"}
_IRREGULAR |= {word: word for word in ("news", "inning", "outing", "canning", "howe", "proceed", "exceed", "succeed")}
_PLURALS: Rules = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
_LONG: Rules = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble")),
    *(("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate")),
    *(("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al")),
    *(("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful")),
)
_SHORTER: Rules = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")),
)
_LAST = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate"),
    *("iti", "ous", "ive", "ize"),
)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of an English word in lower case; a word with other letters than a to z is left as it is.

    Examples
    --------
    >>> stem("running"), stem("cities"), stem("relational"), stem("is")
    ('run', 'citi', 'relat', 'is')
    """
    if word in _IRREGULAR or len(word) <= 2 or not word.isascii():
        return _IRREGULAR.get(word, word)
    word = _y_to_i(_past_and_ing(_plural(word)))
    return _final_l(_final_e(_last_suffix(_apply(_SHORTER, _long_suffix(word)))))


def _consonant(word: str, k: int) -> bool:
    if word[k] == "y":
        return k == 0 or not _consonant(word, k - 1)
    return word[k] not in "aeiou"


def _measure(word: str) -> int:
    """Return m, how often a consonant follows a vowel."""
    shape = [_consonant(word, k) for k in range(len(word))]
    return sum(after and not before for before, after in pairwise(shape))


def _has_vowel(word: str) -> bool:
    return not all(_consonant(word, k) for k in range(len(word)))


def _short_end(word: str) -> bool:
    """Whether a word ends consonant, vowel, consonant other than w, x, y; or is a vowel and a consonant."""
    n = len(word)
    if n == 2:
        return not _consonant(word, 0) and _consonant(word, 1)
    ends = n > 2 and _consonant(word, n - 3) and not _consonant(word, n - 2) and _consonant(word, n - 1)
    return ends and word[-1] not in "wxy"


def _apply(rules: Rules, word: str, allowed: Callable[[str], bool] = lambda left: _measure(left) > 0) -> str:
    for suffix, replacement in rules:
        if word.endswith(suffix):
            left = word[: len(word) - len(suffix)]
            return left + replacement if allowed(left) else word
    return word


def _plural(word: str) -> str:
    if len(word) == 4 and word.endswith("ies"):
        return word[:-1]
    return _apply(_PLURALS, word, lambda _: True)


def _past_and_ing(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        left = word.removesuffix(suffix)
        if left != word and _has_vowel(left):
            return _restored(left)
    return word


def _restored(left: str) -> str:
    """Restore the end that a verb lost before -ed or -ing: hop(p)-ing, fil-ing, conflat-ed."""
    if left.endswith(("at", "bl", "iz")):
        return left + "e"
    if len(left) > 1 and left[-1] == left[-2] and _consonant(left, len(left) - 1):
        return left if left[-1] in "lsz" else left[:-1]
    return left + "e" if _measure(left) == 1 and _short_end(left) else left


def _y_to_i(word: str) -> str:
    ends = len(word) > 2 and word.endswith("y") and _consonant(word, len(word) - 2)
    return word[:-1] + "i" if ends else word


def _long_suffix(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _long_suffix(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _apply(_LONG, word)


def _last_suffix(word: str) -> str:
    for suffix in _LAST:
        if word.endswith(suffix):
            left = word[: len(word) - len(suffix)]
            fits = _measure(left) > 1 and (suffix != "ion" or left[-1] in "st")
            return left if fits else word
    return word


def _final_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    m = _measure(word[:-1])
    return word[:-1] if m > 1 or (m == 1 and not _short_end(word[:-1])) else word


def _final_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word

"""Compares what a page shows with what was printed: loosely, so that no digit of a processor matters.

Blanks and empty lines do not count, `...` stands for anything, and numbers with decimals may differ by one unit of
the last place shown or by one percent. Whole numbers and words must be the same.
"""

import re

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
SHARE = 0.01


def difference(shown, printed):
    """Return the first words of the page that were not printed, as a sentence; an empty text if all were."""
    parts = [part.split() for part in re.split(r"\.\.\.", shown)]
    words, place = printed.split(), 0
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        found = _find(part, words, place, anywhere=number > 0, at_end=last)
        if found is None:
            return f"The page shows `{' '.join(part)}`, which was not printed there."
        place = found
    return ""


def _find(part, words, start, *, anywhere, at_end):
    """Return the place after a run of words, or None if it is not there."""
    if not part:
        return start if not at_end or anywhere or not words else None
    starts = range(start, len(words) - len(part) + 1) if anywhere else [start]
    if at_end:
        starts = [one for one in starts if one + len(part) == len(words)]
    for one in starts:
        if one + len(part) <= len(words) and all(map(same, part, words[one : one + len(part)])):
            return one + len(part)
    return None


def same(shown, printed):
    """Whether two words are the same but for the last digits of their numbers."""
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    return all(map(_close, NUMBER.findall(shown), NUMBER.findall(printed)))


def _close(shown, printed):
    if shown == printed:
        return True
    if "." not in shown and "e" not in shown:
        return False
    one, other = (float(text.replace(",", "")) for text in (shown, printed))
    places = len(shown.partition("e")[0].partition(".")[2])
    scale = 10.0 ** int(shown.partition("e")[2] or 0)
    return abs(one - other) <= max(1.001 * 10.0**-places * scale, SHARE * abs(other))

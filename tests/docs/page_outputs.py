"""Compares what a page shows with what was printed: loosely, so that no last digit matters.

How many blanks there are does not count, `...` stands for anything, and numbers with decimals may differ by one unit
of the last place shown or by one percent. Whole numbers and words must be the same.
"""

import re

PIECE = re.compile(
    r"(?P<gap>\.\.\.)|(?P<blank>\s+)|(?P<decimal>\d[\d,]*(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+))|(?P<other>\w+|.)"
)
DECIMAL = r"(\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)"
SHARE = 0.01


def difference(shown, printed):
    """Return what of the page was not printed, as a sentence; an empty text if all was."""
    pieces = [(one.lastgroup, one.group()) for one in PIECE.finditer(shown.strip())]
    found = re.fullmatch(_pattern(pieces), printed.strip(), re.DOTALL)
    if found is None:
        return f"What the page shows was not printed, from `{_first_wrong(pieces, printed.strip())}` on."
    stated = [text for kind, text in pieces if kind == "decimal"]
    wrong = [pair for pair in zip(stated, found.groups(), strict=True) if not _close(*pair)]
    return "; ".join(f"The page shows {one}, and {other} was printed" for one, other in wrong)


def _pattern(pieces):
    """Return the pattern that these pieces stand for; blanks between words are needed, others are not."""
    made = []
    for k, (kind, text) in enumerate(pieces):
        around = [pieces[k + step][1][at] for step, at in ((-1, -1), (1, 0)) if 0 <= k + step < len(pieces)]
        needed = len(around) == 2 and all(letter.isalnum() for letter in around)
        made.append(
            {"gap": ".*?", "blank": r"\s+" if needed else r"\s*", "decimal": DECIMAL}.get(kind, re.escape(text))
        )
    return "".join(made)


def _first_wrong(pieces, printed):
    """Return the end of the shortest beginning of the page that was not printed."""
    for k in range(1, len(pieces) + 1):
        if re.match(_pattern(pieces[:k]), printed, re.DOTALL) is None:
            return "".join(text for _, text in pieces[max(0, k - 8) : k])
    return "the end"


def _close(shown, printed):
    one, other = (float(text.replace(",", "")) for text in (shown, printed))
    digits, _, power = shown.partition("e")
    unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    return abs(one - other) <= max(1.001 * unit, SHARE * abs(other))

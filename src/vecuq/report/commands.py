"""The commands that a report proposes, with the names that the user gave."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from vecuq._draw import shortened
from vecuq.report.beside import Origin

# A page shows commands up to here.
MOST_LETTERS = 2_000


@dataclass(frozen=True)
class Commands:
    """Commands about the model and the rows of a report.

    None where their files are not known, and where a page could not show them letter by letter: a command that is cut,
    or names another file, is worse than none.
    """

    origin: Origin

    def __call__(self, verb: str, *words: str, model: bool = True, new: bool = True) -> str | None:
        """Return one line for a shell: the verb, the files that it takes, and the other words."""
        if self.origin.model is None or not self.origin.new or "-" in self.origin.new:
            return None
        files = [*([self.origin.model] if model else []), *(self.origin.new if new else [])]
        line = in_shell(["vecuq", verb, *files, *words])
        return line if shortened(line, MOST_LETTERS) == line else None

    def of_table(self, verb: str, *words: str, model: bool = True) -> str | None:
        """Return a command that takes tables only; None where the new rows are a classifier's outputs."""
        return None if self.origin.of_outputs else self(verb, *words, model=model)

    def of_model(self, verb: str, *words: str) -> str | None:
        """Return a command that takes a model and tables; None for a gate or a pipeline."""
        return self.of_table(verb, *words) if self.origin.facts.get("kind", "model") == "model" else None

    def again(self, *words: str) -> str | None:
        """Return the command of the report itself, with more options."""
        known = self.origin.calibration
        compared = ["--calibration", known] if known and known != "-" and ", " not in known else []
        options = self.origin.options
        if "--missing" in words and "--missing" in options:  # the new word rules
            place = options.index("--missing")
            options = options[:place] + options[place + 2 :]
        page = ["-o", self.origin.page] if self.origin.page else []
        return self("report", *self.origin.labels, *options, *compared, *words, *page)


def in_shell(words: Sequence[str]) -> str:
    """Return words as one line that a shell takes apart again.

    Examples
    --------
    >>> in_shell(["vecuq", "score", "my model.vecuq"])
    "vecuq score 'my model.vecuq'"
    """
    return shlex.join(words)

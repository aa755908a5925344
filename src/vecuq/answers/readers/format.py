"""Format: how one kind of line is recognised and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vecuq.answers.parts import Part

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Wrapping:
    """Where the entries of a format lie in a file that is one JSON document.

    Parameters
    ----------
    paths
        Where they may lie, as in ``results[*]``; tried in this order.
    facts
        Fields of the document that every entry needs; an entry gets them under the same names.
    keeps
        The fields of an entry that are needed, where an entry may be longer than a line of answers.
    """

    paths: tuple[str, ...]
    facts: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Format:
    """One format of answers.

    Parameters
    ----------
    name
        What ``kind=`` calls it.
    about
        What it is, in a few words.
    known_by
        The fields that it is recognised by, in words.
    recognises
        Whether the fields of a line are of this format. It must not raise, whatever the fields hold.
    read
        Maps the fields of a line, and ``renormalise=``, to its parts, one for each question in the line. What cannot be
        read is a :class:`vecuq.errors.TableError`, in words for the person who has the file.
    wrapping
        Where its entries lie in a whole document, if they do not stand one per line.
    """

    name: str
    about: str
    known_by: str
    recognises: Callable[[Fields], bool]
    read: Callable[..., Part | Sequence[Part]]
    wrapping: Wrapping | None = None

    def parts(self, fields: Fields, *, renormalise: bool = False) -> list[Part]:
        """Return the parts of a line."""
        found = self.read(fields, renormalise=renormalise)
        return [found] if isinstance(found, Part) else list(found)

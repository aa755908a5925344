"""A question that is not answered, while others may be."""

from __future__ import annotations

from vecuq.errors import VecuqError


class RefusedQuestionError(VecuqError):
    """The model or its server does not take this one question: it is too long, or a filter is against it.

    Parameters
    ----------
    name
        The question's id.
    words
        Why, in the words of whoever refused it.

    Examples
    --------
    >>> print(RefusedQuestionError("q2", "too long."))
    Question 'q2' was refused: too long.
    """

    def __init__(self, name: str, words: str) -> None:
        super().__init__(f"Question {name!r} was refused: {words}")
        self.words = words

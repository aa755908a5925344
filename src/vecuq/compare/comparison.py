"""How texts are compared, by name or by a function, and a cache so that no pair is compared twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations_with_replacement, product
from typing import Any

import numpy as np

from vecuq._check import Array, one_of
from vecuq.compare.checked import floats, similarities
from vecuq.compare.lexical import bleu, common_subsequence, common_subsequences, jaccard, known_words, rouge_n
from vecuq.errors import SettingError, TableError

Pair = tuple[str, str]
CONTRADICTION, NEUTRAL, ENTAILMENT = range(3)


@dataclass(frozen=True)
class Comparison:
    """A way to compare texts.

    Parameters
    ----------
    name
        Its name in messages.
    compare
        Maps a list of pairs of texts to one number in [0, 1] each, or to one row of numbers each. It gets all pairs of
        one answer at once, so that a model can process them as a batch.
    symmetric
        Whether the order within a pair makes no difference; each pair is then compared once.
    identical
        Result for two equal texts, without a comparison; None compares them too.
    blank
        Result for a pair with a blank text: an empty answer is similar to nothing, not even to another one.
    cosine
        Whether the results are cosines of embeddings.
    of_question
        Makes the comparison of one question from its text and the texts of its answers; None where neither counts.
    weighs_tokens
        Whether it also says how much a text changes without one of its tokens; if not, ROUGE-L does.
    """

    name: str
    compare: Callable[[Sequence[Pair]], Any]
    symmetric: bool = False
    identical: float | tuple[float, ...] | None = 1.0
    blank: float | tuple[float, ...] = 0.0
    cosine: bool = False
    of_question: Callable[[str, Sequence[str]], Comparison] | None = None
    weighs_tokens: bool = True


def pairwise(function: Callable[[str, str], float], *, symmetric: bool = False, name: str = "") -> Comparison:
    """Make a comparison from a function of two texts, which is called for one pair at a time.

    Examples
    --------
    >>> same_start = pairwise(lambda one, other: float(one[0] == other[0]), symmetric=True)
    >>> same_start.compare([("Paris", "Prague"), ("Paris", "Lyon")])
    [1.0, 0.0]
    """
    return Comparison(
        name or getattr(function, "__name__", "function"),
        lambda pairs: [function(one, other) for one, other in pairs],
        symmetric=symmetric,
    )


def embeddings(embed: Callable[[list[str]], Any], *, name: str = "embeddings") -> Comparison:
    """Make a comparison by sentence embeddings: ``max(0, cosine)``.

    ``embed`` maps a list of texts to an array (texts, d), such as ``SentenceTransformer(...).encode``; it gets each
    text of an answer once.

    Examples
    --------
    >>> by_length = embeddings(lambda texts: [[len(text), 1.0] for text in texts])
    >>> by_length.compare([("one", "two")]).round(6)
    array([1.])
    """

    def compare(pairs: Sequence[Pair]) -> Array:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        points = floats(embed(texts))
        if points.ndim != 2 or len(points) != len(texts):
            raise TableError(
                f"The embedding must return one row per text: ({len(texts)}, d) was needed, it returned {points.shape}."
            )
        lengths = np.linalg.norm(points, axis=1, keepdims=True)
        points = points / np.where(lengths == 0, 1.0, lengths)
        place = {text: k for k, text in enumerate(texts)}
        left, right = ([place[pair[side]] for pair in pairs] for side in (0, 1))
        return np.asarray(np.clip((points[left] * points[right]).sum(axis=1), 0.0, 1.0))

    return Comparison(name, compare, symmetric=True, cosine=True)


def nli_comparison(judge: Callable[[Sequence[Pair]], Any]) -> Comparison:
    """Make a comparison from a model of natural-language inference.

    ``judge`` maps pairs (premise, hypothesis) to an array (pairs, 3) of the probabilities of contradiction, neutral and
    entailment, in this order. A text entails itself; a blank text contradicts all others.
    """

    def compare(pairs: Sequence[Pair]) -> Array:
        found = floats(judge(pairs))
        if found.shape != (len(pairs), 3) or not np.allclose(found.sum(axis=1), 1.0, atol=1e-3):
            raise TableError(
                f"The NLI model must return the probabilities of contradiction, neutral and entailment for each of "
                f"{len(pairs)} pairs, adding up to 1; it returned shape {found.shape}. Apply a softmax to logits first."
            )
        return found

    return Comparison("nli", compare, identical=(0.0, 0.0, 1.0), blank=(1.0, 0.0, 0.0))


def _compare_rouge_l(pairs: Sequence[Pair]) -> list[float] | Array:
    """Compare by ROUGE-L, finding the words of each text once."""
    listed = {text: known_words(text) for text in dict.fromkeys(text for pair in pairs for text in pair)}
    if 3 * len(pairs) > len(listed) ** 2:
        return _rouge_l_of_most(pairs, listed)
    split = [(listed[one], listed[other]) for one, other in pairs]
    return [2.0 * common_subsequence(a, b) / (len(a) + len(b)) if a and b else 0.0 for a, b in split]


def _rouge_l_of_most(pairs: Sequence[Pair], listed: dict[str, list[str]]) -> Array:
    """Compare most pairs of some texts at once: faster, since the words of each are prepared once."""
    place = {text: k for k, text in enumerate(listed)}
    left, right = ([place[pair[side]] for pair in pairs] for side in (0, 1))
    sizes = np.array([len(found) for found in listed.values()])
    shared = common_subsequences(list(listed.values()))[left, right]
    return np.asarray(2.0 * shared / np.maximum(sizes[left] + sizes[right], 1))


COMPARISONS: dict[str, Comparison] = {
    "rouge_l": Comparison("rouge_l", _compare_rouge_l, symmetric=True),
    "rouge_1": pairwise(partial(rouge_n, n=1), symmetric=True, name="rouge_1"),
    # One word has no pair of words, so a text can have similarity 0 to itself: equal texts are compared too.
    "rouge_2": replace(pairwise(partial(rouge_n, n=2), symmetric=True, name="rouge_2"), identical=None),
    "jaccard": pairwise(jaccard, symmetric=True, name="jaccard"),
    "bleu": pairwise(bleu, name="bleu"),
}


def comparison_of(given: Any) -> Comparison:
    """Return a comparison: by its name, as it is, or from a function of two texts."""
    if isinstance(given, Comparison):
        return given
    if callable(given):
        return pairwise(given)
    if not isinstance(given, str):
        raise SettingError(f"similarity must be a name, a function of two texts or a Comparison; got {given!r}.")
    return COMPARISONS[one_of("similarity", given, tuple(COMPARISONS))]


class PairCache:
    """Compares texts, each pair once."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self._known: dict[Pair, Any] = {}
        # Several measures need the same table, one after the other.
        self._last: tuple[tuple[str, ...], tuple[str, ...], Array] | None = None

    def table(self, rows: Sequence[str], columns: Sequence[str]) -> Array:
        """Return the comparison of every row text with every column text, (rows, columns) or (rows, columns, k)."""
        left, right = (tuple(dict.fromkeys(texts)) for texts in (rows, columns))
        if self._last is None or self._last[:2] != (left, right):
            self._last = (left, right, self._distinct(left, right))
        # In the order of rows: a sum over a row adds up the same way, to the last bit, whichever texts are equal.
        return np.array(self._last[2][_places(left, rows)][:, _places(right, columns)], order="C")

    def _distinct(self, rows: tuple[str, ...], columns: tuple[str, ...]) -> Array:
        """Return the table of texts that differ from each other; of a symmetric one, half is looked up."""
        if not self.comparison.symmetric or rows != columns:
            found = self.of_pairs(product(rows, columns))
            return found.reshape(len(rows), len(columns), *found.shape[1:])
        found = self.of_pairs(combinations_with_replacement(rows, 2))
        table, end = np.empty((len(rows), len(rows), *found.shape[1:])), 0
        for row in range(len(rows)):
            start, end = end, end + len(rows) - row
            table[row, row:] = table[row:, row] = found[start:end]
        return table

    def of_pairs(self, pairs: Iterable[Pair]) -> Array:
        """Return the comparison of each pair."""
        if self.comparison.symmetric:
            keys = [(other, one) if other < one else (one, other) for one, other in pairs]
        else:
            keys = list(pairs)
        self._learn([key for key in dict.fromkeys(keys) if key not in self._known])
        return np.array(list(map(self._known.__getitem__, keys)), dtype=float)

    def _learn(self, new: Sequence[Pair]) -> None:
        """Compare the pairs that need a comparison; of others the result is known beforehand."""
        blank = {text for text in set(chain.from_iterable(new)) if not text.strip()}
        identical, asked = self.comparison.identical, list[Pair]()
        for key in new:
            if blank and not blank.isdisjoint(key):
                self._known[key] = self.comparison.blank
            elif identical is not None and key[0] == key[1]:
                self._known[key] = identical
            else:
                asked.append(key)
        if asked:
            self._known.update(zip(asked, self._compared(asked), strict=True))

    def _compared(self, pairs: list[Pair]) -> Any:
        found = similarities(self.comparison.compare(pairs))
        if len(found) != len(pairs):
            raise TableError(
                f"The comparison {self.comparison.name!r} must return one result per pair: {len(pairs)} were needed, "
                f"it returned {len(found)}."
            )
        return found.tolist()


def _places(texts: tuple[str, ...], of: Sequence[str]) -> list[int] | slice:
    """Return where each text is among those that differ; all are in their places if all differ."""
    if len(texts) == len(of):
        return slice(None)
    place = {text: k for k, text in enumerate(texts)}
    return [place[text] for text in of]


class PairCaches:
    """One cache for each comparison."""

    def __init__(self) -> None:
        self._known: list[tuple[Any, PairCache]] = []

    def of(self, given: Any) -> PairCache:
        """Return the cache of a comparison: by its name, as it is, or from a function of two texts."""
        way = comparison_of(given) if isinstance(given, str) else given
        found = next((cache for known, cache in self._known if known is way or known == way), None)
        if found is None:
            found = PairCache(comparison_of(way))
            self._known.append((way, found))
        return found

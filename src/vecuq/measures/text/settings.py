"""TextSettings: how answers are compared, and the options of the original papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vecuq._check import in_range, number, one_of
from vecuq.compare import comparison_of
from vecuq.errors import SettingError
from vecuq.measures.text.semantic import OVER

RECORDED = "recorded"
AFFINITIES = ("auto", "entailment", "no_contradiction", "jaccard", "similarity")
MERGES = ("entailment", "no_contradiction")
OF = ("answer", "samples")


@dataclass(frozen=True)
class TextSettings:
    """How the text measures of an answer are computed. The defaults need only texts and log-probabilities.

    Parameters
    ----------
    similarity
        How texts are compared for consistency, CoCoA and SAR: ``"rouge_l"``, ``"rouge_1"``, ``"rouge_2"``, ``"bleu"``,
        ``"jaccard"``, a function of two texts, a :class:`Comparison` (see :func:`embeddings`), or ``"recorded"``:
        the records contain the similarities.
    nli
        A function from pairs (premise, hypothesis) to probabilities (pairs, 3) of contradiction, neutral, entailment;
        or ``"recorded"``; or None.
    affinity
        Weights between samples, in the graph and for classes of meaning: ``"entailment"``, ``"no_contradiction"`` (one
        minus the probability of contradiction), ``"jaccard"``, ``"similarity"``; ``"auto"`` is entailment with
        ``nli`` and similarity without.
    merge
        Which verdicts, in both directions, put two samples into one class: ``"entailment"``, or
        ``"no_contradiction"`` as in Kuhn's code. Without ``nli``, samples with an affinity of at least
        ``same_meaning`` in both directions are one class.
    same_meaning
        See ``merge``.
    lexical
        How texts are compared for ``lexical_similarity``.
    unit_diagonal
        Whether a sample's affinity to itself is set to 1, as in Lin's code.
    semantic_over, semantic_shift
        ``"samples"`` and 0, or ``"classes"`` and 5 as in Kuhn's code.
    relevance_of
        Whose tokens ``token_sar`` weights: the ``"answer"``'s, or the mean over the ``"samples"`` as in Duan's code.
    temperature
        The t of SAR.
    """

    similarity: Any = "rouge_l"
    nli: Callable[..., Any] | str | None = None
    affinity: str = "auto"
    merge: str = "entailment"
    same_meaning: float = 0.5
    lexical: Any = "rouge_l"
    unit_diagonal: bool = False
    semantic_over: str = "samples"
    semantic_shift: float = 0.0
    relevance_of: str = "answer"
    temperature: float = 0.001

    def __post_init__(self) -> None:
        if not _is_recorded(self.similarity):
            comparison_of(self.similarity)
        comparison_of(self.lexical)
        if not (self.nli is None or _is_recorded(self.nli) or callable(self.nli)):
            raise SettingError(f"nli must be a function of pairs of texts, 'recorded' or None; got {self.nli!r}.")
        one_of("affinity", self.affinity, AFFINITIES)
        one_of("merge", self.merge, MERGES)
        one_of("semantic_over", self.semantic_over, OVER)
        one_of("relevance_of", self.relevance_of, OF)
        in_range("same_meaning", self.same_meaning, 0.0, 1.0, ends="(]")
        in_range("temperature", self.temperature, 0.0, ends="()")
        number("semantic_shift", self.semantic_shift)
        if self.nli is None and self.affinity in ("entailment", "no_contradiction"):
            raise SettingError(
                f"affinity={self.affinity!r} needs nli: a function of pairs of texts, or 'recorded'. "
                f"Without it, use affinity='similarity' or 'jaccard'."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, for a saved file; a function has none."""
        functions = [name for name, value in vars(self).items() if callable(value)]
        if functions:
            raise SettingError(f"{functions[0]} is a function, which cannot be saved; name a comparison instead.")
        return dict(vars(self))

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any], **supplied: Any) -> TextSettings:
        """Return the settings that :meth:`to_dict` wrote, with the functions that whoever loads them supplies."""
        return cls(**{**saved, **supplied})

    @property
    def edges(self) -> str:
        """Return the affinity once ``"auto"`` is resolved."""
        if self.affinity != "auto":
            return self.affinity
        return "similarity" if self.nli is None else "entailment"


def _is_recorded(given: Any) -> bool:
    return isinstance(given, str) and given == RECORDED

"""TextSettings: how answers are compared, and the options of the original papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

from vecuq._check import in_range, number, one_of, warn_user
from vecuq.compare import (
    COMPARISONS,
    Absent,
    Comparison,
    as_needed,
    comparison_of,
    embeddings,
    entailment,
    judgement,
    name_of,
    needed_name,
    prepared,
    text_preparation,
)
from vecuq.errors import SettingError, VecuqWarning
from vecuq.measures.text.semantic import OVER

RECORDED = "recorded"
AFFINITIES = ("auto", "entailment", "no_contradiction", "jaccard", "similarity")
MERGES = ("entailment", "no_contradiction")
OF = ("answer", "samples")
ANSWERS = ("first", "majority", "medoid")
# Comparisons by a model, and the setting that holds the model.
BY_MODEL = {"embedding": "embed", "nli": "nli", "judge": "judge"}
SIMILARITIES = (*COMPARISONS, *BY_MODEL)


@dataclass(frozen=True)
class TextSettings:
    """How the text measures of an answer are computed. The defaults need only texts and log-probabilities.

    Parameters
    ----------
    similarity
        How texts are compared: ``"auto"`` (final answers where there are some, content words elsewhere), ``"exact"``,
        ``"numeric"``, ``"choice"``, ``"rouge_l"``, ``"rouge_1"``, ``"rouge_2"``, ``"bleu"``, ``"jaccard"``;
        ``"embedding"``, ``"nli"`` or ``"judge"``, which need the setting of that name (``embed`` for embeddings); a
        function of two texts, a :class:`Comparison`; or ``"recorded"``: the records contain the similarities.
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
    extract
        What of a text is compared: ``"last_number"``, ``"choice"``, ``"boxed"``, ``"json:FIELD"``,
        ``"regex:PATTERN"``; None for the whole text. See :func:`vecuq.compare.extraction`.
    strip_think
        Whether what a model wrote while thinking (``<think>...</think>`` and the like) is removed first.
    answer
        Which sample stands for the answer where a record has no greedy one: the ``"first"``, the first of the
        largest class of meaning (``"majority"``), or the one most similar to the others (``"medoid"``).
    embed
        A function from a list of texts to an array (texts, d), for ``similarity="embedding"``.
    judge
        A function from triples (question, one text, another) to one number in [0, 1] each, for ``similarity="judge"``.

    Examples
    --------
    >>> settings = TextSettings(similarity="embedding", embed=len)
    >>> saved = settings.to_dict()
    >>> saved["similarity"], saved["embed"]
    ('embedding', {'needs': 'len'})
    >>> TextSettings.from_dict(saved, embed=len) == settings
    True
    """

    similarity: Any = "auto"
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
    extract: str | None = None
    strip_think: bool = False
    answer: str = "first"
    embed: Callable[..., Any] | None = None
    judge: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        self._check_comparison()
        one_of("answer", self.answer, ANSWERS)
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

    def _check_comparison(self) -> None:
        if isinstance(self.similarity, str) and not _is_recorded(self.similarity):
            one_of("similarity", self.similarity, SIMILARITIES)
        elif not _is_recorded(self.similarity):
            comparison_of(self.similarity)
        comparison_of(self.lexical)
        for field in ("embed", "judge"):
            model = getattr(self, field)
            if model is not None and not callable(model):
                raise SettingError(f"{field} must be a function or None; got {model!r}.")
        needed = BY_MODEL.get(self.similarity) if isinstance(self.similarity, str) else None
        if needed is not None and getattr(self, needed) is None:
            raise SettingError(f"similarity={self.similarity!r} needs {needed}: a function, see TextSettings.")
        text_preparation(self.extract, strip_think=self.strip_think)

    @property
    def edges(self) -> str:
        """Return the affinity once ``"auto"`` is resolved."""
        if self.affinity != "auto":
            return self.affinity
        return "similarity" if self.nli is None else "entailment"

    @cached_property
    def comparison(self) -> Comparison:
        """How whole texts are compared; ``similarity`` must not be ``"recorded"``."""
        if not isinstance(self.similarity, str) or self.similarity not in BY_MODEL:
            return comparison_of(self.similarity)
        if self.similarity == "embedding":
            return embeddings(self.embed, name=name_of(self.embed)) if self.embed is not None else _lacking("embed")
        if self.similarity == "nli":
            return entailment(self.nli) if callable(self.nli) else _lacking("nli")
        return judgement(self.judge, name=name_of(self.judge)) if self.judge is not None else _lacking("judge")

    def prepared(self, given: Any) -> Comparison:
        """Return a comparison of what ``extract`` and ``strip_think`` leave of the texts."""
        way = self.comparison if given is self.similarity else comparison_of(given)
        return prepared(way, self.preparation)

    @cached_property
    def preparation(self) -> Callable[[str], str | None] | None:
        """What ``extract`` and ``strip_think`` do to a text; None for nothing."""
        return text_preparation(self.extract, strip_think=self.strip_think)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values; what runs or calls is named, never contained."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: as_needed(value) if callable(value) or isinstance(value, Comparison | Absent) else value
            for name, value in found.items()
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any], **supplied: Any) -> Self:
        """Make settings of what :meth:`to_dict` returned; what it only names must be supplied again by keyword.

        Nothing is run or called here. Settings that lack something can be read and saved; a comparison that needs it
        raises a :class:`vecuq.errors.SettingError` with its name.
        """
        known = [field.name for field in fields(cls)]
        saved = _without_command(saved)
        unknown = [name for name in (*saved, *supplied) if name not in known]
        if unknown:
            raise SettingError(f"TextSettings has no {unknown}. It has {known}.")
        found = {name: _restored(name, value, supplied) for name, value in saved.items()}
        return cls(**{**found, **supplied})

    @property
    def n_asked(self) -> int:
        """How many items were sent to the models so far, where they count."""
        return sum(getattr(model, "n_asked", 0) for model in (self.embed, self.nli, self.judge))

    def __getstate__(self) -> dict[str, Any]:
        # Comparisons are made again from the settings: their functions may not survive pickling.
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _without_command(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of 0.2 as those of today: the program that compared two texts is a judge."""
    found = {name: value for name, value in saved.items() if name != "command"}
    if saved.get("similarity") == "command":
        found |= {"similarity": "judge", "judge": saved.get("command")}
    return found


def _restored(field: str, value: Any, supplied: Mapping[str, Any]) -> Any:
    """Return a plain value as it is; for what must be supplied again, a stand-in unless it is."""
    name = needed_name(value)
    if name is None:
        return value
    if field in supplied and name_of(supplied[field]) != name:
        warn_user(f"These settings were made with {field} {name!r}; got {name_of(supplied[field])!r}.", VecuqWarning)
    return Absent(field, name)


def _lacking(field: str) -> Comparison:
    raise SettingError(f"This comparison needs {field}: a function, see TextSettings.")


def _is_recorded(given: Any) -> bool:
    return isinstance(given, str) and given == RECORDED

"""Pictures of text measures, on answers to one question that get worse step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from catalogue.canvas import line
from catalogue.entries import Entry
from vecuq.answers import CONFIDENCE_WORDS, AnswerRecord
from vecuq.measures.text import AnswerFeatures, TextSettings

CITIES = ("Paris", "Lyon", "Nice", "Lille", "Brest", "Tours", "Metz", "Dijon", "Nantes", "Rennes")
QUESTION = "What is the capital of France?"


def tokens(entry: Entry) -> Figure:
    """Draw a measure of an answer's tokens while the model gets less sure of one of them."""
    sure = np.linspace(0.99, 0.34, 40)
    values = [value_of(entry, _answer_with(float(p))) for p in sure]
    return line(entry.name, 1 - sure, values, of="1 - probability of the token “Paris”")


def samples(entry: Entry) -> Figure:
    """Draw a measure of ten samples of which fewer and fewer give the answer."""
    others = list(range(10))
    values = [value_of(entry, record_with(k)) for k in others]
    return line(entry.name, others, values, of="samples of ten that name another city each", step=True)


def sequences(entry: Entry) -> Figure:
    """Draw a measure of the samples' probabilities while each gets less likely."""
    sure = np.linspace(0.99, 0.34, 40)
    values = [value_of(entry, record_with(0, probability=float(p))) for p in sure]
    return line(entry.name, 1 - sure, values, of="1 - probability of the first token of each sample")


def stated(entry: Entry) -> Figure:
    """Draw a measure of what the model states about its answer."""
    if entry.name == "linguistic_confidence":
        words = sorted(CONFIDENCE_WORDS, key=CONFIDENCE_WORDS.__getitem__)
        places = [CONFIDENCE_WORDS[word] for word in words]
        values = [value_of(entry, {"text": "Paris", "confidence_words": word}) for word in words]
        return line(entry.name, places, values, of="probability that the words stand for", step=True)
    field = "p_true" if entry.name == "p_true" else "confidence"
    places = list(np.linspace(0.0, 1.0, 21))
    values = [value_of(entry, {"text": "Paris", field: float(p)}) for p in places]
    return line(entry.name, places, values, of="stated probability")


def value_of(entry: Entry, record: dict[str, Any]) -> float:
    """Return the measure of one record, by the registry's own function."""
    return float(entry.made_of.compute(AnswerFeatures(AnswerRecord.of(record), settings_of(entry.name))))


def settings_of(name: str) -> TextSettings:
    """Return how texts are compared: two measures need a stand-in for a model, which knows only equal texts."""
    if name == "non_contradiction":
        return TextSettings(similarity="exact", nli=equal_texts)
    if name == "cosine":
        return TextSettings(similarity="embedding", embed=one_axis_per_text)
    return TextSettings(similarity="exact")


def equal_texts(pairs: Any) -> Any:
    """Stand in for an NLI model: equal texts entail each other, others contradict each other."""
    return np.array([(0.0, 0.0, 1.0) if one == other else (1.0, 0.0, 0.0) for one, other in pairs])


def one_axis_per_text(texts: Any) -> Any:
    """Stand in for an embedding: texts that differ are at right angles."""
    places = [CITIES.index(text.strip()) for text in texts]
    return np.eye(len(CITIES))[places]


def record_with(others: int, probability: float = 0.7) -> dict[str, Any]:
    """Return a question with ten samples of which some name other cities."""
    texts = [CITIES[0]] * (10 - others) + list(CITIES[1 : others + 1])
    return {**_answer_with(probability), "samples": [_said(text, probability) for text in texts]}


def _answer_with(probability: float) -> dict[str, Any]:
    return {"question": QUESTION, **_said(CITIES[0], probability)}


def _said(text: str, probability: float) -> dict[str, Any]:
    """Return a text of one uncertain token and an end, as a model with three likely next tokens would give it."""
    rest = (1.0 - probability) / 2
    law = np.array([max(probability, rest), min(probability, rest), rest])
    entropy = float(-(law * np.log(law)).sum())
    certainty = float(-np.log(3 * law).mean())
    return {
        "text": text,
        "tokens": [text, "."],
        "logprobs": [float(np.log(probability)), float(np.log(0.99))],
        "entropies": [entropy, 0.05],
        "entropy_top_k": 3,
        "margins": [float(law[0] - law[1:].max()), 0.95],
        "certainties": [certainty, 2.0],
    }

"""Expressions of confidence: what a model is asked to choose from, and the probability that each stands for."""

from __future__ import annotations

# What 123 readers take each expression for, the median: Fagen-Ulmschneider, Perception of Probability Words (University
# of Illinois). Tian et al. (EMNLP 2023) let models choose from the same list.
CONFIDENCE_WORDS = {
    "almost certain": 0.95,
    "highly likely": 0.9,
    "very good chance": 0.8,
    "we believe": 0.75,
    "likely": 0.7,
    "probable": 0.7,
    "probably": 0.7,
    "better than even": 0.6,
    "about even": 0.5,
    "probably not": 0.25,
    "unlikely": 0.2,
    "we doubt": 0.2,
    "chances are slight": 0.1,
    "improbable": 0.1,
    "little chance": 0.1,
    "highly unlikely": 0.05,
    "almost no chance": 0.02,
}

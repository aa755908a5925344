"""From a record of answers, as files hold it, to what the text measures work on."""

from __future__ import annotations

from vecuq.answers import Answer, AnswerRecord
from vecuq.measures.text.output import SampledText, TextOutput


def output_of(record: AnswerRecord) -> TextOutput:
    """Return the greedy answer of a record with its samples; without a greedy answer, the samples alone.

    Examples
    --------
    >>> record = AnswerRecord(id="q1", greedy=Answer(text="Paris"), samples=(Answer(text="Lyon", logprob=-2.0),))
    >>> output = output_of(record)
    >>> output.text, output.samples[0].logprob
    ('Paris', -2.0)
    """
    samples = tuple(map(_sample, record.samples))
    said = record.greedy
    if said is None:
        return TextOutput(samples=samples, question=record.question)
    return TextOutput(
        text=said.text,
        token_logprobs=said.logprobs,
        token_entropies=said.entropies,
        samples=samples,
        question=record.question,
        logprob=said.logprob,
        tokens=said.tokens,
        n_end=said.n_end,
    )


def _sample(drawn: Answer) -> SampledText:
    """Return a sample; its tokens are those of its text, its log-probability includes its end."""
    tokens = None if drawn.tokens is None else drawn.tokens[: len(drawn.tokens) - drawn.n_end]
    return SampledText(drawn.text, drawn.text_logprobs, drawn.total_logprob, tokens)

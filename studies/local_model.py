"""A local GGUF model with llama.cpp, for `generate_answers.py`: one pass of the model per distinct prefix.

The package asks servers only; this is what the recorded answers of the text study were made with. It needs the package
cyllama.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vecuq.answers import Answer, Plan, Question, RefusedQuestionError

_BATCH = 512
# exp of this is 0, and so is 0 times this: a logit of minus infinity gives no NaN.
_LEAST_SHIFT = -1e4
_UNFINISHED = "\N{REPLACEMENT CHARACTER}"


Pick = Callable[["Distribution"], "Chosen"]


class Chosen(NamedTuple):
    """A token, its log-probability, and the entropy, margin and certainty of the distribution it comes from.

    The margin is the most likely token's probability minus the second's; the certainty is the divergence of the uniform
    law from the distribution.
    """

    token: int
    logprob: float
    entropy: float
    margin: float
    certainty: float


class Distribution:
    """The next token under the model, at temperature 1, over the whole vocabulary.

    Examples
    --------
    >>> even = Distribution([0.0, 0.0])
    >>> even.greedy()
    Chosen(token=0, logprob=-0.6931471805599453, entropy=0.6931471805599453, margin=0.0, certainty=0.0)
    """

    def __init__(self, logits: Any) -> None:
        values = np.fromiter(logits, float, len(logits))
        self._best = int(values.argmax())
        self._shifted = np.maximum(values - values[self._best], _LEAST_SHIFT)
        weights = np.exp(self._shifted)
        total = float(weights.sum())
        self._log_total = float(np.log(total))
        self.entropy = max(0.0, self._log_total - float(weights @ self._shifted) / total)
        # The most likely token has the weight 1.
        self.margin = (1.0 - float(np.delete(weights, self._best).max(initial=0.0))) / total
        # A token that cannot be, with a logit of minus infinity, does not count.
        possible = self._shifted[values > -np.inf]
        self.certainty = max(0.0, self._log_total - float(possible.mean()) - float(np.log(len(possible))))
        self._weights = weights
        self._cumulative: dict[float, np.ndarray] = {}

    def greedy(self) -> Chosen:
        """Return the most likely token."""
        return self._chosen(self._best)

    def most_likely(self, number: int) -> list[Chosen]:
        """Return the most likely tokens, most likely first."""
        order = np.argsort(-self._shifted, kind="stable")[:number]
        return [self._chosen(int(token)) for token in order]

    def draw(self, random: np.random.Generator, temperature: float) -> Chosen:
        """Return a token drawn with logits divided by ``temperature``; its log-probability is that at 1."""
        cumulative = self._cumulative_weights(temperature)
        point = random.random() * cumulative[-1]
        return self._chosen(min(int(np.searchsorted(cumulative, point, side="right")), len(cumulative) - 1))

    def _cumulative_weights(self, temperature: float) -> np.ndarray:
        if temperature not in self._cumulative:
            weights = self._weights if temperature == 1.0 else np.exp(self._shifted / temperature)
            self._cumulative[temperature] = np.cumsum(weights)
        return self._cumulative[temperature]

    def _chosen(self, token: int) -> Chosen:
        logprob = float(self._shifted[token]) - self._log_total
        return Chosen(token, logprob, self.entropy, self.margin, self.certainty)


@dataclass
class Draft:
    """One sequence so far.

    Parameters
    ----------
    spell
        Maps tokens to text; an unfinished character at the end becomes the replacement character.
    stop, max_tokens
        When the answer ends at the latest.
    """

    spell: Callable[[Sequence[int]], str]
    stop: tuple[str, ...]
    max_tokens: int
    tokens: list[int] = field(default_factory=list)
    finish: str | None = None
    _chosen: list[Chosen] = field(default_factory=list)
    # How much text there is after each token.
    _ends: list[int] = field(default_factory=list)
    _text: str = ""

    def add(self, chosen: Chosen, *, ends: bool) -> None:
        """Add one token; ``ends`` says that it is the model's end of sequence."""
        self.tokens.append(chosen.token)
        self._chosen.append(chosen)
        if ends:
            self.finish = "stop"
        else:
            self._text = self.spell(self.tokens)
            self._stop_at_text()
        self._ends.append(len(self._text.rstrip(_UNFINISHED)))
        if self.finish is None and len(self.tokens) == self.max_tokens:
            self.finish = "length"

    def _stop_at_text(self) -> None:
        found = [place for place in (self._text.find(text) for text in self.stop) if place >= 0]
        if found:
            self._text, self.finish = self._text[: min(found)], "stop"

    def answer(self) -> Answer:
        """Return the finished answer; the pieces of its tokens add up to its text, but for blanks around it."""
        text = self._text.rstrip(_UNFINISHED)
        ends = [min(end, len(text)) for end in self._ends]
        pieces = [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        return Answer(
            text=text.strip(),
            tokens=tuple(pieces),
            logprobs=tuple(rounded(chosen.logprob) for chosen in self._chosen),
            entropies=tuple(rounded(chosen.entropy) for chosen in self._chosen),
            margins=tuple(rounded(chosen.margin) for chosen in self._chosen),
            certainties=tuple(rounded(chosen.certainty) for chosen in self._chosen),
            n_end=self._n_end(len(text)),
            finish=self.finish,
        )

    def _n_end(self, length: int) -> int:
        """Return how many of the last tokens come after the text, if the answer ended with ``stop``."""
        return sum(start >= length for start in [0, *self._ends[:-1]]) if self.finish == "stop" else 0


def rounded(value: float) -> float:
    """Return a number with six decimals, about the digits of single precision, and no negative zero."""
    return round(value, 6) + 0.0


class LocalModel:
    """A GGUF model in this process.

    The greedy answer and all samples grow together. Those with the same tokens so far are one sequence to the model, so
    an answer that is drawn five times costs as much as one. The part of the prompt that all questions share is read
    once.

    Parameters
    ----------
    path
        The GGUF file.
    n_jobs
        Threads of the model.
    context
        Largest number of tokens of a prompt and all its answers together.
    """

    def __init__(self, path: str | os.PathLike[str], *, n_jobs: int = 1, context: int = 4096) -> None:
        file = Path(path)
        self.name = file.stem
        self._threads, self._size = n_jobs, context
        self._llama = _llama()
        self._model = _load(self._llama, file)
        self._vocab = self._model.get_vocab()
        self._sequences = 0
        self._shared: list[int] = []

    def answer(self, question: Question, plan: Plan) -> tuple[Answer | None, list[Answer]]:
        """Return the greedy answer and the samples."""
        prompt = self._prompt(question, plan)
        picks = [_drawn(random, plan.temperature) for random in plan.draws(question)]
        if not plan.greedy:
            return None, [sample.answer() for sample in self._grow(prompt, picks, plan)]
        greedy, *samples = self._grow(prompt, [Distribution.greedy, *picks], plan)
        return greedy.answer(), [sample.answer() for sample in samples]

    def _prompt(self, question: Question, plan: Plan) -> list[int]:
        """Read the prompt of a question into the model, and return its tokens."""
        prompt = self._tokens(self._wrapped(question, plan))
        self._refuse_long(question, len(prompt), plan)
        self._read_prompt(prompt, self._tokens(self._wrapped_head(plan))[:-1], plan.greedy + plan.samples)
        return prompt

    def _wrapped(self, question: Question, plan: Plan) -> str:
        """Return the prompt in the model's chat format, or as it is."""
        template = self._model.get_default_chat_template()
        if plan.raw or (plan.raw is None and not template and not question.messages):
            text = plan.fill(question)
            return f"{plan.system}\n{text}" if plan.system else text
        if not template:
            raise SystemExit(f"{self.name} has no chat format; send the prompt as it is, with `raw=True`.")
        said = [(message["role"], str(message["content"])) for message in plan.messages(question)]
        messages = [self._llama.LlamaChatMessage(role, content) for role, content in said]
        try:
            return str(self._model.chat_apply_template(template, messages, True))
        except RuntimeError:
            raise SystemExit(
                f"The chat format of {self.name} is not known to llama.cpp; write it into `template`, with `raw=True`."
            ) from None

    def _wrapped_head(self, plan: Plan) -> str:
        """Return what the prompts of all questions begin with."""
        mark = "\N{OBJECT REPLACEMENT CHARACTER}"
        return self._wrapped(
            Question("", mark), replace(plan, template=plan.template.partition("{")[0] + "{question}")
        ).split(mark)[0]

    def _tokens(self, text: str) -> list[int]:
        return list(self._vocab.tokenize(text, True, True))

    def _refuse_long(self, question: Question, n_prompt: int, plan: Plan) -> None:
        answers = (plan.greedy + plan.samples) * plan.max_tokens
        remedy = f"the context is {self._size:,}. Raise `context`, or lower `max_tokens` or `samples`."
        if answers >= self._size:
            raise SystemExit(f"The answers to one question may take {answers:,} tokens; {remedy}")
        if n_prompt + answers > self._size:
            raise RefusedQuestionError(
                question.id, f"its prompt takes {n_prompt:,} tokens and its answers up to {answers:,}; {remedy}"
            )

    def _read_prompt(self, prompt: list[int], head: list[int], sequences: int) -> None:
        """Read a prompt into all sequences at once; the head stays from question to question."""
        if sequences > self._sequences:  # a question about an answer needs fewer, and uses the same
            self._context, self._batch = self._new_context(sequences)
            self._sequences, self._shared = sequences, []
        everyone = list(range(self._sequences))
        if prompt[: len(head)] != head:  # the question's first letters can change the tokens before them
            head = []
        if head != self._shared or not self._keep_first(len(head)):
            self._context.kv_cache_clear(True)
            self._decode([(token, place, everyone) for place, token in enumerate(head)])
            self._shared = head
        start = len(head)
        self._decode([(token, start + place, everyone) for place, token in enumerate(prompt[start:])])

    def _keep_first(self, length: int) -> bool:
        """Remove all but the first tokens of every sequence; False where the model cannot."""
        return all(self._context.memory_seq_rm(sequence, length, -1) for sequence in range(self._sequences))

    def _new_context(self, sequences: int) -> tuple[Any, Any]:
        settings = self._llama.LlamaContextParams()
        settings.n_ctx, settings.n_batch, settings.n_ubatch = self._size, _BATCH, _BATCH
        settings.n_threads = settings.n_threads_batch = self._threads
        # One memory for all sequences lets a token belong to several; sliding windows must keep what they may reuse.
        settings.n_seq_max, settings.kv_unified, settings.swa_full = sequences, True, True
        # Flash attention sums in an order that depends on how a prompt is split, which changes log-probs by up to 0.2.
        settings.flash_attn_type = 0
        batch = self._llama.LlamaBatch(n_tokens=_BATCH, embd=0, n_seq_max=sequences)
        return self._llama.LlamaContext(self._model, settings), batch

    def _decode(self, rows: Sequence[tuple[int, int, list[int]]], *, logits_of_all: bool = False) -> None:
        """Run the model over (token, position, sequences); logits are kept of the last row, or of all."""
        for start in range(0, len(rows), _BATCH):
            self._batch.clear()
            for number, row in enumerate(rows[start : start + _BATCH], start=start + 1):
                self._batch.add(*row, logits_of_all or number == len(rows))
            if self._context.decode(self._batch) != 0:
                raise SystemExit("The context of the model is too small for this question; raise `context`.")

    def _grow(self, prompt: list[int], picks: Sequence[Pick], plan: Plan) -> list[Draft]:
        """Generate all sequences; those with the same tokens so far are one to the model."""
        drafts = [Draft(self._speller(prompt), plan.stop, plan.max_tokens) for _ in picks]
        groups: dict[tuple[int, ...], list[int]] = {(): list(range(len(picks)))}
        logits = [self._context.get_logits_ith(-1)]
        for step in range(plan.max_tokens):
            for members, row in zip(groups.values(), logits, strict=True):
                self._step(Distribution(row), members, drafts, picks)
            groups = _grouped(drafts)
            if not groups:
                break
            place = len(prompt) + step
            self._decode([(tokens[-1], place, members) for tokens, members in groups.items()], logits_of_all=True)
            logits = [self._context.get_logits_ith(row) for row in range(len(groups))]
        return drafts

    def _step(self, law: Distribution, members: list[int], drafts: list[Draft], picks: Sequence[Pick]) -> None:
        for member in members:
            chosen = picks[member](law)
            drafts[member].add(chosen, ends=self._vocab.is_eog(chosen.token))

    def _speller(self, prompt: list[int]) -> Callable[[Sequence[int]], str]:
        """Return what turns tokens into text; the last token of the prompt keeps a leading blank from being lost."""
        before = prompt[-1:]
        known = len(self._vocab.detokenize(before))
        return lambda tokens: str(self._vocab.detokenize([*before, *tokens]))[known:]


def _drawn(random: Any, temperature: float) -> Pick:
    return lambda law: law.draw(random, temperature)


def _grouped(drafts: Sequence[Draft]) -> dict[tuple[int, ...], list[int]]:
    """Return the unfinished drafts by the tokens they have in common."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, draft in enumerate(drafts):
        if draft.finish is None:
            groups.setdefault(tuple(draft.tokens), []).append(number)
    return groups


def _llama() -> Any:
    from cyllama.llama import llama_cpp

    llama_cpp.disable_logging()
    return llama_cpp


def _load(llama: Any, file: Path) -> Any:
    class Model(llama.LlamaModel):  # type: ignore[misc]
        """The model with the property ``n_vocab``, which cyllama 0.2.18 needs and does not define."""

        @property
        def n_vocab(self) -> int:
            return int(self.get_vocab().n_vocab)

    settings = llama.LlamaModelParams()
    settings.n_gpu_layers = 0
    return Model(str(file), settings)

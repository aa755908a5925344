"""A local GGUF model with llama.cpp: all answers to a question at once, one pass of the model per distinct prefix."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from vecuq._check import existing_file, one_line, whole_number
from vecuq._run import resolve_jobs
from vecuq.answers.asking.choice import Chosen, Distribution
from vecuq.answers.asking.draft import Draft
from vecuq.answers.asking.plan import Plan, RefusedQuestionError
from vecuq.answers.asking.questions import Question
from vecuq.answers.readers.messages import shown_content
from vecuq.answers.schema import Answer
from vecuq.errors import SettingError, TableError

_BATCH = 512
# Of the first tokens of an answer, as many as servers report.
_TOP = 20
Pick = Callable[[Distribution], Chosen]


class LocalModel:
    """A GGUF model in this process. Needs ``pip install 'vecuq[text]'``.

    The greedy answer and all samples grow together. Those with the same tokens so far are one sequence to the model, so
    an answer that is drawn five times costs as much as one. The part of the prompt that all questions share is read
    once.

    Parameters
    ----------
    path
        The GGUF file.
    n_jobs
        Threads of the model; None is 1, -1 all cores.
    context
        Largest number of tokens of a prompt and all its answers together.
    """

    def __init__(self, path: str | os.PathLike[str], *, n_jobs: int | None = None, context: int = 4096) -> None:
        threads = resolve_jobs(n_jobs)
        whole_number("context", context, 16)
        file = existing_file(path)
        self.name = file.stem
        self._threads, self._size = threads, context
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

    def first_tokens(self, question: Question, plan: Plan) -> dict[str, float]:
        """Return the log-probs of the most likely first tokens of an answer, most likely first."""
        self._prompt(question, plan)
        law = Distribution(self._context.get_logits_ith(-1))
        tops: dict[str, float] = {}
        for chosen in law.most_likely(_TOP):
            tops.setdefault(str(self._vocab.token_to_piece(chosen.token, 0, True)), chosen.logprob)
        return tops

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
            raise SettingError(f"{self.name} has no chat format; send the prompt as it is, with `raw=True`.")
        said = [(message["role"], shown_content(message)) for message in plan.messages(question)]
        messages = [self._llama.LlamaChatMessage(role, content) for role, content in said]
        try:
            return str(self._model.chat_apply_template(template, messages, True))
        except RuntimeError:
            raise SettingError(
                f"The chat format of {self.name} is not known to llama.cpp; write it into `template`, with `raw=True`."
            ) from None

    def _wrapped_head(self, plan: Plan) -> str:
        """Return what the prompts of all questions begin with."""
        mark = "\N{OBJECT REPLACEMENT CHARACTER}"
        return self._wrapped(Question("", mark), replace(plan, template=plan.head() + "{question}")).split(mark)[0]

    def _tokens(self, text: str) -> list[int]:
        return list(self._vocab.tokenize(text, True, True))

    def _refuse_long(self, question: Question, n_prompt: int, plan: Plan) -> None:
        answers = (plan.greedy + plan.samples) * plan.max_tokens
        remedy = f"the context is {self._size:,}. Raise `context`, or lower `max_tokens` or `samples`."
        if answers >= self._size:
            raise SettingError(f"The answers to one question may take {answers:,} tokens; {remedy}")
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
                raise TableError("The context of the model is too small for this question; raise `context`.")

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
    try:
        from cyllama.llama import llama_cpp
    except ImportError:
        raise SettingError(
            "A local model needs the package cyllama (llama.cpp): pip install 'vecuq[text]'. "
            "An endpoint needs no package."
        ) from None
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
    try:
        return Model(str(file), settings)
    except (ValueError, RuntimeError, OSError) as error:
        raise TableError(f"{file} cannot be read as a GGUF model: {one_line(error)}") from None

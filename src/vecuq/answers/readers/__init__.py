"""Every format of answers that is read: one file each, and one line in the list below.

A format is recognised by its fields alone. Other packages add theirs through the entry points ``vecuq.readers``, each
a :class:`Format`; these are tried after ours.
"""

from __future__ import annotations

from functools import lru_cache

from vecuq._check import from_packages
from vecuq.answers.readers.anthropic import ANTHROPIC
from vecuq.answers.readers.format import Format, Wrapping
from vecuq.answers.readers.gemini import GEMINI
from vecuq.answers.readers.huggingface import HUGGINGFACE
from vecuq.answers.readers.inspect import INSPECT
from vecuq.answers.readers.llamacpp import LLAMACPP
from vecuq.answers.readers.lm_eval import LM_EVAL
from vecuq.answers.readers.lm_polygraph import LM_POLYGRAPH
from vecuq.answers.readers.messages import conversation
from vecuq.answers.readers.ollama import OLLAMA
from vecuq.answers.readers.openai import OPENAI
from vecuq.answers.readers.openai_responses import OPENAI_RESPONSES
from vecuq.answers.readers.promptfoo import PROMPTFOO
from vecuq.answers.readers.sglang import SGLANG
from vecuq.answers.readers.tgi import TGI
from vecuq.answers.readers.uqlm import UQLM
from vecuq.answers.readers.vllm import VLLM

ENTRY_POINTS = "vecuq.readers"
# In the order in which they are tried: those with the most telling fields first.
OURS: tuple[Format, ...] = (
    LM_EVAL,
    INSPECT,
    PROMPTFOO,
    ANTHROPIC,
    GEMINI,
    OLLAMA,
    LLAMACPP,
    SGLANG,
    TGI,
    UQLM,
    LM_POLYGRAPH,
    OPENAI_RESPONSES,
    OPENAI,
    VLLM,
    HUGGINGFACE,
)


@lru_cache(maxsize=1)
def formats() -> dict[str, Format]:
    """Return every format by name, in the order in which they are tried: ours, then those of installed packages."""
    known = {one.name: one for one in OURS}
    for added in from_packages(ENTRY_POINTS, Format, lambda one: one.name in ("auto", "vecuq", *known)):
        known[added.name] = added
    return known


__all__ = ["ENTRY_POINTS", "Format", "Wrapping", "conversation", "formats"]

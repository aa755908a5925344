"""A callback for LiteLLM: every reply that passes is judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from litellm.integrations.custom_logger import CustomLogger

from vecuq.answers import conversation


class JudgeLogger(CustomLogger):  # type: ignore[misc]
    """Judges every reply and hands the verdict on: ``litellm.callbacks = [JudgeLogger(judge, print)]``.

    Parameters
    ----------
    judge
        A fitted :class:`vecuq.AnswerPipeline`.
    on_verdict
        Called with the verdict and LiteLLM's ``kwargs`` of the call, such as ``kwargs["litellm_call_id"]``.
    """

    def __init__(self, judge: Any, on_verdict: Callable[[Any, dict[str, Any]], object]) -> None:
        super().__init__()
        self.judge, self.on_verdict = judge, on_verdict

    def log_success_event(self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any) -> None:
        """Judge one reply; LiteLLM calls this after each call."""
        self.on_verdict(self.judge(response_obj, question=conversation(kwargs.get("messages"))), kwargs)

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Judge one reply of an asynchronous call."""
        self.log_success_event(kwargs, response_obj, start_time, end_time)

"""What a server's refusal means: wait, stop, leave out this question, or send the request without an option."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from vecuq.answers.asking.patience import LaterError, seconds_to_wait
from vecuq.errors import VecuqError

# Servers that are busy or away for the moment.
_BUSY = {408, 429, 500, 502, 503, 504, 529}
_SLOW_DOWN = {429, 503, 529}
# The request itself is wrong: too long, filtered, or with a field that the server does not know.
_REJECTED = {400, 413, 422}
# An account without credit. Rate limits also speak of quotas, so one word is not enough.
_NO_CREDIT = re.compile(
    r"insufficient[_ ](?:quota|balance|credits?|funds)|credit balance is too low|payment required"
    r"|billing[_ ](?:hard[_ ]limit|not[_ ]active)|exceeded_current_quota_error",
    re.IGNORECASE,
)
_SPENT = re.compile(
    r"exceeded your (?:current|monthly) (?:quota|usage limit)|check your plan and billing", re.IGNORECASE
)
_LATER = re.compile(r"(?:retry|try again) (?:in|after) \d", re.IGNORECASE)


class Refusal(NamedTuple):
    """An error as a server writes it: the HTTP status, its message, and the code and parameter that it names."""

    status: int
    message: str
    code: str = ""
    param: str = ""

    @staticmethod
    def of(status: int, content: bytes) -> Refusal:
        """Read the body of an error, under error, message or detail; else all of it is the message.

        Examples
        --------
        >>> Refusal.of(400, b'{"error": {"message": "no", "param": "stop"}}')
        Refusal(status=400, message='no', code='', param='stop')
        """
        text = content.decode("utf-8", "replace")
        try:
            return Refusal.in_json(status, json.loads(text), text)
        except (ValueError, RecursionError):
            return Refusal(status, text)

    @staticmethod
    def in_json(status: int, found: Any, text: str) -> Refusal:
        """Read an error that is JSON; ``text`` is its message where it has none."""
        while isinstance(found, list) and found:  # as Gemini does
            found = found[0]
        inner = found.get("error", found) if isinstance(found, dict) else found
        fields = inner if isinstance(inner, dict) else {}
        code = fields.get("code") if isinstance(fields.get("code"), str) else fields.get("type")
        return Refusal(status, _message(found) or text, _short(code), _short(fields.get("param")))


class RejectedError(VecuqError):
    """The server answers, and rejects this request; ``refusal`` holds what it said, if it was an HTTP error."""

    def __init__(self, why: str, refusal: Refusal | None = None) -> None:
        super().__init__(why)
        self.refusal = refusal


def error_of(refusal: Refusal, why: str, headers: Mapping[str, str] | Any) -> VecuqError:
    """Return the error for a refusal; ``why`` describes it without secrets."""
    wait = seconds_to_wait(headers)
    if _is_spent(refusal, says_when=wait is not None):
        return VecuqError(
            f"{why} The account's quota or credit is used up, and waiting does not help. Answers on disk are kept: "
            f"start again when there is credit."
        )
    if refusal.status in _BUSY:
        return LaterError(why, wait, answered=refusal.status == 500, slow_down=refusal.status in _SLOW_DOWN)
    if refusal.status in {401, 403}:
        return VecuqError(f"{why} Check `api_key`.")
    return RejectedError(why, refusal) if refusal.status in _REJECTED else VecuqError(why)


def _is_spent(refusal: Refusal, *, says_when: bool) -> bool:
    """Whether the account has no credit left; a server that says when to come again only limits the rate."""
    said = f"{refusal.code} {refusal.message}"
    if refusal.status == 402 or _NO_CREDIT.search(said):
        return True
    return bool(_SPENT.search(said)) and not says_when and not _LATER.search(said)


def _message(found: Any) -> str | None:
    for name in ("error", "message", "detail"):
        found = found.get(name, found) if isinstance(found, dict) else found
    return found if isinstance(found, str) else None


def _short(word: Any) -> str:
    return word[:100] if isinstance(word, str) else ""

"""A call: what is sent, and how the answer is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from vecuq.client.refused import not_ours, refusal_in

T = TypeVar("T")
JSON = "application/json"


@dataclass(frozen=True)
class Reply:
    """An answer as it came."""

    status: int
    headers: Mapping[str, str]  # names in any case
    body: bytes

    @property
    def request_id(self) -> str:
        """How the logs of the service name the request."""
        return self.headers.get("x-request-id", "")


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request.

    ``repeatable`` says that it may be sent twice: the second time changes nothing, and is answered alike.
    ``statuses`` are those that are answers and no refusals.
    """

    method: str
    path: str
    read: Callable[[Reply], T]
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = field(default=None, repr=False)
    content_type: str = JSON
    accept: str = JSON
    repeatable: bool = True
    statuses: tuple[int, ...] = (200,)

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers that belong to this call."""
        typed = {} if self.body is None else {"content-type": self.content_type}
        return {"accept": self.accept, **typed}

    def answer(self, reply: Reply) -> T:
        """Return what was asked for, or raise what the service says instead."""
        if reply.status not in self.statuses:
            raise refusal_in(reply.status, reply.body, request_id=reply.request_id)
        return self.read(reply)


def read_json(kind: type[T]) -> Callable[[Reply], T]:
    """Return a function that reads an answer of a kind."""
    decoder = msgspec.json.Decoder(kind)

    def read(reply: Reply) -> T:
        try:
            return decoder.decode(reply.body)
        except msgspec.MsgspecError:
            # A refusal may have a status that is an answer elsewhere: 503 says "not ready" in /ready.
            if reply.status >= 400:
                raise refusal_in(reply.status, reply.body, request_id=reply.request_id) from None
            raise not_ours(reply.status, reply.body, request_id=reply.request_id) from None

    return read


def in_query(**options: Any) -> dict[str, str]:
    """Return options as a query string holds them; None is left out.

    Examples
    --------
    >>> in_query(alpha=0.05, explain=True, by=None)
    {'alpha': '0.05', 'explain': 'true'}
    """
    given = {name: value for name, value in options.items() if value is not None}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}

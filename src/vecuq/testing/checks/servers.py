"""Whatever a server replies: one clear line, no key in any output, and no answer that was not given."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from vecuq.testing.attack import BrokenPromiseError
from vecuq.testing.checks.commands import Outcome, refuse_bad_manners, run_command
from vecuq.testing.examples import workspace
from vecuq.testing.hostile.servers import KEY, serving

_VARIABLE = "VECUQ_TESTING_KEY"
_ASK = ("ask", "questions.jsonl", "--model", "m", "--samples", "1", "--tries", "1", "--timeout", "2", "-o", "a.jsonl")


def check_reply(reply: bytes) -> Outcome:
    """Ask two questions of a server that gives this reply to every request, and raise if anything is out of order.

    Parameters
    ----------
    reply
        All bytes that the server sends: status line, headers, a blank line, and the body.
    """
    with tempfile.TemporaryDirectory(prefix="vecuq-testing-") as name, serving(reply) as url:
        folder = Path(name)
        (folder / "questions.jsonl").write_bytes(workspace()["questions.jsonl"])
        words = [*_ASK, "--url", url, "--api-key-env", _VARIABLE]
        os.environ[_VARIABLE] = KEY
        try:
            outcome = run_command(words, folder)
        finally:
            del os.environ[_VARIABLE]
        written = folder / "a.jsonl"
        lines = written.read_text("utf-8").splitlines() if written.exists() else []
    if KEY in outcome.stdout + outcome.stderr:
        raise BrokenPromiseError("key", f"the key was printed: {(outcome.stdout + outcome.stderr)[:300]!r}")
    refuse_bad_manners(outcome, words)
    _check_lines(lines)
    return outcome


def _check_lines(lines: list[str]) -> None:
    for line in lines:
        try:
            json.loads(line)
        except ValueError as error:
            raise BrokenPromiseError("torn line", f"{error}: {line[:200]!r}") from None

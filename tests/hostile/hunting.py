"""Try inputs of a strategy, the same few in every run or new ones for some minutes, in bounded memory and time."""

import os
import resource
import signal
import time
from contextlib import contextmanager
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

MINUTES = float(os.environ.get("VECUQ_HOSTILE_MINUTES", "0"))
EXAMPLES = int(os.environ.get("VECUQ_TEST_EXAMPLES", "50")) / 50
CALM = {"database": None, "deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": False}


def hunt(strategy, check, examples, both=False):
    """Check inputs, and return whether each was taken; with ``both`` some must be taken, and some refused."""
    said = []

    def one(drawn):
        said.append(check(drawn))

    attempt = given(strategy)(one)
    settings(**CALM, derandomize=True, max_examples=max(1, round(examples * EXAMPLES)))(attempt)()
    more = settings(**CALM, derandomize=True, max_examples=300, phases=[Phase.generate])
    if both and len({*said}) < 2:
        more(given(strategy)(lambda drawn: one(drawn) if len({*said}) < 2 else None))()
    assert not both or {*said} == {True, False}
    over, number = time.monotonic() + 60 * MINUTES, int(time.time())
    while time.monotonic() < over:
        number += 1
        more = settings(**CALM, max_examples=100, phases=[Phase.generate, Phase.shrink])
        seed(number)(more(given(strategy)(one)))()
    return said


# Far above what any input needs, so that a busy machine does not fail a test; one that reads a bomb needs more.
MIB, SECONDS = 4_096, 300


class HangError(BaseException):
    """Nothing catches it by mistake."""


@contextmanager
def bounded(mib=MIB, seconds=SECONDS):
    """Raise inside the block when it takes so many seconds, or so much more memory than the process has now."""

    def hangs(*_):
        raise HangError(f"no end after {seconds} s")

    before, most = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    handler = signal.signal(signal.SIGALRM, hangs)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    resource.setrlimit(resource.RLIMIT_AS, (now + mib * 2**20, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, most))
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)

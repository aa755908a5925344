"""Bounds on what a block of code may take: memory and time."""

import resource
import signal
from contextlib import contextmanager
from pathlib import Path

# Far above what any input needs, so that a busy machine does not fail a test; one that reads a bomb needs more.
MIB, SECONDS = 2_048, 300


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

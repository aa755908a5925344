"""One timer for all waiting requests: what waits too long is given up, and nothing else."""

import asyncio
import selectors
import time

import pytest

from vecuq.service.patience import Patience


class Skipping(selectors.SelectSelector):
    """Skips every wait, and says how late it would be by then: so no verdict hangs on how busy a machine is."""

    now = 0.0

    def select(self, timeout=None):
        found = super().select(0)
        self.now += 0.0 if found else timeout or 0.0
        return found


def test_a_wait_that_is_too_long_is_given_up_and_a_short_one_is_not(monkeypatch):
    patience = Patience(0.5)

    async def wait(seconds):
        with patience:
            await asyncio.sleep(seconds)
        await asyncio.sleep(0.8)  # afterwards there is all the time
        return seconds

    async def run():
        return await asyncio.gather(wait(0.0), wait(600.0), wait(0.4), wait(600.0), return_exceptions=True)

    for _ in range(2):  # also in another loop
        clock = Skipping()
        monkeypatch.setattr(time, "monotonic", lambda clock=clock: clock.now)
        with asyncio.Runner(loop_factory=lambda clock=clock: asyncio.SelectorEventLoop(clock)) as runner:
            found = runner.run(run())
        assert [type(one) for one in found] == [float, TimeoutError, float, TimeoutError]


def test_a_cancelled_wait_stays_cancelled():
    patience = Patience(60.0)

    async def wait():
        with patience:
            await asyncio.sleep(30)

    async def run():
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_errors_pass_through():
    async def run():
        with Patience(60.0):
            raise KeyError("x")

    with pytest.raises(KeyError):
        asyncio.run(run())

"""Futures that are waited for on an event loop and off it."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import Future
from typing import Any

import pytest

from aaep.runtime.background import Waitable, shield_future


def test_an_error_that_comes_after_its_waiter_was_cancelled_is_not_logged_as_one_that_nobody_saw() -> None:
    alarms: list[dict[str, Any]] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: alarms.append(context))
        future: Future[None] = Future()
        waiters = [asyncio.ensure_future(shield_future(future)), asyncio.ensure_future(wait(Waitable(future)))]
        await asyncio.sleep(0)
        for waiter in waiters:
            waiter.cancel()
        await asyncio.wait(waiters)
        future.set_exception(OSError("Nobody is there."))
        with pytest.raises(OSError, match="Nobody"):  # who still waits is told
            await Waitable(future)
        waiters.clear()
        gc.collect()

    async def wait(waitable: Waitable[None]) -> None:
        await waitable

    asyncio.run(main())
    gc.collect()
    assert alarms == []


def test_a_waiter_that_is_cancelled_leaves_the_others_waiting() -> None:
    async def main() -> int:
        future: Future[int] = Future()
        first, second = (asyncio.ensure_future(shield_future(future)) for _ in range(2))
        first.cancel()
        await asyncio.wait([first])
        future.set_result(7)
        return await second

    assert asyncio.run(main()) == 7

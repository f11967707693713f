"""Work that would block the loop, done in a thread of its own and waited for even when it is cancelled."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[threading.Event], T]) -> T:
    """What `work` returns; it runs in a new thread and is given an event that asks it to stop.

    Raises what `work` raises. Cancelled, it sets the event, waits until `work` has ended, and only then
    raises CancelledError: nothing goes on behind the back of the caller.
    """
    import asyncio

    stop = threading.Event()
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work(stop))
        except BaseException as error:  # it belongs to the caller, in the other thread
            errors.append(error)
        with suppress(RuntimeError):  # the loop was closed, nobody waits any more
            loop.call_soon_threadsafe(done.set)

    threading.Thread(target=run, daemon=True, name="mm-tool").start()
    cancelled: asyncio.CancelledError | None = None
    while not done.is_set():
        try:
            await done.wait()
        except asyncio.CancelledError as error:
            cancelled = error
            stop.set()
    if cancelled is not None:
        raise cancelled
    if errors:
        raise errors[0]
    return results[0]

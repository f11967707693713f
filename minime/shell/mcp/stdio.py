"""A server that mm starts itself: a child process with messages, one a line, on its stdin and stdout.

It leads a process group of its own, which ends with the connection, and with mm however mm ends.
"""

import asyncio
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from signal import SIGKILL, SIGTERM
from typing import TYPE_CHECKING

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from minime.shell.mcp.child import Child
from minime.shell.tools.processes import guarded, signal_group

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams

    Read = MemoryObjectSendStream[SessionMessage | Exception]
    Write = MemoryObjectReceiveStream[SessionMessage]

LEAVE_SECONDS = 0.5
"""What a server has to end in once its stdin is closed; then it is told to, and after as long killed."""

MOST_LINE = 256_000_000
_CHUNK = 65_536


@asynccontextmanager
async def child_streams(
    start: Callable[[], Awaitable[Process]], child: Child
) -> "AsyncIterator[TransportStreams]":
    """The two streams of messages of a process that has been started; it is ended with them."""
    process = await start()
    read_in, read_out = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_in, write_out = anyio.create_memory_object_stream[SessionMessage](0)
    with guarded(process.pid):
        tasks = [
            asyncio.create_task(_read(process, read_in, child)),
            asyncio.create_task(_write(process, write_out, child)),
            asyncio.create_task(_listen(process, child)),
        ]
        try:
            yield read_out, write_in
        finally:
            await asyncio.shield(asyncio.create_task(_end(process, tasks)))
            for stream in (read_in, read_out, write_in, write_out):
                stream.close()


async def _read(process: Process, messages: "Read", child: Child) -> None:
    assert process.stdout is not None, "it is a pipe"
    held = bytearray()
    try:
        while data := await process.stdout.read(_CHUNK):
            held += data
            if b"\n" not in data:
                if len(held) > MOST_LINE:
                    break
                continue
            *lines, rest = bytes(held).split(b"\n")
            held = bytearray(rest)
            for line in lines:
                if line.strip():
                    await messages.send(_message(line))
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        pass
    child.leave()
    messages.close()


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:  # words of a program that does not know that its stdout is taken
        return error


async def _write(process: Process, messages: "Write", child: Child) -> None:
    assert process.stdin is not None, "it is a pipe"
    try:
        async for one in messages:
            line = one.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(line.encode() + b"\n")
            await process.stdin.drain()
    except (anyio.ClosedResourceError, OSError):
        child.leave()


async def _listen(process: Process, child: Child) -> None:
    assert process.stderr is not None, "it is a pipe"
    while data := await process.stderr.read(_CHUNK):
        child.complain(data)


async def _end(process: Process, tasks: list[asyncio.Task[None]]) -> None:
    """Has the process leave, and all that it started with it; in the end by force."""
    if process.stdin is not None:
        process.stdin.close()
    for number in (None, SIGTERM, SIGKILL):
        if number is not None:
            signal_group(process.pid, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), LEAVE_SECONDS)
            break
    signal_group(process.pid, SIGKILL)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

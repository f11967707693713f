"""The only loop: asks the model and runs tools until a turn is whole, was cancelled or has failed."""

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec

from minime.core.events import (
    Answered,
    Cancelled,
    Event,
    Failed,
    Outcome,
    TextDelta,
    ThoughtDelta,
    ToolFinished,
    ToolProgress,
    ToolRunning,
    ToolStarted,
)
from minime.core.session import call_ids, with_fresh_call_ids
from minime.core.tools.toolbox import Action, BadCall, action_title, parse_call
from minime.core.turn import (
    CANCELLED_RESULT,
    CUT_CALL_RESULT,
    SAME_CALL_RESULT,
    SAME_CALL_STOPPED,
    SAME_CALL_WARNED,
    SAME_CALL_WARNING,
    AskModel,
    Done,
    RunTools,
    StopTurn,
    Turn,
    grow,
    last_answer,
    next_step,
    same_calls,
    stopped,
    with_partial,
)
from minime.core.values import Assistant, Session, Tool, ToolCall
from minime.shell.model.model import ModelFailed
from minime.shell.tools.tools import Impossible, Ready

Emit = Callable[[Event], None]


class Hands(NamedTuple):
    """What a turn needs of the world, as functions.

    `ask` has the model answer what stands in the turn, and raises ModelFailed; `prepare` finds out what
    an action would change; `consent` is empty when the action may be done, else the words of refusal that
    the model reads; `run` does it; `keep` is told of the turn after each finished round of tools.
    """

    ask: Callable[[Turn, Emit], Awaitable[Assistant]]
    prepare: Callable[[Action], Awaitable[Ready | Impossible]]
    consent: Callable[[ToolCall, Ready], Awaitable[str]]
    run: Callable[[str, Ready, Callable[[str], None]], Awaitable[Tool]]
    keep: Callable[[Turn], None]


async def run_turn(
    session: Session, turn: Turn, hands: Hands, emit: Emit, tools: tuple[str, ...], max_steps: int
) -> tuple[Turn, Outcome]:
    """The turn as it stands at its end, and how it ended; raises nothing. Cancelling the task cancels the
    turn: what had come of an answer is kept in it."""
    text: list[str] = []
    thought: list[str] = []

    def watch(event: Event) -> None:
        match event:
            case TextDelta(text=piece):
                text.append(piece)
            case ThoughtDelta(text=piece):
                thought.append(piece)
            case _:
                pass
        emit(event)

    try:
        while True:
            match next_step(turn, max_steps):
                case AskModel():
                    answer = await hands.ask(turn, watch)
                    text.clear()
                    thought.clear()
                    turn = grow(turn, with_fresh_call_ids(answer, call_ids(session.messages + turn.messages)))
                case RunTools(calls=calls):
                    for call in calls:
                        turn = grow(turn, await _run_call(turn, call, hands, emit, tools))
                    hands.keep(turn)
                case StopTurn(why=why):
                    return stopped(turn, why), Answered()
                case Done():
                    return turn, Answered()
    except asyncio.CancelledError:
        return with_partial(turn, "".join(text), "".join(thought)), Cancelled()
    except ModelFailed as failed:
        return turn, Failed(failed.failure.shown, failed.failure.raw, failed.failure.kind)
    except Exception as error:
        return turn, Failed(f"mm itself failed: {type(error).__name__}: {error}", traceback.format_exc())


async def _run_call(turn: Turn, call: ToolCall, hands: Hands, emit: Emit, tools: tuple[str, ...]) -> Tool:
    """What `call` came to, told in events: one start, one finish."""
    began = time.monotonic()
    started = False

    def start(title: str, ready: Ready | None = None) -> None:
        nonlocal started
        started = True
        emit(ToolStarted(call, title, None if ready is None else ready.diff))

    def finish(result: Tool) -> Tool:
        if not started:
            start(call.function.name)
        emit(ToolFinished(result, round(time.monotonic() - began, 3)))
        return result

    count = same_calls(turn, call.id)
    answer = last_answer(turn)
    try:
        if count > SAME_CALL_STOPPED:
            return finish(Tool(call.id, SAME_CALL_RESULT, failed=True))
        action = parse_call(call, tools)
        if isinstance(action, BadCall):
            cut = answer is not None and answer.stopped == "length"
            return finish(Tool(call.id, CUT_CALL_RESULT if cut else action.message, failed=True))
        ready = await hands.prepare(action)
        if isinstance(ready, Impossible):
            start(action_title(action))
            return finish(Tool(call.id, ready.message, failed=True))
        start(action_title(action), ready)
        refusal = await hands.consent(call, ready)
        if refusal:
            return finish(Tool(call.id, refusal, failed=True))
        emit(ToolRunning(call.id))
        began = time.monotonic()
        result = await hands.run(call.id, ready, lambda piece: emit(ToolProgress(call.id, piece)))
        if count >= SAME_CALL_WARNED:
            warning = SAME_CALL_WARNING.format(count=count)
            result = msgspec.structs.replace(result, content=f"{result.content}\n{warning}")
        return finish(result)
    except asyncio.CancelledError:
        finish(Tool(call.id, CANCELLED_RESULT, failed=True))
        raise

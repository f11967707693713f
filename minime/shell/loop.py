"""The only loop: asks the model and runs tools until a turn is whole, was cancelled or has failed."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec

from minime.core.budget import Budget, after_overflow, size
from minime.core.events import (
    Answered,
    Cancelled,
    Event,
    Failed,
    Notice,
    Outcome,
    TextDelta,
    ThoughtDelta,
    ToolFinished,
    ToolProgress,
    ToolRunning,
    ToolStarted,
)
from minime.core.model.failures import Failure
from minime.core.request import fit
from minime.core.room import Fits, Shorten, Summarise, TooLarge, make_room, plan_by_hand
from minime.core.session import call_ids, with_fresh_call_ids
from minime.core.tools.outside import ToolSpec
from minime.core.tools.toolbox import Action, BadCall, action_title, parse_call
from minime.core.turn import (
    CANCELLED_RESULT,
    CUT_CALL_RESULT,
    SAME_CALL_RESULT,
    SAME_CALL_STOPPED,
    SAME_CALL_WARNED,
    SAME_CALL_WARNING,
    TOO_MANY_RESULT,
    AskModel,
    Done,
    RunTools,
    StopTurn,
    Turn,
    grow,
    is_beyond,
    last_answer,
    next_step,
    same_calls,
    stopped,
    with_partial,
)
from minime.core.values import Assistant, Session, Tool, ToolCall
from minime.shell import clock
from minime.shell.compacting import SumUp, sum_up, tell_failure, tell_fault
from minime.shell.model.model import ModelFailed
from minime.shell.tools.tools import Impossible, Ready

Emit = Callable[[Event], None]

AskBudget = Callable[[Turn | None, Emit], Awaitable[Budget]]
"""What a request of the turn may take, once the model that answers is known; raises ModelFailed."""

NOTHING_TO_COMPACT = "nothing to compact: the newest turns stay as they are (compaction.keep in agent.yaml)"


class Hands(NamedTuple):
    """What a turn needs of the world, as functions.

    `ask` has the model answer what stands in the turn behind the session, and raises ModelFailed; `budget`
    tells what its request may take; `sum_up` has the model answer a history of its own in so many tokens;
    `prepare` finds out what an action would change; `consent` is empty when the action may be done, else the
    words of refusal that the model reads; `run` does it; `keep` is told of the turn after each finished round
    of tools; `others` are the tools of servers that may be called now.
    """

    ask: Callable[[Session, Turn, Emit], Awaitable[Assistant]]
    budget: AskBudget
    sum_up: SumUp
    prepare: Callable[[Action], Awaitable[Ready | Impossible]]
    consent: Callable[[ToolCall, Ready], Awaitable[str]]
    run: Callable[[str, Ready, Callable[[str], None]], Awaitable[Tool]]
    keep: Callable[[Turn], None]
    others: Callable[[], tuple[ToolSpec, ...]] = tuple


async def run_turn(
    session: Session, turn: Turn, hands: Hands, emit: Emit, tools: tuple[str, ...], max_steps: int
) -> tuple[Turn, Outcome]:
    """The turn as it stands at its end, and how it ended; raises nothing. Cancelling the task cancels the
    turn: what had come of an answer is kept in it."""
    text: list[str] = []
    thought: list[str] = []
    may_summarise, was_refused = True, False

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
                    budget = await hands.budget(turn, emit)
                    session, turn, may_summarise = await _with_room(
                        session, turn, hands, emit, budget, may_summarise
                    )
                    try:
                        answer = await hands.ask(session, turn, watch)
                    except ModelFailed as failed:
                        if failed.failure.kind != "overflow" or was_refused or text:
                            raise
                        was_refused = True
                        shorter = await _after_refusal(session, turn, hands, emit, failed, may_summarise)
                        session, turn, may_summarise = shorter
                        continue
                    was_refused = False
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


async def run_compaction(
    session: Session, budget: Budget, ask_budget: AskBudget, ask: SumUp, emit: Emit, focus: str = ""
) -> Outcome:
    """How a compaction that a person asked for ended; what came of it is told in events. Raises nothing.
    Cancelling the task cancels it, and the history stays as it is. Nobody is asked where `budget`, as far as
    it is known, says that there is nothing to sum up."""
    try:
        plan = plan_by_hand(session, budget)
        if plan is not None:
            budget = await ask_budget(None, emit)
            plan = plan_by_hand(session, budget)
        if plan is None:
            emit(Notice(NOTHING_TO_COMPACT))
            return Answered()
        shorter = await sum_up(session, plan, budget, ask, emit, focus)
        return shorter if isinstance(shorter, Failed) else Answered()
    except asyncio.CancelledError:
        return Cancelled()
    except ModelFailed as failed:
        return tell_failure(emit, failed.failure)
    except Exception as error:
        return tell_fault(emit, error, traceback.format_exc())


async def _with_room(
    session: Session,
    turn: Turn,
    hands: Hands,
    emit: Emit,
    budget: Budget,
    may_summarise: bool,
    refused: bool = False,
) -> tuple[Session, Turn, bool]:
    """The session and the turn as they fit the window, and whether a summary may still be made in this turn.
    Raises ModelFailed when they cannot fit."""
    while True:
        room = make_room(session, turn, budget, may_summarise=may_summarise, refused=refused)
        match room:
            case Fits():
                return session, turn, may_summarise
            case Summarise(plan=plan):
                shorter = await sum_up(session, plan, budget, hands.sum_up, emit)
                if isinstance(shorter, Session):
                    session = shorter
                else:
                    may_summarise = False
                if refused:
                    return session, turn, may_summarise
            case Shorten(turn=turn):
                refused = False
            case TooLarge(line=line):
                raise ModelFailed(Failure("overflow", line))


async def _after_refusal(
    session: Session, turn: Turn, hands: Hands, emit: Emit, failed: ModelFailed, may_summarise: bool
) -> tuple[Session, Turn, bool]:
    """What is tried once when the server says that the request is too long: the session and the turn made
    shorter. Raises ModelFailed when there is nothing to make shorter."""
    budget = await hands.budget(turn, emit)
    taken = size(fit(session.messages + turn.messages)) + budget.tools
    budget = after_overflow(budget, taken, failed.failure.window)
    shorter = await _with_room(session, turn, hands, emit, budget, may_summarise, refused=True)
    if shorter[:2] == (session, turn):
        raise failed
    return shorter


async def _run_call(turn: Turn, call: ToolCall, hands: Hands, emit: Emit, tools: tuple[str, ...]) -> Tool:
    """What `call` came to, told in events: one start, one finish."""
    began: float | None = None
    started = False

    def start(title: str, ready: Ready | None = None) -> None:
        nonlocal started
        started = True
        emit(ToolStarted(call, title, None if ready is None else ready.diff))

    def finish(result: Tool) -> Tool:
        if not started:
            start(call.function.name)
        emit(ToolFinished(result, 0.0 if began is None else round(clock.ticks() - began, 3)))
        return result

    count = same_calls(turn, call.id)
    answer = last_answer(turn)
    try:
        if count > SAME_CALL_STOPPED:
            return finish(Tool(call.id, SAME_CALL_RESULT, failed=True))
        if is_beyond(turn, call.id):
            return finish(Tool(call.id, TOO_MANY_RESULT, failed=True))
        others = hands.others()
        action = parse_call(call, (*tools, *(tool.name for tool in others)), others)
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
        began = clock.ticks()
        result = await hands.run(call.id, ready, lambda piece: emit(ToolProgress(call.id, piece)))
        if count >= SAME_CALL_WARNED:
            warning = SAME_CALL_WARNING.format(count=count)
            result = msgspec.structs.replace(result, content=f"{result.content}\n{warning}")
        return finish(result)
    except asyncio.CancelledError:
        finish(Tool(call.id, CANCELLED_RESULT, failed=True))
        raise

"""Turns that are to become a summary in, the shorter conversation out: one call of the model."""

from collections.abc import Awaitable, Callable

from minime.core.budget import Budget
from minime.core.compaction import Plan, compact, compacted, older
from minime.core.events import (
    CompactionFailed,
    CompactionProgress,
    CompactionStarted,
    Event,
    Failed,
    Notice,
    TextDelta,
)
from minime.core.model.failures import Failure
from minime.core.summary import summary_fault, summary_question, summary_tokens_of
from minime.core.values import Assistant, Message, Session
from minime.shell import clock
from minime.shell.model.model import ModelFailed

Emit = Callable[[Event], None]
SumUp = Callable[[tuple[Message, ...], int, Emit], Awaitable[Assistant]]
"""A history and the most tokens of an answer in, the model's answer out; raises ModelFailed."""

NO_ROOM = "the context window is too small to read what is to be summed up"
UNCHANGED = "the conversation goes on as it was"


async def sum_up(
    session: Session, plan: Plan, budget: Budget, ask: SumUp, emit: Emit, focus: str = ""
) -> Session | Failed:
    """The conversation with a summary in the place of its older turns, or why there is none; either is told
    in an event too. `focus` are words of the user on what to keep in mind."""

    def watch(event: Event) -> None:
        match event:
            case TextDelta(text=text):
                emit(CompactionProgress(text))
            case Notice():
                emit(event)
            case _:
                pass

    emit(CompactionStarted(plan.turns))
    replaced = older(session, plan)
    question = summary_question(replaced, budget, focus)
    if question is None:
        return _told(emit, Failed(f"compaction failed: {NO_ROOM}; {UNCHANGED}", "", "summary"))
    try:
        summary = await ask(question, summary_tokens_of(replaced, budget), watch)
    except ModelFailed as failed:
        return tell_failure(emit, failed.failure)
    fault = summary_fault(summary, replaced)
    if fault:
        return _told(emit, Failed(f"compaction failed: {fault}; {UNCHANGED}", summary.content, "summary"))
    now = clock.now()
    done = compacted(session, plan, summary, budget, now)
    emit(done)
    return compact(session, done, now)


def tell_failure(emit: Emit, failure: Failure) -> Failed:
    """A compaction that the model could not be asked for, told."""
    return _told(emit, Failed(f"compaction failed: {failure.shown}", failure.raw, failure.kind))


def tell_fault(emit: Emit, error: Exception, trace: str) -> Failed:
    """A compaction that failed by a fault of mm's own, told."""
    return _told(emit, Failed(f"compaction failed in mm itself: {type(error).__name__}: {error}", trace))


def _told(emit: Emit, failed: Failed) -> Failed:
    emit(CompactionFailed(failed.shown, failed.raw, failed.kind))
    return failed

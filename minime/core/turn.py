"""A turn grows beside its session, and `next_step` reads off its messages what to do.

A turn is one question and all that answers it. No counters, no flags: what is open stands in the messages.
"""

from typing import assert_never

import msgspec

from minime.core.model.calls import MOST_CALLS
from minime.core.values import (
    Assistant,
    ImagePart,
    Message,
    Stopped,
    TextPart,
    Tool,
    ToolCall,
    User,
    first_line,
    question_text,
)

CANCELLED_RESULT = "cancelled by the user"
CUT_CALL_RESULT = "not run: the answer was cut at its output limit before this call was complete"
TOO_MANY_RESULT = f"not run: an answer may make {MOST_CALLS} calls; this one and all behind it were left out"
SAME_CALL_RESULT = "not run: you have made this same call too often"
SAME_CALL_WARNING = (
    "[mm: this is the same call {count} times running; its result will not change, do something else]"
)
SAME_CALL_WARNED = 3
SAME_CALL_STOPPED = 5


class Turn(msgspec.Struct, frozen=True):
    """The question first, then answers and tool results in the order they came."""

    messages: tuple[Message, ...]

    @property
    def question(self) -> User:
        """The message that began the turn."""
        first = self.messages[0]
        assert isinstance(first, User), "a turn begins with its question"
        return first


class AskModel(msgspec.Struct, frozen=True):
    """The model has to answer what stands there."""


class RunTools(msgspec.Struct, frozen=True):
    """These calls of the last answer have no result yet."""

    calls: tuple[ToolCall, ...]


class StopTurn(msgspec.Struct, frozen=True):
    """The turn may not go on: too many rounds, or the same call again and again."""

    why: Stopped


class Done(msgspec.Struct, frozen=True):
    """The turn is whole."""


Step = AskModel | RunTools | StopTurn | Done


def start(content: str | tuple[TextPart | ImagePart, ...], typed: str = "") -> Turn:
    """A turn that holds its question alone. `typed` is what the person typed, where `content` has more."""
    return Turn((User(content, typed="" if typed == content else typed),))


def grow(turn: Turn, *messages: Message) -> Turn:
    """The turn with `messages` at its end."""
    return Turn(turn.messages + messages)


def next_step(turn: Turn, max_steps: int) -> Step:
    """What the turn needs now. `max_steps` bounds the rounds of tool calls (0: no bound)."""
    answer = last_answer(turn)
    if answer is None:
        return AskModel()
    if answer.stopped and answer.stopped != "length":
        return Done()
    open_calls = calls_without_result(turn)
    if open_calls:
        return RunTools(open_calls)
    if not answer.tool_calls:
        return Done()
    if same_calls(turn, answer.tool_calls[-1].id) >= SAME_CALL_STOPPED:
        return StopTurn("loop")
    if max_steps and rounds(turn) >= max_steps:
        return StopTurn("steps")
    return AskModel()


def last_answer(turn: Turn) -> Assistant | None:
    """The newest answer of the model in this turn."""
    return next((m for m in reversed(turn.messages) if isinstance(m, Assistant)), None)


def calls_without_result(turn: Turn) -> tuple[ToolCall, ...]:
    """The calls that still wait, in the order the model made them."""
    done = {m.tool_call_id for m in turn.messages if isinstance(m, Tool)}
    return tuple(
        call
        for m in turn.messages
        if isinstance(m, Assistant)
        for call in m.tool_calls
        if call.id not in done
    )


def rounds(turn: Turn) -> int:
    """How many answers of this turn called tools."""
    return sum(isinstance(m, Assistant) and bool(m.tool_calls) for m in turn.messages)


def finished_rounds(turn: Turn) -> tuple[Message, ...]:
    """The question and the rounds whose calls all have results: what is worth keeping of a turn that
    does not end well. Empty when no round is finished."""
    open_ids = {call.id for call in calls_without_result(turn)}
    end = 0
    for place, message in enumerate(turn.messages):
        match message:
            case Tool():
                end = place + 1
            case Assistant(tool_calls=calls) if any(call.id in open_ids for call in calls):
                break
            case _:
                pass
    return turn.messages[:end]


def same_calls(turn: Turn, call_id: str) -> int:
    """How often the call `call_id` was made in a row up to itself, name and arguments alike."""
    calls = [c for m in turn.messages if isinstance(m, Assistant) for c in m.tool_calls]
    place = next(i for i, c in enumerate(calls) if c.id == call_id)
    count = 0
    while count <= place and calls[place - count].function == calls[place].function:
        count += 1
    return count


def is_beyond(turn: Turn, call_id: str) -> bool:
    """Whether the call `call_id` goes beyond what one answer may call."""
    answer = last_answer(turn)
    return answer is not None and any(call.id == call_id for call in answer.tool_calls[MOST_CALLS:])


def with_partial(turn: Turn, text: str, thought: str) -> Turn:
    """The turn with what had come of an answer that was broken off; unchanged when no word of it had."""
    return (
        grow(turn, Assistant(text, reasoning_content=thought, stopped="cancelled")) if text.strip() else turn
    )


def cancelled(turn: Turn) -> Turn | None:
    """What is kept of a turn that the user ended; None when nothing had come yet.

    Each open call gets a result and the newest answer is marked: every server accepts the shape.
    """
    if len(turn.messages) == 1:
        return None
    results = tuple(Tool(call.id, CANCELLED_RESULT, failed=True) for call in calls_without_result(turn))
    return stopped(grow(turn, *results), "cancelled")


def stopped(turn: Turn, why: Stopped) -> Turn:
    """The turn with its newest answer marked as ended by `why`."""
    place = max(i for i, m in enumerate(turn.messages) if isinstance(m, Assistant))
    answer = turn.messages[place]
    assert isinstance(answer, Assistant)
    marked = msgspec.structs.replace(answer, stopped=why)
    return Turn((*turn.messages[:place], marked, *turn.messages[place + 1 :]))


def turn_stopped(turn: Turn) -> Stopped:
    """Why the turn ended before its time; empty when it did not."""
    answer = last_answer(turn)
    return answer.stopped if answer is not None else ""


def answer_text(turn: Turn) -> str:
    """The words of the last answer."""
    answer = last_answer(turn)
    return answer.content if answer is not None else ""


def question_line(turn: Turn) -> str:
    """The question in one line."""
    return first_line(question_text(turn.question))


def stopped_text(why: Stopped, max_steps: int) -> str:
    """The line that tells the user why a turn was cut short; empty for a whole one."""
    match why:
        case "length":
            return "the answer was cut: its limit (maxOutput in agent.yaml) or the context window was reached"
        case "steps":
            return f"stopped after {max_steps} tool rounds (maxSteps in agent.yaml); ask again to go on"
        case "loop":
            return f"stopped: the model made the same tool call {SAME_CALL_STOPPED} times running"
        case "cancelled":
            return "cancelled"
        case "":
            return ""
        case _:
            assert_never(why)

"""Events of a running turn, as steps of the machine: each becomes what the editor is shown."""

import msgspec

from minime.core.acp.answers import Step, send
from minime.core.acp.compacting import CompactionEvent, show_compaction
from minime.core.acp.effects import Effects
from minime.core.acp.inputs import Happened
from minime.core.acp.replay import fresh_id
from minime.core.acp.state import Call, Live, State, with_live
from minime.core.acp.telling import pause, say, tell, think
from minime.core.acp.tool_calls import (
    finished,
    finished_in_terminal,
    in_terminal,
    places,
    started_call,
    terminal_output,
    text_content,
)
from minime.core.acp.updates import Changed, usage_shown
from minime.core.events import (
    Event,
    Notice,
    TextDelta,
    ThoughtDelta,
    ToolFinished,
    ToolProgress,
    ToolRunning,
    ToolStarted,
    UsageSeen,
)
from minime.core.values import Diff, Stamp, Tool, ToolCall

LAST_OUTPUT = 8_000
"""Characters of a running command's output that are shown: each update replaces the one before."""


def happened(state: State, said: Happened, stamp: Stamp) -> Step:
    """Shows an event of a running turn."""
    live = state.sessions.get(said.id)
    if live is None or live.running is None or live.answer:
        return state, ()
    event = said.event
    if isinstance(event, CompactionEvent):
        live, effects = show_compaction(state, said.id, live, event, stamp)
    else:
        live, effects = _shown(state, said.id, live, event)
    return with_live(state, said.id, live), effects


def unfinished(id: str, live: Live) -> Effects:
    """The end of the calls that nobody has told the end of: none stays open behind its turn."""
    return tuple(
        send(id, Changed(tool_call_id=call.begun.tool_call_id, status="failed"))
        for call in live.calls.values()
    )


def _shown(state: State, id: str, live: Live, event: Event) -> tuple[Live, Effects]:
    match event:
        case TextDelta(text=text):
            return say(id, live, text)
        case ThoughtDelta(text=text):
            return think(id, live, text)
        case ToolStarted(call=call, diff=diff):
            return _started(state, id, live, call, diff)
        case ToolRunning(call_id=call_id) if call_id in live.calls:
            return _running(id, live, live.calls[call_id])
        case ToolProgress(call_id=call_id, text=text) if call_id in live.calls:
            return _progressed(id, live, live.calls[call_id], text)
        case ToolFinished(result=result) if result.tool_call_id in live.calls:
            return _finished(id, live, live.calls[result.tool_call_id], result)
        case UsageSeen(usage=usage, window=window, origin=origin):
            if window:
                live = msgspec.structs.replace(live, window=window, origin=origin)
            return live, (send(id, usage_shown(usage, live.window)),) if live.window else ()
        case Notice(text=text):
            return tell(state, id, live, text)
        case _:
            return live, ()


def _started(state: State, id: str, live: Live, call: ToolCall, diff: Diff | None) -> tuple[Live, Effects]:
    begun = started_call(call, diff, live.cwd, fresh_id(call.id, live.shown))
    terminal = state.client.terminal_output and begun.kind == "execute"
    if terminal:
        begun = in_terminal(begun, live.cwd)
    live = msgspec.structs.replace(pause(live), shown=live.shown | {begun.tool_call_id})
    return _with_call(live, Call(begun, call, terminal=terminal)), (send(id, begun),)


def _running(id: str, live: Live, call: Call) -> tuple[Live, Effects]:
    there = places(call.call, live.cwd) if call.begun.kind == "read" else ()
    changed = Changed(tool_call_id=call.begun.tool_call_id, status="in_progress", locations=there or None)
    return _with_call(live, msgspec.structs.replace(call, ran=True)), (send(id, changed),)


def _progressed(id: str, live: Live, call: Call, text: str) -> tuple[Live, Effects]:
    if call.terminal:
        return live, (send(id, terminal_output(call.begun.tool_call_id, text)),)
    call = msgspec.structs.replace(call, output=(call.output + text)[-LAST_OUTPUT:])
    changed = Changed(tool_call_id=call.begun.tool_call_id, content=(text_content(call.output),))
    return _with_call(live, call), (send(id, changed),)


def _finished(id: str, live: Live, call: Call, result: Tool) -> tuple[Live, Effects]:
    shown_id = call.begun.tool_call_id
    if call.terminal:
        changed = finished_in_terminal(result, shown_id, ran=call.ran)
    else:
        changed = finished(result, live.cwd, shown_id)
    if result.diff is not None and not call.begun.locations:  # a new file is there now
        changed = msgspec.structs.replace(changed, locations=places(call.call, live.cwd))
    rest = {key: other for key, other in live.calls.items() if other is not call}
    return msgspec.structs.replace(live, calls=rest), (send(id, changed),)


def _with_call(live: Live, call: Call) -> Live:
    return msgspec.structs.replace(live, calls={**live.calls, call.call.id: call})

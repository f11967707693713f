"""Events of a running turn, as steps of the machine: each becomes what the editor is shown."""

import msgspec

from minime.core.acp.answers import Step, send
from minime.core.acp.effects import Effects
from minime.core.acp.inputs import Happened
from minime.core.acp.state import Live, State, with_live
from minime.core.acp.updates import (
    Changed,
    NoticeShown,
    agent_chunks,
    finished,
    in_terminal,
    started_call,
    terminal_output,
    text_content,
    thought_chunks,
    usage_shown,
)
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
from minime.core.session import turns

LAST_OUTPUT = 8_000
"""Characters of a running command's output that are shown: each update replaces the one before."""


def happened(state: State, said: Happened) -> Step:
    """Shows an event of a running turn."""
    live = state.sessions.get(said.id)
    if live is None or live.running is None:
        return state, ()
    live, effects = shown(state, said.id, live, said.event)
    return with_live(state, said.id, live), effects


def shown(state: State, id: str, live: Live, event: Event) -> tuple[Live, Effects]:
    """What an event changes in the session, and what the editor is shown of it."""
    match event:
        case TextDelta(text=text):
            live = speaking(live)
            return live, tuple(send(id, chunk) for chunk in agent_chunks(text, spoken(live)))
        case ThoughtDelta(text=text):
            live = speaking(live)
            return live, tuple(send(id, chunk) for chunk in thought_chunks(text, spoken(live)))
        case ToolStarted(call=call, diff=diff):
            begun = started_call(call, diff, live.cwd)
            live = msgspec.structs.replace(live, after_tool=True)
            if state.client.terminal_output and begun.kind == "execute":
                live = msgspec.structs.replace(live, terminals=(*live.terminals, call.id))
                begun = in_terminal(begun, live.cwd)
            return live, (send(id, begun),)
        case ToolRunning(call_id=call_id):
            return live, (send(id, Changed(tool_call_id=call_id, status="in_progress")),)
        case ToolProgress(call_id=call_id, text=text) if call_id in live.terminals:
            return live, (send(id, terminal_output(call_id, text)),)
        case ToolProgress(call_id=call_id, text=text):
            output = (live.output.get(call_id, "") + text)[-LAST_OUTPUT:]
            live = msgspec.structs.replace(live, output={**live.output, call_id: output})
            return live, (send(id, Changed(tool_call_id=call_id, content=(text_content(output),))),)
        case ToolFinished(result=result):
            changed = finished(result, live.cwd, in_terminal=result.tool_call_id in live.terminals)
            return live, (send(id, changed),)
        case UsageSeen(usage=usage):
            return live, (send(id, usage_shown(usage, live.window)),) if live.window else ()
        case Notice(text=text):
            return tell(state, id, live, text)


def tell(state: State, id: str, live: Live, text: str) -> tuple[Live, Effects]:
    """A line for the person: beside the conversation, else in it, else before the next answer."""
    if state.client.notices:
        return live, (send(id, NoticeShown(severity="warning", title=text)),)
    if live.running is not None:
        live = speaking(live)
        return live, tuple(send(id, chunk) for chunk in agent_chunks(f"{text}\n\n", spoken(live)))
    return msgspec.structs.replace(live, untold=(*live.untold, text)), ()


def speaking(live: Live) -> Live:
    """A message behind a tool is another one than that before it."""
    if not live.after_tool:
        return live
    return msgspec.structs.replace(live, after_tool=False, spoken=live.spoken + 1)


def spoken(live: Live) -> str:
    """The id of the message that the running turn is speaking."""
    return f"t{turns(live.session) + 1}.{live.spoken}"

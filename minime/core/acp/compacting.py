"""A compaction as it goes, as steps of the machine: what the editor is shown, and what is kept of it."""

import msgspec

from minime.core.acp.answers import send
from minime.core.acp.effects import Effects
from minime.core.acp.sizes import pieces
from minime.core.acp.state import Live, State
from minime.core.acp.telling import put, tell
from minime.core.acp.updates import CompactionShown, SummaryChunk, Text, UsageShown
from minime.core.compaction import compact, compacted_text
from minime.core.events import Compacted, CompactionFailed, CompactionProgress, CompactionStarted, Failed
from minime.core.listing import count
from minime.core.session import failed_line
from minime.core.values import Stamp, first_line

CompactionEvent = CompactionStarted | CompactionProgress | Compacted | CompactionFailed


def show_compaction(
    state: State, id: str, live: Live, event: CompactionEvent, stamp: Stamp
) -> tuple[Live, Effects]:
    """The session after the event, and what the editor is told: updates of the compaction where it takes
    such, else words of the agent."""
    match event:
        case CompactionStarted(turns=turns):
            return _started(state, id, live, turns)
        case CompactionProgress(text=text):
            return live, tuple(
                send(id, SummaryChunk(compaction_id=live.compaction, content=Text(piece)))
                for piece in pieces(text)
                if live.compaction
            )
        case Compacted():
            return _compacted(state, id, live, event, stamp)
        case CompactionFailed():
            return _failed(state, id, live, event, stamp)


def compaction_cancelled(id: str, live: Live) -> tuple[Live, Effects]:
    """The end of a compaction that nobody has told the end of."""
    if not live.compaction:
        return live, ()
    shown = CompactionShown(compaction_id=live.compaction, status="cancelled")
    return msgspec.structs.replace(live, compaction=""), (send(id, shown),)


def _started(state: State, id: str, live: Live, turns: int) -> tuple[Live, Effects]:
    if not state.client.compaction:
        return tell(state, id, live, f"Compacting {count(turns, 'turn')} …")
    live = msgspec.structs.replace(live, said=live.said + 1)
    live = msgspec.structs.replace(live, compaction=f"{live.tag}-compaction-{live.said}")
    return live, (send(id, CompactionShown(compaction_id=live.compaction, status="in_progress")),)


def _compacted(state: State, id: str, live: Live, done: Compacted, stamp: Stamp) -> tuple[Live, Effects]:
    beside = None if live.beside is None else compact(live.beside, done, stamp.now)
    live, saves = put(id, live, compact(live.session, done, stamp.now))
    live = msgspec.structs.replace(live, beside=beside)
    shown: Effects = ()
    if live.compaction:
        summary = tuple(Text(piece) for piece in pieces(done.summary.content))
        whole = CompactionShown(compaction_id=live.compaction, status="completed", summary=summary)
        shown = (send(id, whole),)
        live = msgspec.structs.replace(live, compaction="")
    else:
        live, shown = tell(state, id, live, compacted_text(done))
    usage = (send(id, UsageShown(used=done.after, size=live.window)),) if live.window else ()
    return live, (*saves, *shown, *usage)


def _failed(state: State, id: str, live: Live, event: CompactionFailed, stamp: Stamp) -> tuple[Live, Effects]:
    question = "" if live.compacting or live.running is None else _question(live)
    failed = Failed(event.shown, event.raw, event.kind)
    live, saves = put(id, live, failed_line(live.session, "compaction", failed, stamp.now, question))
    shown: Effects = ()
    if live.compaction:
        update = CompactionShown(compaction_id=live.compaction, status="failed", error=event.shown)
        shown = (send(id, update),)
        live = msgspec.structs.replace(live, compaction="")
    elif not live.compacting:  # else the answer to the prompt says it
        live, shown = tell(state, id, live, event.shown)
    return live, (*saves, *shown)


def _question(live: Live) -> str:
    assert live.running is not None, "a turn is in hand"
    return first_line(next((b.text for b in live.running.blocks if b.text.strip()), ""))

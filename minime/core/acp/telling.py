"""What mm says beside the model: lines for the person, under message ids of their own."""

import msgspec

from minime.core.acp.answers import line, send
from minime.core.acp.effects import Effects, Save, Send, SendLater
from minime.core.acp.state import Live, State
from minime.core.acp.updates import NoticeShown, agent_chunks, thought_chunks
from minime.core.text import one_line
from minime.core.values import Session

SOON = 0.1
"""Seconds behind the answer to session/new after which an editor takes what it is told of the session."""


def say(id: str, live: Live, text: str) -> tuple[Live, Effects]:
    """A piece of the message that is being said; the first one begins it."""
    live = _speaking(live)
    return live, tuple(send(id, chunk) for chunk in agent_chunks(text, _message(live)))


def think(id: str, live: Live, text: str) -> tuple[Live, Effects]:
    """A piece of thought, in front of what will be said."""
    live = _speaking(live)
    return live, tuple(send(id, chunk) for chunk in thought_chunks(text, _message(live)))


def tell(state: State, id: str, live: Live, text: str) -> tuple[Live, Effects]:
    """A line for the person: beside the conversation where the editor takes such, else as a message of its
    own in the running turn, else before the next answer."""
    if state.client.notices or live.running is None:
        return tell_later(state, id, live, text)
    gap = "\n\n" if live.speaking else ""
    live, effects = say(id, pause(live), f"{gap}{text}\n\n")
    return pause(live), effects


def tell_later(state: State, id: str, live: Live, text: str) -> tuple[Live, Effects]:
    """A line for the person: beside the conversation where the editor takes such, else before the next
    answer."""
    title = one_line(text, 1_000)
    if not state.client.notices or not title:
        return msgspec.structs.replace(live, untold=(*live.untold, text)), ()
    notice = line(id, NoticeShown(severity="warning", title=title))
    return live, (SendLater(id, SOON, notice) if live.running is None else Send(notice),)


def pause(live: Live) -> Live:
    """What is said from here on is another message."""
    return msgspec.structs.replace(live, speaking=False)


def put(id: str, live: Live, session: Session) -> tuple[Live, Effects]:
    """The session as it is now, on its way to disk where it is kept at all."""
    live = msgspec.structs.replace(live, session=session)
    if not live.keeps:
        return live, ()
    return msgspec.structs.replace(live, saves=live.saves + 1), (Save(id, session),)


def _speaking(live: Live) -> Live:
    return live if live.speaking else msgspec.structs.replace(live, speaking=True, said=live.said + 1)


def _message(live: Live) -> str:
    return f"{live.tag}-{live.said}"

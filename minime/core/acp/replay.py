"""A kept conversation to all that an editor is shown when it is loaded."""

from collections.abc import Iterator, Mapping, Set

from minime.core.acp.sizes import MOST_IMAGE, pieces
from minime.core.acp.tool_calls import finished_call
from minime.core.acp.updates import Image, Text, Update, UserChunk, agent_chunks, thought_chunks
from minime.core.images import NO_IMAGES, Kept, images_of, in_base64, kept_mime, words_of
from minime.core.values import Assistant, Message, Session, System, Tool, User


def replay_updates(session: Session, cwd: str, images: Mapping[str, bytes] = NO_IMAGES) -> Iterator[Update]:
    """The whole conversation in order: what was typed, thought and said, and each call once, finished.
    `images` are those that can be shown, by the names that the session has for them.

    Nothing of mm's own is shown: no system prompt, no error record, no pending round, no summary question.
    """
    taken: set[str] = set()
    counts: dict[str, int] = {}
    for place, message in enumerate(session.messages):
        id = f"m{place}"
        match message:
            case User(compacted=0):
                text = message.typed or words_of(message)
                yield from (UserChunk(content=Text(piece), message_id=id) for piece in pieces(text))
                if not isinstance(message.content, str):
                    yield from (_image_chunk(image, images, id) for image in images_of(message))
            case Assistant():
                if message.reasoning_content:
                    yield from thought_chunks(message.reasoning_content, id)
                yield from agent_chunks(message.content, id)
                if not message.tool_calls:
                    continue
                results = _results(session.messages, place)
                for call in message.tool_calls:
                    counts[call.id] = counts.get(call.id, 0) + 1
                    shown_id = fresh_id(call.id, taken, counts[call.id])
                    taken.add(shown_id)
                    yield finished_call(call, results.get(call.id), cwd, shown_id)
            case User() | System() | Tool():
                pass


def _image_chunk(image: Kept, images: Mapping[str, bytes], id: str) -> UserChunk:
    """An image, or its description where it is not there or too large for a line."""
    data = images.get(image.url, b"")
    if not 0 < len(data) <= MOST_IMAGE:
        return UserChunk(content=Text(f"\n[image: {image.told}]"), message_id=id)
    return UserChunk(content=Image(in_base64(data), kept_mime(image.url)), message_id=id)


def fresh_id(id: str, taken: Set[str], count: int = 1) -> str:
    """The id, or one like it that is not among those taken: an editor knows a call by its id alone. `count`
    is how often the id has come, this time included, where that is known; it spares a long search."""
    fresh, number = (id, 1) if count == 1 else (f"{id}.{count}", count)
    while not fresh or fresh in taken:
        number += 1
        fresh = f"{id}.{number}"
    return fresh


def _results(messages: tuple[Message, ...], place: int) -> dict[str, Tool]:
    """The results that stand behind the answer at `place`, before the next question or answer."""
    results: dict[str, Tool] = {}
    for behind in range(place + 1, len(messages)):
        message = messages[behind]
        if not isinstance(message, Tool):
            break
        results.setdefault(message.tool_call_id, message)
    return results

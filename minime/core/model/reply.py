"""Payloads of a stream in, events as they come and one assistant message at the end out: a fold.

    draft = Draft(tools)
    for payload in payloads:
        draft, events = add_payload(draft, payload)
    reply = finish(draft)

What the user sees and what the history keeps is the same text: cleaned, without thoughts, secrets masked.
A text that may turn out to be tool calls is held back until it is known.
"""

from typing import Literal

import msgspec

from minime.core.events import Event, TextDelta, ThoughtDelta, UsageSeen
from minime.core.model.calls import (
    MOST_CALLS,
    PartialCall,
    add_fragment,
    finished_calls,
    joined_surrogates,
    with_unique_ids,
)
from minime.core.model.chunks import Chunk, End, ErrorSent, Unreadable, read_chunk
from minime.core.model.dialects import (
    Splitter,
    calls_in_text,
    may_be_call,
    split,
    split_end,
    without_lone_close,
)
from minime.core.model.pieces import push
from minime.core.text import clean, feed, mask
from minime.core.values import Assistant, Usage, tool_call

LENGTH = frozenset({"length", "max_tokens", "max_output_tokens", "max_length", "model_length", "token_limit"})
"""Finish reasons, in lower case, of an answer cut at its limit."""

_NOTHING = Chunk()


class Draft(msgspec.Struct, frozen=True):
    """An answer as far as it has come. `tools` are the names of those that were offered; `marked` says that
    the end mark came, `whole` that the server sent no stream but one body, `begun` that it sent anything;
    `half` is the first half of a character, where a piece ended in one."""

    tools: frozenset[str] = frozenset()
    secrets: tuple[str, ...] = ()
    splitter: Splitter = Splitter()
    half: str = ""
    text: tuple[str, ...] = ()
    text_held: str = ""
    shown: Literal["undecided", "held", "all"] = "undecided"
    thought: tuple[str, ...] = ()
    thought_held: str = ""
    thought_named: bool = False
    calls: tuple[PartialCall, ...] = ()
    finish: str = ""
    whole: bool = False
    marked: bool = False
    begun: bool = False
    usage: Usage | None = None
    model: str = ""
    error: str = ""
    unreadable: str = ""

    @property
    def ended(self) -> bool:
        """Whether this may be all: a finish reason or the end mark came, or it was no stream at all."""
        return bool(self.finish) or self.marked or self.whole


class Complete(msgspec.Struct, frozen=True, tag_field="reply", tag="complete"):
    """A whole answer; `late` are the events that were held back until its end."""

    assistant: Assistant
    late: tuple[Event, ...] = ()


Fault = Literal["error", "nothing", "garbled", "early", "empty", "nameless", "thinking", "cut"]


class Broken(msgspec.Struct, frozen=True, tag_field="reply", tag="broken"):
    """No answer. `fault`: the server sent an error; sent nothing at all; sent what is no
    answer; broke off without a finish
    reason or end mark; ended without a word; called a tool without a name; thought only; or was cut at the
    output limit before its first word. `raw` is what it said instead, if anything."""

    fault: Fault
    raw: str = ""


Reply = Complete | Broken


def add_payload(draft: Draft, payload: bytes) -> tuple[Draft, tuple[Event, ...]]:
    """The draft with one more payload, and what of it is to be seen. Never raises."""
    if draft.error:
        return draft, ()
    match read_chunk(payload):
        case Chunk() as chunk:
            return add_chunk(draft, chunk)
        case End():
            return msgspec.structs.replace(draft, marked=True, begun=True), ()
        case ErrorSent(raw=raw):
            return msgspec.structs.replace(draft, error=raw, begun=True), ()
        case Unreadable() if draft.unreadable:
            return draft, ()
        case Unreadable(raw=raw):
            return msgspec.structs.replace(draft, unreadable=draft.unreadable or raw, begun=True), ()


def add_chunk(draft: Draft, chunk: Chunk) -> tuple[Draft, tuple[Event, ...]]:
    """The draft with one more chunk, and what of it is to be seen."""
    if draft.begun and chunk == _NOTHING:
        return draft, ()
    if _is_more_words(draft, chunk):
        text = chunk.text
        model = chunk.model or draft.model
        return msgspec.structs.replace(draft, text=push(draft.text, text), model=model), (TextDelta(text),)
    events: list[Event] = []
    splitter, half, tagged, text = draft.splitter, draft.half, "", ""
    if chunk.text:
        words = half + chunk.text
        half = words[-1] if "\ud800" <= words[-1] <= "\udbff" else ""
        splitter, tagged, text = split(splitter, joined_surrogates(words[: len(words) - len(half)]))
    named = draft.thought_named or bool(chunk.thought)
    thought_held, thought = draft.thought_held, chunk.thought if named else tagged
    if thought:
        thought_held, thought = _cleaned(thought_held, thought, draft.secrets)
    if thought:
        events.append(ThoughtDelta(thought))
    text_held = draft.text_held
    if text:
        text_held, text = _cleaned(text_held, text, draft.secrets)
    pieces = push(draft.text, text)
    shown = draft.shown if draft.tools else "all"
    if text and shown == "all":
        events.append(TextDelta(text))
    elif text and shown == "undecided":
        so_far = "".join(pieces)
        verdict = may_be_call(so_far)
        if verdict is False:
            events.append(TextDelta(so_far))
        shown = "undecided" if verdict is None else "held" if verdict else "all"
    calls = draft.calls
    for fragment in chunk.fragments:
        calls = add_fragment(calls, fragment)
    longer = msgspec.structs.replace(
        draft,
        splitter=splitter,
        half=half,
        text=pieces,
        text_held=text_held,
        shown=shown,
        thought=push(draft.thought, thought),
        thought_held=thought_held,
        thought_named=named,
        calls=calls,
        finish=chunk.finish or draft.finish,
        whole=draft.whole or chunk.whole,
        begun=True,
        usage=chunk.usage or draft.usage,
        model=chunk.model or draft.model,
    )
    return longer, tuple(events)


def finish(draft: Draft) -> Reply:
    """What the stream came to, if this was all of it."""
    if draft.error:
        return Broken("error", draft.error)
    if not draft.ended:
        came = draft.text or draft.thought or draft.calls or draft.splitter.held
        fault: Fault = "garbled" if draft.unreadable and not came else "early" if draft.begun else "nothing"
        return Broken(fault, draft.unreadable)
    tagged, rest = split_end(draft.splitter)
    rest = mask(clean(draft.text_held + rest + draft.half), draft.secrets)
    content = "".join(draft.text) + rest
    late_thought = mask(clean(draft.thought_held + ("" if draft.thought_named else tagged)), draft.secrets)
    thought = "".join(draft.thought) + late_thought
    if not thought:
        thought, content = without_lone_close(content)
    late = rest if draft.shown == "all" or not draft.tools else content
    cut = draft.finish.lower() in LENGTH
    calls = finished_calls(draft.calls, cut=cut, secrets=draft.secrets)
    if not calls and (found := calls_in_text(content, draft.tools)):
        calls = with_unique_ids(
            tuple(tool_call("", name, arguments) for name, arguments in found[: MOST_CALLS + 1])
        )
        content = late = ""
    if not content.strip():
        content = late = ""
    if not content and not calls:
        return Broken(_fault(draft, thought, cut=cut), draft.unreadable)
    assistant = Assistant(
        content=content,
        tool_calls=calls,
        reasoning_content=thought.strip(),
        stopped="length" if cut else "",
        model=clean(draft.model),
        usage=draft.usage,
    )
    events: tuple[Event, ...] = (ThoughtDelta(late_thought),) if late_thought else ()
    events += (TextDelta(late),) if late else ()
    events += (UsageSeen(draft.usage),) if draft.usage else ()
    return Complete(assistant, events)


def _fault(draft: Draft, thought: str, *, cut: bool) -> Fault:
    """Why there is neither a word nor a call."""
    if cut:
        return "cut"
    if draft.calls:
        return "nameless"
    return "thinking" if thought.strip() else "empty"


def _is_more_words(draft: Draft, chunk: Chunk) -> bool:
    """Whether the chunk does nothing but go on with an answer that is shown already, in plain words: so do
    nearly all, and then all the rest of `add_chunk` comes to nothing."""
    return (
        draft.shown == "all"
        and draft.splitter.place == "answer"
        and not (draft.half or draft.text_held or draft.secrets)
        and chunk.is_words
        and chunk.text != ""
        and chunk.text.isprintable()  # which no half of a character is
    )


def _cleaned(held: str, piece: str, secrets: tuple[str, ...]) -> tuple[str, str]:
    """`feed` of the cleaner, and a short way for the many pieces that are plain words."""
    return ("", piece) if not held and not secrets and piece.isprintable() else feed(held, piece, secrets)

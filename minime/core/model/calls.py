"""Fragments of tool calls in, whole calls out: which piece belongs to which call, and ids that are unique.

Servers number the calls of an answer, or name them by id, or do neither; some number every call 0.
"""

import msgspec

from minime.core.model.chunks import Fragment
from minime.core.model.pieces import push
from minime.core.text import clean, mask, without_surrogates
from minime.core.values import ToolCall, tool_call

MOST_CALLS = 64
"""Tool calls that one answer may make; of what goes beyond, the first is kept, so that the model is told."""


class PartialCall(msgspec.Struct, frozen=True):
    """A call as far as it has come; `arguments` are the pieces of its JSON."""

    index: int | None
    id: str
    name: str
    arguments: tuple[str, ...]
    legacy: bool


def add_fragment(calls: tuple[PartialCall, ...], piece: Fragment) -> tuple[PartialCall, ...]:
    """The calls with `piece` at the end of its call, or as a new one where that is not beyond all bounds."""
    place = _place(calls, piece)
    if place is None:
        if len(calls) > MOST_CALLS:
            return calls
        new = PartialCall(piece.index, piece.id, piece.name, push((), piece.arguments), piece.legacy)
        return (*calls, new)
    call = calls[place]
    name = call.name
    if piece.name != name and not call.arguments:
        name += piece.name
    longer = PartialCall(
        call.index, call.id or piece.id, name, push(call.arguments, piece.arguments), call.legacy
    )
    return (*calls[:place], longer, *calls[place + 1 :])


def finished_calls(
    calls: tuple[PartialCall, ...], *, cut: bool, secrets: tuple[str, ...] = ()
) -> tuple[ToolCall, ...]:
    """The calls as the history keeps them: without those that have no name, nor, in an answer that was
    `cut`, a last one whose arguments had not begun; with ids that differ from each other."""
    if not all(call.legacy for call in calls):
        calls = tuple(call for call in calls if not call.legacy)
    if cut and calls and not "".join(calls[-1].arguments).strip():
        calls = calls[:-1]
    named = [(call, name) for call in calls if (name := clean(call.name).strip())]
    return with_unique_ids(
        tuple(
            tool_call(clean(call.id).strip(), name, _arguments(call.arguments, secrets))
            for call, name in named
        )
    )


def with_unique_ids(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """The calls in which an id that is missing or taken is `call_1`, `call_2`, …, the first that is free."""
    wanted = {call.id for call in calls}
    taken: set[str] = set()
    unique: list[ToolCall] = []
    number = 1
    for call in calls:
        chosen = call.id
        if not chosen or chosen in taken:
            while f"call_{number}" in wanted or f"call_{number}" in taken:
                number += 1
            chosen = f"call_{number}"
        taken.add(chosen)
        unique.append(call if chosen == call.id else msgspec.structs.replace(call, id=chosen))
    return tuple(unique)


def _place(calls: tuple[PartialCall, ...], piece: Fragment) -> int | None:
    """Which call goes on with `piece`; None: a new one begins."""
    same = [
        place
        for place, call in enumerate(calls)
        if call.legacy == piece.legacy and (piece.index is None or call.index == piece.index)
    ]
    if piece.index is None and piece.id:
        known = next((place for place in same if calls[place].id == piece.id), None)
        if known is not None:
            return known
    return same[-1] if same and not _begins(calls[same[-1]], piece) else None


def _begins(last: PartialCall, piece: Fragment) -> bool:
    """Whether `piece`, which could go on with the call `last`, is the head of another one."""
    if piece.legacy:
        return False
    if piece.id and last.id:
        return piece.id != last.id and (piece.index is None or bool(piece.name))
    other_name = piece.index is None and piece.name != last.name
    return bool(piece.name and last.name) and (other_name or _is_object(last.arguments))


def _is_object(arguments: tuple[str, ...]) -> bool:
    if not arguments or not arguments[-1].rstrip().endswith("}"):
        return False
    try:
        return isinstance(msgspec.json.decode("".join(arguments)), dict)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return False


def _arguments(pieces: tuple[str, ...], secrets: tuple[str, ...]) -> str:
    """The text of the arguments; a call without any has an empty object."""
    text = without_surrogates(joined_surrogates("".join(pieces)))
    return "{}" if text.strip() in {"", "null"} else mask(text, secrets)


def joined_surrogates(text: str) -> str:
    """The text with the two halves of a character made one, where a stream has cut between them."""
    if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

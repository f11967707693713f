"""A session, the turn in hand and what the model is to be asked with, to the body of one request.

The history is made fit for any chat template on its way out, so that a file that was cut by a crash or
edited by hand still works: one system message, first; each call with its result right behind it; no result
without a call; no empty answer; neighbours of one role joined; no key of our own and no thought.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from minime.core.config.fit import Fit, names_something
from minime.core.config.settings import Settings
from minime.core.images import NO_IMAGES, NOT_SHOWN
from minime.core.turn import Turn, last_answer, rounds
from minime.core.values import (
    Assistant,
    ImagePart,
    Message,
    Session,
    System,
    TextPart,
    Tool,
    ToolCall,
    User,
    question_text,
)

INTERRUPTED = "interrupted before a result was recorded; it may have run"
ENDED_HERE = "(this turn ended here)"


class Sampling(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a request asks of the server beside the answer; None and empty leave it to the server."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    repeat_penalty: float | None = None


def build_request(
    session: Session,
    turn: Turn,
    model: str,
    tools: tuple[dict[str, Any], ...] = (),
    sampling: Sampling = Sampling(),  # noqa: B008 - frozen
    images: Mapping[str, str] = NO_IMAGES,
) -> bytes:
    """The body of `POST /chat/completions`, JSON in UTF-8; streaming, with the usage at its end. `images`
    are those that the model is shown, as `data:` addresses by the names that the messages have for them."""
    return _body(session.messages + turn.messages, model, tools, sampling, images)


def summary_request(history: tuple[Message, ...], model: str, sampling: Sampling) -> bytes:
    """The body of a request with a history of its own and no tools."""
    return _body(history, model, (), sampling)


def _body(
    history: tuple[Message, ...],
    model: str,
    tools: tuple[dict[str, Any], ...],
    sampling: Sampling,
    images: Mapping[str, str] = NO_IMAGES,
) -> bytes:
    body: dict[str, Any] = {"model": model, "messages": [sent(m, images) for m in fit(history)]}
    if tools:
        body["tools"] = tools
    body["stream"] = True
    body["stream_options"] = {"include_usage": True}
    return msgspec.json.encode(body | msgspec.to_builtins(sampling))


def offered_tools(suits: Fit, names: tuple[str, ...], turn: Turn) -> tuple[str, ...]:
    """The tools that the model is offered at this point of the turn."""
    if suits.tools == "always":
        return names
    may_call = rounds(turn) < suits.max_steps - 1 and names_something(question_text(turn.question))
    return names if may_call else ()


def sampling(settings: Settings, suits: Fit, turn: Turn, offered: tuple[str, ...]) -> Sampling:
    """What a request asks of the server beside the answer, where the tools `offered` may be called. A
    penalty on repetition goes to answers in prose only: a call has to repeat, and so has a small model
    that is shown a listing or an output."""
    asked = last_answer(turn)
    read = asked is None or all(call.function.name == "read_file" for call in asked.tool_calls)
    plain = not offered and read
    return Sampling(
        temperature=suits.temperature,
        top_p=settings.top_p,
        seed=settings.seed,
        stop=settings.stop,
        max_tokens=suits.max_output,
        reasoning_effort=settings.reasoning_effort,
        repeat_penalty=suits.repeat_penalty if plain else None,
    )


def fit(messages: Iterable[Message]) -> tuple[Message, ...]:
    """`messages` in a shape that every server's chat template takes. Fit messages stay as they are."""
    history = tuple(messages)
    results: dict[str, list[Tool]] = {}
    for message in history:
        if isinstance(message, Tool):
            results.setdefault(message.tool_call_id, []).append(message)
    fitted: list[Message] = []
    fitted += [m for m in history if isinstance(m, System)][:1]
    for message in history:
        match message:
            case User():
                _add_question(fitted, message)
            case Assistant():
                _add_answer(fitted, message, results)
            case System() | Tool():
                pass  # the one system message stands there already; a result stands behind its call
    return tuple(fitted)


def _add_question(fitted: list[Message], question: User) -> None:
    match fitted[-1] if fitted else None:
        case User(content=before):
            fitted[-1] = User(_joined(before, question.content))
        case Tool():
            # A turn that was stopped behind a tool result: strict templates want an answer before a question.
            fitted += (Assistant(ENDED_HERE), question)
        case _:
            fitted.append(question)


def _add_answer(fitted: list[Message], answer: Assistant, results: dict[str, list[Tool]]) -> None:
    if not answer.content.strip() and not answer.tool_calls:
        return
    match fitted[-1] if fitted else None:
        case Assistant(content=before):
            fitted[-1] = Assistant("\n\n".join(filter(None, (before, answer.content))), answer.tool_calls)
        case _:
            fitted.append(answer)
    for call in answer.tool_calls:
        waiting = results.get(call.id)
        fitted.append(waiting.pop(0) if waiting else Tool(call.id, INTERRUPTED, failed=True))


def _joined(
    first: str | tuple[TextPart | ImagePart, ...], second: str | tuple[TextPart | ImagePart, ...]
) -> str | tuple[TextPart | ImagePart, ...]:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return _parts(first) + _parts(second)


def _parts(content: str | tuple[TextPart | ImagePart, ...]) -> tuple[TextPart | ImagePart, ...]:
    return (TextPart(content),) if isinstance(content, str) else content


def sent(message: Message, images: Mapping[str, str] = NO_IMAGES) -> dict[str, Any]:
    """The keys of a message that belong to the API, and no others."""
    match message:
        case System(content=content):
            return {"role": "system", "content": content}
        case User(content=content):
            return {"role": "user", "content": _content(content, images)}
        case Assistant(content=content, tool_calls=()):
            return {"role": "assistant", "content": content}
        case Assistant(content=content, tool_calls=calls):
            return {"role": "assistant", "content": content, "tool_calls": [_call(c) for c in calls]}
        case Tool(tool_call_id=call_id, content=content):
            return {"role": "tool", "tool_call_id": call_id, "content": content}


def _content(
    content: str | tuple[TextPart | ImagePart, ...], images: Mapping[str, str]
) -> str | list[dict[str, Any]]:
    """What the model reads of a question. Parts only where it is shown an image: many templates know none."""
    if isinstance(content, str):
        return content
    parts = [_part(part, images) for part in content]
    if any(part["type"] == "image_url" for part in parts):
        return parts
    return "\n\n".join(part["text"] for part in parts)


def _part(part: TextPart | ImagePart, images: Mapping[str, str]) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    shown = images.get(part.image_url.url)
    return (
        {"type": "image_url", "image_url": {"url": shown}} if shown else {"type": "text", "text": NOT_SHOWN}
    )


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = call.function.arguments
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.function.name, "arguments": arguments if _is_object(arguments) else "{}"},
    }


def _is_object(arguments: str) -> bool:
    """Servers answer 500 to a history whose arguments are no JSON object; the result of such a call says
    what was wrong with it."""
    try:
        return isinstance(msgspec.json.decode(arguments), dict)
    except (msgspec.DecodeError, RecursionError):
        return False

"""What went wrong over HTTP in, the line shown to the user out: it names the fault and the way out of it."""

import re
from typing import Literal, assert_never

import msgspec

from minime.core.model.hints import (
    loading_hint,
    log_hint,
    memory_hint,
    model_hint,
    no_models_text,
    start_hint,
    tools_hint,
    url_hint,
    window_hint,
)
from minime.core.model.refusals import Meaning, Refusal, read_refusal
from minime.core.model.servers import Kind, Server, server_name
from minime.core.model.troubles import (
    BadSetting,
    BrokenOff,
    Dropped,
    Insecure,
    NoAnswer,
    NoReply,
    NotHttp,
    Status,
    TooLarge,
    Trouble,
    Unreachable,
)
from minime.core.text import clean, mask, one_line

MOST_RAW = 2_000
LONGEST_SHOWN = 600


class Asked(msgspec.Struct, frozen=True):
    """Who was asked, and how: the server, the model's name, the models known to be there, whether a key was
    sent, the watchdog in seconds, and the secrets that no line may show."""

    server: Server
    model: str = ""
    models: tuple[str, ...] = ()
    key_set: bool = False
    watchdog: float = 120.0
    secrets: tuple[str, ...] = ()


FailureKind = (
    Meaning
    | Literal["unreachable", "address", "dropped", "broken-off", "watchdog", "thinking", "nameless", "empty"]
)


class Failure(msgspec.Struct, frozen=True):
    """Why there is no answer. `shown` is one line for the user, `raw` the server's own words where they say
    more, `retry_after` the seconds that the server asks to wait, `window` its context window in tokens
    where it told, else 0; `status` the HTTP status, else 0."""

    kind: FailureKind
    shown: str
    raw: str = ""
    retry_after: float = 0.0
    window: int = 0
    status: int = 0


def failure(trouble: Trouble, asked: Asked) -> Failure:
    """The failure that `trouble` is for the user."""
    name, url, log = server_name(asked.server.kind), _shown_url(asked.server), log_hint(asked.server.kind)
    kind: FailureKind
    match trouble:
        case Unreachable(no_host=True):
            kind, line = "unreachable", f"no host is known for {url}: check baseUrl in agent.yaml"
        case Unreachable():
            kind, line = "unreachable", f"cannot reach {name} at {url}: {start_hint(asked.server.kind)}"
        case Insecure(detail=detail):
            kind = "address"
            line = (
                f"no secure connection to {url} ({detail}): check baseUrl in agent.yaml; "
                "a server of your own mostly wants http://"
            )
        case NotHttp():
            kind, line = "address", f"what answers at {url} does not speak HTTP: check baseUrl in agent.yaml"
        case BadSetting(detail=detail):
            kind = "address"
            line = (
                f"no request can be made to {url} ({detail}): check baseUrl, apiKey and headers in agent.yaml"
            )
        case Dropped():
            kind = "dropped"
            line = f"{name} closed the connection without an answer: ask again; {log}"
        case BrokenOff():
            kind, line = (
                "broken-off",
                f"{name} broke off in the middle of its answer: ask again; {log}",
            )
        case NoAnswer():
            kind, line = "watchdog", _silence(trouble, name, asked.watchdog)
        case TooLarge(limit=limit):
            kind = "broken-off"
            size = f"{limit // 1_000_000} MB"
            line = f"the answer had no end ({size} came): ask again, or set maxOutput in agent.yaml"
        case NoReply():
            return _no_reply(trouble, asked)
        case Status(page=page, location=location) if page or location or trouble.status in range(300, 400):
            kind = "address"
            where = f"a redirect to {location}" if location else "a web page"
            line = (
                f"{url} answered with {where}, not with a model's words: {url_hint(asked.server.kind, url)}"
            )
        case Status(status=status, body=body, retry_after=retry_after):
            refusal = read_refusal(status, body)
            return _made(
                refusal.meaning,
                _refused(refusal, status, asked),
                body.decode("utf-8", "replace"),
                asked,
                retry_after=retry_after,
                window=refusal.window,
                status=status,
            )
        case _:
            assert_never(trouble)
    raw = trouble.body.decode("utf-8", "replace") if isinstance(trouble, Status) else _detail(trouble)
    return _made(kind, line, raw, asked, status=trouble.status if isinstance(trouble, Status) else 0)


def _no_reply(trouble: NoReply, asked: Asked) -> Failure:
    name, raw, log = server_name(asked.server.kind), trouble.raw, log_hint(asked.server.kind)
    match trouble.fault:
        case "error":
            refusal = read_refusal(0, raw.encode("utf-8", "replace"))
            return _made(refusal.meaning, _refused(refusal, 0, asked), raw, asked, window=refusal.window)
        case "early":
            line = f"{name} broke off in the middle of its answer: ask again; {log}"
            return _made("broken-off", line, raw, asked)
        case "garbled":
            hint = url_hint(asked.server.kind, _shown_url(asked.server))
            line = f"what {name} sent is no answer: {hint}; {log}"
            return _made("broken-off", line, raw, asked)
        case "nothing":
            line = f"{name} sent an empty answer (some do when a request is too long): {log}"
            return _made("empty", line, raw, asked)
        case "empty":
            line = "the model answered without a word: ask again, or try another (model in agent.yaml)"
            return _made("empty", line, raw, asked)
        case "thinking":
            line = (
                "the model thought but gave no answer: ask again, or set reasoningEffort: low in agent.yaml"
            )
            return _made("thinking", line, raw, asked)
        case "nameless":
            line = "the model called a tool without a name: ask again, or try another (model in agent.yaml)"
            return _made("nameless", line, raw, asked)
        case "cut":
            line = "the answer was cut before its first word: raise maxOutput or contextWindow in agent.yaml"
            return _made("empty", line, raw, asked)
        case _:
            assert_never(trouble.fault)


def _refused(refusal: Refusal, status: int, asked: Asked) -> str:
    """The line for a server that says no; `status` 0: it did so in the middle of a stream."""
    name = server_name(asked.server.kind)
    model = f'the model "{asked.model}"' if asked.model else "the model"
    said = f": {refusal.text}" if refusal.text else ""
    number = f" ({status})" if status else ""
    match refusal.meaning:
        case "overflow":
            window = f" of {refusal.window:,} tokens" if refusal.window else ""
            hint = window_hint(asked.server.kind)
            return (
                f"the conversation does not fit the model's context window{window}: /compact makes it "
                f"shorter, /new begins another; for a larger one set {hint}, and contextWindow in agent.yaml"
            )
        case "no-tools":
            return f"{model} cannot call tools on {name}: {tools_hint(asked.server.kind, asked.model)}"
        case "no-model":
            return f"{name} does not have {model}: {model_hint(asked.server.kind, asked.model, asked.models)}"
        case "no-images":
            return f"{model} takes no images: leave them out, or choose another model"
        case "key" if asked.key_set:
            return f"{name} refused the API key{number}: export MM_API_KEY=KEY, or set apiKey in agent.yaml"
        case "key":
            return f"{name} wants an API key{number}: export MM_API_KEY=KEY, or set apiKey in agent.yaml"
        case "memory":
            return (
                f"{name} has not enough memory for {model}{said}; "
                f"choose a smaller one (model in agent.yaml); {memory_hint(asked.server.kind)}"
            )
        case "loading":
            return (
                f"{name} is still loading {model}: ask again in a moment; {loading_hint(asked.server.kind)}"
            )
        case "busy":
            return f"{name} has too much to do{number}{said}; ask again in a moment"
        case "path":
            url = _shown_url(asked.server)
            return f"{name} does not know {url}/chat/completions{number}: {url_hint(asked.server.kind, url)}"
        case "server":
            return f"{name} failed{number}{said}; ask again; {log_hint(asked.server.kind)}"
        case "request":
            return f"{name} refused the request{number}{said}; mm config shows what is set"
        case _:
            assert_never(refusal.meaning)


def no_models(server: Server) -> Failure:
    """The failure that a server without any model is."""
    return Failure("no-model", _line(no_models_text(server, _shown_url(server)), ()))


def cut_text(kind: Kind, counted: int, estimate: int) -> str:
    """The line for a server that has cut a prompt without a word: it counted far fewer tokens than it was
    sent."""
    return (
        f"{server_name(kind)} has read about {counted:,} of about {estimate:,} tokens: it cuts what does not "
        f"fit its context window, and says nothing. For a larger window set {window_hint(kind)}; "
        f"contextWindow: {counted} in agent.yaml has mm keep to this one"
    )


def _silence(trouble: NoAnswer, name: str, watchdog: float) -> str:
    silent = f"{name} was silent for {trouble.seconds:g} s"
    rule = f"raise watchdogTimeout in agent.yaml (now {watchdog:g}s; 0 waits for ever)"
    if trouble.first:
        return f"{silent} before its first word: {rule}; the first word has five times that"
    return f"{silent} in the middle of its answer: {rule}"


def _shown_url(server: Server) -> str:
    """The address without the name and password that it may hold."""
    return re.sub(r"//[^/@]*@", "//", server.base_url)


def _detail(trouble: Trouble) -> str:
    match trouble:
        case Unreachable() | Insecure() | NotHttp() | BadSetting() | Dropped() | BrokenOff():
            return trouble.detail
        case _:
            return ""


def _made(
    kind: FailureKind,
    line: str,
    raw: str,
    asked: Asked,
    *,
    retry_after: float = 0.0,
    window: int = 0,
    status: int = 0,
) -> Failure:
    shown = _line(line, asked.secrets)
    raw = mask(clean(raw).strip(), asked.secrets)[:MOST_RAW]
    return Failure(kind, shown, "" if raw in shown else raw, retry_after, window, status)


def _line(text: str, secrets: tuple[str, ...]) -> str:
    return one_line(mask(text, secrets), LONGEST_SHOWN)

"""What went wrong in a conversation, by rules: error records and the settings of today to findings, each with
what it means, what to do, and the change of agent.yaml that would help, where one would."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NamedTuple

import msgspec

from minime.core.config.settings import Settings
from minime.core.values import ErrorRecord, Time

Changes = dict[str, Any]


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line that came `count` times. `means` and `todo` are empty where no rule knows it; `change` holds
    the keys of agent.yaml to set."""

    kind: str
    message: str
    count: int
    first: Time
    last: Time
    means: str = ""
    todo: str = ""
    change: Changes = {}


class _Rule(NamedTuple):
    pattern: str
    means: str
    todo: str
    change: Callable[[re.Match[str], Settings], Changes] = lambda _, __: {}


def diagnose(records: tuple[ErrorRecord, ...], settings: Settings) -> tuple[Finding, ...]:
    """What the records say, those with the same line in one, the one that came last first."""
    found: dict[tuple[str, str], Finding] = {}
    for record in records:
        key = record.kind, record.message
        known = found.get(key) or _explained(record, settings)
        found[key] = msgspec.structs.replace(
            known,
            count=known.count + 1,
            first=min(known.first, record.time),
            last=max(known.last, record.time),
        )
    return tuple(sorted(found.values(), key=lambda one: one.last, reverse=True))


def proposed(findings: tuple[Finding, ...]) -> Changes:
    """All changes of agent.yaml that the findings ask for; where two differ, that of the newer one."""
    changes: Changes = {}
    for finding in findings:
        changes = {**finding.change, **changes}
    return changes


def _explained(record: ErrorRecord, settings: Settings) -> Finding:
    finding = Finding(record.kind, record.message, 0, record.time, record.time)
    for rule in _RULES:
        found = re.search(rule.pattern, record.message)
        if found is not None:
            return msgspec.structs.replace(
                finding, means=rule.means, todo=rule.todo, change=rule.change(found, settings)
            )
    return finding


def _smaller_window(found: re.Match[str], settings: Settings) -> Changes:
    window = int((found[1] or "0").replace(",", ""))
    fits = settings.context_window is not None and settings.context_window <= window
    return {"contextWindow": window} if window and not fits else {}


def _longer_silence(found: re.Match[str], settings: Settings) -> Changes:
    """Twice what was not enough; nothing where it has been raised since."""
    had = float(found[1])
    raised = settings.watchdog_timeout == 0 or settings.watchdog_timeout > had
    return {} if raised or not had else {"watchdogTimeout": f"{had * 2:g}s"}


def _other_model(found: re.Match[str], settings: Settings) -> Changes:
    """The model on the server whose name is the nearest, where the missing one is still the one set."""
    there = [name for name in found["there"].split(", ") if not re.fullmatch(r"\d+ more models?", name)]
    if not there or settings.model != found["model"]:
        return {}
    return {"model": get_close_matches(found["model"], there, 1, 0.0)[0]}


def _with_v1(_: re.Match[str], settings: Settings) -> Changes:
    base = (settings.base_url or "").rstrip("/")
    return {"baseUrl": f"{base}/v1"} if base and not base.endswith("/v1") else {}


def _less_thought(_: re.Match[str], settings: Settings) -> Changes:
    return {} if settings.reasoning_effort == "low" else {"reasoningEffort": "low"}


def _longer_answer(_: re.Match[str], settings: Settings) -> Changes:
    return {"maxOutput": settings.max_output * 2} if settings.max_output else {}


def _answer_with_end(_: re.Match[str], settings: Settings) -> Changes:
    return {} if settings.max_output else {"maxOutput": 4096}


_RULES = (
    _Rule(
        r"(?:compaction failed: |model wrote |the )+(?:no summary|summary was (?:cut|longer))",
        "The model could not sum up the older turns, so the history stayed as it was and goes on growing.",
        "Small models often cannot: try /compact with another model (/model), or begin anew with /new.",
    ),
    _Rule(
        r"does not fit the model's context window(?: of ([\d,]+) tokens)?",
        "What had to be sent was longer than the model can read at once.",
        "Have the server load the model with a larger window (the line says how), or have mm sum up earlier: "
        "contextWindow tells it how much there is.",
        _smaller_window,
    ),
    _Rule(
        r"context window|contextWindow",
        "What has to be sent with each request hardly leaves room in the model's context window.",
        "Have the server load the model with a larger window, name fewer tools (tools), or shorten "
        "instruction and the files of context.",
    ),
    _Rule(
        r"was silent for [\d.]+ s (?:before|in the middle).*\(now ([\d.]+)s",
        "The server took the request and sent nothing for longer than watchdogTimeout lets it: it was "
        "loading the model, reading a long prompt, or stuck.",
        "If it is only slow, let it take longer; if it never comes back, restart it and look at its log.",
        _longer_silence,
    ),
    _Rule(
        r'does not have the model "(?P<model>.+?)".*one that is there: (?P<there>.+)$',
        "The server answers, and has no model of that name.",
        "Fetch the model, or use one that is there.",
        _other_model,
    ),
    _Rule(
        r"does not have (?:the model|\")|offers no model",
        "The server answers, and has no such model.",
        "Fetch one (the line says how), or set model to one that the server has: mm and /model list them.",
    ),
    _Rule(
        r"no model to ask|no local server answers|needs the engine|engine (?:does not|cannot|needs)|"
        r"no model file|not a GGUF|was not loaded within|process ended while it loaded",
        "There was no model that could have answered.",
        "Start a model server, set baseUrl to one that runs elsewhere, or fetch the small model: mm setup",
    ),
    _Rule(
        r"is /v1 missing",
        "A server answers at that address, and not where the chat API of this kind begins.",
        "Most servers have it below /v1.",
        _with_v1,
    ),
    _Rule(
        r"cannot reach|no host is known",
        "Nothing took the connection: the server does not run, runs elsewhere, or a firewall is between.",
        "Start it (the line says how), then ask again: /retry. If it runs elsewhere, set baseUrl.",
    ),
    _Rule(
        r"secure connection|does not speak HTTP|no request can be made|answered with a|"
        r"does not know .*/chat/completions|what .+ sent is no answer",
        "Something answers at that address, and it is not the chat API of a model server.",
        "Compare baseUrl with the address that the server prints at its start; mm config shows what is set.",
    ),
    _Rule(
        r"API key",
        "The server lets nobody in without the right key.",
        "Put the key into MM_API_KEY; a key in agent.yaml lies in the project for all to read.",
    ),
    _Rule(
        r"not enough memory",
        "The model and its context window need more memory than the machine had free.",
        "Use a smaller model or a smaller window, or end what else holds memory.",
    ),
    _Rule(
        r"cannot call tools",
        "This model, or the way the server was started, takes no tools; it can answer but not act.",
        "Choose a model that can, or start the server as the line says.",
    ),
    _Rule(
        r"takes no images",
        "An image was sent to a model that reads text alone.",
        "Leave the image out, or choose a model that sees.",
    ),
    _Rule(
        r"thought but gave no answer",
        "The model spent all it had on thinking.",
        "Ask it to think less, or give it a larger maxOutput.",
        _less_thought,
    ),
    _Rule(
        r"answer was cut before its first word",
        "There was no room left for an answer: maxOutput is small, or the context window full.",
        "Raise maxOutput, or make room with /compact.",
        _longer_answer,
    ),
    _Rule(
        r"answer had no end",
        "The model repeated itself without end.",
        "A bound on its answers ends that.",
        _answer_with_end,
    ),
    _Rule(
        r"without a word|sent an empty answer|without a name",
        "The model answered with nothing that can be used; small models do at times, and servers when a "
        "prompt does not fit.",
        "Ask again in other words, begin anew with /new, or use another model.",
    ),
    _Rule(
        r"still loading|too much to do",
        "The server runs and could not answer yet.",
        "Ask again in a moment: /retry.",
    ),
    _Rule(
        r"closed the connection|broke off",
        "The connection was lost in the middle: the server was restarted or its process ended, often for "
        "want of memory.",
        "Ask again: /retry. If it comes again, look at the server's log.",
    ),
    _Rule(
        r"mm itself failed|failed in mm itself",
        "This is a fault of mm and not of yours.",
        "Please report it with what stands here; the conversation is kept.",
    ),
    _Rule(
        r"\bfailed(?: \(\d+\))?:|refused the request",
        "The server took the request and could not serve it; its own words stand in the line.",
        "Ask again: /retry. If it comes again, look at the server's log, and at what is set: mm config",
    ),
    _Rule(
        r"no session|no other session|invalid session id|is not enough|cannot read session|not kept here",
        "A conversation was asked for that could not be taken up.",
        "mm sessions lists them, mm sessions check says which files cannot be read.",
    ),
)

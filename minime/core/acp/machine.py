"""The protocol as a machine: what is known, what has happened -> what is known then, what is to be done.

Requests, events of running turns, answers to requests of ours and cancellations come in any order; every
byte that goes out is decided here or in the modules of steps beside it. Each request is answered once.
"""

from typing import Any

import msgspec

from minime.core.acp.answers import Step, refuse
from minime.core.acp.asking import consent_needed, permission_answered
from minime.core.acp.choices import ModeParams, OptionParams, set_mode, set_option
from minime.core.acp.effects import Send
from minime.core.acp.inputs import (
    CompactionEnded,
    ConsentNeeded,
    Deleted,
    Ended,
    Exported,
    Happened,
    Heard,
    Input,
    Listed,
    ModelsFound,
    Opened,
    RoundKept,
    SaveDone,
    ServersSeen,
    TurnEnded,
)
from minime.core.acp.opening import NewParams, models_found, open_session, opened, servers_seen
from minime.core.acp.prompting import (
    PromptParams,
    cancel,
    cancel_request,
    command_exported,
    command_listed,
    compaction_ended,
    ended,
    prompted,
    round_kept,
    save_done,
    turn_ended,
)
from minime.core.acp.sessions import (
    ListParams,
    SessionParams,
    close_session,
    delete_session,
    deleted,
    list_sessions,
    listed,
)
from minime.core.acp.showing import happened
from minime.core.acp.state import Client, State
from minime.core.acp.wire import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Blank,
    Fault,
    Id,
    Malformed,
    Notification,
    Request,
    Response,
    read_line,
    read_params,
    write_fault,
    write_response,
)
from minime.core.values import Stamp

PROTOCOL = 1
AUTH_ID = "mm-config"


class InitializeParams(msgspec.Struct, frozen=True, rename="camel"):
    """Which version the editor speaks, and what it can take."""

    protocol_version: int
    client_capabilities: dict[str, Any] | None = None


class AuthenticateParams(msgspec.Struct, frozen=True, rename="camel"):
    """Which way of signing in was chosen."""

    method_id: str


def step(state: State, heard: Input, stamp: Stamp) -> Step:
    """The machine after `heard`, and what is to be done, in this order."""
    match heard:
        case Heard(line=line):
            return _message(state, line, stamp)
        case Opened():
            return opened(state, heard, stamp)
        case Listed(wish=wish) if wish.command:
            return command_listed(state, heard, stamp)
        case Listed():
            return listed(state, heard)
        case Exported():
            return command_exported(state, heard, stamp)
        case Deleted():
            return deleted(state, heard)
        case Happened():
            return happened(state, heard, stamp)
        case ConsentNeeded():
            return consent_needed(state, heard)
        case RoundKept():
            return round_kept(state, heard, stamp)
        case TurnEnded():
            return turn_ended(state, heard, stamp)
        case CompactionEnded():
            return compaction_ended(state, heard, stamp)
        case SaveDone():
            return save_done(state, heard, stamp)
        case ModelsFound():
            return models_found(state, heard)
        case ServersSeen():
            return servers_seen(state, heard)
        case Ended():
            return ended(state)


def _message(state: State, line: bytes, stamp: Stamp) -> Step:
    match read_line(line):
        case Blank():
            return state, ()
        case Malformed(id=id, fault=fault):
            return state, (Send(write_fault(id, fault)),)
        case Response() as answer:
            return permission_answered(state, answer)
        case Notification(method=method, params=params):
            return _notified(state, method, params)
        case Request(id=id, method=method, params=params):
            return _requested(state, id, method, params, stamp)


def _notified(state: State, method: str, params: dict[str, Any]) -> Step:
    match method:
        case "session/cancel":
            return cancel(state, str(params.get("sessionId", "")))
        case "$/cancel_request" if isinstance(params.get("requestId"), str | int | float):
            return cancel_request(state, params["requestId"])
        case _:
            return state, ()


def _requested(state: State, id: Id, method: str, raw: dict[str, Any], stamp: Stamp) -> Step:
    kinds: dict[str, type[Any]] = {
        "initialize": InitializeParams,
        "authenticate": AuthenticateParams,
        "session/new": NewParams,
        "session/load": NewParams,
        "session/resume": NewParams,
        "session/list": ListParams,
        "session/close": SessionParams,
        "session/delete": SessionParams,
        "session/set_mode": ModeParams,
        "session/set_config_option": OptionParams,
        "session/prompt": PromptParams,
    }
    if method not in kinds:
        return refuse(state, id, METHOD_NOT_FOUND, f"method not found: {method[:100]}")
    if method in {"session/load", "session/resume"} and "sessionId" not in raw:
        return refuse(state, id, INVALID_PARAMS, "invalid params: object missing required field `sessionId`")
    params = read_params(raw, kinds[method])
    match params:
        case Fault(code=code, message=message):
            return refuse(state, id, code, message)
        case InitializeParams(client_capabilities=capabilities):
            return _initialized(state, id, capabilities or {})
        case AuthenticateParams(method_id=wanted):
            if wanted != AUTH_ID:
                return refuse(state, id, INVALID_PARAMS, f"no such method of signing in: {wanted[:100]}")
            return state, (Send(write_response(id, {})),)
        case NewParams():
            return open_session(state, id, method, params, stamp)
        case ListParams():
            return list_sessions(state, id, params)
        case SessionParams(session_id=session_id):
            act = close_session if method == "session/close" else delete_session
            return act(state, id, session_id, stamp)
        case ModeParams():
            return set_mode(state, id, params)
        case OptionParams():
            return set_option(state, id, params)
        case _:
            return prompted(state, id, params, stamp)


def _initialized(state: State, id: Id, capabilities: dict[str, Any]) -> Step:
    session, meta, auth = (_object(capabilities.get(key)) for key in ("session", "_meta", "auth"))
    client = Client(
        notices=isinstance(session.get("notices"), dict),
        compaction=isinstance(session.get("compaction"), dict),
        terminal_auth=auth.get("terminal") is True,
        terminal_output=meta.get("terminal_output") is True,
    )
    state = msgspec.structs.replace(state, client=client)
    return state, (Send(write_response(id, _abilities(state))),)


def _abilities(state: State) -> dict[str, Any]:
    methods: list[dict[str, Any]] = [
        {
            "id": AUTH_ID,
            "name": "Configuration",
            "description": "A key goes into MM_API_KEY or agent.yaml; local servers need none",
        }
    ]
    if state.client.terminal_auth:
        setup = {"type": "terminal", "id": "mm-setup", "name": "Set up in a terminal", "args": ["--setup"]}
        methods.append(setup)
    kept: dict[str, Any] = {"close": {}, "additionalDirectories": {}}
    if state.keeps:
        kept |= {"list": {}, "delete": {}}
    if state.keeps and state.resumes:
        kept["resume"] = {}
    return {
        "protocolVersion": PROTOCOL,
        "agentInfo": {"name": "mm", "title": "mini-me", "version": state.version},
        "authMethods": methods,
        "agentCapabilities": {
            "loadSession": state.keeps,
            "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
            "mcpCapabilities": {"http": state.mcp, "sse": False},
            "sessionCapabilities": kept,
        },
    }


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}

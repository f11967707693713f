"""The choices an editor offers for a session: modes and options, as steps of the machine."""

from typing import Any

import msgspec

from minime.core.acp.answers import Step, refuse, send
from minime.core.acp.effects import Effect, Send, UseModel
from minime.core.acp.state import Live, State, with_live
from minime.core.acp.updates import (
    ModeShown,
    OptionsShown,
)
from minime.core.acp.wire import (
    INVALID_PARAMS,
    NOT_FOUND,
    Id,
    write_response,
)
from minime.core.tools.permissions import MODES, Mode

MODE_NAMES: dict[Mode, tuple[str, str]] = {
    "ask": ("Ask", "Ask before files are changed and commands are run"),
    "auto-edit": ("Auto-edit", "Change files without a question, ask before commands"),
    "auto": ("Auto", "Do everything that no rule denies"),
    "read-only": ("Read-only", "Read, list and search only"),
}


class ModeParams(msgspec.Struct, frozen=True, rename="camel"):
    """Which mode is to hold."""

    session_id: str
    mode_id: str


class OptionParams(msgspec.Struct, frozen=True, rename="camel"):
    """Which option is to have which value."""

    session_id: str
    config_id: str
    value: Any


def set_mode(state: State, id: Id, params: ModeParams) -> Step:
    """Another mode, from the next tool call on."""
    live = state.sessions.get(params.session_id)
    if live is None:
        return refuse(state, id, NOT_FOUND, "session not found")
    mode = next((mode for mode in MODES if mode == params.mode_id), None)
    if mode is None:
        return refuse(
            state, id, INVALID_PARAMS, f"no mode {params.mode_id[:80]!r}: there are {', '.join(MODES)}"
        )
    changed = msgspec.structs.replace(live, mode=mode)
    told = send(params.session_id, OptionsShown(config_options=options(changed)))
    return with_live(state, params.session_id, changed), (told, Send(write_response(id, {})))


def set_option(state: State, id: Id, params: OptionParams) -> Step:
    """Another value of an option, from the next tool call or request on."""
    live = state.sessions.get(params.session_id)
    if live is None:
        return refuse(state, id, NOT_FOUND, "session not found")
    value = params.value
    effects: tuple[Effect, ...]
    match params.config_id:
        case "mode" if value in MODES:
            changed = msgspec.structs.replace(live, mode=value)
            effects = (send(params.session_id, ModeShown(current_mode_id=value)),)
        case "model" if isinstance(value, str) and value in _model_choices(live):
            changed = msgspec.structs.replace(live, model=value, chosen=value)
            effects = (UseModel(params.session_id, value),)
        case "mode" | "model":
            return refuse(
                state, id, INVALID_PARAMS, f"the option {params.config_id} cannot be {str(value)[:80]!r}"
            )
        case _:
            return refuse(
                state, id, INVALID_PARAMS, f"no option {params.config_id[:80]!r}: there are mode and model"
            )
    answer = Send(write_response(id, {"configOptions": options(changed)}))
    return with_live(state, params.session_id, changed), (*effects, answer)


def modes(live: Live) -> dict[str, Any]:
    """The modes, and which holds."""
    there = [{"id": mode, "name": MODE_NAMES[mode][0], "description": MODE_NAMES[mode][1]} for mode in MODES]
    return {"currentModeId": live.mode, "availableModes": there}


def options(live: Live) -> tuple[dict[str, Any], ...]:
    """All options of the session: mode and model."""
    mode = {
        "id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": live.mode,
        "options": [{"value": m, "name": MODE_NAMES[m][0], "description": MODE_NAMES[m][1]} for m in MODES],
    }  # fmt: skip
    choices = _model_choices(live)
    if not choices:
        return (mode,)
    model = {
        "id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": live.model,
        "options": [{"value": name, "name": name} for name in choices],
    }  # fmt: skip
    return mode, model


def _model_choices(live: Live) -> tuple[str, ...]:
    names = live.models if live.model in live.models or not live.model else (live.model, *live.models)
    return names if live.model else ()

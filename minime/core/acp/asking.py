"""Consent, as steps of the machine: a rule decides, or the person is asked."""

from typing import Any

import msgspec

from minime.core.acp.answers import Step
from minime.core.acp.effects import Decide, Send, StopTurn
from minime.core.acp.inputs import ConsentNeeded
from minime.core.acp.state import Asked, Live, State, with_live
from minime.core.acp.tool_calls import text_content
from minime.core.acp.wire import (
    Response,
    write_request,
)
from minime.core.tools.consent import (
    AlwaysRule,
    Ask,
    Deny,
    No,
    covers,
    decide,
    offer_text,
    refusal_text,
    remember,
    unsaid,
)
from minime.core.tools.toolbox import runs


def consent_needed(state: State, need: ConsentNeeded) -> Step:
    """Decides whether an action may be done, or has the editor ask the person."""
    no = Decide(need.id, need.call.id, refusal_text(No()))
    live = state.sessions.get(need.id)
    if live is None or live.running is None or live.stopping:
        return state, (no,)
    if any(covers(rule, need.action) for rule in live.never):
        return state, (no,)
    match decide(need.action, live.mode, live.rules, live.always, need.where):
        case Ask(always=offered):
            number = state.next_id
            asked = Asked(number, need.call.id, offered)
            state = msgspec.structs.replace(state, next_id=number + 1)
            params = {"sessionId": need.id, "toolCall": _about(live, need), "options": _options(offered)}
            live = msgspec.structs.replace(live, asked=(*live.asked, asked))
            return with_live(state, need.id, live), (
                Send(write_request(number, "session/request_permission", params)),
            )
        case Deny(reason=reason):
            return state, (Decide(need.id, need.call.id, reason),)
        case _:
            return state, (Decide(need.id, need.call.id, ""),)


def permission_answered(state: State, answer: Response) -> Step:
    """Takes the person's answer; one that nobody waits for any more is passed over."""
    found = next(
        ((id, live, a) for id, live in state.sessions.items() for a in live.asked if a.id == answer.id), None
    )
    if found is None:
        return state, ()
    id, live, asked = found
    outcome = (answer.result or {}).get("outcome")
    chosen = outcome if isinstance(outcome, dict) else {}
    if chosen.get("outcome") == "cancelled":
        return with_live(state, id, msgspec.structs.replace(live, asked=(), stopping=True)), (StopTurn(id),)
    live = msgspec.structs.replace(live, asked=tuple(a for a in live.asked if a is not asked))
    refusal = refusal_text(No())
    match chosen.get("optionId"):
        case "allow":
            refusal = ""
        case "allow-always" if asked.always is not None:
            live, refusal = msgspec.structs.replace(live, always=remember(live.always, asked.always)), ""
        case "reject-always":
            live = msgspec.structs.replace(live, never=remember(live.never, asked.always))
        case _:
            pass
    return with_live(state, id, live), (Decide(id, asked.call_id, refusal),)


def _about(live: Live, need: ConsentNeeded) -> dict[str, Any]:
    """The call in question as it was shown: an editor may ask before it has drawn it."""
    call = live.calls.get(need.call.id)
    told: dict[str, Any] = msgspec.to_builtins(call.begun) if call else {"toolCallId": need.call.id}
    about = {key: value for key, value in told.items() if key not in {"sessionUpdate", "_meta"}}
    if runs(need.action) and (more := unsaid(need.action, "")):
        about["content"] = [*about.get("content", ()), text_content("\n".join(more))]
    return about


def _options(offered: AlwaysRule | None) -> list[dict[str, str]]:
    """What the person can answer; "always" only where it is not too much."""
    options = [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}]
    if offered is not None:
        name = f"Always allow {offer_text(offered)}"
        options.append({"optionId": "allow-always", "name": name, "kind": "allow_always"})
    options.append({"optionId": "reject", "name": "Reject", "kind": "reject_once"})
    if offered is not None:
        name = f"Always reject {offer_text(offered)}"
        options.append({"optionId": "reject-always", "name": name, "kind": "reject_always"})
    return options

"""Consent, as steps of the machine: a rule decides, or the person is asked."""

import msgspec

from minime.core.acp.answers import Step
from minime.core.acp.effects import Decide, Send, StopTurn
from minime.core.acp.inputs import ConsentNeeded
from minime.core.acp.state import Asked, State, with_live
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
)
from minime.core.tools.toolbox import tool_name


def consent_needed(state: State, need: ConsentNeeded) -> Step:
    """Decides whether an action may be done, or has the editor ask the person."""
    live = state.sessions.get(need.id)
    if live is None or live.running is None:
        return state, (Decide(need.id, need.call.id, refusal_text(No())),)
    if any(covers(rule, need.action) for rule in live.never):
        return state, (Decide(need.id, need.call.id, refusal_text(No())),)
    match decide(need.action, live.mode, live.rules, live.always, need.where):
        case Ask(always=offered):
            number = state.next_id
            rule = offered or AlwaysRule(tool_name(need.action), ("",))
            asked = Asked(number, need.call.id, rule)
            state = msgspec.structs.replace(state, next_id=number + 1)
            options = _options(offered)
            params = {"sessionId": need.id, "toolCall": {"toolCallId": need.call.id}, "options": options}
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
    live = msgspec.structs.replace(live, asked=tuple(a for a in live.asked if a is not asked))
    outcome = (answer.result or {}).get("outcome")
    kind = outcome if isinstance(outcome, dict) else {}
    if kind.get("outcome") == "cancelled":
        return with_live(state, id, live), (StopTurn(id),)
    refusal = refusal_text(No())
    match kind.get("optionId"):
        case "allow":
            refusal = ""
        case "allow-always":
            live, refusal = msgspec.structs.replace(live, always=remember(live.always, asked.always)), ""
        case "reject-always":
            live = msgspec.structs.replace(live, never=remember(live.never, asked.always))
        case _:
            pass
    return with_live(state, id, live), (Decide(id, asked.call_id, refusal),)


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

"""A conversation, a turn and a budget in, what has to be done before the model can be asked out."""

import msgspec

from minime.core.budget import Budget, about, bytes_of, size, surely, tokens
from minime.core.compaction import Plan, older, plan_compaction
from minime.core.request import fit
from minime.core.summary import summary_tokens
from minime.core.text import clip
from minime.core.turn import Turn
from minime.core.values import Assistant, Session, Tool

SHORTENED = 300
"""Characters that stay of a result of the running turn that has to make room."""

WORTH = 8
"""Older turns are summed up unasked when they are an eighth of what a request may take; fewer are not worth
the time."""

AIM = 0.7
"""Part of the limit that the history should take after a compaction, so that the next one is not near."""

TOO_LARGE = (
    "{what} take about {size:,} tokens, and the context window has {window:,}: "
    "raise contextWindow in agent.yaml, and the server's own setting for it"
)


class Fits(msgspec.Struct, frozen=True):
    """The request may go as it is."""


class Summarise(msgspec.Struct, frozen=True):
    """Older turns have to become a summary first."""

    plan: Plan


class Shorten(msgspec.Struct, frozen=True):
    """Nothing older is left: the running turn with older results cut short."""

    turn: Turn


class TooLarge(msgspec.Struct, frozen=True):
    """It cannot fit; `line` tells the user."""

    line: str


Room = Fits | Summarise | Shorten | TooLarge


def make_room(
    session: Session, turn: Turn, budget: Budget, *, may_summarise: bool = True, refused: bool = False
) -> Room:
    """What has to be done before the model is asked with `turn` behind `session`. `refused`: the server has
    said already that it is too long, so that whatever makes it shorter is worth it."""
    taken = size(fit(session.messages + turn.messages)) + budget.tools
    if not budget.limit or (tokens(budget.gauge, taken) <= budget.limit and not refused):
        return Fits()
    fixed = size(session.messages[:1]) + budget.tools
    if _is_over(fixed, budget):
        return TooLarge(_too_large("the instruction, the context files and the tools", fixed, budget))
    may_help = refused or tokens(budget.gauge, fixed) < budget.limit
    if may_summarise and may_help and budget.auto:
        plan = plan_compaction(session, budget.keep, _most_kept(session, turn, budget))
        if plan is not None and (refused or _is_worth(session, plan, budget)):
            return Summarise(plan)
    shorter = shortened(
        turn, bytes_of(budget.gauge, budget.limit) - size(fit(session.messages)) - budget.tools
    )
    if shorter != turn:
        return Shorten(shorter)
    if _is_over(taken, budget):
        return TooLarge(_too_large("the question and all that has to go with it", taken, budget))
    return Fits()


def plan_by_hand(session: Session, budget: Budget) -> Plan | None:
    """What becomes a summary when a person asks for one."""
    most = _most_kept(session, None, budget) if budget.window else None
    return plan_compaction(session, budget.keep, most)


def shortened(turn: Turn, most: int) -> Turn:
    """The turn in at most `most` bytes, as far as cutting its tool results short allows: the oldest first,
    those of the newest round last and all alike. The same turn where there is nothing to cut."""
    messages = list(turn.messages)
    excess = size(messages) - most
    last = max((i for i, m in enumerate(messages) if isinstance(m, Assistant)), default=0)
    for place, message in enumerate(messages):
        if excess <= 0:
            break
        if isinstance(message, Tool) and place < last:
            messages[place] = _cut_short(message, SHORTENED)
            excess -= size((message,)) - size((messages[place],))
    limit = max((len(m.content) for m in messages[last:] if isinstance(m, Tool)), default=0)
    while excess > 0 and limit > SHORTENED:
        limit = max(SHORTENED, limit * 3 // 4)
        for place in range(last, len(messages)):
            message = messages[place]
            if isinstance(message, Tool):
                messages[place] = _cut_short(message, limit)
        excess = size(messages) - most
    return Turn(tuple(messages))


def _cut_short(result: Tool, limit: int) -> Tool:
    if len(result.content) <= limit:
        return result
    return msgspec.structs.replace(result, content=clip(result.content, limit))


def _most_kept(session: Session, turn: Turn | None, budget: Budget) -> int:
    """Bytes that are left for turns word for word."""
    running = size(turn.messages) if turn is not None else 0
    fixed = size(session.messages[:1]) + budget.tools + running
    summary = bytes_of(budget.gauge, summary_tokens(budget.window) // 2)
    return bytes_of(budget.gauge, int(budget.limit * AIM)) - fixed - summary


def _is_worth(session: Session, plan: Plan, budget: Budget) -> bool:
    return tokens(budget.gauge, size(older(session, plan))) * WORTH >= budget.limit


def _is_over(taken: int, budget: Budget) -> bool:
    """Whether so many bytes fit no way; a window that nobody has told does not say."""
    return not budget.guessed and surely(budget.gauge, taken) >= budget.window


def _too_large(what: str, taken: int, budget: Budget) -> str:
    return TOO_LARGE.format(window=budget.window, what=what, size=about(tokens(budget.gauge, taken)))

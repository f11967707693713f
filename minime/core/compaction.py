"""Older turns in, which of them become a summary and the history with it in their place out.

A turn is never split, so no result is without its call, and what stays begins with a question.
"""

from datetime import datetime

import msgspec

from minime.core.budget import Budget, about, size, used
from minime.core.events import Compacted
from minime.core.listing import count
from minime.core.values import Assistant, Message, Session, System, User

ASKED = "What has happened in this conversation so far? ({count} earlier, summed up by mm)"
"""The user's half of the pair that a summary is kept in."""


class Plan(msgspec.Struct, frozen=True):
    """Which part becomes a summary: so many `messages` behind the system message. They hold `turns`
    questions, those of an earlier summary included; `kept` turns stay behind them."""

    messages: int
    turns: int
    kept: int


def plan_compaction(session: Session, keep: int, most_kept: int | None = None) -> Plan | None:
    """What becomes a summary when the newest `keep` turns stay, fewer where they are more than `most_kept`
    bytes; None when there is nothing to sum up but an earlier summary."""
    starts = [place for place, message in enumerate(session.messages) if isinstance(message, User)]
    first = _first(session)
    kept = min(keep, len(starts))
    while kept and most_kept is not None and size(session.messages[starts[-kept] :]) > most_kept:
        kept -= 1
    end = starts[-kept] if kept else len(session.messages)
    questions = [m for m in session.messages[first:end] if isinstance(m, User)]
    if all(m.compacted for m in questions):
        return None
    return Plan(end - first, sum(m.compacted or 1 for m in questions), kept)


def compacted(session: Session, plan: Plan, summary: Assistant, budget: Budget, now: datetime) -> Compacted:
    """What a compaction comes to, as an event: all that `compact` needs, and the numbers for the line."""
    done = Compacted(plan.messages, plan.turns, plan.kept, 0, 0, _summary_message(summary))
    return msgspec.structs.replace(
        done,
        before=used(session.messages, budget),
        after=used(compact(session, done, now).messages, budget),
    )


def compact(session: Session, done: Compacted, now: datetime) -> Session:
    """The conversation with the summary in the place of its older turns, in one pair of messages; all else
    stays as it is."""
    first = _first(session)
    pair = (User(ASKED.format(count=count(done.turns, "turn")), compacted=done.turns), done.summary)
    rest = session.messages[first + done.messages :]
    return msgspec.structs.replace(session, messages=(*session.messages[:first], *pair, *rest), updated=now)


def _summary_message(answer: Assistant) -> Assistant:
    """The summary as it stands in the history: words alone, and who wrote them."""
    return Assistant(answer.content.strip(), model=answer.model, seconds=answer.seconds)


def compacted_text(done: Compacted) -> str:
    """The line that says what was done."""
    kept = f" + {count(done.kept, 'turn')}" if done.kept else ""
    turns = count(done.turns + done.kept, "turn")
    return f"compacted: {turns} → 1 summary{kept} (~{about(done.before):,} → ~{about(done.after):,} tokens)"


def older(session: Session, plan: Plan) -> tuple[Message, ...]:
    """The messages that the summary is to stand for."""
    return session.messages[_first(session) : _first(session) + plan.messages]


def _first(session: Session) -> int:
    """Where the history begins, behind the system message."""
    return 1 if session.messages and isinstance(session.messages[0], System) else 0

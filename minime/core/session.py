"""The verbs of a conversation: pure functions from a session to a session.

A turn joins its session whole or not at all, so nothing ever has to be taken back.
"""

from datetime import datetime
from typing import Literal

import msgspec

from minime.core.events import Answered, Cancelled, Failed, Outcome
from minime.core.turn import Turn, cancelled, finished_rounds, last_answer, question_line
from minime.core.values import (
    Assistant,
    ErrorKind,
    ErrorRecord,
    Message,
    Pending,
    Session,
    Stamp,
    System,
    Tool,
    ToolCall,
    User,
)

VERSION = 1
"""The version of the session file that this mm writes."""

MAX_ERRORS = 200
"""The newest records are kept, the oldest leave first."""


def new_session(stamp: Stamp, system: str, model: str = "") -> Session:
    """A conversation without a question."""
    return Session(
        version=VERSION,
        id=stamp.fresh_id,
        created=stamp.now,
        updated=stamp.now,
        model=model,
        messages=(System(system),),
        errors=(),
    )


def with_system(session: Session, system: str) -> Session:
    """The conversation under another system prompt: one, and first."""
    rest = tuple(m for m in session.messages if not isinstance(m, System))
    return msgspec.structs.replace(session, messages=(System(system), *rest))


def with_title(session: Session, title: str) -> Session:
    """The conversation under a title of the user's own."""
    return msgspec.structs.replace(session, title=title)


def append_turn(session: Session, turn: Turn, now: datetime) -> Session:
    """The conversation with `turn` at its end; its first question gives the title. What was pending is
    taken out: a finished turn stands in its place."""
    answer = last_answer(turn)
    return msgspec.structs.replace(
        _asked(session, turn),
        model=(answer.model if answer else "") or session.model,
        messages=session.messages + turn.messages,
        updated=now,
        pending=None,
    )


def with_pending(
    session: Session, turn: Turn, now: datetime, reason: Literal["running", "failed"]
) -> Session:
    """The conversation with the finished rounds of `turn` kept beside its history; unchanged when no
    round is finished."""
    rounds = finished_rounds(turn)
    if not rounds:
        return session
    return msgspec.structs.replace(_asked(session, turn), updated=now, pending=Pending(now, reason, rounds))


def record_error(session: Session, record: ErrorRecord) -> Session:
    """The conversation with `record` beside its history; of the records the newest 200 stay."""
    return msgspec.structs.replace(
        session, errors=(*session.errors, record)[-MAX_ERRORS:], updated=record.time
    )


def failed_line(
    session: Session, kind: ErrorKind, failure: Failed, now: datetime, question: str = ""
) -> Session:
    """The conversation with `failure` on record."""
    record = ErrorRecord(
        time=now,
        kind=kind,
        turns=turns(session),
        question=question,
        message=failure.shown,
        detail="" if failure.raw == failure.shown else failure.raw,
    )
    return record_error(session, record)


def settle(before: Session, turn: Turn, outcome: Outcome, now: datetime) -> Session:
    """The conversation after `turn` came to `outcome`.

    Answered: the turn is its newest. Cancelled: what was worth keeping is, or nothing changed. Failed:
    the history is as before, the error on record, finished tool rounds pending.
    """
    match outcome:
        case Answered():
            return append_turn(before, turn, now)
        case Cancelled():
            kept = cancelled(turn)
            return before if kept is None else append_turn(before, kept, now)
        case Failed():
            asked = with_pending(_asked(before, turn), turn, now, "failed")
            return failed_line(asked, "generation", outcome, now, question_line(turn))


def settle_retry(session: Session, beside: Session, turn: Turn, outcome: Outcome, now: datetime) -> Session:
    """The conversation after `turn` was tried again `beside` it, where `beside` lacks the last turn: an
    answer takes that turn's place, anything else leaves it where it stands."""
    match outcome:
        case Answered():
            return settle(beside, turn, outcome, now)
        case Cancelled():
            return msgspec.structs.replace(session, pending=None)
        case Failed():
            return settle(session, turn, outcome, now)


def new_with_archive(session: Session, stamp: Stamp, system: str) -> tuple[Session, Session]:
    """`(archive, fresh)`: the past conversation with its errors under a new id, and an empty one under
    the old id. Together they hold all that there was; the archive has to be saved first."""
    archive = msgspec.structs.replace(session, id=stamp.fresh_id)
    fresh = new_session(Stamp(stamp.now, session.id), system, session.model)
    return archive, fresh


def fork(session: Session, stamp: Stamp) -> Session:
    """A copy of the conversation under a new id, to go another way from here."""
    return msgspec.structs.replace(session, id=stamp.fresh_id, created=stamp.now, updated=stamp.now)


def undo(session: Session, now: datetime) -> Session:
    """The conversation without its last turn; unchanged where there is none, or where a summary stands."""
    last = last_exchange(session)
    if not last or (isinstance(last[0], User) and last[0].compacted):
        return session
    return msgspec.structs.replace(session, messages=session.messages[: -len(last)], updated=now)


def changed_files(messages: tuple[Message, ...]) -> tuple[str, ...]:
    """The files that the edits among `messages` changed, each once, in order."""
    paths = (m.diff.path for m in messages if isinstance(m, Tool) and m.diff is not None and not m.failed)
    return tuple(dict.fromkeys(paths))


def unanswered(session: Session, turn: Turn, outcome: Outcome) -> Turn | None:
    """The question of a turn that failed before it had done anything, where `session` is what was settled:
    it stands in no history, and `/retry` asks it again. None for any other turn."""
    asked = turn.messages[:1]
    if not isinstance(outcome, Failed) or (session.pending and session.pending.messages[:1] == asked):
        return None
    return Turn(asked)


def to_retry(session: Session, now: datetime, failed: Turn | None = None) -> tuple[Session, Turn] | None:
    """What `/retry` goes on from: the conversation, and the turn to take up beside it. That is the question
    that has just `failed`, else the unfinished turn where there is one, else the last question without its
    answers; None without any."""
    if failed is not None:
        return session, failed
    if session.pending is not None:
        return session, Turn(session.pending.messages)
    shorter = undo(session, now)
    if shorter is session:
        return None
    return shorter, Turn(last_exchange(session)[:1])


def turns(session: Session) -> int:
    """How many questions the conversation has seen, those behind a summary included."""
    return sum((m.compacted or 1) for m in session.messages if isinstance(m, User))


def is_empty(session: Session) -> bool:
    """No question, no error, nothing pending: nobody would miss it."""
    return turns(session) == 0 and not session.errors and session.pending is None


def last_exchange(session: Session) -> tuple[Message, ...]:
    """The newest question and all that answered it."""
    places = [i for i, m in enumerate(session.messages) if isinstance(m, User)]
    return session.messages[places[-1] :] if places else ()


def pending_tools(pending: Pending) -> int:
    """How many tool calls of an unfinished turn are done."""
    return sum(isinstance(m, Tool) for m in pending.messages)


def call_ids(messages: tuple[Message, ...]) -> frozenset[str]:
    """The ids of all tool calls in `messages`."""
    return frozenset(call.id for m in messages if isinstance(m, Assistant) for call in m.tool_calls)


def with_fresh_call_ids(answer: Assistant, taken: frozenset[str]) -> Assistant:
    """The answer with each call's id unlike those in `taken` and unlike each other: servers that count
    from `call_1` in every answer repeat themselves."""
    used = set(taken)
    calls: list[ToolCall] = []
    for call in answer.tool_calls:
        fresh = call.id
        number = len(used)
        while not fresh or fresh in used:
            number += 1
            fresh = f"call_{number}"
        used.add(fresh)
        calls.append(msgspec.structs.replace(call, id=fresh))
    return msgspec.structs.replace(answer, tool_calls=tuple(calls))


def _asked(session: Session, turn: Turn) -> Session:
    return session if session.title else with_title(session, question_line(turn))

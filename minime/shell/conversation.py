"""A conversation as it is held: a turn is asked, settled and saved, whatever comes of it."""

from collections.abc import Awaitable, Callable

import msgspec

from minime.core.compaction import compact
from minime.core.events import Compacted, CompactionFailed, Event, Failed, Outcome
from minime.core.listing import Found, NotFound, count
from minime.core.session import (
    failed_line,
    is_empty,
    new_session,
    settle,
    settle_retry,
    to_retry,
    unanswered,
    with_pending,
    with_system,
)
from minime.core.turn import Turn, question_line
from minime.core.values import Session, ToolCall
from minime.shell import clock
from minime.shell.agent import Agent
from minime.shell.loop import Emit, run_compaction, run_turn
from minime.shell.store import Loaded, NotLoaded, NotSaved, Saved, Store
from minime.shell.tools.tools import Ready

Consent = Callable[[ToolCall, Ready], Awaitable[str]]


class Conversation:
    """The session in hand, where it is kept (`store` None: nowhere) and who answers.

    `tell` is given each line that the user has to see about the keeping of the session; a façade puts its
    own there.
    """

    def __init__(self, agent: Agent, store: Store | None) -> None:
        self.agent = agent
        self.store = store
        if store is not None:
            agent.asking.pictures = store.pictures
        self.session = self._fresh()
        self.tell: Callable[[str], None] = lambda _: None
        self._trouble = ""
        self._failed: tuple[str, Turn] | None = None
        self._waiting: dict[str, Session] = {}

    async def ask(self, turn: Turn, emit: Emit, consent: Consent) -> tuple[Turn, Outcome]:
        """Has `turn` answered and keeps what came of it, on disk too where there is a store."""
        return await self._ask(self.session, turn, emit, consent)

    def keep_image(self, data: bytes) -> str:
        """Keeps an image for the session in hand; the address to name it by."""
        return self.agent.asking.pictures.add(self.session.id, data)

    async def retry(self, emit: Emit, consent: Consent) -> tuple[Turn, Outcome] | None:
        """Asks the question again that has just failed, or goes on with the unfinished turn, or asks the last
        question again in place of its turn, which stays if that comes to nothing; None when there is none."""
        id, failed = self._failed or ("", None)
        found = to_retry(self.session, clock.now(), failed if id == self.session.id else None)
        if found is None:
            return None
        beside, turn = found
        return await self._ask(beside, turn, emit, consent)

    async def _ask(self, beside: Session, turn: Turn, emit: Emit, consent: Consent) -> tuple[Turn, Outcome]:
        """Has `turn` answered as the next one of `beside`: the session in hand, or that without its last
        turn, which stands again when no whole answer comes in its place."""
        again = beside is not self.session

        def watch(event: Event) -> None:
            nonlocal beside
            if isinstance(event, Compacted):
                beside = compact(beside, event, clock.now())
            self._heed(event, question_line(turn))
            emit(event)

        hands = self.agent.hands(beside, consent, self._keep)
        ended, outcome = await run_turn(
            beside, turn, hands, watch, self.agent.tool_names, self.agent.max_steps
        )
        if again:
            beside = msgspec.structs.replace(beside, id=self.session.id)  # its file may have gone elsewhere
            self.session = settle_retry(self.session, beside, ended, outcome, clock.now())
        else:
            self.session = settle(self.session, ended, outcome, clock.now())
        self._save()
        failed = None if again else unanswered(self.session, ended, outcome)
        self._failed = (self.session.id, failed) if failed else None
        return ended, outcome

    async def compact(self, focus: str, emit: Emit) -> Outcome:
        """Has the older turns summed up and keeps what came of it; the events tell. `focus` are words on what
        to keep in mind."""

        def watch(event: Event) -> None:
            self._heed(event, "")
            emit(event)

        asking, session = self.agent.asking, self.session
        known = asking.budget(session)
        return await run_compaction(session, known, asking.ask_budget, asking.sum_up, watch, focus)

    def _heed(self, event: Event, question: str) -> None:
        """A compaction and its failure are kept as soon as they are there, whatever comes of the turn."""
        match event:
            case Compacted():
                self.session = compact(self.session, event, clock.now())
            case CompactionFailed(shown=shown, raw=raw):
                self.session = failed_line(
                    self.session, "compaction", Failed(shown, raw), clock.now(), question
                )
            case _:
                return
        self._save()

    def resume(self, wanted: str) -> str:
        """Takes up the session that `wanted` means; empty, or the line that says why not (then on record in
        the session in hand, which goes on)."""
        loaded = self._find(wanted)
        if isinstance(loaded, Session):
            if loaded.id != self.session.id:
                self._set_aside()
            self.session = with_system(loaded, self.agent.system)
            return ""
        self.session = failed_line(self.session, "resume", Failed(loaded), clock.now())
        if self.store is not None and self.session.messages[1:]:
            self._save()
        return loaded

    def leave(self) -> bool:
        """Begins a new conversation; False when the one in hand is empty and so goes on."""
        if is_empty(self.session):
            return False
        self._set_aside()
        self.session = self._fresh()
        return True

    def change(self, session: Session) -> None:
        """Takes `session` for the one in hand; on disk too unless it is empty and has no file."""
        if session.id != self.session.id:
            self._set_aside()
        self.session = session
        self._save()

    def finish(self) -> None:
        """Tries once more to put on disk what could not be saved; a line tells what is lost with mm."""
        if not self._trouble:
            return
        self._save()
        if self._trouble:
            lost = len(self._waiting) + (not is_empty(self.session))
            self.tell(f"not on disk: what was new in {count(lost, 'conversation')}")

    def _fresh(self) -> Session:
        return new_session(clock.stamp(), self.agent.system, self.agent.settings.model or "")

    def _find(self, wanted: str) -> Session | str:
        if self.store is None:
            return "sessions are not kept here (sessions.enabled in agent.yaml, --no-session)"
        try:
            found = self.store.find(wanted, self.session.id)
        except OSError as error:
            return f"cannot read {self.store.folder}: {error.strerror or error}"
        match found:
            case NotFound(message=message):
                return message
            case Found(id=id) if id == self.session.id and self._trouble:
                return self.session  # what is on disk is older
            case Found(id=id) if id in self._waiting:
                return self._waiting.pop(id)
            case Found(id=id):
                match self.store.load(id):
                    case Loaded(session=session):
                        return session
                    case NotLoaded(reason=reason):
                        return f"cannot read session {id}: {reason}"

    def _keep(self, turn: Turn) -> None:
        """Puts the finished rounds of a running turn on disk: a crash loses the one in hand at most."""
        self.session = with_pending(self.session, turn, clock.now(), "running")
        self._save()

    def _save(self) -> None:
        """Tells of trouble once: again only when it changes, or is over. What was left while it could not be
        saved is tried again too."""
        if self.store is None:
            return
        waiting, self._waiting = self._waiting, {}
        trouble = ""
        for session in waiting.values():
            trouble = self._put(session) or trouble
        if not is_empty(self.session) or self.store.has(self.session.id):
            trouble = self._put(self.session) or trouble
        if trouble and trouble != self._trouble:
            self.tell(trouble)
        if self._trouble and not trouble:
            self.tell("the session is saved again")
        self._trouble = trouble

    def _put(self, session: Session) -> str:
        """One session on disk; empty, or why it could not be."""
        assert self.store is not None, "sessions are kept"
        in_hand = session is self.session
        match self.store.save(session, clock.stamp()):
            case Saved(session=saved, notice=notice):
                if in_hand:
                    self.session = saved
                if notice:
                    self.tell(notice)
                return ""
            case NotSaved(line=line):
                if not in_hand:
                    self._waiting[session.id] = session
                return line

    def _set_aside(self) -> None:
        """Holds on to the conversation in hand, which is left, where it is not on disk."""
        if self._trouble and not is_empty(self.session):
            self._waiting[self.session.id] = self.session

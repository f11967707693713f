"""Which session a word of the command line means: read whole, or a line on stderr that says why not."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from minime.core.listing import Found, NotFound
from minime.core.values import Session
from minime.shell.paper import Paper
from minime.shell.store import Loaded, NotLoaded, Store


def wanted_session(store: Store, wanted: str) -> Session | None:
    """The session that `wanted` means; None when there is none or it cannot be read, which is said."""
    match store.find(wanted):
        case NotFound(message=message):
            complain(message)
            return None
        case Found(id=id):
            pass
    match store.load(id):
        case NotLoaded(reason=reason):
            complain(f"cannot read session {id}: {reason}")
            return None
        case Loaded(session=session):
            return session


@contextmanager
def one_look() -> Iterator[None]:
    """For a process that reads a session, puts it out and ends: what it makes is in use to the end, and to
    look through all of it for garbage again and again takes a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def complain(line: str) -> None:
    """Says on stderr what went wrong."""
    Paper(sys.stderr).line(f"mm: {line}", "red")

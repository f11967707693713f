"""The verbs that look through all conversations of a project: search, errors, stats."""

import json
import sys
from collections.abc import Callable, Iterator

import msgspec

from minime.core.codec import Unreadable, decode
from minime.core.error_tally import kinds, tally_pieces, tally_records
from minime.core.listing import count
from minime.core.searching import Wanted, hit_text, hits, may_hold, new_search
from minime.core.statistics import sums_of, table_lines, total
from minime.core.text import one_line
from minime.core.values import Session
from minime.shell import clock
from minime.shell.paper import Paper
from minime.shell.store import Store

DONE, FAILED, WRONG = 0, 1, 2


class Sessions:
    """The sessions of a project that can be read, newest use first, one in memory at a time; `passed` counts
    the files that cannot."""

    def __init__(self, store: Store, worth: Callable[[bytes], bool] = lambda _: True) -> None:
        self._store = store
        self._worth = worth
        self.passed = 0

    def __iter__(self) -> Iterator[Session]:
        """The sessions whose file's bytes are worth the decoding. Raises OSError where the folder cannot be
        read."""
        for head in self._store.heads():
            try:
                data = self._store.read(head.id)
                if self._worth(data):
                    yield decode(data)
            except FileNotFoundError:
                pass  # deleted since
            except (OSError, Unreadable):
                self.passed += 1

    def tell(self) -> None:
        """A line on stderr about the files that could not be read, if there are any."""
        if self.passed:
            line = f"{count(self.passed, 'session')} could not be read: mm sessions check says why"
            Paper(sys.stderr).line(line, "yellow")


def search_sessions(store: Store, wanted: Wanted, *, as_json: bool) -> int:
    """Each line that holds what is wanted, as soon as it is found; as JSON one object a line. 1 when there is
    none."""
    search = new_search(wanted)
    if isinstance(search, str):
        Paper(sys.stderr).line(f"mm: {search}")
        return WRONG
    out = Paper(sys.stdout)
    found = 0
    sessions = Sessions(store, lambda data: may_hold(data, wanted))
    for session in sessions:
        first = True
        for hit in hits(session, wanted, search):
            found += 1
            if as_json:
                out.line(msgspec.json.encode(hit).decode())
                continue
            if first:
                when = f"{clock.local(session.updated):%Y-%m-%d %H:%M}"
                out.line(f"{session.id} · {when} · {one_line(session.title) or 'no title'}", "bold")
            out.line(hit_text(hit))
            first = False
    sessions.tell()
    if not found:
        Paper(sys.stderr).line(f"no session here holds {one_line(wanted.text, 80)!r}")
    return DONE if found else FAILED


def show_errors(store: Store, *, as_json: bool) -> int:
    """The error records of all sessions, counted by kind and line."""
    sessions = Sessions(store, lambda data: b'"kind"' in data)
    tallies = tally_records(sessions)
    out = Paper(sys.stdout)
    if as_json:
        told = {"kinds": kinds(tallies), "errors": msgspec.to_builtins(tallies)}
        out.line(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        out.write(tally_pieces(tallies, clock.local, out.columns))
    sessions.tell()
    return DONE


def show_stats(store: Store, *, as_json: bool) -> int:
    """What each model did in all sessions, as a table; with bars on a terminal."""
    out = Paper(sys.stdout)
    sessions = Sessions(store)
    number = 0

    def each() -> Iterator[Session]:
        nonlocal number
        for session in sessions:
            number += 1
            yield session

    sums = total(one for session in each() for one in sums_of(session))
    if as_json:
        told = {"sessions": number, "models": msgspec.to_builtins(sums)}
        out.line(json.dumps(told, ensure_ascii=False, indent=2))
    elif not sums:
        Paper(sys.stderr).line("no sessions here yet")
    else:
        for place, line in enumerate(table_lines(sums, number, out.columns)):
            out.line(line, "" if place else "bold")
    sessions.tell()
    return DONE

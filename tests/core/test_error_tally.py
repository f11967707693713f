"""The same line is one entry, however often and wherever it came."""

from datetime import timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from minime.core.error_tally import kinds, tally_pieces, tally_records
from minime.core.events import Failed
from minime.core.pieces import plain
from minime.core.session import failed_line, settle
from minime.core.values import Session
from tests.support.values import ID, NOW, OTHER_ID, fresh, hello_turn, question, sessions, talked


def failing(id: str, days: int, *lines: str) -> Session:
    session = msgspec.structs.replace(talked(hello_turn()), id=id)
    for number, line in enumerate(lines):
        moment = NOW + timedelta(days=days, minutes=number)
        session = settle(session, question(f"question {number}"), Failed(line, "raw"), moment)
    return session


def test_records_are_counted_by_line_with_first_last_and_sessions() -> None:
    one, two = failing(ID, 0, "no answer", "no key", "no answer"), failing(OTHER_ID, 3, "no answer")
    answer, key = tally_records((one, two))
    assert (answer.count, answer.first, answer.last) == (3, NOW, NOW + timedelta(days=3))
    assert answer.sessions == (OTHER_ID, ID)
    assert (answer.question, answer.detail) == ("question 0", "raw")
    assert (key.message, key.count, key.sessions) == ("no key", 1, (ID,))


@given(st.lists(sessions(extra=False), max_size=3))
def test_no_record_is_lost_whatever_the_order(some: list[Session]) -> None:
    tallies = tally_records(some)
    assert sum(one.count for one in tallies) == sum(len(session.errors) for session in some)
    assert sum(kinds(tallies).values()) == sum(one.count for one in tallies)
    assert {(t.kind, t.message, t.count) for t in tallies} == {
        (t.kind, t.message, t.count) for t in tally_records(reversed(some))
    }


def test_the_tally_in_words(golden: object) -> None:
    lines = ("Ollama was silent for 120 s before its first word", "no answer")
    some = [
        failing(f"20260916-101530-0000000{number}", number, *lines[: 1 + number % 2]) for number in range(5)
    ]
    resumed = failed_line(some[0], "resume", Failed("no session '9999' here"), NOW)
    text = plain(tally_pieces(tally_records((resumed, *some[1:])), lambda moment: moment))
    assert text == golden("cli/errors.txt")  # type: ignore[operator]


def test_no_errors_is_said() -> None:
    assert plain(tally_pieces(tally_records((fresh(),)), lambda moment: moment)) == "no errors on record\n"

"""Room made in the middle of a turn: a scripted model, and what it was asked."""

import asyncio
from pathlib import Path

import pytest

from minime.core.budget import Budget, size, tokens
from minime.core.compaction import compact
from minime.core.events import (
    Answered,
    Cancelled,
    Compacted,
    CompactionFailed,
    CompactionProgress,
    CompactionStarted,
    Failed,
    Notice,
    TextDelta,
)
from minime.core.model.failures import Failure
from minime.core.request import fit
from minime.core.values import Assistant, Session, Tool, User, content_text
from minime.shell.loop import NOTHING_TO_COMPACT, Emit, run_compaction
from minime.shell.model.model import ModelFailed
from tests.core.test_compaction import looked
from tests.shell.test_loop import DONE, READ, Script, call
from tests.support.values import LATER, fresh, hello_turn, talked

OVERFLOW = ModelFailed(Failure("overflow", "the conversation does not fit", "8192 exceeded", window=8_192))
BROKEN = ModelFailed(Failure("server", "the server failed (500)"))
SUMMARY = Assistant("- The user looked at files.", model="tiny")
SMALL = Budget(8_192, 6_553, 2_500)
LONG = talked(*(looked(number) for number in range(6)))


def kinds(script: Script) -> list[type]:
    return [type(event) for event in script.events]


async def test_older_turns_become_a_summary_before_the_model_is_asked(tmp_path: Path) -> None:
    script = Script(tmp_path, SUMMARY, DONE)
    script.budget = SMALL
    turn, outcome = await script.run(LONG)
    assert outcome == Answered()
    assert turn.messages[1:] == (DONE,), "the turn itself is as it would have been"
    assert kinds(script) == [CompactionStarted, Compacted]
    [event] = (e for e in script.events if isinstance(e, Compacted))
    assert script.sessions == [compact(LONG, event, script.sessions[0].updated)]
    assert event.kept == 2
    [history] = script.summed_up
    assert tokens(SMALL.gauge, size(history)) < SMALL.window


async def test_a_refused_request_is_answered_by_one_summary_and_one_retry(tmp_path: Path) -> None:  # K02, K15
    script = Script(tmp_path, OVERFLOW, SUMMARY, DONE)
    _, outcome = await script.run(LONG)
    assert outcome == Answered()
    assert kinds(script) == [CompactionStarted, Compacted]
    before, after = script.sessions
    assert size(after.messages) < size(before.messages)


async def test_a_server_that_always_refuses_gets_two_requests_and_one_summary(tmp_path: Path) -> None:  # K02
    script = Script(tmp_path, OVERFLOW, SUMMARY, OVERFLOW)
    turn, outcome = await script.run(LONG)
    assert isinstance(outcome, Failed)
    assert outcome.kind == "overflow"
    assert (len(script.asked), len(script.summed_up), script.answers) == (2, 1, [])
    assert turn.messages == (User("What does main.py do?"),)


async def test_a_refusal_with_nothing_to_make_shorter_is_not_tried_again(tmp_path: Path) -> None:
    script = Script(tmp_path, OVERFLOW)
    _, outcome = await script.run(talked(hello_turn()))
    assert isinstance(outcome, Failed)
    assert outcome.shown == "the conversation does not fit"


@pytest.mark.parametrize(
    "failure", [BROKEN, Assistant(""), Assistant("- The", stopped="length"), Assistant("x" * 20_000)]
)
async def test_a_failed_summary_changes_nothing_and_is_not_tried_again(
    tmp_path: Path, failure: Assistant | Exception
) -> None:  # K01, K06
    (tmp_path / "main.py").write_text("print('hi')\n")
    script = Script(tmp_path, failure, READ, DONE)
    script.budget = SMALL
    _, outcome = await script.run(LONG)
    assert outcome == Answered(), "the turn goes on without it"
    assert len(script.summed_up) == 1
    assert kinds(script)[:2] == [CompactionStarted, CompactionFailed]
    assert script.sessions == [LONG, LONG]


async def test_a_turn_that_outgrows_the_window_has_its_older_results_cut_short(tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_text("word " * 1_500)
    script = Script(tmp_path, *(call(f"r{n}", "read_file", '{"path": "big.txt"}') for n in range(4)), DONE)
    script.budget = SMALL
    turn, outcome = await script.run(fresh())
    assert outcome == Answered()
    assert script.summed_up == []
    for asked in script.asked:
        taken = size(fit((*fresh().messages, *asked.messages))) + SMALL.tools
        assert tokens(SMALL.gauge, taken) <= SMALL.limit
    lengths = [len(m.content) for m in turn.messages if isinstance(m, Tool)]
    assert lengths[0] <= 300 < lengths[-1]


async def test_what_cannot_fit_is_not_sent(tmp_path: Path) -> None:  # K03
    script = Script(tmp_path)
    script.budget = Budget(2_048, 1_638, 9_000)
    _, outcome = await script.run(LONG)
    assert isinstance(outcome, Failed)
    assert "contextWindow" in outcome.shown
    assert (script.asked, script.summed_up) == ([], [])


async def test_a_turn_cancelled_while_a_summary_is_made_leaves_all_as_it_was(tmp_path: Path) -> None:  # K12
    begun = asyncio.Event()

    async def slowly(emit: Emit) -> Assistant:
        emit(TextDelta("- The"))
        begun.set()
        await asyncio.sleep(60)
        raise AssertionError("it was cancelled")

    script = Script(tmp_path, slowly)
    script.budget = SMALL
    task = asyncio.ensure_future(script.run(LONG))
    await begun.wait()
    task.cancel()
    turn, outcome = await task
    assert outcome == Cancelled()
    assert turn.messages == (User("What does main.py do?"),)
    assert kinds(script) == [CompactionStarted, CompactionProgress]


async def by_hand(script: Script, session: Session, focus: str = "") -> object:
    return await run_compaction(
        session, script.budget, script.ask_budget, script.sum_up, script.events.append, focus
    )


async def test_a_person_can_ask_for_a_summary_and_say_what_matters(tmp_path: Path) -> None:
    script = Script(tmp_path, SUMMARY)
    assert await by_hand(script, LONG, "the file names") == Answered()
    asked = script.summed_up[0][1]
    assert isinstance(asked, User)
    assert "the file names" in content_text(asked.content)
    [done] = (e for e in script.events if isinstance(e, Compacted))
    assert (done.turns, done.kept) == (4, 2)
    assert len([m for m in compact(LONG, done, LATER).messages if isinstance(m, User)]) == 3


async def test_with_nothing_to_sum_up_nobody_is_asked(tmp_path: Path) -> None:  # K13
    script = Script(tmp_path)
    assert await by_hand(script, talked(hello_turn())) == Answered()
    assert script.events == [Notice(NOTHING_TO_COMPACT)]


async def test_a_summary_that_cannot_be_had_is_told_once(tmp_path: Path) -> None:  # K06
    script = Script(tmp_path, BROKEN)
    outcome = await by_hand(script, LONG)
    assert isinstance(outcome, Failed)
    assert kinds(script) == [CompactionStarted, CompactionFailed]
    assert "the server failed (500)" in outcome.shown


async def test_a_fault_of_our_own_in_a_summary_is_a_line_too(tmp_path: Path) -> None:
    script = Script(tmp_path, RuntimeError("oops"))
    outcome = await by_hand(script, LONG)
    assert isinstance(outcome, Failed)
    assert "in mm itself" in outcome.shown

"""A turn, from the question to its end: a scripted model, real tools in a real folder."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from minime.core.budget import Budget
from minime.core.config.settings import TOOL_NAMES
from minime.core.events import (
    Answered,
    Cancelled,
    Event,
    Failed,
    TextDelta,
    ThoughtDelta,
    ToolFinished,
    ToolProgress,
    ToolRunning,
    ToolStarted,
)
from minime.core.model.failures import Failure
from minime.core.tools.consent import No, refusal_text
from minime.core.turn import CANCELLED_RESULT, CUT_CALL_RESULT, TOO_MANY_RESULT, Turn, start, turn_stopped
from minime.core.values import Assistant, Message, Session, Tool, ToolCall, User, tool_call
from minime.shell.loop import Emit, Hands, run_turn
from minime.shell.model.model import ModelFailed
from minime.shell.tools.tools import Ready, Tools
from tests.support.values import fresh, talked, tool_turn

Answer = Assistant | Exception | Callable[[Emit], Awaitable[Assistant]]


class Script:
    """Hands whose model gives these answers in turn; consent is what `refusal` says, empty for yes."""

    def __init__(self, root: Path, *answers: Answer, refusal: str = "") -> None:
        self.answers = list(answers)
        self.kept: list[Turn] = []
        self.asked: list[Turn] = []
        self.refusal = refusal
        self.events: list[Event] = []
        tools = Tools(root, root)
        self.budget = Budget()
        self.sessions: list[Session] = []
        self.summed_up: list[tuple[Message, ...]] = []
        self.hands = Hands(
            self.ask,
            self.ask_budget,
            self.sum_up,
            tools.prepare,
            self.consent,
            tools.run,
            self.kept.append,
        )

    async def ask_budget(self, turn: Turn | None, emit: Emit) -> Budget:
        return self.budget

    async def sum_up(self, history: tuple[Message, ...], most: int, emit: Emit) -> Assistant:
        self.summed_up.append(history)
        return await self._answer(emit)

    async def ask(self, session: Session, turn: Turn, emit: Emit) -> Assistant:
        self.asked.append(turn)
        self.sessions.append(session)
        return await self._answer(emit)

    async def _answer(self, emit: Emit) -> Assistant:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Assistant) else await answer(emit)

    async def consent(self, call: ToolCall, ready: Ready) -> str:
        return self.refusal

    async def run(self, session: Session | None = None, max_steps: int = 50) -> tuple[Turn, object]:
        first = start("What does main.py do?")
        return await run_turn(
            session or fresh(), first, self.hands, self.events.append, TOOL_NAMES, max_steps
        )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "main.py").write_text("print('hi')\n")
    return tmp_path


def call(id: str, name: str, arguments: str) -> Assistant:
    return Assistant("", (tool_call(id, name, arguments),))


READ = call("a", "read_file", '{"path": "main.py"}')
DONE = Assistant("It prints hi.")


def results(turn: Turn) -> list[Tool]:
    return [m for m in turn.messages if isinstance(m, Tool)]


async def test_a_question_a_tool_and_an_answer_are_one_turn(root: Path) -> None:
    script = Script(root, READ, DONE)
    turn, outcome = await script.run()
    assert outcome == Answered()
    assert turn.messages == (User("What does main.py do?"), READ, Tool("a", "print('hi')\n"), DONE)
    assert [len(t.messages) for t in script.asked] == [1, 3]


async def test_each_finished_round_is_kept_before_the_model_is_asked_again(root: Path) -> None:
    script = Script(root, READ, call("b", "list_directory", "{}"), DONE)
    await script.run()
    assert [len(turn.messages) for turn in script.kept] == [3, 5]


async def test_a_tool_is_told_of_by_one_start_and_one_finish(root: Path) -> None:
    script = Script(root, call("a", "run_command", '{"command": "echo hi"}'), DONE)
    await script.run()
    kinds = [type(event) for event in script.events]
    assert kinds[0] is ToolStarted
    assert kinds[-1] is ToolFinished
    assert kinds[1] is ToolRunning
    assert set(kinds[2:-1]) <= {ToolProgress}
    assert isinstance(script.events[0], ToolStarted)
    assert "echo hi" in script.events[0].title


async def test_an_edit_shows_its_diff_before_consent(root: Path) -> None:
    edit = call("a", "edit_file", '{"path": "main.py", "old_text": "hi", "new_text": "hello"}')
    script = Script(root, edit, DONE)
    turn, _ = await script.run()
    started = script.events[0]
    assert isinstance(started, ToolStarted)
    assert started.diff is not None
    assert started.diff.new_text == "print('hello')\n"
    assert results(turn)[0].diff == started.diff
    assert (root / "main.py").read_text() == "print('hello')\n"


async def test_a_refused_call_changes_nothing_and_comes_back_as_a_result(root: Path) -> None:
    write = call("a", "write_file", '{"path": "main.py", "content": "x"}')
    script = Script(root, write, DONE, refusal=refusal_text(No()))
    turn, outcome = await script.run()
    assert outcome == Answered()
    assert results(turn) == [Tool("a", refusal_text(No()), failed=True)]
    assert (root / "main.py").read_text() == "print('hi')\n"


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("open_file", "{}", "read_file"),  # S10
        ("read_file", '{"path":', "not valid JSON"),  # S07
        ("read_file", '{"path": "../secret"}', "outside"),
        ("write_file", '{"path": ".git/hooks/pre-commit", "content": "x"}', ".git"),
        ("edit_file", '{"path": "main.py", "old_text": "absent", "new_text": "x"}', "old_text"),
    ],
)
async def test_an_impossible_call_is_a_result_and_nobody_is_asked(
    root: Path, name: str, arguments: str, words: str
) -> None:
    script = Script(root, call("a", name, arguments), DONE, refusal="was asked")
    turn, outcome = await script.run()
    assert outcome == Answered()
    assert results(turn)[0].failed
    assert words in results(turn)[0].content
    assert [type(event) for event in script.events] == [ToolStarted, ToolFinished]


async def test_a_call_cut_at_the_output_limit_is_never_run(root: Path) -> None:  # W04
    cut = Assistant("", (tool_call("a", "write_file", '{"path":"main.py","content":"x'),), stopped="length")
    script = Script(root, cut, DONE)
    turn, outcome = await script.run()
    assert results(turn) == [Tool("a", CUT_CALL_RESULT, failed=True)]
    assert outcome == Answered()
    assert turn_stopped(turn) == ""
    assert (root / "main.py").read_text() == "print('hi')\n"


async def test_ids_that_the_session_knows_are_renamed_on_entry(root: Path) -> None:
    script = Script(root, call("call_1", "read_file", '{"path": "main.py"}'), DONE)
    turn, _ = await script.run(talked(tool_turn()))
    assert results(turn)[0].tool_call_id != "call_1"


async def test_the_same_call_is_warned_of_at_three_and_ends_the_turn_at_five(root: Path) -> None:  # D01
    script = Script(root, *[READ] * 9)
    turn, outcome = await script.run()
    assert outcome == Answered()
    assert turn_stopped(turn) == "loop"
    texts = [result.content for result in results(turn)]
    assert len(texts) == 5
    assert texts[:2] == ["print('hi')\n"] * 2
    assert "3 times running" in texts[2]


async def test_a_hundred_equal_calls_in_one_answer_run_five_times_at_most(root: Path) -> None:
    calls = tuple(tool_call(f"c{n}", "run_command", '{"command": "echo x >> log"}') for n in range(100))
    script = Script(root, Assistant("", calls))
    turn, _ = await script.run()
    assert (root / "log").read_text() == "x\n" * 5
    assert len(results(turn)) == 100
    assert turn_stopped(turn) == "loop"


async def test_calls_beyond_the_bound_of_an_answer_are_told_to_the_model_and_not_run(root: Path) -> None:
    calls = tuple(tool_call(f"c{n}", "run_command", f'{{"command": "echo {n} >> log"}}') for n in range(66))
    turn, outcome = await Script(root, Assistant("", calls), DONE).run()
    assert outcome == Answered()
    assert (root / "log").read_text().split() == [str(n) for n in range(64)]
    assert [result.content for result in results(turn)[64:]] == [TOO_MANY_RESULT] * 2


async def test_the_bound_on_rounds_ends_the_turn(root: Path) -> None:  # D02
    script = Script(root, READ, call("b", "list_directory", "{}"), DONE)
    turn, outcome = await script.run(max_steps=1)
    assert (outcome, turn_stopped(turn)) == (Answered(), "steps")


async def test_a_failing_model_is_an_outcome_with_its_line(root: Path) -> None:
    script = Script(root, READ, ModelFailed(Failure("server", "the server failed", "raw words")))
    turn, outcome = await script.run()
    assert outcome == Failed("the server failed", "raw words", "server")
    assert len(turn.messages) == 3


async def test_a_fault_of_our_own_ends_the_turn_and_nothing_else(root: Path) -> None:
    _, outcome = await Script(root, ValueError("oops")).run()
    assert isinstance(outcome, Failed)
    assert outcome.shown == "mm itself failed: ValueError: oops"
    assert "Traceback" in outcome.raw


async def _cancel_when(script: Script, ready: Callable[[], bool]) -> tuple[Turn, object]:
    task = asyncio.ensure_future(script.run())
    async with asyncio.timeout(10):
        while not ready():
            await asyncio.sleep(0.01)
        task.cancel()
        return await task


async def test_cancelled_in_the_stream_the_partial_answer_stays_with_its_thought(root: Path) -> None:  # H06
    async def streams(emit: Emit) -> Assistant:
        for event in (ThoughtDelta("hm"), TextDelta("It "), TextDelta("prints")):
            emit(event)
        await asyncio.sleep(60)
        raise AssertionError

    script = Script(root, streams)
    turn, outcome = await _cancel_when(script, lambda: len(script.events) == 3)
    assert outcome == Cancelled()
    assert turn.messages[-1] == Assistant("It prints", reasoning_content="hm", stopped="cancelled")


async def test_cancelled_before_the_first_word_only_the_question_stands(root: Path) -> None:
    async def silent(emit: Emit) -> Assistant:
        await asyncio.sleep(60)
        raise AssertionError

    script = Script(root, silent)
    turn, outcome = await _cancel_when(script, lambda: bool(script.asked))
    assert (outcome, len(turn.messages)) == (Cancelled(), 1)


async def test_cancelled_in_a_command_its_processes_are_gone_and_the_tool_is_finished(
    root: Path,
) -> None:  # H07
    sleeper = call("a", "run_command", '{"command": "echo $$ > pid; sleep 100 & wait"}')
    script = Script(root, sleeper)
    pid = root / "pid"
    _, outcome = await _cancel_when(script, lambda: pid.exists() and pid.read_text().endswith("\n"))
    assert outcome == Cancelled()
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
    assert isinstance(script.events[-1], ToolFinished)
    assert script.events[-1].result == Tool("a", CANCELLED_RESULT, failed=True)

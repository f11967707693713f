"""Prompts of an editor: their queue, what is shown of them, consent, cancelling, failing."""

import json
from typing import Any

import pytest

from minime.core.acp.effects import Decide, ListSessions, Save, StartTurn, StopTurn
from minime.core.acp.inputs import (
    CompactionEnded,
    ConsentNeeded,
    Ended,
    Exported,
    Listed,
    ModelsFound,
    RoundKept,
    SaveDone,
    ServersSeen,
    TurnEnded,
)
from minime.core.events import (
    Answered,
    Cancelled,
    CompactionFailed,
    Failed,
    Notice,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolRunning,
    ToolStarted,
    UsageSeen,
)
from minime.core.tools.consent import No, refusal_text
from minime.core.tools.permissions import PermissionRule
from minime.core.tools.toolbox import RunCommand
from minime.core.turn import start
from minime.core.values import Assistant, Diff, Tool, Usage, tool_call
from tests.support.acp import TURN_UPDATES, Conversation

MAKE = tool_call("call_1", "run_command", '{"command": "make test"}')
DONE = Tool("call_1", "ok\n(exit status 0)")
END = {"stopReason": "end_turn"}
CANCELLED = {"stopReason": "cancelled"}


@pytest.fixture
def talk() -> Conversation:
    """A conversation with a fresh session, of which nothing was said yet."""
    talk = Conversation()
    talk.new()
    talk.mark()
    return talk


def stops(talk: Conversation) -> int:
    """How often a turn was told to stop."""
    return sum(isinstance(effect, StopTurn) for effect in talk.done)


def decided(talk: Conversation) -> list[str]:
    """What was decided: empty is yes."""
    return [effect.refusal for effect in talk.done if isinstance(effect, Decide)]


def test_an_answer_comes_whole_before_its_response_and_without_the_question(talk: Conversation) -> None:
    # acp-21, acp-22, acp-33
    talk.prompt("Hello")
    talk.happen(TextDelta("Hi"), TextDelta(" there"))
    talk.answer(".")
    assert "".join(u["content"]["text"] for u in talk.updates() if "content" in u) == "Hi there."
    assert "user_message_chunk" not in talk.kinds()
    assert talk.heard[-1]["result"] == END
    talk.happen(TextDelta("late"), ToolStarted(MAKE, ""))
    assert talk.heard[-1]["result"] == END


def test_the_first_turn_names_the_session_even_when_it_fails(talk: Conversation) -> None:
    # acp-19
    talk.prompt("What is 2 + 2?\nQuickly." + "x" * 100)
    talk.end(Failed("no answer", "", "watchdog"))
    assert talk.updates()[-1]["title"] == "What is 2 + 2?"


def test_each_message_has_an_id_of_its_own_also_behind_a_failed_turn_and_a_load() -> None:
    talk = Conversation(mode="auto")
    id = talk.new()
    for _ in range(2):
        talk.prompt("Run it.")
        talk.happen(TextDelta("I run it."))
        talk.start(MAKE, consent=False)
        talk.finish(DONE)
        talk.happen(TextDelta("And"))
        talk.end(Failed("no answer"))
    talk.ask("session/load", sessionId=id, cwd="/w")
    talk.prompt("/help", id=id)
    talk.prompt("Hello", id=id)
    talk.answer("Hi.", id=id)
    ids = [u["messageId"] for u in talk.updates() if u["sessionUpdate"] == "agent_message_chunk"]
    assert len(ids) == len(set(ids))
    calls = [u["toolCallId"] for u in talk.updates() if u["sessionUpdate"] == "tool_call"]
    assert calls == ["call_1", "call_1.2"]


def test_a_call_is_shown_before_anything_else_about_it_and_to_its_end(talk: Conversation) -> None:
    # acp-26, acp-27
    talk.prompt("Run it.")
    talk.start(MAKE)
    asked = talk.heard[-1]["params"]
    assert asked["toolCall"] == {k: v for k, v in talk.updates()[0].items() if k != "sessionUpdate"}
    talk.permit("allow")
    talk.finish(DONE)
    talk.answer("Done.")
    assert [u.get("status") for u in talk.updates() if u.get("toolCallId")] == [
        "pending",
        "in_progress",
        "completed",
    ]


def test_no_call_stays_open_behind_its_turn(talk: Conversation) -> None:
    # acp-27
    talk.prompt("Run it.")
    talk.happen(ToolStarted(MAKE, ""), ToolRunning("call_1"))
    talk.end(Failed("mm itself failed"))
    assert [u["status"] for u in talk.updates() if "status" in u] == ["pending", "in_progress", "failed"]


def test_output_grows_and_its_newest_part_is_shown(talk: Conversation) -> None:
    talk.prompt("Run it.")
    talk.happen(
        ToolStarted(MAKE, ""),
        ToolRunning("call_1"),
        ToolProgress("call_1", "a" * 7_000),
        ToolProgress("call_1", "b" * 7_000),
    )
    shown = talk.updates()[-1]["content"][0]["content"]["text"]
    assert shown == "a" * 1_000 + "b" * 7_000


def test_a_command_that_was_not_run_says_why_in_its_terminal() -> None:
    talk = Conversation(client={"_meta": {"terminal_output": True}})
    talk.new()
    talk.prompt("Run it.")
    talk.start(MAKE)
    talk.permit("reject")
    talk.finish(Tool("call_1", "refused by the user", failed=True), run=False)
    meta = talk.updates()[-1]["_meta"]
    assert meta["terminal_output"]["data"] == "refused by the user"
    assert meta["terminal_exit"]["exit_code"] is None


@pytest.mark.parametrize(("window", "expected"), [(8192, [{"used": 34, "size": 8192}]), (0, [])])
def test_usage_is_told_where_the_window_is_known(window: int, expected: list[dict[str, int]]) -> None:
    talk = Conversation(window=window)
    talk.new()
    talk.prompt("Hello")
    talk.happen(UsageSeen(Usage(31, 3, 34)))
    told = [u for u in talk.updates() if u["sessionUpdate"] == "usage_update"]
    assert told == [{"sessionUpdate": "usage_update", **usage} for usage in expected]


@pytest.mark.parametrize(
    ("stopped", "reason"),
    [
        ("", "end_turn"),
        ("length", "max_tokens"),
        ("steps", "max_turn_requests"),
        ("loop", "max_turn_requests"),
    ],
)
def test_a_turn_cut_short_has_its_reason_and_a_line(talk: Conversation, stopped: str, reason: str) -> None:
    talk.prompt("Hello")
    talk.answer("Hi", stopped=stopped)
    assert talk.heard[-1]["result"] == {"stopReason": reason}
    texts = [u["content"]["text"] for u in talk.updates() if u["sessionUpdate"] == "agent_message_chunk"]
    assert len(texts) == (2 if stopped else 1)


@pytest.mark.parametrize(("kind", "code"), [("watchdog", -32603), ("", -32603), ("key", -32000)])
def test_a_failed_turn_is_an_error_with_the_line_and_never_an_empty_success(
    talk: Conversation, kind: str, code: int
) -> None:
    # acp-57
    talk.prompt("Hello")
    talk.end(Failed("no answer: start the server", "line one\nline two", kind))
    error = talk.heard[-1]["error"]
    assert (error["code"], error["message"]) == (code, "no answer: start the server")
    assert error["data"] == {"kind": kind or "generation", "details": "line one\nline two"}
    assert talk.state.sessions[talk.id].session.errors[0].message == "no answer: start the server"


def test_a_save_that_fails_is_told_within_its_turn_once_and_when_it_is_over(talk: Conversation) -> None:
    talk.disk_full = "cannot save: no space left on device"
    talk.prompt("Hello")
    talk.answer("Hi.")
    assert talk.updates()[-2]["content"]["text"].strip() == "cannot save: no space left on device"
    assert talk.heard[-1]["result"] == END
    talk.prompt("And now?")
    talk.answer("The same.")
    assert "cannot save: no space left on device" not in talk.updates()[-2]["content"]["text"]
    talk.disk_full = ""
    talk.prompt("Again")
    talk.answer("Hi again.")
    assert talk.updates()[-2]["content"]["text"].strip() == "the session is saved again"
    assert len(talk.disk[talk.id].messages) == 7  # type: ignore[union-attr]


def test_a_session_that_had_to_go_elsewhere_goes_on_under_the_id_of_the_editor(talk: Conversation) -> None:
    talk.prompt("Hello")
    session = talk.state.sessions[talk.id].session
    talk.feed(
        SaveDone(
            talk.id,
            session.id,
            session.__class__(**{**_fields(session), "id": "20260916-102000-00c0ffee"}),
            "another mm changed it",
        )
    )
    talk.answer("Hi.")
    assert [e.session.id for e in talk.done if isinstance(e, Save)][-1] == "20260916-102000-00c0ffee"
    assert talk.updates()[-1]["title"] == "Hello"


def _fields(session: Any) -> dict[str, Any]:
    return {name: getattr(session, name) for name in session.__struct_fields__}


@pytest.mark.parametrize("outcome", [Cancelled(), Answered(), Failed("connection lost")])
def test_a_cancelled_turn_is_answered_as_cancelled_however_it_ends(talk: Conversation, outcome: Any) -> None:
    # acp-29, acp-31, acp-32
    talk.prompt("Hello")
    talk.happen(TextDelta("Hi"))
    talk.tell("session/cancel", sessionId=talk.id)
    talk.grow(Assistant("Hi"))
    talk.end(outcome)
    assert talk.heard[-1]["result"] == CANCELLED
    assert not talk.state.sessions[talk.id].session.errors
    talk.prompt("Again")
    talk.answer("Hi.")
    assert talk.heard[-1]["result"] == END


def test_a_cancel_right_behind_its_prompt_leaves_no_trace(talk: Conversation) -> None:
    # acp-30
    before = talk.state.sessions[talk.id].session
    talk.prompt("Hello")
    talk.tell("session/cancel", sessionId=talk.id)
    talk.end(Cancelled())
    assert talk.heard[-1]["result"] == CANCELLED
    assert talk.state.sessions[talk.id].session == before


def test_an_idle_cancel_does_nothing_and_spoils_nothing(talk: Conversation) -> None:
    # acp-33
    for id in (talk.id, "unknown"):
        talk.tell("session/cancel", sessionId=id)
    talk.prompt("Hello")
    talk.answer("Hi.")
    assert talk.heard[-1]["result"] == END
    assert not stops(talk)


def test_a_cancel_does_not_wait_for_a_permission_that_never_comes(talk: Conversation) -> None:
    # acp-34
    talk.prompt("Run it.")
    talk.start(MAKE)
    talk.tell("session/cancel", sessionId=talk.id)
    assert stops(talk) == 1
    talk.permit("allow")
    talk.feed(ConsentNeeded(talk.id, MAKE, RunCommand("make test"), ""))
    assert all(decided(talk))


def test_prompts_wait_in_order_and_are_cancelled_together(talk: Conversation) -> None:
    # acp-36
    for text in ("one", "two", "three"):
        talk.prompt(text)
    talk.answer("1")
    assert [e.blocks[0].text for e in talk.done if isinstance(e, StartTurn)] == ["one", "two"]
    talk.tell("session/cancel", sessionId=talk.id)
    talk.end(Cancelled())
    assert [talk.answer_to(n) for n in (2, 3, 4)] == [END, CANCELLED, CANCELLED]


def test_one_request_can_be_cancelled_and_no_other(talk: Conversation) -> None:
    for text in ("one", "two", "three"):
        talk.prompt(text)
    talk.tell("$/cancel_request", requestId=3)
    assert talk.answer_to(3) == CANCELLED
    talk.tell("$/cancel_request", requestId=2)
    talk.end(Cancelled())
    assert talk.answer_to(2) == CANCELLED
    talk.answer("3")
    assert talk.answer_to(4) == END


def test_one_session_does_not_hold_up_another(talk: Conversation) -> None:
    # acp-37
    one, two = talk.id, talk.new("/other")
    talk.prompt("Run it.", id=one)
    talk.start(MAKE, id=one)
    talk.prompt("Hello", id=two)
    talk.answer("Hi.", id=two)
    talk.tell("session/cancel", sessionId=two)
    assert not stops(talk)
    talk.permit("allow")
    assert decided(talk) == [""]


@pytest.mark.parametrize("how", ["mode", "option"])
def test_another_mode_holds_from_the_next_call_on(talk: Conversation, how: str) -> None:
    # acp-38
    talk.prompt("Run it.")
    if how == "mode":
        talk.ask("session/set_mode", sessionId=talk.id, modeId="auto")
    else:
        talk.ask("session/set_config_option", sessionId=talk.id, configId="mode", value="auto")
    talk.start(MAKE)
    assert decided(talk) == [""]


@pytest.mark.parametrize(
    ("option", "decisions", "asked"),
    [("allow", [True], 2), ("allow-always", [True, True], 1), ("reject", [False], 2), ("reject-always", [False, False], 1),
     ("made up", [False], 2)],
)  # fmt: skip
def test_an_answer_holds_once_or_for_the_session(
    talk: Conversation, option: str, decisions: list[bool], asked: int
) -> None:
    # acp-55, acp-56
    talk.prompt("Run it, twice.")
    talk.start(MAKE)
    kinds = {o["kind"] for o in talk.heard[-1]["params"]["options"]}
    assert kinds == {"allow_once", "allow_always", "reject_once", "reject_always"}
    talk.permit(option)
    again = tool_call("call_2", "run_command", '{"command": "make test"}')
    talk.start(again)
    assert [not refusal for refusal in decided(talk)] == decisions
    assert sum(m.get("method") == "session/request_permission" for m in talk.heard) == asked


def test_always_is_not_offered_for_a_shell_and_not_taken(talk: Conversation) -> None:
    talk.prompt("Run it.")
    talk.start(tool_call("call_1", "run_command", '{"command": "sh -c ls"}'))
    assert [o["kind"] for o in talk.heard[-1]["params"]["options"]] == ["allow_once", "reject_once"]
    talk.permit("allow-always")
    assert all(decided(talk))
    assert not talk.state.sessions[talk.id].always


def test_a_permission_that_is_cancelled_cancels_the_turn(talk: Conversation) -> None:
    # acp-56
    talk.prompt("Run it.")
    talk.start(MAKE)
    talk.permit(None)
    assert stops(talk) == 1
    talk.end(Cancelled())
    assert talk.heard[-1]["result"] == CANCELLED


def test_an_edit_is_shown_with_its_diff_at_once(talk: Conversation) -> None:
    # acp-54
    talk.prompt("Make it.")
    talk.start(tool_call("c", "write_file", '{"path": "a", "content": "x"}'), Diff("a", None, "x"))
    first = talk.updates()[0]
    assert first["content"] == [{"type": "diff", "path": "/w/a", "oldText": None, "newText": "x"}]
    assert "locations" not in first


@pytest.mark.parametrize(
    "blocks",
    [[], [{}], [7], [{"type": "text", "text": " \n"}], [{"type": "resource", "resource": 7}]],
)
def test_a_prompt_that_says_nothing_is_an_error(talk: Conversation, blocks: list[Any]) -> None:
    assert talk.ask("session/prompt", sessionId=talk.id, prompt=blocks)["code"] == -32602


@pytest.mark.parametrize("client", [{}, {"session": {"notices": {}}}])
def test_a_notice_stands_beside_the_answer_only_where_it_is_taken(client: dict[str, Any]) -> None:
    talk = Conversation(client=client)
    talk.new()
    talk.prompt("Hello")
    talk.happen(TextDelta("Hi"), Notice("a slow server"), TextDelta(" there"))
    kinds = [kind for kind in talk.kinds() if kind in TURN_UPDATES | {"notice"}]
    assert kinds[1] == ("notice" if client else "agent_message_chunk")
    assert len({u["messageId"] for u in talk.updates() if "messageId" in u}) == (1 if client else 3)


@pytest.mark.parametrize(("line", "words"), [
    ("/hlep", "did you mean /help?"), ("/quit", "in the terminal only"), ("  /mode", "mode: ask"), ("/mode sleepy", "there are ask"),
    ("/errors", "no errors"), ("/new", "is empty"),
])  # fmt: skip
def test_a_command_is_answered_and_not_sent_to_the_model(talk: Conversation, line: str, words: str) -> None:
    # acp-60
    assert talk.prompt(line) == END
    assert words in talk.updates()[0]["content"]["text"]
    assert not any(isinstance(effect, StartTurn) for effect in talk.done)


def test_a_command_is_one_where_the_first_text_begins_with_it(talk: Conversation) -> None:
    link = {"type": "resource_link", "uri": "file:///w/a", "name": "a"}
    assert talk.prompt(link, "/title A file") == END
    talk.prompt("Look: /help", link)
    assert isinstance(talk.done[-1], StartTurn)


def test_prompts_wait_while_a_conversation_is_archived_and_nothing_is_lost(talk: Conversation) -> None:
    # A11
    talk.prompt("Hello")
    talk.prompt("/new")
    talk.prompt("Again")
    talk.answer("Hi.")
    saves = [e.session for e in talk.done if isinstance(e, Save)]
    assert [(s.id == talk.id, len(s.messages)) for s in saves] == [(True, 3), (False, 3), (True, 1)]
    assert isinstance(talk.done[-1], StartTurn)
    assert len(talk.done[-1].session.messages) == 1


def test_a_thousand_waiting_commands_are_no_trouble(talk: Conversation) -> None:
    talk.prompt("Hello")
    for _ in range(1_000):
        talk.raw(json.dumps({"jsonrpc": "2.0", "id": "x", "method": "session/prompt", "params": {
            "sessionId": talk.id, "prompt": [{"type": "text", "text": "/mode"}]}}).encode())  # fmt: skip
    talk.methods["x"] = "session/prompt"
    talk.answer("Hi.")
    assert len(talk.answers("x")) == 1_000


def test_a_turn_that_never_began_is_over_all_the_same(talk: Conversation) -> None:
    talk.prompt("Hello")
    talk.turns[talk.id] = talk.turns[talk.id][0], start("")
    talk.end(Cancelled())
    assert talk.heard[-1]["result"] == CANCELLED
    talk.happen(ToolFinished(DONE))
    assert talk.heard[-1]["result"] == CANCELLED


def test_what_comes_late_from_a_turn_changes_nothing(talk: Conversation) -> None:
    before = talk.state
    turn = start("late")
    for late in (
        RoundKept(talk.id, turn),
        TurnEnded(talk.id, turn, Answered()),
        CompactionEnded(talk.id, Answered()),
        Exported(talk.id, "wrote a"),
        Listed(ListSessions(1, "/w", "", talk.id), ()),
        ConsentNeeded("20200101-000000-00000000", MAKE, RunCommand("make test"), ""),
        ModelsFound("20200101-000000-00000000", "m", ()),
        ServersSeen("20200101-000000-00000000", ()),
    ):
        talk.feed(late)
    assert (talk.state, talk.heard) == (before, [])
    assert decided(talk) == [refusal_text(No())]


def test_a_round_that_is_kept_already_is_not_saved_again(talk: Conversation) -> None:
    talk.prompt("make it")
    talk.start(MAKE, consent=False)
    talk.finish(DONE)
    saves = sum(isinstance(effect, Save) for effect in talk.done)
    talk.feed(RoundKept(talk.id, start("make it")))  # nothing is finished in it
    assert sum(isinstance(effect, Save) for effect in talk.done) == saves


def test_a_prompt_behind_the_end_of_the_editor_is_cancelled(talk: Conversation) -> None:
    talk.prompt("Hello")
    talk.feed(Ended())
    assert talk.prompt("and now?") == CANCELLED


def test_a_save_of_what_the_session_was_before_tells_of_its_trouble_alone(talk: Conversation) -> None:
    talk.prompt("Hello")
    talk.answer("Hi.")
    session = talk.state.sessions[talk.id].session
    talk.feed(SaveDone(talk.id, "20200101-000000-00000000", None, "the disk is full"))
    assert talk.state.sessions[talk.id].session == session
    assert talk.state.sessions[talk.id].unsaved == ""
    assert "the disk is full" in talk.state.sessions[talk.id].untold


def test_what_a_rule_denies_is_not_asked_about() -> None:
    talk = Conversation()
    talk.opening["rules"] = (PermissionRule("run_command", "make*", "deny"),)
    talk.new()
    talk.prompt("make it")
    talk.start(MAKE)
    [reason] = decided(talk)
    assert reason.startswith("denied")
    assert not any(m.get("method") == "session/request_permission" for m in talk.heard)


def test_a_call_that_was_not_shown_is_asked_about_by_its_id(talk: Conversation) -> None:
    talk.prompt("make it")
    talk.feed(ConsentNeeded(talk.id, MAKE, RunCommand("make test"), ""))
    [asked] = [m for m in talk.heard if m.get("method") == "session/request_permission"]
    assert asked["params"]["toolCall"] == {"toolCallId": "call_1"}


def test_a_window_that_the_model_tells_counts_and_an_event_of_no_call_is_passed_over(
    talk: Conversation,
) -> None:
    talk.prompt("Hello")
    talk.happen(UsageSeen(Usage(10, 2, 12), 4_096, "told by llama.cpp"), ToolProgress("nobody", "x"))
    assert talk.state.sessions[talk.id].window == 4_096
    assert talk.kinds() == ["usage_update"]


def test_an_automatic_compaction_that_fails_is_told_in_the_answer(talk: Conversation) -> None:
    talk.prompt("Hello")
    talk.happen(CompactionFailed("the model wrote no summary"))
    assert "the model wrote no summary" in json.dumps(talk.updates())
    talk.answer("Hi.")
    assert talk.state.sessions[talk.id].session.errors[0].kind == "compaction"


def test_what_was_allowed_is_taken_back_and_where_nothing_is_kept_a_new_one_begins_all_the_same() -> None:
    talk = Conversation(keeps=False)
    talk.new()
    talk.prompt("make it")
    talk.start(MAKE)
    talk.permit("allow-always")
    talk.finish(DONE)
    talk.answer("Done.")
    assert talk.state.sessions[talk.id].always
    talk.prompt("/permissions clear")
    assert not talk.state.sessions[talk.id].always
    talk.prompt("/new")
    assert "the one before is gone, since nothing is kept here" in json.dumps(talk.heard)
    assert len(talk.state.sessions[talk.id].session.messages) == 1


def test_a_question_of_an_editor_holds_all_of_a_command_with_what_is_unseen(talk: Conversation) -> None:
    hidden = "ls" + " " * 300 + "\u202e; rm -rf ~"
    call = tool_call("call_1", "run_command", json.dumps({"command": hidden}))
    talk.prompt("Run it.")
    talk.start(call, consent=False)
    talk.feed(ConsentNeeded(talk.id, call, RunCommand(hidden), ""))
    [asked] = [m for m in talk.heard if m.get("method") == "session/request_permission"]
    [shown] = asked["params"]["toolCall"]["content"]
    assert shown["content"]["text"] == "ls" + " " * 300 + "\\u202e; rm -rf ~"

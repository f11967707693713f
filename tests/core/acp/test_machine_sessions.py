"""Sessions of an editor: opened, loaded, listed, closed, deleted, chosen for."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from minime.core.acp.effects import DeleteSession, Forget, ListSessions, Open, Save, UseModel
from minime.core.acp.inputs import Deleted, Listed, ModelsFound, Opened, Opening, ServersSeen
from minime.core.events import Answered, Cancelled, TextDelta
from minime.core.listing import Row
from minime.core.tools.outside import Report
from minime.core.values import Assistant, Pending
from tests.support.acp import Conversation
from tests.support.values import ID, LATER, NOW, OTHER_ID, fresh, hello_turn, talked, tool_turn

LOAD = {"sessionId": ID, "cwd": "/w", "mcpServers": []}


@pytest.fixture
def talk() -> Conversation:
    """A conversation with a kept session, not open yet."""
    talk = Conversation()
    talk.disk[ID] = talked(hello_turn(), tool_turn())
    return talk


@pytest.mark.parametrize("asked", [1, 2, 65535])
def test_the_version_is_always_ours(asked: int) -> None:
    answer = Conversation().ask("initialize", protocolVersion=asked)
    assert answer["protocolVersion"] == 1


@pytest.mark.parametrize(
    ("state", "load", "kept"),
    [
        ({}, True, {"list", "delete", "close", "additionalDirectories"}),
        ({"resumes": True}, True, {"list", "delete", "close", "additionalDirectories", "resume"}),
        ({"keeps": False, "resumes": True}, False, {"close", "additionalDirectories"}),
    ],
)
def test_only_what_is_served_is_advertised(state: dict[str, Any], load: bool, kept: set[str]) -> None:
    abilities = Conversation(**state).ask("initialize", protocolVersion=1)["agentCapabilities"]
    assert abilities["loadSession"] is load
    assert set(abilities["sessionCapabilities"]) == kept
    assert abilities["promptCapabilities"] == {"image": True, "audio": False, "embeddedContext": True}


@pytest.mark.parametrize(("client", "ids"), [
    ({}, ["mm-config"]), ({"auth": {"terminal": True}}, ["mm-config", "mm-setup"]), ({"auth": {}}, ["mm-config"]),
])  # fmt: skip
def test_the_terminal_way_of_signing_in_is_for_editors_that_offer_it(
    client: dict[str, Any], ids: list[str]
) -> None:
    # acp-58
    talk = Conversation()
    methods = talk.ask("initialize", protocolVersion=1, clientCapabilities=client)["authMethods"]
    assert [method["id"] for method in methods] == ids
    assert talk.ask("authenticate", methodId="mm-config") == {}
    assert talk.ask("authenticate", methodId="mm-setup")["code"] == -32602


def test_a_load_replays_each_time_and_before_its_answer(talk: Conversation) -> None:
    # acp-1, acp-3, acp-5
    kinds = []
    for _ in range(2):
        talk.mark()
        assert "modes" in talk.ask("session/load", **LOAD)
        kinds.append(talk.kinds(ID))
        place = next(i for i, m in enumerate(talk.heard) if "method" not in m)
        assert [m["params"]["update"]["sessionUpdate"] for m in talk.heard[place + 1 :]] == [
            "available_commands_update"
        ]
    assert kinds[0] == kinds[1]
    assert kinds[0].count("user_message_chunk") == 2
    talk.ask("session/close", sessionId=ID)
    talk.mark()
    talk.ask("session/load", **LOAD)
    assert talk.kinds(ID) == kinds[0]


def test_a_resume_replays_nothing(talk: Conversation) -> None:
    # acp-4
    talk.ask("session/resume", sessionId=ID, cwd="/w")
    assert talk.kinds(ID) == ["session_info_update", "available_commands_update"]


def test_a_session_without_a_question_loads(talk: Conversation) -> None:
    # acp-6
    talk.disk[OTHER_ID] = msgspec.structs.replace(fresh(), id=OTHER_ID)
    assert "modes" in talk.ask("session/load", sessionId=OTHER_ID, cwd="/w", mcpServers=[])


@pytest.mark.parametrize("id", [OTHER_ID, "", "../../etc/passwd", "a/b", "a\0b", "x" * 10_000, "..", "C:\\x"])
@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/prompt"])
def test_an_unknown_session_is_not_found(talk: Conversation, method: str, id: str) -> None:
    # acp-7, acp-20b, F15
    answer = talk.ask(method, sessionId=id, cwd="/w", prompt=[{"type": "text", "text": "Hi"}])
    assert answer["code"] == -32002
    assert all(effect.id == OTHER_ID for effect in talk.done if isinstance(effect, Open))


@pytest.mark.parametrize(
    "params", [{"cwd": "w"}, {"cwd": "/w", "additionalDirectories": ["src"]}, {"cwd": "/\0"}, {}]
)
def test_a_session_needs_absolute_folders(talk: Conversation, params: dict[str, Any]) -> None:
    assert talk.ask("session/new", mcpServers=[], **params)["code"] == -32602


def test_a_missing_list_of_servers_is_none() -> None:
    # acp-52
    assert "sessionId" in Conversation().ask("session/new", cwd="/w")


def test_a_load_while_a_prompt_runs_is_refused_and_harms_nothing(talk: Conversation) -> None:
    talk.ask("session/load", **LOAD)
    talk.prompt("And 3 + 3?", id=ID)
    assert talk.ask("session/load", **LOAD)["code"] == -32600
    talk.answer("6.", id=ID)
    assert talk.answer_to(2) == {"stopReason": "end_turn"}


def test_a_load_does_not_lose_what_could_not_be_saved(talk: Conversation) -> None:
    talk.ask("session/load", **LOAD)
    talk.disk_full = "cannot save: no space left on device"
    talk.prompt("And 3 + 3?", id=ID)
    talk.answer("6.", id=ID)
    talk.mark()
    talk.ask("session/load", **LOAD)
    assert "6." in [
        u["content"]["text"] for u in talk.updates(ID) if u["sessionUpdate"] == "agent_message_chunk"
    ]
    talk.disk_full = ""
    talk.ask("session/close", sessionId=ID)
    kinds = [type(effect) for effect in talk.done]
    assert kinds.index(Save) < kinds.index(Forget)
    assert "6." in str(talk.disk[ID])


@pytest.mark.parametrize("running", [False, True])
def test_a_session_that_cannot_be_saved_is_not_closed(talk: Conversation, running: bool) -> None:
    talk.ask("session/load", **LOAD)
    talk.disk_full = "cannot save: no space left on device"
    talk.prompt("And 3 + 3?", id=ID)
    talk.happen(TextDelta("6"), id=ID)
    talk.grow(Assistant("6", model="tiny"), id=ID)
    if running:
        talk.ask("session/close", sessionId=ID)
        talk.end(Cancelled(), id=ID)
        refused = talk.answer_to(3)
    else:
        talk.end(Answered(), id=ID)
        refused = talk.ask("session/close", sessionId=ID)
    assert refused["code"] == -32603
    assert refused["message"] == f"{talk.disk_full}; the session stays open, so that nothing is lost"
    assert Forget(ID) not in talk.done
    talk.disk_full = ""
    assert talk.ask("session/close", sessionId=ID) == {}
    assert "And 3 + 3?" in str(talk.disk[ID])


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_an_unfinished_turn_is_told_before_the_next_answer(talk: Conversation, method: str) -> None:
    pending = Pending(LATER, "failed", tool_turn().messages[:3])
    talk.disk[ID] = msgspec.structs.replace(talked(hello_turn()), pending=pending)
    talk.ask(method, **LOAD)
    talk.mark()
    talk.prompt("Go on?", id=ID)
    assert "1 tool call done" in talk.updates(ID)[0]["content"]["text"]


def test_a_title_is_told_again_after_a_load_with_its_zone(talk: Conversation) -> None:
    # acp-19
    talk.disk[ID] = msgspec.structs.replace(talked(hello_turn()), title="x" * 300)
    talk.ask("session/load", **LOAD)
    info = next(u for u in talk.updates(ID) if u["sessionUpdate"] == "session_info_update")
    assert len(info["title"]) == 80
    assert info["updatedAt"].endswith("Z")


def test_commands_are_told_a_moment_behind_the_answer() -> None:
    # acp-24, acp-23
    talk = Conversation()
    talk.new()
    assert talk.kinds() == ["available_commands_update"]
    assert talk.lines[-2] == "* 0.1 s later:"


def rows(count: int) -> tuple[tuple[str, Row], ...]:
    """Sessions of which always three were used in the same second, the newest first."""
    return tuple(
        (
            "/w",
            Row(
                n,
                f"20260916-101530-{count - n:08x}",
                updated=NOW - timedelta(seconds=n // 3),
                turns=1,
                title=f"t{n}",
            ),
        )
        for n in range(count)
    )


def test_a_list_comes_in_pages_without_loss_or_repeat(talk: Conversation) -> None:
    # acp-16, acp-17
    seen: list[str] = []
    there = rows(120)
    cursor: dict[str, str] = {}
    for page in range(3):
        number = len(talk.methods) + 1
        talk.methods[number] = "session/list"
        talk.feed(Listed(ListSessions(number, "/w", cursor.get("cursor", "")), there))
        answer = talk.answer_to(number)
        seen += [info["sessionId"] for info in answer["sessions"]]
        cursor = {"cursor": answer["nextCursor"]} if page < 2 else {}
        used = ("/w", msgspec.structs.replace(there[60][1], updated=NOW + timedelta(hours=page + 1)))
        there = (used, *there[:60], *there[61:]) if page == 0 else there  # one is used between two pages
    assert "nextCursor" not in answer
    moved = rows(120)[60][1].id
    assert seen == [row.id for _, row in rows(120) if row.id != moved]


@pytest.mark.parametrize("cursor", ["7", "@", f"{ID}@", f"{ID}@yesterday", "../x@2026-09-16T10:15:30Z"])
def test_a_cursor_that_is_not_ours_is_an_error(talk: Conversation, cursor: str) -> None:
    # acp-17
    assert talk.ask("session/list", cursor=cursor)["code"] == -32602


def test_a_list_without_a_folder_is_of_all_projects(talk: Conversation) -> None:
    # acp-18
    answer = talk.ask("session/list")
    assert [info["sessionId"] for info in answer["sessions"]] == [ID]
    assert ListSessions(1, None) in talk.done
    assert talk.ask("session/list", cwd="w")["code"] == -32602


def test_a_close_cancels_and_saves_and_lets_go_last(talk: Conversation) -> None:
    talk.ask("session/load", **LOAD)
    talk.prompt("Tell me a story.", id=ID)
    talk.prompt("Another.", id=ID)
    talk.happen(TextDelta("Once"), id=ID)
    assert talk.ask("session/close", sessionId=ID) is None
    assert talk.prompt("Hello?", id=ID)["code"] == -32002
    talk.end(Cancelled(), id=ID)
    assert [talk.answer_to(n) for n in (2, 3, 4)] == [
        {"stopReason": "cancelled"},
        {"stopReason": "cancelled"},
        {},
    ]
    assert talk.ask("session/close", sessionId="unknown") == {}


def test_a_deleted_session_is_saved_no_more(talk: Conversation) -> None:
    talk.ask("session/load", **LOAD)
    talk.prompt("Look.", id=ID)
    talk.mark()
    talk.ask("session/delete", sessionId=ID)
    talk.answer("Seen.", id=ID)
    assert not any(isinstance(effect, Save) for effect in talk.done)
    assert [e.id for e in talk.done if isinstance(e, DeleteSession)] == [ID]
    assert ID not in talk.disk
    for id in (ID, OTHER_ID, "../x"):
        assert talk.ask("session/delete", sessionId=id) == {}


def test_what_was_chosen_outlives_a_load(talk: Conversation) -> None:
    talk.ask("session/load", **LOAD)
    talk.feed(ModelsFound(ID, "a", ("a", "b"), 4096))
    talk.ask("session/set_config_option", sessionId=ID, configId="model", value="b")
    talk.ask("session/set_mode", sessionId=ID, modeId="auto")
    answer = talk.ask("session/load", **LOAD)
    assert answer["modes"]["currentModeId"] == "auto"
    assert [option["currentValue"] for option in answer["configOptions"]] == ["auto", "b"]
    assert talk.done.count(UseModel(ID, "b")) == 2
    talk.feed(ModelsFound(ID, "a", ("a", "b"), 4096))
    assert talk.state.sessions[ID].model == "b"


def test_modes_and_options_tell_the_same(talk: Conversation) -> None:
    # acp-59
    talk.ask("session/load", **LOAD)
    talk.mark()
    talk.ask("session/set_mode", sessionId=ID, modeId="read-only")
    assert talk.updates(ID)[0]["configOptions"][0]["currentValue"] == "read-only"
    talk.ask("session/set_config_option", sessionId=ID, configId="mode", value="ask")
    assert talk.updates(ID)[-1] == {"sessionUpdate": "current_mode_update", "currentModeId": "ask"}


def test_trouble_with_a_list_or_a_deletion_is_an_error(talk: Conversation) -> None:
    talk.ask("session/load", **LOAD)
    talk.feed(Listed(ListSessions(90, "/w", "", ""), (), "cannot list the sessions: no"))
    talk.feed(Deleted(91, "cannot delete it: no"))
    assert [talk.answer_to(n)["message"] for n in (90, 91)] == [
        "cannot list the sessions: no", "cannot delete it: no",
    ]  # fmt: skip


def test_a_page_behind_a_session_that_is_gone_goes_on_with_those_used_before() -> None:
    talk = Conversation()
    rows = tuple(
        ("/w", Row(0, f"20260916-101530-{n:08x}", LATER - timedelta(minutes=n), title=f"t{n}"))
        for n in range(3)
    )
    talk.methods |= {90: "session/list", 91: "session/list"}
    gone = f"20260916-101530-ffffffff@{(LATER - timedelta(seconds=90)).isoformat()}"
    talk.feed(Listed(ListSessions(90, "/w", gone, ""), rows))
    assert [one["title"] for one in talk.answer_to(90)["sessions"]] == ["t2"]
    bare = (("/w", Row(0, ID)),)
    talk.feed(Listed(ListSessions(91, "/w", "", ""), bare))
    assert talk.answer_to(91)["sessions"] == [{"sessionId": ID, "cwd": "/w"}]


def test_a_load_where_nothing_is_kept_finds_nothing(talk: Conversation) -> None:
    talk.state = msgspec.structs.replace(talk.state, keeps=False)
    assert talk.ask("session/load", **LOAD)["code"] == -32002


def test_servers_of_tools_are_kept_in_mind(talk: Conversation) -> None:
    talk.ask("session/load", **LOAD)
    report = Report("git", "uvx mcp-server-git", state="ready")
    talk.feed(ServersSeen(ID, (report,)))
    assert talk.state.sessions[ID].servers == (report,)


def test_a_session_that_has_become_busy_while_it_was_opened_is_not_opened_again(talk: Conversation) -> None:
    talk.ask("session/load", **LOAD)
    talk.prompt("Hello")
    wish = next(effect for effect in talk.done if isinstance(effect, Open))
    talk.methods[90] = "session/load"
    late = msgspec.structs.replace(wish, request=90)
    talk.feed(Opened(late, Opening(fresh(), "x", True, "ask")))
    assert talk.answer_to(90)["code"] == -32600
    talk.answer("Hi.")

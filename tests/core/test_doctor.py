"""What `mm doctor` makes of the facts: each finding that is not well names a way to mend it."""

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.doctor.answering import (
    Called,
    Sighting,
    StandIn,
    model_finding,
    server_findings,
    sighting,
    stand_in_finding,
    tools_finding,
    window_finding,
)
from minime.core.doctor.finding import Finding, State, finding_pieces, is_well, report, summary_text
from minime.core.doctor.place import (
    Kept,
    Repository,
    Screen,
    configuration_findings,
    git_finding,
    proxy_finding,
    python_finding,
    sessions_finding,
    terminal_finding,
)
from minime.core.model.http_answer import HttpAnswer
from minime.core.model.servers import KNOWN, Kind, Offer, Server
from minime.core.model.windows import Window, assumed_window
from minime.core.pieces import plain

KINDS: tuple[Kind, ...] = get_args(Kind)
OLLAMA = Server("ollama", "http://127.0.0.1:11434/v1")
AWAY = Server("other", "https://models.example.org/v1")
servers = st.none() | st.builds(
    Server, st.sampled_from(KINDS), st.sampled_from(["http://127.0.0.1:8080/v1", "http://x/v1"])
)
names = st.sampled_from(["", "qwen3:8b", "qwen3", "phi-4"])
models = st.lists(st.sampled_from(["qwen3:8b", "qwen3:latest", "gemma3:4b"]), unique=True).map(tuple)
lines = st.sampled_from(["", "it says no"])
sightings = st.builds(
    lambda entry, seen: Sighting(entry, seen, Offer(Server(entry.kind, entry.base_url), ("a", "b"))),
    st.sampled_from(KNOWN),
    st.sampled_from(["models", "no models", "key"]),
)
offers = st.none() | st.builds(Offer, servers.filter(bool), models)
findings = st.one_of(
    st.builds(model_finding, names, servers, models, lines).map(lambda one: (one,)),
    st.builds(server_findings, st.lists(sightings, max_size=3).map(tuple), offers, lines),
    st.builds(window_finding, st.builds(assumed_window, st.sampled_from(KINDS)), st.sampled_from(KINDS)).map(lambda one: (one,)),
    st.builds(tools_finding, names, st.builds(Called, st.booleans(), st.booleans(), lines, st.floats(0, 9))).map(lambda one: (one,)),
    st.builds(stand_in_finding, st.builds(StandIn, st.booleans(), st.booleans()), st.booleans()).map(lambda one: (one,)),
    st.builds(configuration_findings, st.just(("agent.yaml",)), *[st.lists(st.just("agent.yaml:3: no"), max_size=2).map(tuple)] * 2),
    st.builds(git_finding, st.builds(Repository, st.booleans(), st.booleans(), st.booleans())),
    st.builds(
        terminal_finding,
        st.builds(Screen, is_terminal=st.booleans(), edits_lines=st.booleans()),
        st.dictionaries(st.sampled_from(["LANG", "TERM", "NO_COLOR"]), st.sampled_from(["C", "de_DE.ISO-8859-1", "dumb", "en_US.UTF-8"])),
    ),
)  # fmt: skip


@given(found=findings)
def test_what_is_not_well_names_a_way_to_mend_it_and_what_is_well_none(found: tuple[Finding, ...]) -> None:
    for finding in found:
        assert bool(finding.mend) == (finding.state != "well")
        assert finding.about
        assert finding.text
    assert is_well(found) == all(finding.state != "wrong" for finding in found)


@given(found=findings)
def test_every_finding_reaches_the_screen_and_the_report_whole(found: tuple[Finding, ...]) -> None:
    for finding in found:
        shown = plain(finding_pieces(finding))
        for line in (*finding.text.split("\n"), *filter(None, finding.mend.split("\n"))):
            assert line in shown
    made = report("1.0", found)
    assert msgspec.json.decode(msgspec.json.encode(made), type=type(made)) == made


def test_the_last_line_counts() -> None:
    def of(*states: State) -> str:
        return summary_text(tuple(Finding(state, "a", "b") for state in states))

    assert of("well") == "all is well"
    assert of("wrong", "well") == "1 thing is wrong"
    assert of("wrong", "wrong", "worth a look") == "2 things are wrong, 1 is worth a look"
    assert of("worth a look", "worth a look") == "2 are worth a look"


@pytest.mark.parametrize(
    ("kind", "status", "body", "seen"),
    [
        ("ollama", 200, b'{"object": "list", "data": [{"id": "qwen3:8b"}]}', "models"),
        ("ollama", 200, b'{"object": "list", "data": null}', "no models"),
        ("docker", 200, b'{"object": "list", "data": []}', "no models"),
        ("lm-studio", 401, b'{"error": "Unauthorized"}', "key"),
        ("llama.cpp", 200, b"<html>a page</html>", None),
        ("llama.cpp", 404, b"", None),
    ],
)
def test_what_answers_at_a_port_is_told_apart(kind: Kind, status: int, body: bytes, seen: str | None) -> None:
    entry = next(entry for entry in KNOWN if entry.kind == kind)
    found = sighting(entry, HttpAnswer(status, {}, body))
    assert (found and found.seen) == seen


def test_a_model_that_is_not_there_comes_with_the_command_that_fetches_it_and_the_nearest() -> None:
    found = model_finding("qwen3:9b", OLLAMA, ("gemma3:4b", "qwen3:8b"), "")
    assert found.state == "wrong"
    assert found.mend == "ollama pull qwen3:9b\nmm --model qwen3:8b"
    assert model_finding("qwen3", OLLAMA, ("qwen3:latest",), "").state == "well"
    assert model_finding("anything", AWAY, (), "").state == "well"


def test_a_window_is_well_when_it_was_told_and_holds_something() -> None:
    assert window_finding(Window(32768, "told by Ollama"), "ollama").state == "well"
    assert window_finding(Window(4096, "told by Ollama"), "ollama").state == "worth a look"
    assert "OLLAMA_CONTEXT_LENGTH" in window_finding(assumed_window("ollama"), "ollama").mend


def test_a_proxy_is_told_only_where_it_stands_in_the_way_and_without_its_password() -> None:
    proxies = {"HTTPS_PROXY": "http://me:sesame@proxy:3128", "HTTP_PROXY": "http://proxy:3128"}
    assert proxy_finding({}, OLLAMA) == ()
    [home] = proxy_finding(proxies, OLLAMA)
    assert home.state == "well"
    [away] = proxy_finding(proxies, AWAY)
    assert away.state == "worth a look"
    assert "proxy:3128" in away.text
    assert "sesame" not in repr(away)
    [spared] = proxy_finding({**proxies, "no_proxy": "localhost, .example.org"}, AWAY)
    assert spared.state == "well"
    [socks] = proxy_finding({"all_proxy": "socks5://127.0.0.1:1080"}, AWAY)
    assert socks.state == "wrong"


def test_an_old_python_is_too_old() -> None:
    assert python_finding((3, 11, 0), "1", "/p").state == "well"
    assert python_finding((3, 10, 9), "1", "/p").state == "wrong"


def test_sessions_that_cannot_be_kept_are_wrong_and_damaged_ones_are_named() -> None:
    assert sessions_finding(Kept(enabled=False, folder="/p"))[0].state == "well"
    [broken] = sessions_finding(Kept(enabled=True, folder="/p", trouble="/p cannot be written"))
    assert broken.state == "wrong"
    damaged = tuple((f"2026091{n}-101530-4f2a9c1e", "truncated") for n in range(7))
    good, bad, disk = sessions_finding(Kept(enabled=True, folder="/p", sessions=3, damaged=damaged, free=10))
    assert (good.state, bad.state, disk.state) == ("well", "worth a look", "worth a look")
    assert "20260910-101530-4f2a9c1e: truncated" in bad.text
    assert "and 2 more" in bad.text


def test_a_model_that_is_missing_on_any_server_has_a_way_to_be_fetched() -> None:
    assert model_finding("", OLLAMA, (), "").mend == "ollama pull qwen3:8b"
    assert model_finding("", AWAY, (), "").mend == "fetch one there"
    assert model_finding("phi-4", AWAY, ("qwen3:8b",), "").mend == "mm --model qwen3:8b"


def test_a_model_that_calls_when_asked_to_is_well() -> None:
    assert (
        tools_finding("m", Called(called=True, seconds=1.25)).text == "m called one when asked to, in 1.2 s"
    )


def test_a_server_without_a_model_is_told_how_to_get_one() -> None:
    [found, *_] = server_findings(tuple(Sighting(entry, "no models") for entry in KNOWN[:1]), None, "")
    assert found.mend == "ollama pull qwen3:8b"


def test_a_folder_that_is_well_and_a_disk_that_has_room_are_one_line() -> None:
    assert len(sessions_finding(Kept(enabled=True, folder="/w", sessions=2, free=10**12))) == 1
    assert len(sessions_finding(Kept(enabled=True, folder="/w", sessions=2, free=10**3))) == 2


def test_a_server_of_the_settings_comes_first_with_what_is_there_or_why_it_is_silent() -> None:
    offer = Offer(OLLAMA, ("qwen3:8b",))
    assert server_findings((), offer, "")[0].state == "well"
    silent = server_findings((), offer, "cannot reach Ollama")[0]
    assert (silent.state, silent.text, silent.mend) == ("wrong", "cannot reach Ollama", "ollama serve")
    away = server_findings((), Offer(AWAY, ()), "no answer")[0]
    assert away.mend == "mm config shows where baseUrl is set"


def test_a_server_that_wants_a_key_is_told_with_the_way_to_give_it_one() -> None:
    [found, *_] = server_findings((Sighting(KNOWN[0], "key"),), None, "")
    assert found.mend == f"export MM_BASE_URL={KNOWN[0].base_url} MM_API_KEY=KEY"


def test_a_stand_in_that_is_there_is_well_needed_or_not() -> None:
    assert {stand_in_finding(StandIn(True, True), needed).state for needed in (True, False)} == {"well"}


def test_what_git_does_with_conversations() -> None:
    assert git_finding(Repository(False, False, False)) == ()
    assert git_finding(Repository(here=True, ignores=True, tracks=False))[0].state == "well"
    assert (
        git_finding(Repository(here=True, ignores=False, tracks=False))[0].mend == "echo '*' > .mm/.gitignore"
    )
    assert git_finding(Repository(here=True, ignores=True, tracks=True))[0].mend == "git rm -r --cached .mm"


def test_a_terminal_that_can_do_little_is_told() -> None:
    found = terminal_finding(Screen(is_terminal=True, columns=80, lines=24), {"TERM": "dumb"})
    assert found[-1].text == "80 × 24, no colours (TERM=dumb)"
    found = terminal_finding(Screen(is_terminal=True, edits_lines=False), {"TERM": "xterm", "NO_COLOR": "1"})
    assert found[-1].text == "0 × 0, no colours (NO_COLOR); this Python has no readline"


def test_a_server_that_takes_no_tools_and_a_locale_without_utf8_are_told() -> None:
    assert tools_finding("m", Called(refused=True)).text == "the server takes no tools for m"
    found = terminal_finding(Screen(is_terminal=False), {"LANG": "de_DE.ISO-8859-1"})
    assert [one.about for one in found] == ["locale", "terminal"]
    assert found[0].mend == "export LANG=C.UTF-8"

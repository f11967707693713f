"""Each line that mm shows when something fails is one that a rule explains."""

import re
from typing import Any

import msgspec
import pytest

from minime.core.config.settings import Settings
from minime.core.diagnosis import diagnose, proposed
from minime.core.explaining import finding_pieces, headline
from minime.core.model.embedded import Stuck, stuck_text
from minime.core.model.failures import FailureKind
from minime.core.pieces import plain
from minime.core.values import ErrorRecord
from tests.conftest import GOLDEN
from tests.support.values import ID, LATER, NOW, hello_turn, talked

SHOWN = sorted({
    line.strip()
    for file in (GOLDEN / "failures").glob("*.txt")
    for line in file.read_text(encoding="utf-8").splitlines()
    if line.startswith("  ") and file.stem != "recorded"
})
SILENT = "Ollama was silent for 600 s before its first word: raise watchdogTimeout in agent.yaml (now 120s; 0 waits)"
MISSING = (
    'Ollama does not have the model "qwen3:8b": fetch it with: ollama pull qwen3:8b; or set model in agent.yaml '
    "to one that is there: llama3.2:3b, qwen3:4b, 3 more"
)
OVERFLOW = (
    "the conversation does not fit the model's context window of 8,192 tokens: /compact makes it shorter"
)


def record(message: str, kind: str = "generation") -> ErrorRecord:
    return ErrorRecord(time=NOW, kind=kind, turns=1, message=message)  # type: ignore[arg-type]


def changes(message: str, **settings: Any) -> dict[str, Any]:
    return proposed(diagnose((record(message),), Settings(**settings)))


def test_there_are_lines_to_explain() -> None:
    assert len(SHOWN) > 50


@pytest.mark.parametrize("line", SHOWN, ids=lambda line: re.sub(r"\W+", " ", line)[:60])
def test_every_line_of_a_failure_is_known_by_a_rule(line: str) -> None:
    [finding] = diagnose((record(line),), Settings())
    assert finding.means
    assert finding.todo


@pytest.mark.parametrize("why", Stuck.__annotations__["why"].__args__)
def test_every_trouble_of_the_embedded_model_is_known_by_a_rule(why: Any) -> None:
    [finding] = diagnose((record(stuck_text(Stuck(why), "/models/tiny.gguf")),), Settings())
    assert finding.means


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("resume", "no session '9999' here (mm sessions lists them)"),
        ("resume", "cannot read session 20260916-101530-4f2a9c1e: truncated"),
        (
            "resume",
            "'2026' is not enough, 2 sessions match: 20260916-101530-4f2a9c1e, 20260916-101530-4f2a0000",
        ),
        ("compaction", "compaction failed: the model wrote no summary; nothing is changed"),
        ("compaction", "compaction failed: the summary was cut before its end; nothing is changed"),
        ("compaction", "compaction failed in mm itself: ValueError: x"),
        ("generation", "mm itself failed: ValueError: x"),
    ],
)
def test_what_fails_without_a_server_is_known_too(kind: str, line: str) -> None:
    [finding] = diagnose((record(line, kind),), Settings())
    assert finding.means


def test_a_compaction_that_the_server_refused_is_explained_by_the_refusal() -> None:
    [finding] = diagnose((record(f"compaction failed: {OVERFLOW}", "compaction"),), Settings())
    assert "longer than the model can read" in finding.means


def test_a_line_that_nobody_knows_is_no_ones_guess() -> None:
    [finding] = diagnose((record("the moon is full"),), Settings())
    assert (finding.means, finding.todo, finding.change) == ("", "", {})


def test_the_same_line_is_one_finding_and_the_newest_is_first() -> None:
    later = msgspec.structs.replace(record(SILENT), time=LATER)
    one, two = diagnose((record(SILENT), record(MISSING), later), Settings())
    assert (one.message, one.count, one.first, one.last) == (SILENT, 2, NOW, LATER)
    assert two.message == MISSING


def test_a_change_is_proposed_where_one_would_help() -> None:
    assert changes(SILENT) == {"watchdogTimeout": "240s"}
    assert changes(MISSING, model="qwen3:8b") == {"model": "qwen3:4b"}
    assert changes(OVERFLOW) == {"contextWindow": 8192}
    assert changes("the model thought but gave no answer: ask again") == {"reasoningEffort": "low"}
    assert changes("the answer was cut before its first word: raise maxOutput", max_output=64) == {
        "maxOutput": 128
    }
    assert changes("the answer had no end (64 MB came): ask again") == {"maxOutput": 4096}
    away = "x answered with a web page, not with a model's words: is /v1 missing at the end of baseUrl in agent.yaml?"
    assert changes(away, base_url="http://localhost:8080/") == {"baseUrl": "http://localhost:8080/v1"}


@pytest.mark.parametrize(
    ("message", "settings"),
    [
        (SILENT, {"watchdog_timeout": 300.0}),
        (SILENT, {"watchdog_timeout": 0.0}),
        (MISSING, {"model": "llama3.2:3b"}),
        (OVERFLOW, {"context_window": 4096}),
        ("the model thought but gave no answer: ask again", {"reasoning_effort": "low"}),
        ("the answer had no end (64 MB came)", {"max_output": 100}),
        ("is /v1 missing at the end", {"base_url": "http://localhost:8080/v1"}),
    ],
)
def test_what_has_been_changed_since_is_not_proposed_again(message: str, settings: dict[str, Any]) -> None:
    assert changes(message, **settings) == {}


def test_of_two_proposals_for_one_key_the_newer_line_has_the_word() -> None:
    newer = msgspec.structs.replace(record(OVERFLOW.replace("8,192", "4,096")), time=LATER)
    found = diagnose((record(OVERFLOW), newer), Settings())
    assert proposed(found) == {"contextWindow": 4096}


def test_no_kind_of_failure_is_left_out_of_the_goldens() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in (GOLDEN / "failures").glob("*.txt"))
    named = set(re.findall(r"\[([a-z-]+)\]$", text, re.MULTILINE))
    kinds = {kind for part in FailureKind.__args__ for kind in getattr(part, "__args__", (part,))}
    assert kinds <= named


def test_findings_in_words(golden: Any) -> None:
    session = msgspec.structs.replace(
        talked(hello_turn()), errors=(record(SILENT), record("the moon is full"), record(SILENT))
    )
    pieces = finding_pieces(diagnose(session.errors, Settings()), ID, lambda moment: moment)
    assert f"{headline(session)}\n{plain(pieces)}" == golden("cli/explain.txt")

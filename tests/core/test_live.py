"""Events and outcomes as pieces of text: lines only grow, and each begins where it should."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.diffs import DIFF_LINES, DIFF_WIDTH, diff_lines, diff_pieces
from minime.core.events import (
    Answered,
    Cancelled,
    Compacted,
    CompactionFailed,
    CompactionProgress,
    CompactionStarted,
    Event,
    Failed,
    Notice,
    Outcome,
    TextDelta,
    ThoughtDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    UsageSeen,
)
from minime.core.folding import FIRST, LAST
from minime.core.live import Screen, show_event, show_outcome, unsettled
from minime.core.markdown.page import rendered
from minime.core.pieces import Piece, Pieces, plain
from minime.core.turn import Turn, stopped
from minime.core.values import Assistant, Diff, Tool, Usage, tool_call
from tests.support.values import hello_turn, question, tool_turn

CALL = tool_call("a", "read_file", '{"path": "main.py"}')
START, FINISH = ToolStarted(CALL, "read main.py"), ToolFinished(Tool("a", "text"))
FAILED = ToolFinished(Tool("a", "no such file: main.py\nmore", failed=True))


def shown(*events: Event, outcome: Outcome | None = None, turn: Turn | None = None) -> str:
    screen, pieces = Screen(), ()
    for event in events:
        screen, more = show_event(screen, event)
        pieces += more  # type: ignore[assignment]
    end: Pieces = () if outcome is None else show_outcome(screen, turn or hello_turn(), outcome, 50)
    return plain(pieces + end)


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ((TextDelta("It "), TextDelta("is.")), "It is.\n"),
        ((TextDelta("It is.\n"),), "It is.\n"),
        ((ThoughtDelta("hm"), TextDelta("Yes.")), "hm\nYes.\n"),
        ((ThoughtDelta("hm\n"), TextDelta("Yes.")), "hm\nYes.\n"),
        ((START, FINISH, TextDelta("Yes.")), "  · read main.py ✓\nYes.\n"),
        ((TextDelta("Look:"), START, FAILED), "Look:\n  · read main.py ✗ no such file: main.py\n"),
        ((START, ToolProgress("a", "one"), FINISH), "  · read main.py\none\n  ✓\n"),
        (
            (START, ToolProgress("a", "one\n"), ToolProgress("a", "two\n"), FINISH),
            "  · read main.py\none\ntwo\n  ✓\n",
        ),
        ((TextDelta("a"), Notice("careful"), TextDelta("b")), "a\ncareful\nb\n"),
        ((UsageSeen(Usage(1, 2, 3)),), ""),
    ],
)
def test_what_a_turn_shows(events: tuple[Event, ...], text: str) -> None:
    assert shown(*events, outcome=Answered()) == text


@pytest.mark.parametrize(
    ("outcome", "turn", "line"),
    [
        (Failed("no server", "raw"), question(), "no server\n"),
        (Cancelled(), question(), "cancelled\n"),
        (Answered(), stopped(tool_turn(), "steps"), "stopped after 50 tool rounds (maxSteps in agent.yaml); ask again to go on\n"),
        (Answered(), stopped(hello_turn(), "length"), "the answer was cut: its limit (maxOutput in agent.yaml) or the context window was reached\n"),
    ],
)  # fmt: skip
def test_an_end_that_is_no_answer_is_a_line_of_its_own(outcome: Outcome, turn: Turn, line: str) -> None:
    assert shown(TextDelta("half"), outcome=outcome, turn=turn) == f"half\n{line}"


events = st.one_of(
    st.builds(TextDelta, st.text("ab\n", min_size=1, max_size=4)),
    st.builds(ThoughtDelta, st.text("ab\n", min_size=1, max_size=4)),
    st.builds(ToolProgress, st.just("a"), st.text("ab\n", min_size=1, max_size=4)),
    st.sampled_from((START, FINISH, FAILED, Notice("note"))),
)


@given(st.lists(events, max_size=12))
def test_all_words_of_the_answer_are_shown_in_order_and_the_end_closes_the_line(
    happened: list[Event],
) -> None:
    screen, answer, everything = Screen(), "", ""
    for event in happened:
        screen, pieces = show_event(screen, event)
        answer += "".join(piece.text for piece in pieces if piece.answer)
        everything += plain(pieces)
    everything += plain(show_outcome(screen, hello_turn(), Answered(), 50))
    said = "".join(event.text for event in happened if isinstance(event, TextDelta))
    assert answer.replace("\n", "") == said.replace("\n", "")
    assert not everything or everything.endswith("\n")


def test_a_diff_is_coloured_by_line_and_shown_before_the_question_of_consent() -> None:
    diff = Diff("main.py", "a\nb\nc\n", "a\nB\nc\n")
    assert diff_pieces(diff_lines(diff)) == (
        Piece("     a\n", "dim"), Piece("    -b\n", "red"), Piece("    +B\n", "green"), Piece("     c\n", "dim"),
    )  # fmt: skip
    _, pieces = show_event(Screen(), ToolStarted(CALL, "edit main.py", diff))
    assert plain(pieces).startswith("  · edit main.py +1 −1\n     a\n")


def test_a_long_diff_is_cut_and_says_so() -> None:
    text = plain(diff_pieces(diff_lines(Diff("new.py", None, "x\n" * 500))))
    assert len(text.splitlines()) == DIFF_LINES
    assert text.endswith(f"    … {501 - DIFF_LINES} more lines\n")
    wide = plain(diff_pieces(diff_lines(Diff("new.py", None, "x" * 200_000))))
    assert len(wide) < 2 * DIFF_WIDTH
    assert wide.endswith(" … 198,001 more characters\n")


def on_terminal(*happened: tuple[float, Event], outcome: Outcome | None = None, columns: int = 40) -> str:
    """What stands on a terminal at the end; each event with its moment."""
    screen, text = Screen(columns=columns), ""
    for moment, event in happened:
        screen, pieces = show_event(screen, event, moment)
        text += plain(pieces)
    return text + (plain(show_outcome(screen, hello_turn(), outcome, 50)) if outcome else "")


@given(st.lists(events, max_size=12))
def test_on_a_terminal_each_stretch_of_an_answer_is_its_markdown_and_lines_end(happened: list[Event]) -> None:
    text = on_terminal(*((0.0, event) for event in happened), outcome=Answered())
    assert not text or text.endswith("\n")
    said = "".join(event.text if isinstance(event, TextDelta) else "\0" for event in happened)
    for stretch in filter(None, said.split("\0")):
        assert plain(rendered(stretch, 40)) in text


def test_a_thought_is_one_line_that_says_how_long_it_took() -> None:
    thought: list[tuple[float, Event]] = [
        (0.0, ThoughtDelta("well\n")),
        (2.0, ThoughtDelta("I see")),
        (3.4, TextDelta("Yes.")),
    ]
    assert on_terminal(*thought, outcome=Answered()) == "thought for 3.4 s\nYes.\n"
    assert on_terminal((0.0, ThoughtDelta("hm")), (0.2, START), (0.3, FINISH)) == (
        "thought for under 1 s\n  · read main.py ✓\n"
    )


def test_a_tool_that_took_long_says_how_long() -> None:
    slow = ToolFinished(Tool("a", "x"), 75.2)
    assert on_terminal((0.0, START), (75.0, slow)) == "  · read main.py ✓ 1 min 15 s\n"


def test_long_output_is_folded_to_its_beginning_and_its_end_with_its_size() -> None:
    lines = [f"line {number}\n" for number in range(1000)]
    progress: list[tuple[float, Event]] = [(0.0, ToolProgress("a", line)) for line in lines]
    failed = ToolFinished(Tool("a", "…\n(exit status 3)", failed=True))
    shown = on_terminal((0.0, START), *progress, (0.1, failed)).splitlines()
    assert shown[1 : FIRST + 1] == [f"    line {number}" for number in range(FIRST)]
    assert shown[FIRST + 1] == "    … 988 more lines, 8,798 characters …"
    assert shown[FIRST + 2 :] == [f"    line {number}" for number in range(1000 - LAST, 1000)] + [
        "  ✗ exit status 3"
    ]


@given(st.text("ab\n", max_size=200), st.data())
def test_output_that_is_not_long_is_shown_whole_however_it_comes(text: str, data: st.DataObject) -> None:
    pieces: list[tuple[float, Event]] = []
    rest = text
    while rest:
        size = data.draw(st.integers(1, 40))
        pieces.append((0.0, ToolProgress("a", rest[:size])))
        rest = rest[size:]
    shown = on_terminal((0.0, START), *pieces, (0.0, FINISH)).splitlines()[1:-1]
    lines = text.removesuffix("\n").split("\n") if text else []
    if len(lines) <= FIRST + LAST:
        assert shown == [f"    {line}" for line in lines]
    else:
        assert shown[:FIRST] + shown[-LAST:] == [f"    {line}" for line in lines[:FIRST] + lines[-LAST:]]
        assert f" {len(lines) - FIRST - LAST} more line" in shown[FIRST]


def test_a_line_of_output_takes_a_few_rows_at_most_and_turns_nothing_round() -> None:
    shown = on_terminal((0.0, ToolProgress("a", "x" * 10_000 + "\n\ta\u202eb\n"))).splitlines()
    assert len(shown[0]) == 3 * 40
    assert shown[1] == "            a\\u202eb"


def test_a_compaction_leaves_one_line_on_a_terminal() -> None:
    done = Compacted(8, 4, 2, 9100, 1400, Assistant("It was so."))
    begun: list[tuple[float, Event]] = [(0.0, CompactionStarted(4)), (1.0, CompactionProgress("It was"))]
    assert (
        on_terminal(*begun, (2.0, done), columns=80)
        == "compacted: 6 turns → 1 summary + 2 turns (~9,100 → ~1,400 tokens)\n"
    )
    assert on_terminal(*begun, (2.0, CompactionFailed("no summary"))) == "no summary\n"
    assert shown(CompactionStarted(4)) == "compacting 4 turns …\n"


def test_a_line_that_is_too_long_for_a_terminal_is_broken_at_words() -> None:
    line = "the server has read about 10 of about 1,100 tokens"
    assert on_terminal((0.0, Notice(line))) == "the server has read about 10 of about\n1,100 tokens\n"
    assert on_terminal(outcome=Failed(line)) == "the server has read about 10 of about\n1,100 tokens\n"
    assert shown(Notice(line)) == f"{line}\n"


def test_words_that_are_not_down_yet_are_known() -> None:
    screen, _ = show_event(Screen(columns=40), TextDelta("one two **thr"))
    assert unsettled(screen) == "**thr"
    screen, _ = show_event(Screen(columns=40), TextDelta("one two"))
    assert unsettled(screen) == "two"
    assert unsettled(Screen(columns=40)) == ""


def test_where_a_diff_leaves_lines_out_there_is_a_mark() -> None:
    before = "".join(f"{n}\n" for n in range(30))
    after = before.replace("2\n", "two\n", 1).replace("29\n", "last\n")
    shown = plain(diff_pieces(diff_lines(Diff("a", before, after))))
    assert shown.count("⋮") == 1
    assert "@@" not in shown

"""Events and outcomes to styled pieces of text as they happen; what is down is never taken back.

On a terminal (`columns` of a screen) answers are Markdown, thoughts and the output of commands are folded;
anywhere else text is as it came.
"""

from typing import Literal

import msgspec

from minime.core.cells import width
from minime.core.compaction import compacted_text
from minime.core.diffs import changed_text, diff_lines, diff_pieces
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
    ToolRunning,
    ToolStarted,
    UsageSeen,
)
from minime.core.folding import Output, add_output, end_output
from minime.core.listing import count
from minime.core.markdown import page
from minime.core.markdown.inline import Span
from minime.core.markdown.page import Page
from minime.core.markdown.wrapping import wrapped
from minime.core.pieces import Piece, Pieces
from minime.core.screen import verdict
from minime.core.text import seconds_text
from minime.core.turn import Turn, calls_without_result, stopped_text, turn_stopped
from minime.core.values import Diff, Tool

Open = Literal["", "answer", "thought", "tool", "output"]

SHOWN_SECONDS = 1.0
"""What a tool took is told from here on."""


class Screen(msgspec.Struct, frozen=True):
    """What stands on the line that is still open; empty at the beginning of a line. `columns` is the width of
    the terminal, 0 where there is none. `since` is when an open thought began, in seconds."""

    open: Open = ""
    ends_line: bool = True
    columns: int = 0
    page: Page = Page()
    output: Output = Output()
    since: float = 0.0
    now: float = 0.0


def show_event(screen: Screen, event: Event, now: float = 0.0) -> tuple[Screen, Pieces]:
    """What `event` adds to the screen; `now` in seconds, on a clock that only goes forward."""
    screen = msgspec.structs.replace(screen, now=now)
    match event:
        case TextDelta(text=text):
            return _answer(screen, text)
        case ThoughtDelta(text=text):
            return _thought(screen, text)
        case ToolStarted(title=title, diff=diff):
            return _tool(screen, title, diff)
        case ToolProgress(text=text):
            return _output(screen, text)
        case ToolFinished(result=result, seconds=seconds):
            same_line = screen.open == "tool"
            lead = () if same_line else (*_close(screen), Piece("  "))
            return fresh(screen), (*lead, *_ended(result, seconds, " " if same_line else ""), Piece("\n"))
        case Notice(text=text):
            return _line(screen, text, "yellow")
        case CompactionStarted(turns=turns):
            if screen.columns:
                return fresh(screen), _close(screen)
            return _line(screen, f"compacting {count(turns, 'turn')} …", "dim")
        case Compacted():
            return _line(screen, compacted_text(event), "yellow")
        case CompactionFailed(shown=shown):
            return _line(screen, shown, "red")
        case UsageSeen() | ToolRunning() | CompactionProgress():
            return screen, ()


def show_outcome(screen: Screen, turn: Turn, outcome: Outcome, max_steps: int) -> Pieces:
    """The end of a turn: the open line closed, and the line that says what went wrong, if anything did."""
    closed = _close(screen)
    match outcome:
        case Failed(shown=shown):
            return (*closed, *line_pieces(shown, "red", screen.columns))
        case Cancelled() if calls_without_result(turn):
            return closed  # the line of the call says it
        case Cancelled():
            return (*closed, Piece("cancelled\n", "yellow"))
        case Answered():
            line = stopped_text(turn_stopped(turn), max_steps)
            return (*closed, *line_pieces(line, "yellow", screen.columns)) if line else closed


def unsettled(screen: Screen) -> str:
    """The words of the answer that have come and are not on the screen yet."""
    return page.unsettled(screen.page) if screen.open == "answer" else ""


def fresh(screen: Screen) -> Screen:
    """The screen at the beginning of a line."""
    return Screen(columns=screen.columns)


def closed(screen: Screen) -> tuple[Screen, Pieces]:
    """The screen with the line that is open ended."""
    return fresh(screen), _close(screen)


def _line(screen: Screen, text: str, style: str) -> tuple[Screen, Pieces]:
    return fresh(screen), (*_close(screen), *line_pieces(text, style, screen.columns))


def line_pieces(text: str, style: str, columns: int) -> Pieces:
    """A line of its own; on a terminal it is broken at words."""
    if not columns or width(text) <= columns:
        return (Piece(f"{text}\n", style),)
    lines = wrapped((Span(text, style),), columns)
    return tuple(piece for line in lines for piece in (*line, Piece("\n")))


def _answer(screen: Screen, text: str) -> tuple[Screen, Pieces]:
    lead = _close(screen, "answer")
    if not screen.columns:
        return Screen("answer", text.endswith("\n")), (*lead, Piece(text, answer=True))
    so_far = screen.page if screen.open == "answer" else Page()
    grown, pieces = page.add(so_far, text, screen.columns)
    return Screen("answer", ends_line=False, columns=screen.columns, page=grown), lead + pieces


def _thought(screen: Screen, text: str) -> tuple[Screen, Pieces]:
    lead = _close(screen, "thought")
    if not screen.columns:
        return Screen("thought", text.endswith("\n")), (*lead, Piece(text, "dim"))
    since = screen.since if screen.open == "thought" else screen.now
    return Screen("thought", columns=screen.columns, since=since, now=screen.now), lead


def _tool(screen: Screen, title: str, diff: Diff | None) -> tuple[Screen, Pieces]:
    head = (*_close(screen), Piece(f"  · {title}", "cyan"))
    if diff is None:
        return Screen("tool", ends_line=False, columns=screen.columns), head
    lines = diff_lines(diff)
    return fresh(screen), (*head, Piece(f" {changed_text(lines)}\n", "dim"), *diff_pieces(lines))


def _output(screen: Screen, text: str) -> tuple[Screen, Pieces]:
    lead = _close(screen, "output")
    if not screen.columns:
        return Screen("output", text.endswith("\n")), (*lead, Piece(text, "dim"))
    output = screen.output if screen.open == "output" else Output()
    output, pieces = add_output(output, text, screen.columns)
    return Screen("output", columns=screen.columns, output=output), lead + pieces


def _close(screen: Screen, goes_on: Open = "") -> Pieces:
    """The open line ended, when something else stands on it."""
    if screen.open == goes_on:
        return ()
    match screen.open:
        case "answer" if screen.columns:
            return page.finish(screen.page, screen.columns)
        case "output" if screen.columns:
            return end_output(screen.output, screen.columns)
        case "thought" if screen.columns:
            return (Piece(f"thought for {seconds_text(screen.now - screen.since)}\n", "dim"),)
        case _:
            return () if screen.ends_line else (Piece("\n", answer=screen.open == "answer"),)


def _ended(result: Tool, seconds: float, lead: str) -> Pieces:
    took = (Piece(f" {seconds_text(seconds)}", "dim"),) if seconds >= SHOWN_SECONDS else ()
    return verdict(result, lead) + took

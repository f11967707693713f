"""Events and outcomes to styled pieces of text for a terminal or a pipe; lines grow, none is rewritten."""

from typing import Literal

import msgspec

from minime.core.compaction import compacted_text
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
from minime.core.listing import count
from minime.core.session import last_exchange, pending_tools, turns
from minime.core.text import one_line
from minime.core.tools.toolbox import TOOLS, BadCall, action_title, parse_call
from minime.core.turn import Turn, stopped_text, turn_stopped
from minime.core.values import (
    Assistant,
    Diff,
    Message,
    Pending,
    Session,
    System,
    Tool,
    ToolCall,
    User,
    first_line,
    question_text,
)

Style = Literal["", "dim", "bold", "red", "green", "yellow", "cyan"]
Open = Literal["", "answer", "thought", "tool", "output"]
DIFF_LINES = 60
DIFF_WIDTH = 2_000
SHOWN_REASON = 100


class Piece(msgspec.Struct, frozen=True):
    """Text in one style. `answer` marks the model's answer, which a one-shot run writes to stdout."""

    text: str
    style: Style = ""
    answer: bool = False


class Screen(msgspec.Struct, frozen=True):
    """What stands on the line that is still open; empty at the beginning of a line."""

    open: Open = ""
    ends_line: bool = True


Pieces = tuple[Piece, ...]


def show_event(screen: Screen, event: Event) -> tuple[Screen, Pieces]:
    """What `event` adds to the screen."""
    match event:
        case TextDelta(text=text):
            return Screen("answer", text.endswith("\n")), (
                *_close(screen, "answer"),
                Piece(text, answer=True),
            )
        case ThoughtDelta(text=text):
            return Screen("thought", text.endswith("\n")), (*_close(screen, "thought"), Piece(text, "dim"))
        case ToolStarted(title=title, diff=diff):
            head = Piece(f"  · {title}", "cyan")
            if diff is None:
                return Screen("tool", ends_line=False), (*_close(screen), head)
            return Screen(), (*_close(screen), head, Piece("\n"), *diff_pieces(diff))
        case ToolProgress(text=text):
            return Screen("output", text.endswith("\n")), (*_close(screen, "output"), Piece(text, "dim"))
        case ToolFinished(result=result):
            same_line = screen.open == "tool"
            lead = () if same_line else (*_close(screen), Piece("  "))
            return Screen(), (*lead, *_verdict(result, " " if same_line else ""), Piece("\n"))
        case Notice(text=text):
            return Screen(), (*_close(screen), Piece(f"{text}\n", "yellow"))
        case CompactionStarted(turns=turns):
            line = f"compacting {count(turns, 'turn')} …\n"
            return Screen(), (*_close(screen), Piece(line, "dim"))
        case Compacted():
            return Screen(), (*_close(screen), Piece(f"{compacted_text(event)}\n", "yellow"))
        case CompactionFailed(shown=shown):
            return Screen(), (*_close(screen), Piece(f"{shown}\n", "red"))
        case UsageSeen() | ToolRunning() | CompactionProgress():
            return screen, ()


def show_outcome(screen: Screen, turn: Turn, outcome: Outcome, max_steps: int) -> Pieces:
    """The end of a turn: the open line closed, and the line that says what went wrong, if anything did."""
    closed = _close(screen)
    match outcome:
        case Failed(shown=shown):
            return (*closed, Piece(f"{shown}\n", "red"))
        case Cancelled():
            return (*closed, Piece("cancelled\n", "yellow"))
        case Answered():
            line = stopped_text(turn_stopped(turn), max_steps)
            return (*closed, Piece(f"{line}\n", "yellow")) if line else closed


def diff_pieces(diff: Diff) -> Pieces:
    """A unified diff of an edit, coloured by line, cut where it is long."""
    import difflib

    before = (diff.old_text or "").splitlines()
    after = diff.new_text.splitlines()
    lines = list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]
    shown = [Piece(f"    {_cut(line)}\n", _diff_style(line)) for line in lines[:DIFF_LINES]]
    if len(lines) > DIFF_LINES:
        shown.append(Piece(f"    … {len(lines) - DIFF_LINES} more lines\n", "dim"))
    return tuple(shown)


def resumed_pieces(session: Session, when: str) -> Pieces:
    """The report of a session taken up again, with its last exchange. `when` is its last use, local."""
    trouble = f" · ⚠️ {count(len(session.errors), 'error')}" if session.errors else ""
    head = f"resumed {session.id} · {count(turns(session), 'turn')} · last used {when}{trouble}\n"
    pending = (Piece(pending_text(session.pending) + "\n", "yellow"),) if session.pending else ()
    return (Piece(head, "bold"), *exchange_pieces(session), *pending)


def pending_text(pending: Pending) -> str:
    """What a turn that was broken off had done."""
    first = pending.messages[0]
    question = first_line(question_text(first)) if isinstance(first, User) else ""
    done = count(pending_tools(pending), "tool call")
    return f'⚠️ unfinished: {done} done for "{question}" · /retry goes on from there'


def undone_text(gone: tuple[Message, ...], files: tuple[str, ...]) -> str:
    """What `/undo` took out of the conversation, and which files the turn had changed, which stay."""
    question = first_line(question_text(gone[0])) if gone and isinstance(gone[0], User) else ""
    stays = f"; the files it changed stay as they are: {', '.join(files)}" if files else ""
    return f'taken back: "{question}"{stays}'


def exchange_pieces(session: Session) -> Pieces:
    """The newest question and its answer."""
    return message_pieces(last_exchange(session))


def message_pieces(messages: tuple[object, ...]) -> Pieces:
    """A piece of a conversation, for reading: questions, answers, and each tool call in a line."""
    results = {m.tool_call_id: m for m in messages if isinstance(m, Tool)}
    pieces: list[Piece] = []
    for message in messages:
        match message:
            case User():
                text = question_text(message)
                pieces.append(
                    Piece(
                        f"› {text}\n" if not message.compacted else "› (summary of earlier turns)\n", "bold"
                    )
                )
            case Assistant(content=content, tool_calls=calls):
                if content.strip():
                    pieces.append(Piece(content.rstrip("\n") + "\n", answer=True))
                for call in calls:
                    pieces.append(Piece(f"  · {call_title(call)}", "cyan"))
                    result = results.get(call.id)
                    pieces += _verdict(result, " ") if result else ()
                    pieces.append(Piece("\n"))
            case System() | Tool() | _:
                pass
    return tuple(pieces)


def call_title(call: ToolCall) -> str:
    """What a call of the past did, in a few words; its own words where they make no sense."""
    action = parse_call(call, tuple(tool.name for tool in TOOLS))
    if isinstance(action, BadCall):
        return one_line(f"{call.function.name} {call.function.arguments}", SHOWN_REASON)
    return action_title(action)


def errors_pieces(session: Session, when: tuple[str, ...]) -> Pieces:
    """The error records of a session, oldest first; `when` holds their times in local time."""
    if not session.errors:
        return (Piece("no errors in this conversation\n"),)
    pieces: list[Piece] = []
    for record, moment in zip(session.errors, when, strict=True):
        about = f' · "{record.question}"' if record.question else ""
        pieces.append(Piece(f"{moment}  {record.kind} · after {count(record.turns, 'turn')}{about}\n", "dim"))
        pieces.append(Piece(f"    {record.message}\n", "red"))
        pieces += [Piece(f"    {line}\n", "dim") for line in record.detail.splitlines()[:20]]
    return tuple(pieces)


def tools_text(names: tuple[str, ...]) -> str:
    """The tools that the model may call, one a line."""
    width = max((len(name) for name in names), default=0)
    lines = [
        f"{tool.name:{width}}  {tool.description.partition('. ')[0].rstrip('.')}"
        for tool in TOOLS
        if tool.name in names
    ]
    return "\n".join(lines) or "no tools (tools in agent.yaml)"


def plain(pieces: Pieces) -> str:
    """The text of `pieces` without any style."""
    return "".join(piece.text for piece in pieces)


def _close(screen: Screen, goes_on: Open = "") -> Pieces:
    """A line end, when something else stands on the open line."""
    if screen.ends_line or screen.open == goes_on:
        return ()
    return (Piece("\n", answer=screen.open == "answer"),)


def _verdict(result: Tool, lead: str) -> Pieces:
    if not result.failed:
        return (Piece(f"{lead}✓", "green"),)
    return (Piece(f"{lead}✗ ", "red"), Piece(first_line(result.content, SHOWN_REASON), "dim"))


def _cut(line: str) -> str:
    more = len(line) - DIFF_WIDTH
    return f"{line[:DIFF_WIDTH]} … {more:,} more characters" if more > 0 else line


def _diff_style(line: str) -> Style:
    match line[:1]:
        case "+":
            return "green"
        case "-":
            return "red"
        case _:
            return "dim"

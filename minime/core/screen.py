"""A conversation and what belongs to it as styled pieces of text, for reading."""

from minime.core.listing import count
from minime.core.pieces import Piece, Pieces
from minime.core.session import last_exchange, pending_tools, turns
from minime.core.text import one_line
from minime.core.tools.consent import refusal_shown
from minime.core.tools.outside import Report
from minime.core.tools.outside_text import servers_text
from minime.core.tools.running import ending
from minime.core.tools.toolbox import TOOLS, BadCall, action_title, past_call
from minime.core.values import (
    Assistant,
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

SHOWN_REASON = 100


def resumed_pieces(session: Session, when: str, columns: int = 0) -> Pieces:
    """The report of a session taken up again, with its last exchange. `when` is its last use, local."""
    trouble = f" · ⚠️ {count(len(session.errors), 'error')}" if session.errors else ""
    head = f"resumed {session.id} · {count(turns(session), 'turn')} · {when}{trouble}\n"
    last = exchange_pieces(session, columns)
    lead = (Piece("the last turn was:\n", "dim"),) if last else ()
    pending = (Piece(pending_text(session.pending) + "\n", "yellow"),) if session.pending else ()
    return (Piece(head, "bold"), *lead, *last, *pending)


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


def exchange_pieces(session: Session, columns: int = 0) -> Pieces:
    """The newest question and its answer."""
    return message_pieces(last_exchange(session), columns)


def message_pieces(messages: tuple[object, ...], columns: int = 0) -> Pieces:
    """A piece of a conversation, for reading: questions, answers, and each tool call in a line. Answers are
    Markdown on a terminal of so many columns, and as they are where there is none (0)."""
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
                    pieces += answer_pieces(content, columns)
                for call in calls:
                    pieces.append(Piece(f"  · {call_title(call)}", "cyan"))
                    result = results.get(call.id)
                    pieces += verdict(result, " ") if result else ()
                    pieces.append(Piece("\n"))
            case System() | Tool() | _:
                pass
    return tuple(pieces)


def answer_pieces(content: str, columns: int) -> Pieces:
    """An answer, whole."""
    text = content.rstrip("\n") + "\n"
    if not columns:
        return (Piece(text, answer=True),)
    from minime.core.markdown.page import rendered

    return rendered(text, columns)


def call_title(call: ToolCall) -> str:
    """What a call of the past did, in a few words; its own words where they make no sense."""
    action = past_call(call)
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


def tools_text(names: tuple[str, ...], servers: tuple[Report, ...] = ()) -> str:
    """The tools that the model may call, one a line; below them the servers with theirs."""
    width = max((len(name) for name in names), default=0)
    lines = [
        f"{tool.name:{width}}  {tool.description.partition('. ')[0].rstrip('.')}"
        for tool in TOOLS
        if tool.name in names
    ]
    return "\n".join([*(lines or ["no tools (tools in agent.yaml)"]), *filter(None, [servers_text(servers)])])


def verdict(result: Tool, lead: str) -> Pieces:
    """✓, or ✗ with the reason: how a command ended, what the user refused, else the first line of what the
    model reads."""
    if not result.failed:
        return (Piece(f"{lead}✓", "green"),)
    told = ending(result.content) or refusal_shown(result.content) or result.content
    reason = first_line(told, SHOWN_REASON)
    return (Piece(f"{lead}✗ ", "red"), Piece(reason, "dim"))

"""What conversations came to, model by model: sessions to sums, sums to a table with bars."""

from collections.abc import Iterable, Iterator

import msgspec

from minime.core.text import one_line
from minime.core.values import Assistant, Session, Tool, User

UNKNOWN_MODEL = "unknown"
BAR = 20
"""Characters of the longest bar."""

SHORTEST_BAR = 5
"""Where there is no room for one of so many, none is shown."""

_EIGHTHS = " ▏▎▍▌▋▊▉"


class Sums(msgspec.Struct, frozen=True):
    """What one model did: `seconds` is the time of its answers, `tokens_in` and `tokens_out` are those the
    server counted, each request anew."""

    model: str = ""
    sessions: int = 0
    turns: int = 0
    answers: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tool_calls: int = 0
    failed_calls: int = 0
    seconds: float = 0.0
    errors: int = 0


def plus(one: Sums, other: Sums) -> Sums:
    """Both together, under the name of the first."""
    numbers = {
        name: getattr(one, name) + getattr(other, name) for name in Sums.__struct_fields__ if name != "model"
    }
    return Sums(model=one.model, **numbers)


def sums_of(session: Session) -> tuple[Sums, ...]:
    """What each model did in a conversation, the unfinished turn included. A turn counts for the model of its
    last answer, an error for the model that the conversation names."""
    found: dict[str, Sums] = {}

    def add(model: str, **more: float) -> None:
        name = model or session.model or UNKNOWN_MODEL
        known = found.get(name) or Sums(name, sessions=1)
        found[name] = plus(known, Sums(**more))  # type: ignore[arg-type]

    turn_of: str | None = None
    pending = session.pending.messages if session.pending else ()
    last = session.model
    for message in (*session.messages, *pending):
        match message:
            case User(compacted=compacted):
                if turn_of is not None:
                    add(turn_of, turns=1)
                turn_of = None if compacted else last
                if compacted:
                    add(last, turns=compacted)
            case Assistant(model=model, usage=usage, seconds=seconds, tool_calls=calls):
                last = model or last
                turn_of = last if turn_of is not None else None
                add(
                    last,
                    answers=1,
                    tokens_in=usage.prompt_tokens if usage else 0,
                    tokens_out=usage.completion_tokens if usage else 0,
                    tool_calls=len(calls),
                    seconds=seconds,
                )
            case Tool(failed=True):
                add(last, failed_calls=1)
            case _:
                pass
    if turn_of is not None:
        add(turn_of, turns=1)
    if session.errors:
        add(session.model, errors=len(session.errors))
    return tuple(found.values())


def total(parts: Iterable[Sums]) -> tuple[Sums, ...]:
    """The parts added up by model, the one with the most tokens first."""
    found: dict[str, Sums] = {}
    for part in parts:
        known = found.get(part.model)
        found[part.model] = plus(known, part) if known else part
    return tuple(sorted(found.values(), key=lambda sums: (-_tokens(sums), -sums.turns, sums.model)))


COLUMNS = ("model", "sessions", "turns", "answers", "tokens in", "tokens out", "tool calls", "time", "errors")


def table_lines(sums: tuple[Sums, ...], sessions: int, columns: int = 0) -> Iterator[str]:
    """The sums as an aligned table, with a line for all `sessions` where there are several models, and with a
    bar for the tokens of each as far as the `columns` of the terminal leave room."""
    whole = Sums("all")
    for one in sums:
        whole = plus(whole, one)
    whole = msgspec.structs.replace(whole, sessions=sessions)  # one may have spoken to several models
    rows = [COLUMNS, *map(_cells, sums), *([_cells(whole)] if len(sums) > 1 else [])]
    widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
    most = max(map(_tokens, sums), default=0)
    for number, row in enumerate(rows):
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(wide) for cell, wide in zip(row[1:], widths[1:], strict=True)),
        ]
        tail = ""
        room = min(BAR, columns - sum(widths) - 2 * len(widths) - 1)
        if room >= SHORTEST_BAR and most and 0 < number <= len(sums):
            tail = bar(_tokens(sums[number - 1]) / most, room)
        yield f"{'  '.join(cells)}  {tail}".rstrip()


def bar(share: float, width: int) -> str:
    """A bar for a share of 0 to 1 in at most `width` characters, to an eighth of one."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "") or ("▏" if share > 0 else "")


def time_text(seconds: float) -> str:
    """`8 s`, `12 min`, `3.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 10 or not seconds else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:,.1f} h"


def _tokens(sums: Sums) -> int:
    return sums.tokens_in + sums.tokens_out


def _cells(sums: Sums) -> tuple[str, ...]:
    failed = f" ({sums.failed_calls:,} failed)" if sums.failed_calls else ""
    return (
        one_line(sums.model, 40),
        f"{sums.sessions:,}",
        f"{sums.turns:,}",
        f"{sums.answers:,}",
        f"{sums.tokens_in:,}",
        f"{sums.tokens_out:,}",
        f"{sums.tool_calls:,}{failed}",
        time_text(sums.seconds),
        f"{sums.errors:,}",
    )

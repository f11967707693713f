"""A conversation and its budget in, what `/context` says out: tokens used, left, and what takes the room."""

from minime.core.budget import Budget, about, shares, tokens
from minime.core.instructions import project_part
from minime.core.model.windows import ASSUMED_ORIGIN
from minime.core.values import Session, System

WIDTH = 30
"""Characters of the bar."""


def context_text(session: Session, budget: Budget, origin: str) -> str:
    """Lines for a person: the bar, and below it each part that takes room; `origin` says where the size of
    the window comes from. All numbers but that are estimates."""
    parts = shares(session, budget)
    files = tokens(budget.gauge, len(project_part(_system(session)).encode()))
    rows = (
        ("system prompt", max(0, parts.system - files)),
        ("project files", files),
        ("tools", parts.tools),
        ("summary", parts.summary),
        ("questions", parts.questions),
        ("answers", parts.answers),
        ("tool results", parts.results),
    )
    lines = [_head(parts.used, budget.window)]
    lines += [f"  {name:14}{f'~{about(taken):,}':>8}" for name, taken in rows if taken]
    if budget.window:
        lines.append(f"context window: {_origin_text(origin)}")
    if budget.window and budget.auto:
        lines.append(f"older turns become a summary from ~{about(budget.limit):,} on (/compact does it now)")
    return "\n".join(lines)


def _system(session: Session) -> str:
    return next((m.content for m in session.messages if isinstance(m, System)), "")


def _origin_text(origin: str) -> str:
    if origin == ASSUMED_ORIGIN:
        return "assumed, the server tells none (contextWindow in agent.yaml)"
    return origin


def _head(used: int, window: int) -> str:
    if not window:
        return f"~{about(used):,} tokens used; the context window is not known (contextWindow tells)"
    part = min(1.0, used / window)
    filled = max(1, round(part * WIDTH))
    left = max(0, window - used)
    bar = "█" * filled + "░" * (WIDTH - filled)
    return f"{bar} {part:.0%} · ~{about(used):,} of {window:,} tokens used, ~{about(left):,} left"

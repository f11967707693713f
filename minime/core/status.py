"""The line above the prompt: who answers, how full the context window is, which conversation this is."""

from minime.core.budget import Budget, about, shares
from minime.core.text import one_line
from minime.core.tools.permissions import Mode
from minime.core.values import Session


def status_text(session: Session, budget: Budget, model: str, mode: Mode, width: int) -> str:
    """One line of at most `width` columns; what does not fit is left out from its end, the model is cut."""
    parts = [
        one_line(model, 40),
        room_text(session, budget),
        "" if mode == "ask" else f"{mode} mode",
        session.id,
    ]
    parts = [part for part in parts if part]
    while len(parts) > 1 and len(" · ".join(parts)) > width:
        parts.pop()
    return one_line(" · ".join(parts), max(1, width))


def room_text(session: Session, budget: Budget) -> str:
    """The tokens used, about, and the part of the window that they take where that is known."""
    taken = shares(session, budget).used
    if not budget.window:
        return f"~{about(taken):,} tokens"
    return f"{min(1.0, taken / budget.window):.0%} of {budget.window:,} tokens (~{about(taken):,})"

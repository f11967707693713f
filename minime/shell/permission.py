"""Consent as it is had from a person at a terminal, and what was allowed so far in the conversation."""

from collections.abc import Callable
from typing import TextIO

from minime.core.tools.consent import (
    Allow,
    Always,
    AlwaysRule,
    Answer,
    Ask,
    Deny,
    No,
    NoBecause,
    Once,
    decide,
    offer_text,
    refusal_text,
    remember,
    unattended,
    unsaid,
)
from minime.core.tools.permissions import Mode, PermissionRule
from minime.core.values import ToolCall
from minime.shell.keyboard import Interrupts, forget_typed, person
from minime.shell.tools.tools import Ready


class Permission:
    """The mode, the rules and the answers given so far: `consent` is one of the hands of a turn."""

    def __init__(
        self,
        mode: Mode,
        rules: tuple[PermissionRule, ...],
        interrupts: Interrupts,
        before_asking: Callable[[], None],
        *,
        approve_all: bool,
        interactive: bool,
    ) -> None:
        self.mode = mode
        self.always: tuple[AlwaysRule, ...] = ()
        self._rules = rules
        self._interrupts = interrupts
        self._before_asking = before_asking
        self._approve_all = approve_all
        self._interactive = interactive

    async def consent(self, call: ToolCall, ready: Ready) -> str:
        """Empty when the action may be done, else what the model reads instead of a result."""
        mode = "auto" if self._approve_all and self.mode != "read-only" else self.mode
        match decide(ready.action, mode, self._rules, self.always, ready.where):
            case Allow():
                return ""
            case Deny(reason=reason):
                return reason
            case Ask(always=always):
                with person(self._interactive) as there:
                    if there is None:
                        return unattended(ready.action).reason
                    self._before_asking()
                    with self._interrupts.asking():
                        try:
                            answer = _answer(*there, unsaid(ready.action, _leads_to(ready)), always)
                        except KeyboardInterrupt:
                            there[0].write("\n")  # the line that was being typed ends here
                            there[0].flush()
                            raise
                match answer:
                    case Always():
                        self.always = remember(self.always, always)
                        return ""
                    case Once():
                        return ""
                    case No() | NoBecause():
                        return refusal_text(answer)


def _leads_to(ready: Ready) -> str:
    """The file that is meant, as a path from where the tools run."""
    return ready.place.shown if ready.place is not None else ready.where


def _answer(out: TextIO, heard: TextIO, more: tuple[str, ...], always: AlwaysRule | None) -> Answer:
    """What the person says, `more` of the action before their eyes; Enter and the end of input are a no.
    What was typed before the question was asked is no answer to it."""
    out.writelines(f"    {line}\n" for line in more)
    forget_typed(heard)
    offer = f", [a]lways ({offer_text(always)})" if always else ""
    while True:
        out.write(f"  allow? [y]es{offer}, [N]o, [e]xplain why not › ")
        out.flush()
        line = heard.readline()
        match line.strip().lower():
            case "y" | "yes":
                return Once()
            case "a" | "always" if always is not None:
                return Always()
            case "" | "n" | "no":
                if not line:
                    out.write("\n")
                return No()
            case "e" | "explain":
                out.write("  why not › ")
                out.flush()
                return NoBecause(heard.readline().strip())
            case _:
                out.write(f"  please type {'y, a, n or e' if always else 'y, n or e'}, and Enter\n")

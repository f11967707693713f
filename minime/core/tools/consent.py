"""Consent: an action, the mode, the rules and what was allowed before -> allow, deny or ask.

Where a command is more than one simple command, nothing that allows covers it, and everything that denies
or asks is tried on each of its parts. A shell hides commands in more ways than a pattern can see, so a
`deny` keeps honest models from mistakes; it is no wall against a hostile one.
"""

from fnmatch import fnmatchcase

import msgspec

from minime.core.text import clean, visible
from minime.core.tools.outside import CallOutside, arguments_text, call_text, pretty_arguments
from minime.core.tools.permissions import Decision, Mode, PermissionRule
from minime.core.tools.places import obeyed_unasked
from minime.core.tools.shellwords import (
    commands_in,
    is_opaque,
    is_plain,
    is_simple,
    parts_of,
    reaches_far,
    squeezed,
    words_of,
)
from minime.core.tools.toolbox import (
    Action,
    EditFile,
    RunCommand,
    action_subject,
    action_title,
    changes_files,
    runs,
    tool_name,
)

_OBEYED = "(other programs obey such a file without asking)"


class AlwaysRule(msgspec.Struct, frozen=True):
    """What the user allowed for this session: a tool, and for commands their first two words."""

    tool: str
    words: tuple[str, ...] = ()


class Allow(msgspec.Struct, frozen=True, tag=True):
    """The action may be done."""


class Deny(msgspec.Struct, frozen=True, tag=True):
    """The action may not be done; `reason` is what the model reads."""

    reason: str


class Ask(msgspec.Struct, frozen=True, tag=True):
    """The user is to be asked; `always` is what the answer "always" would allow, None: not offered."""

    always: AlwaysRule | None = None


Verdict = Allow | Deny | Ask


class Once(msgspec.Struct, frozen=True, tag=True):
    """Yes, this time."""


class Always(msgspec.Struct, frozen=True, tag=True):
    """Yes, for the rest of the session."""


class No(msgspec.Struct, frozen=True, tag=True):
    """No."""


class NoBecause(msgspec.Struct, frozen=True, tag=True):
    """No, and `why` is for the model."""

    why: str


Answer = Once | Always | No | NoBecause


def decide(
    action: Action,
    mode: Mode,
    rules: tuple[PermissionRule, ...] = (),
    always: tuple[AlwaysRule, ...] = (),
    where: str = "",
) -> Verdict:
    """Whether the action may be done. `where` is the file's true path below the project, where it is
    known: rules match it as well as the path that the model wrote.

    Of the rules the first match wins; a `deny` holds in every mode and against every `always`. A file that
    other programs obey unasked is asked about each time, but in the mode `auto` and where a rule allows it.
    """
    ruled = _ruling(action, rules, where)
    changing = changes_files(action) or runs(action)
    if ruled == "deny":
        return Deny(
            f"denied: a rule of the permissions (see mm config) does not allow this {tool_name(action)}"
        )
    if mode == "read-only" and changing:
        return Deny("denied: this session is read-only; only reading, listing and searching are possible")
    if mode == "auto" or ruled == "allow":
        return Allow()
    if changes_files(action) and _is_obeyed(action, where):
        return Ask()
    if any(covers(rule, action) for rule in always):
        return Allow()
    if ruled == "ask" or runs(action) or (changing and mode != "auto-edit"):
        return Ask(offered(action))
    return Allow()


def offered(action: Action) -> AlwaysRule | None:
    """What "always" would allow after this action; None where that would be too much."""
    if not isinstance(action, RunCommand):
        return AlwaysRule(tool_name(action))
    words = tuple(words_of(action.command)[:2])
    if not is_simple(action.command) or not words or not all(map(is_plain, words)):
        return None
    if is_opaque(words) or reaches_far(action.command):
        return None
    return AlwaysRule(tool_name(action), words)


def covers(rule: AlwaysRule, action: Action) -> bool:
    """Whether what the user allowed for the session covers this action."""
    if rule.tool != tool_name(action):
        return False
    if not isinstance(action, RunCommand):
        return True
    if not is_simple(action.command) or reaches_far(action.command):
        return False
    return tuple(words_of(action.command)[:2]) == rule.words


def remember(always: tuple[AlwaysRule, ...], rule: AlwaysRule | None) -> tuple[AlwaysRule, ...]:
    """What is allowed for the session, with `rule` among it."""
    return always if rule is None or rule in always else (*always, rule)


def always_text(rule: AlwaysRule) -> str:
    """What was allowed, in words: for the answer "always" and for the list of what is allowed."""
    return f"commands that begin with {' '.join(rule.words)}" if rule.words else f"every {rule.tool}"


def offer_text(rule: AlwaysRule) -> str:
    """What "always" would allow, short enough for a prompt: `every edit_file`, `echo one …`."""
    return f"{' '.join(rule.words)} …" if rule.words else f"every {rule.tool}"


def unsaid(action: Action, leads_to: str) -> tuple[str, ...]:
    """What the one line that names an action leaves out and a person has to see before saying yes: the whole
    of a command or a server's arguments that are long, have lines or hide something, where an edit goes, and
    that others obey the file. `leads_to` is the file that the path of an edit means, links followed."""
    if isinstance(action, RunCommand):
        whole = action_title(action) == f"run {action.command}" and action.command.isprintable()
        return () if whole else tuple(visible(action.command).split("\n"))
    if isinstance(action, CallOutside):
        return () if action_title(action) == call_text(action) else pretty_arguments(action)
    if changes_files(action):
        verb = "edit" if isinstance(action, EditFile) else "write"
        whole = action_title(action) == f"{verb} {leads_to}" and leads_to.isprintable()
        obeyed = (_OBEYED,) if _is_obeyed(action, leads_to) else ()
        return obeyed if whole else (visible(leads_to), *obeyed)
    return ()


_REFUSED = "refused by the user; do not try it again, ask the user or go on another way"
_REFUSED_BECAUSE = "refused by the user, who says: "


def refusal_text(answer: No | NoBecause) -> str:
    """What the model reads when the user said no."""
    why = clean(answer.why).strip() if isinstance(answer, NoBecause) else ""
    return f"{_REFUSED_BECAUSE}{why}" if why else _REFUSED


def refusal_shown(result: str) -> str:
    """What the user is shown of a refusal of their own; empty for any other result."""
    if result == _REFUSED:
        return "refused"
    why = result.removeprefix(_REFUSED_BECAUSE)
    return "" if why == result else f"refused: {why}"


def unattended(action: Action) -> Deny:
    """The verdict where the user would have to be asked and nobody is there."""
    return Deny(
        f"denied: {tool_name(action)} needs consent, and no terminal is there to ask on "
        "(--yes or --mode allow it)"
    )


def _ruling(action: Action, rules: tuple[PermissionRule, ...], where: str) -> Decision | None:
    """What the first rule that matches says; None without one."""
    strict, loose = _allowable(action, where), _suspects(action, where)
    for rule in rules:
        if not fnmatchcase(tool_name(action), rule.tool):
            continue
        if rule.do == "allow":
            if any(fnmatchcase(subject, squeezed(rule.match)) for subject in strict):
                return rule.do
        elif any(fnmatchcase(subject, squeezed(rule.match).casefold()) for subject in loose):
            return rule.do
    return None


def _allowable(action: Action, where: str) -> tuple[str, ...]:
    """What an `allow` may match: a simple command as it stands; the arguments for a server, as JSON; the true
    path, or the one written."""
    if isinstance(action, RunCommand):
        return (squeezed(action.command),) if is_simple(action.command) else ()
    if isinstance(action, CallOutside):
        return (arguments_text(action),)
    return (where or _plain_path(action.path),)


def _suspects(action: Action, where: str) -> tuple[str, ...]:
    """What a `deny` or `ask` may match, in lower case: each command that could be meant, each path."""
    if isinstance(action, CallOutside):
        found = {arguments_text(action)}
    elif not isinstance(action, RunCommand):
        found = {where, _plain_path(action.path), action_subject(action)} - {""}
    else:
        found = {squeezed(action.command)}
        for part in parts_of(action.command):
            found.update(commands_in(part))
    return tuple(sorted(subject.casefold() for subject in found))


def _is_obeyed(action: Action, where: str) -> bool:
    """Whether the edit is of a file that runs or allows something, by its true path or the one written."""
    paths = {where, action_subject(action)}
    return any(obeyed_unasked(tuple(path.split("/"))) for path in paths)


def _plain_path(path: str) -> str:
    """The path without `.`, `..` and doubled slashes, as far as words alone can tell."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return ("/" if path.startswith("/") else "") + "/".join(parts) or "."

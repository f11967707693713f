"""A conversation's errors for people, and for the model that is asked about them: findings to words, records
and configuration to a question, its answer to changes of agent.yaml that may be proposed."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from minime.core.config.agent_yaml import KEYS
from minime.core.config.config_text import config_text
from minime.core.config.configuration import Layer, parse_settings, problem_text
from minime.core.config.settings import Settings, origin, secrets
from minime.core.config.trusting import paths_named, wants
from minime.core.diagnosis import Changes, Finding
from minime.core.listing import count
from minime.core.pieces import Piece, Pieces
from minime.core.text import clip, indented, mask, one_line
from minime.core.values import Session, System, User

MOST_RECORDS = 20
LONGEST_RECORD = 1_200
ANSWER_TOKENS = 1_500
INDENT, DEEPER = " " * 7, " " * 17

SYSTEM = """\
You help a person whose coding agent, mm, met errors with its model server. You are given the errors, newest
last, and the configuration in effect (secrets are ***). Say in at most 12 short lines what went wrong and
what to do, the likeliest first. Say only what the errors and the configuration show. If a change of
agent.yaml would help, end with one block that begins with ```yaml and holds only the top-level keys to set,
with their new values. Set no apiKey, headers, permissions or mcp. The keys that there are:

"""


class Proposal(msgspec.Struct, frozen=True):
    """Keys of agent.yaml to set, and lines about what was proposed and is not taken."""

    changes: Changes = {}
    refused: tuple[str, ...] = ()


def finding_pieces(
    findings: tuple[Finding, ...], id: str, local: Callable[[datetime], datetime], width: int = 0
) -> Pieces:
    """The findings for people, in `width` columns (0: as many as it takes); where no rule knows one, the way
    to ask the model about session `id`."""
    pieces: list[Piece] = []
    for one in findings:
        times = tuple(f"{local(moment):%Y-%m-%d %H:%M}" for moment in (one.first, one.last))
        when = times[1] if times[0] == times[1] else " – ".join(times)
        pieces.append(Piece(f"\n{one.count:>4}×  {one.kind} · {when}\n", "dim"))
        pieces.append(Piece(indented(one_line(one.message, 600), INDENT, INDENT, width), "red"))
        if one.means:
            pieces.append(Piece(indented(one.means, f"{INDENT}it means  ", DEEPER, width)))
            pieces.append(Piece(indented(one.todo, f"{INDENT}to do     ", DEEPER, width)))
        else:
            line = f"no rule knows this one; mm explain {id} --ask has the model look at it"
            pieces.append(Piece(indented(line, INDENT, INDENT, width)))
    return tuple(pieces)


def headline(session: Session) -> str:
    """The conversation and how much went wrong in it, in one line."""
    title = one_line(session.title) or "no title"
    return f"{session.id} · {title} · {count(len(session.errors), 'error')}"


def model_question(session: Session, settings: Settings) -> tuple[System, User]:
    """What the model is asked about the errors of `session`; no configured secret is in it."""
    keys = "\n".join(f"{key.name}: {key.meaning} Default: {key.default}." for key in KEYS)
    records = "\n".join(
        clip(msgspec.json.encode(record).decode(), LONGEST_RECORD)
        for record in session.errors[-MOST_RECORDS:]
    )
    text = f"The errors:\n{records}\n\nThe configuration in effect:\n{config_text(settings)}"
    return System(SYSTEM + keys), User(mask(text, secrets(settings)))


def checked(values: dict[Any, Any], settings: Settings) -> Proposal:
    """Which of the proposed values may be set: known keys with values of their kind, harmless, and unlike
    what holds already."""
    changes: Changes = {}
    refused: list[str] = []
    for key, value in values.items():
        layer = Layer(source="agent.yaml", values={key: value})
        parsed = parse_settings((layer,), {})
        if not isinstance(parsed, Settings):
            refused += [f"not taken: {problem_text(problem)}" for problem in parsed]
        elif asks := wants(layer, frozenset(paths_named(layer))):
            refused += [f"not taken, since it is for you to decide: {line}" for line in asks]
        elif _differs(str(key), parsed, settings):
            changes[str(key)] = value
    return Proposal(changes, tuple(refused))


def overruled(changes: Changes, settings: Settings) -> tuple[str, ...]:
    """Lines about the keys that agent.yaml cannot change, because an option or a variable stands over it."""
    places = {key: origin(settings, key) for key in changes}
    return tuple(
        f"{key} comes from the {place}, which goes before agent.yaml: change it there"
        for key, place in places.items()
        if place.startswith(("environment ", "option "))
    )


def _differs(name: str, parsed: Settings, settings: Settings) -> bool:
    field = next(key.field for key in KEYS if key.name == name)
    return bool(getattr(parsed, field) != getattr(settings, field))

"""The models of all servers as one list to choose from: what each is called, what a typed name means."""

import difflib

import msgspec

from minime.core.model.servers import Offer, Server, server_name

NAMED = 6
"""Models that a line names where several are meant."""


class Choice(msgspec.Struct, frozen=True):
    """A model that can be chosen. `name` is the server's own for it; `label` is that, with the server behind
    it where another server before has one of the same name."""

    label: str
    name: str
    server: Server


def choices(offers: tuple[Offer, ...]) -> tuple[Choice, ...]:
    """All models of the servers, in their order; no two labels are the same."""
    taken: dict[str, Choice] = {}
    for offer in offers:
        for name in offer.models:
            labels = (name, f"{name}{place_text(offer.server)}", f"{name} at {offer.server.base_url}")
            label = next((label for label in labels if label not in taken), "")
            if label:
                taken[label] = Choice(label, name, offer.server)
    return tuple(taken.values())


def chosen(there: tuple[Choice, ...], wanted: str, where: Server | None) -> Choice | str:
    """The model that `wanted` means: its label, its name without `:latest`, or a piece that only one has in
    its name; else the line that says why none is meant, naming the nearest. A file of weights is taken at
    its word, and so is any name where `where`, the server in use, lists no models."""
    words = wanted.strip()
    for same in (words, f"{words}:latest"):
        exact = next((choice for choice in there if choice.label == same), None)
        if exact is not None:
            return exact
    if words.endswith(".gguf"):
        return Choice(words, words, Server("embedded", ""))
    if where is not None and where.kind != "embedded" and not any(c.server == where for c in there):
        return Choice(words, words, where)
    alike = [choice for choice in there if words.lower() in choice.label.lower()]
    if len(alike) == 1:
        return alike[0]
    if alike:
        more = f" and {len(alike) - NAMED} more" if len(alike) > NAMED else ""
        return f"{words!r} may be {', '.join(c.label for c in alike[:NAMED])}{more}: which one?"
    labels = {choice.label.lower(): choice.label for choice in there}
    near = difflib.get_close_matches(words.lower(), labels, 1, 0.4)
    hint = f"did you mean {labels[near[0]]}? " if near else ""
    return f"no model {words!r} here: {hint}/model lists those that are there"


def choices_text(there: tuple[Choice, ...], current: str, where: Server | None) -> str:
    """The list for a person, by server; a star before the model that answers. It stands in the list even when
    its server does not name it."""
    if where is not None and current and not any(_is(choice, current, where) for choice in there):
        place = next((at for at, choice in enumerate(there) if choice.server == where), 0)
        there = (*there[:place], Choice(current, current, where), *there[place:])
    lines: list[str] = []
    last: Server | None = None
    for choice in there:
        if choice.server != last:
            last = choice.server
            lines.append(server_line(last))
        star = "*" if where is not None and _is(choice, current, where) else " "
        lines.append(f"{star} {choice.label}")
    return "\n".join(lines)


def server_line(server: Server) -> str:
    """A server with its address, for the head of a list."""
    if server.kind == "embedded":
        return "Embedded"
    return server.base_url if server.kind == "other" else f"{server_name(server.kind)} · {server.base_url}"


def place_text(server: Server) -> str:
    """Where a model is, behind its name in a sentence."""
    if server.kind == "embedded":
        return ", embedded"
    return f" at {server.base_url}" if server.kind == "other" else f" on {server_name(server.kind)}"


def _is(choice: Choice, name: str, where: Server) -> bool:
    return choice.server == where and choice.name in {name, f"{name}:latest"}

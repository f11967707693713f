"""What the disk and the server have to offer for a line that is being typed."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from minime.core.completion import (
    Want,
    command_offers,
    name_offers,
    path_offer,
    path_offers,
    wanted,
)
from minime.core.listing import row_text
from minime.core.text import visible
from minime.shell import clock
from minime.shell.tools.inside import Inside, Place

if TYPE_CHECKING:
    from minime.shell.store import Store

MOST_SESSIONS = 20
LOOKED_FOR = 0.3
"""Seconds in which a name is looked for in the whole project."""

Offers = tuple[int, tuple[str, ...], tuple[str, ...]]


class Completer:
    """Of one project; `models` gives the names of the models there are."""

    def __init__(
        self, project: Path, cwd: Path, store: "Store | None", models: Callable[[], tuple[str, ...]]
    ) -> None:
        self._inside = Inside(project, cwd)
        self._store = store
        self._models = models

    def offers(self, line: str) -> Offers | None:
        """Where the text that can be replaced begins in `line`, what could stand there, and the same as it
        is listed for the person. Trouble with the disk makes no offer."""
        want = wanted(line)
        found = self._found(want) if want is not None else None
        if found is None:
            return None
        begin, *both = found
        # A name with something unseen in it can neither be judged by the eye nor be typed.
        seen = [pair for pair in zip(*both, strict=True) if all(visible(text) == text for text in pair)]
        return begin, tuple(offer for offer, _ in seen), tuple(label for _, label in seen)

    def _found(self, want: Want) -> Offers | None:
        with contextlib.suppress(OSError):
            match want.kind:
                case "command":
                    offers = command_offers(want)
                    return want.begin, offers, offers
                case "session":
                    return (want.begin, *self._sessions(want))
                case "model":
                    offers = name_offers(want, self._models())
                    return want.begin, offers, offers
                case "choice":
                    offers = name_offers(want, want.choices)
                    return want.begin, offers, offers
                case "mention" | "path":
                    offers = self._paths(want)
                    return want.begin, offers, tuple(map(_last_part, offers))
        return None

    def _sessions(self, want: Want) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if self._store is None:
            return (), ()
        ids = tuple(head.id for head in self._store.heads())
        offers = name_offers(want, ids)[:MOST_SESSIONS]
        numbers = {id: number for number, id in enumerate(ids, start=1)}
        rows = {row.id: row_text(row, clock.local) for row in self._store.rows(offers)}
        return offers, tuple(f"{numbers[id]:>3}{rows.get(id, id)[3:]}" for id in offers)

    def _paths(self, want: Want) -> tuple[str, ...]:
        from minime.shell.tools.walking import walk

        place = self._inside.place(want.folder or ".")
        if not isinstance(place, Place):
            return ()
        names = tuple((entry.parts[-1], self._is_folder(place, entry.parts)) for entry in walk(place, 1))
        return path_offers(want, names) or self._anywhere(want, place)

    def _anywhere(self, want: Want, place: Place) -> tuple[str, ...]:
        """The one file below the folder whose name begins so, as far as it is found in time."""
        from minime.shell.tools.walking import walk

        if len(want.word) < 2:
            return ()
        deadline = time.monotonic() + LOOKED_FOR
        found = ""
        for entry in walk(place):
            if time.monotonic() > deadline:
                return ()
            if not entry.is_folder and entry.parts[-1].startswith(want.word):
                if found:
                    return ()
                found = "/".join(entry.parts)
        return (path_offer(want, want.folder + found, False),) if found else ()

    @staticmethod
    def _is_folder(place: Place, parts: tuple[str, ...]) -> bool:
        return Path(place.base, *place.parts, *parts).is_dir()


def _last_part(offer: str) -> str:
    """A path as it is listed: its name alone, and the slash of a folder."""
    path = offer.strip().strip('@"')
    name = path.rstrip("/").rpartition("/")[2]
    return name + ("/" if path.endswith("/") else "")

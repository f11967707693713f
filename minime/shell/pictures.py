"""The images of a project's conversations on disk: each a file of its own beside the session that names it.

An image is there, synced, before any session names it. Where it cannot be written it is held in memory, as
its session is, and tried again when that is saved.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from minime.core.images import (
    HEAD,
    MOST_BYTES,
    all_urls,
    image_name,
    image_place,
    image_url,
    mime_of,
    to_send,
)
from minime.core.values import Session
from minime.shell.tools.inside import Place, open_place
from minime.shell.whole_file import drafted, put_if_free, remove_leftovers, sync_folder


class Pictures:
    """The images below the sessions folder, which `make_folder` makes (None: kept in memory alone)."""

    def __init__(self, folder: Path | None = None, make_folder: Callable[[], None] = lambda: None) -> None:
        self._folder = folder
        self._make_folder = make_folder
        self._held: dict[str, bytes] = {}

    def add(self, id: str, data: bytes) -> str:
        """Keeps an image for the session `id`; the address to name it by. Raises nothing."""
        name = image_name(data)
        try:
            self._write(id, name, data)
        except OSError:
            self._held[name] = data
        return image_url(id, name)

    def own(self, session: Session) -> None:
        """Sees to it that each image that the session names lies in the session's own folder; of one that is
        nowhere there is nothing to keep. Raises OSError."""
        for url in all_urls(session):
            place = image_place(url)
            if place is None or self._folder is None or self._is_there(session.id, place[1]):
                continue
            data = self.read(url)
            if data is not None:
                self._write(session.id, place[1], data)

    def read(self, url: str) -> bytes | None:
        """The image of this address; None where it is not there, is damaged, or was not kept by mm."""
        place = image_place(url)
        if place is None:
            return None
        id, name = place
        if name in self._held:
            return self._held[name]
        if self._folder is None:
            return None
        try:
            with open_place(Place(str(self._folder), (f"{id}.files", name), "", "")) as handle:
                if os.fstat(handle).st_size > MOST_BYTES:
                    return None
                with open(handle, "rb", closefd=False) as file:
                    data = file.read()
        except OSError:
            return None
        return data if mime_of(data[:HEAD]) is not None and image_name(data) == name else None

    def to_send(self, urls: tuple[str, ...]) -> dict[str, bytes]:
        """The images that go with a request, by their addresses."""
        found = {url: data for url in urls if (data := self.read(url)) is not None}
        chosen = to_send({url: len(data) for url, data in found.items()}, urls)
        return {url: found[url] for url in chosen}

    def missing(self, session: Session) -> tuple[str, ...]:
        """The images that the session names and that cannot be read."""
        return tuple(url for url in all_urls(session) if self.read(url) is None)

    def remove(self, id: str) -> None:
        """Removes the images of a session. Raises OSError."""
        if self._folder is None:
            return
        folder = self._folder / f"{id}.files"
        try:
            if folder.is_symlink():
                folder.unlink()
                return
            for file in list(folder.iterdir()):
                file.unlink()
            folder.rmdir()
        except FileNotFoundError:
            return

    def tidy(self) -> None:
        """Removes what writes of killed processes have left behind."""
        if self._folder is None:
            return
        with suppress(OSError):
            for entry in os.scandir(self._folder):
                if entry.name.endswith(".files") and entry.is_dir(follow_symlinks=False):
                    remove_leftovers(Path(entry.path))

    def _is_there(self, id: str, name: str) -> bool:
        try:
            with open_place(Place(str(self._folder), (f"{id}.files", name), "", "")):
                return True
        except OSError:
            return False

    def _write(self, id: str, name: str, data: bytes) -> None:
        """Raises OSError."""
        if self._folder is None:
            self._held[name] = data
            return
        self._make_folder()
        folder = self._folder / f"{id}.files"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            sync_folder(self._folder)
        if folder.is_symlink():
            raise OSError(0, "it is a link")
        with drafted(folder / name, data) as draft:
            put_if_free(draft, folder / name)
        sync_folder(folder)
        self._held.pop(name, None)

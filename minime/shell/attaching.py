"""The files that a question names with an `@`: read as the tools read, or the line that says why not."""

import os
from collections.abc import Callable
from pathlib import Path

from minime.core.images import Kept, image_text
from minime.core.mentions import Given, Mention, asked, given_text, mentions, to_read
from minime.core.text import LIMIT
from minime.core.tools.toolbox import ListDirectory
from minime.core.turn import Turn
from minime.shell.tools.inside import Place
from minime.shell.tools.read_tools import read_image
from minime.shell.tools.tools import Impossible, Ready, Tools

_There = tuple[Mention, Ready, bool]
WAY_OUT = "nothing was sent (in `backquotes` an @word is no path)"


async def question_turn(
    question: str,
    tools: Tools,
    tell: Callable[[str], None],
    keep: Callable[[bytes], str],
    limit: int = LIMIT,
    behind: str = "",
) -> Turn | str:
    """A turn with the question, what stands in the files and folders that it names (at most `limit`
    characters each and twice that together) and what came by a pipe; or the line that says which file cannot
    be had. `tell` is given a line on each; `keep` keeps an image and gives the address it has then."""
    found: list[_There] = []
    for readings in mentions(question):
        there = await _first_there(readings, tools)
        if isinstance(there, str):
            return f"{there}; {WAY_OUT}"
        if there is not None:
            found.append(there)
    given: list[Given] = []
    images: list[Kept] = []
    each = min(limit, 2 * limit // max(1, len(found)))
    for mention, ready, is_folder in found:
        image = read_image(ready.place) if ready.place is not None and not is_folder else b""
        if isinstance(image, str):
            return f"{mention.path}, {image}; {WAY_OUT}"
        if image:
            images.append(Kept(keep(image), image_text(mention.path, image)))
            tell(f"@{images[-1].told}")
            continue
        result = await tools.run("", ready, lambda _: None, each)
        if result.failed:
            return f"{result.content}; {WAY_OUT}"
        given.append(Given(mention.path, result.content))
        tell(given_text(mention.path, result.content, is_folder=is_folder))
    return asked(question, tuple(given), behind, tuple(images))


async def _first_there(
    readings: tuple[Mention, ...], tools: Tools
) -> tuple[Mention, Ready, bool] | str | None:
    """The reading with something at its path; None when there is none and none needs to be a path."""
    trouble = ""
    for mention in readings:
        action = to_read(mention)
        ready = await tools.prepare(action)
        if isinstance(ready, Impossible):
            if mention.sure or os.path.lexists(tools.cwd / mention.path):
                trouble = trouble or ready.message
            continue
        assert isinstance(ready.place, Place), "a file to read has a place"
        path = Path(ready.place.base, *ready.place.parts)
        if path.is_dir():
            listing = await tools.prepare(ListDirectory(mention.path))
            return listing.message if isinstance(listing, Impossible) else (mention, listing, True)
        if path.exists():
            return mention, ready, False
        if mention.sure or _in_a_folder_of_ours(mention.path, tools.cwd):
            trouble = trouble or (await tools.run("", ready, lambda _: None)).content
    return trouble or None


def _in_a_folder_of_ours(path: str, cwd: Path) -> bool:
    """Whether the first part of a path is a folder here: then the word is hardly anything else."""
    first, slash, rest = path.partition("/")
    return bool(slash and rest) and (cwd / first).is_dir()

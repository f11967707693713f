"""A conversation to a file or a stream, in the form that was asked for; no file is written over unasked."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from minime.core.codec import encode
from minime.core.formats import NOTHING_YET, SUFFIXES, Format, Wanted, parse_export
from minime.core.images import all_urls
from minime.core.pieces import Style
from minime.core.session import is_empty
from minime.core.values import Session
from minime.shell.pictures import Pictures
from minime.shell.whole_file import put_if_free, put_in_place

MM_S_OWN = {".mm", ".git"}
MOST_NUMBER = 999


class Written(msgspec.Struct, frozen=True):
    """The whole is in this file."""

    path: Path


class NotWritten(msgspec.Struct, frozen=True):
    """Nothing has changed; `line` says why. `is_there`: only because the file exists."""

    line: str
    is_there: bool = False


def export_pieces(session: Session, format: Format, cwd: Path, pictures: Pictures) -> Iterator[bytes]:
    """The conversation in that form, piece by piece, in order, with its `pictures`. `cwd` is the folder that
    an editor would load it with."""
    match format:
        case "markdown":
            from minime.core.transcript.markdown import markdown_pieces

            yield from (piece.encode("utf-8", "replace") for piece in markdown_pieces(session))
        case "html":
            from minime.core.transcript.page import page_pieces

            page = page_pieces(session, _images(session, pictures))
            yield from (piece.encode("utf-8", "replace") for piece in page)
        case "json":
            yield encode(session)
        case "acp":
            from minime.core.acp.answers import replay_lines

            yield from replay_lines(session, str(cwd), _images(session, pictures))


def write_file(path: Path, pieces: Iterable[bytes], *, over: bool) -> Written | NotWritten:
    """Puts `pieces` into `path`, whole or not at all; over a file that is there only when `over` says so, and
    never among the files of mm or git."""
    try:
        if not MM_S_OWN.isdisjoint(Path(os.path.realpath(path)).parts):
            return NotWritten(f"{path} lies among the files of mm itself or of git; choose another place")
        if path.is_dir():
            return NotWritten(f"{path} is a folder; give the name of a file")
        if not over and os.path.lexists(path):
            return NotWritten(f"{path} is there already and stays as it is; give another name", is_there=True)
        _write(path.resolve() if over else path, pieces, over=over)
    except FileExistsError:
        return NotWritten(f"{path} is there already and stays as it is; give another name", is_there=True)
    except (OSError, ValueError) as error:  # the latter: a name with a null byte
        return NotWritten(f"cannot write {path}: {getattr(error, 'strerror', None) or error}")
    return Written(path)


def export_beside(session: Session, wanted: Wanted, cwd: Path, pictures: Pictures) -> Written | NotWritten:
    """What `/export` does: writes the conversation to the file that is wanted, else to one with a name of its
    own that is still free. Paths are relative to `cwd`."""
    form = wanted.format
    if is_empty(session):
        return NotWritten(NOTHING_YET)
    if wanted.file:
        file = cwd / _expanded(wanted.file)
        return write_file(file, export_pieces(session, form, cwd, pictures), over=False)
    for number in range(1, MOST_NUMBER):
        name = f"{session.id}{f'-{number}' if number > 1 else ''}{SUFFIXES[form]}"
        done = write_file(cwd / name, export_pieces(session, form, cwd, pictures), over=False)
        if isinstance(done, Written) or not done.is_there:
            return done
    return NotWritten(f"too many exports of this conversation in {cwd}; give a name: /export {form} FILE")


def export_line(session: Session, argument: str, cwd: Path, pictures: Pictures) -> tuple[str, Style]:
    """Does what `/export` with these words asks for: the line that tells of it, and its style."""
    wanted = parse_export(argument)
    done = NotWritten(wanted) if isinstance(wanted, str) else export_beside(session, wanted, cwd, pictures)
    if isinstance(done, NotWritten):
        return done.line, "red"
    near = done.path.relative_to(cwd) if done.path.is_relative_to(cwd) else done.path
    return f"wrote {near}", ""


def _images(session: Session, pictures: Pictures) -> dict[str, bytes]:
    return pictures.to_send(all_urls(session))


def _expanded(name: str) -> Path:
    """The path, `~` being the home folder where that is known."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)


def _write(path: Path, pieces: Iterable[bytes], *, over: bool) -> None:
    """Raises OSError, FileExistsError among them."""
    draft = path.parent / f".{path.name[:100]}.{secrets.token_hex(4)}.tmp"
    try:
        with draft.open("xb", buffering=1 << 20) as file:
            file.writelines(pieces)
        if over:
            put_in_place(draft, path)
        elif not put_if_free(draft, path):
            raise FileExistsError
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)

"""`mm sessions export`: a kept conversation as a document, on stdout or in a file."""

import sys
from collections.abc import Callable
from pathlib import Path

from minime.core.formats import Format, format_of
from minime.shell.exporting import Written, export_pieces, write_file
from minime.shell.paper import Paper
from minime.shell.store import Store
from minime.shell.wanted_session import one_look, wanted_session

DONE, FAILED = 0, 1


@one_look()
def export_session(
    store: Store,
    wanted: str,
    *,
    format: Format | None,
    output: Path | None,
    cwd: Path,
    ask: Callable[[str], bool],
) -> int:
    """Writes the conversation that `wanted` means. Without a format the end of the file's name decides, else
    it is Markdown. `ask` is put the question whether a file may be written over."""
    err = Paper(sys.stderr)
    session = wanted_session(store, wanted)
    if session is None:
        return FAILED
    to_stdout = output is None or str(output) == "-"
    form = format or (None if output is None else format_of(output.name)) or "markdown"
    as_kept = form == "json"
    pieces = iter((store.read(session.id),)) if as_kept else export_pieces(session, form, cwd, store.pictures)
    if output is None or to_stdout:
        out = Paper(sys.stdout)
        for piece in pieces:
            out.document(piece)
        return DONE
    over = output.is_file() and ask(f"Write over {output}?")
    done = write_file(output, pieces, over=over)
    if isinstance(done, Written):
        err.line(f"wrote {done.path}")
        return DONE
    err.line(f"mm: {done.line}{' or --yes' if done.is_there else ''}", "red")
    return FAILED

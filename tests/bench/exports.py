"""A long conversation shown and exported: whole processes, from its file to the last byte."""

import os
from pathlib import Path

from minime.core.codec import encode
from minime.core.formats import FORMATS, Format
from minime.shell.exporting import export_pieces
from minime.shell.pictures import Pictures
from tests.bench.environment import Place
from tests.bench.inside import session as conversation
from tests.bench.rows import Row, Sample, by_turns
from tests.bench.startup import launch

AREA = "Share"
SIZE = 14_000_000
"""Bytes of a session of some 10,000 messages; a quarter of them are results of tools."""

LEAST = """
import sys
from minime.core.codec import decode
with open(sys.argv[1], "rb") as file:
    decode(file.read())
with open(sys.argv[2], "rb") as made, open(sys.argv[3], "wb") as file:
    file.write(made.read())
"""


def rows(place: Place, folder: Path, runs: int) -> list[Row]:
    """The rows about sharing. `folder` is empty and may be filled."""
    session = conversation(SIZE)
    file = folder / ".mm" / "sessions" / f"{session.id}.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(encode(session))
    size = file.stat().st_size / 1e6
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    what = f"a conversation of {len(session.messages) - 1:,} messages ({size:.0f} MB)"

    def run(*command: str) -> Sample:
        return launch(command, folder, env)[0]

    def exported(form: Format) -> Row:
        made, out = folder / f"made.{form}", folder / "out"
        made.write_bytes(b"".join(export_pieces(session, form, folder, Pictures())))

        def least() -> Sample:
            return run(place.python, "-c", LEAST, str(file), str(made), str(out))

        def export() -> Sample:
            options = ("--format", form, "--output", str(out), "--yes")
            return run(*place.mm, "sessions", "export", "1", *options)

        pairs = by_turns(least, export, runs)
        assert out.read_bytes() == made.read_bytes()
        floor = "decode it and write the same bytes, made before"
        return Row(AREA, f"`mm sessions export` of {what} as `{form}`", floor, 3.0, pairs, 6 * size)

    def least() -> Sample:
        return run(place.python, "-c", LEAST, str(file), str(file), str(folder / "out"))

    shown = by_turns(least, lambda: run(*place.mm, "sessions", "show", "1"), runs)
    return [
        Row(AREA, f"`mm sessions show` of {what}", "decode it and write its file", 3.0, shown, 6 * size),
        *map(exported, FORMATS),
    ]

"""Lines from a real pipe and to a real pipe, beyond what a test of the whole mm has the time for."""

import os
import threading

from minime.shell.editor_pipes import Writer, read_lines


def lines_of(*written: bytes, most: int = 100) -> list[bytes | None]:
    """What is handed over of a pipe into which this is written, piece by piece."""
    heard: list[bytes | None] = []
    ended = threading.Event()

    def say(line: bytes | None) -> None:
        heard.append(line)
        if line is None:
            ended.set()

    out, into = os.pipe()
    read_lines(out, most, say)
    for piece in written:
        os.write(into, piece)
    os.close(into)
    assert ended.wait(5)
    os.close(out)
    return heard


def test_a_line_is_handed_over_as_it_was_however_it_came() -> None:
    assert lines_of(b"one\ntw", b"o\n\nth", b"ree\n") == [b"one", b"two", b"", b"three", None]


def test_the_last_line_needs_no_end() -> None:
    assert lines_of(b"one\ntwo") == [b"one", b"two", None]


def test_of_a_line_that_is_too_long_enough_is_handed_over_to_be_refused_and_no_more() -> None:  # 40
    block = b"x" * 60_000
    first, second, end = lines_of(*[block] * 50, b"\nnext\n", most=100_000)
    assert first is not None
    assert 100_000 < len(first) <= 100_000 + (1 << 20)
    assert (second, end) == (b"next", None)


def test_what_is_put_is_written_whole_and_in_order() -> None:
    out, into = os.pipe()
    writer = Writer(into, lambda: None)
    pieces = [bytes([number]) * 100_000 for number in range(20)]
    for piece in pieces:
        writer.put(piece)
    took = bytearray()
    while len(took) < 2_000_000:
        took += os.read(out, 1 << 20)
    writer.close(5)
    assert took == b"".join(pieces)
    os.close(out)
    os.close(into)


def test_it_is_told_once_when_nobody_takes_it() -> None:
    out, into = os.pipe()
    told: list[int] = []
    gone = threading.Event()

    def tell() -> None:
        told.append(1)
        gone.set()

    writer = Writer(into, tell)
    os.close(out)
    writer.put(b"one")
    writer.put(b"two")
    assert gone.wait(5)
    writer.close(5)
    assert told == [1]
    os.close(into)

"""A server in a process of its own that sends a long answer; its port is the one line on stdout."""

import socket
import sys

from tests.support.server import chunk, closing

DELTAS = 20_000
PIECES = (
    chunk({"role": "assistant"}),
    *(chunk({"content": f" word{number % 97}"}) for number in range(DELTAS)),
    *closing("stop"),
)
PAYLOADS = tuple(piece.removeprefix(b"data: ").rstrip() for piece in PIECES[:-1])
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


def serve(connection: socket.socket) -> None:
    """Answers requests until the client hangs up; a path with `pieces` has each piece sent by itself."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    whole = b"".join(PIECES)
    with connection, connection.makefile("rb") as reader:
        while first := reader.readline():
            length = 0
            while line := reader.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            reader.read(length)
            if b"pieces" not in first:
                connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(whole) + whole)
                continue
            connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
            for piece in PIECES:
                connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
            connection.sendall(b"0\r\n\r\n")


def main() -> None:
    """Serves one connection after the other, each in its thread."""
    import threading

    with socket.create_server(("127.0.0.1", 0)) as listener:
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()

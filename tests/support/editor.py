"""A real editor for the real `mm acp`: JSON-RPC by hand over pipes, everything heard kept in order.

    with Editor(cwd=project, env=at(server)) as editor:
        editor.initialize()
        id = editor.new(project)
        answer = editor.prompt(id, "Look.")      # its result; what was shown: editor.kinds(id)

Each line of stdout has to be JSON-RPC in ASCII and under 1 MB, else the test fails; so it does at a traceback
on stderr.
"""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.support.mm import MM, environment
from tests.support.server import ScriptedServer

Message = dict[str, Any]
TURN_UPDATES = {
    "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update",
}  # fmt: skip


def at(server: ScriptedServer, **more: str) -> dict[str, str]:
    """The environment in which this server answers."""
    return {"MM_BASE_URL": server.url, "MM_MODEL": "tiny", **more}


def text(words: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": words}


def link(uri: str, name: str = "a name") -> dict[str, Any]:
    """A block that links to a resource."""
    return {"type": "resource_link", "uri": uri, "name": name}


class Editor:
    """The editor, from entering the `with` block to leaving it. `heard` holds every message of `mm` with the
    second of the monotonic clock at which it came; `permit` answers requests for permission as they come
    with the id of an option, or leaves them open (None); `asked` are those that came."""

    def __init__(
        self,
        *words: str,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        permit: Callable[[Message], str | None] | str | None = "allow",
        program: tuple[str, ...] = MM,
        stdin: int = subprocess.PIPE,
    ) -> None:
        self.heard: list[tuple[float, Message]] = []
        self.garbage: list[bytes] = []
        self.permit = permit
        self._count = 0
        self._came = threading.Condition()
        self._open = True
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the editor
        self.process = subprocess.Popen(
            [*program, "acp", *words],
            cwd=cwd,
            env=environment(env),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Editor":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.hang_up()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()
                if kind is None:
                    raise
        self.hang_up()
        self._reader.join(5)
        errors = self.errors
        self._errors.close()
        if self.process.stdout is not None:
            self.process.stdout.close()
        if kind is None:
            assert not self.garbage, f"not the protocol: {self.garbage[:3]}"
            assert "Traceback" not in errors, errors

    # --- what the editor says

    def write(self, data: bytes) -> None:
        """Bytes, as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages: Message) -> None:
        """Messages, in one write."""
        self.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def request(self, method: str, **params: Any) -> int:
        """Asks for something and does not wait: the id of the request."""
        message = self.message(method, **params)
        self.send(message)
        return int(message["id"])

    def message(self, method: str, **params: Any) -> Message:
        """A request that is not sent yet."""
        self._count += 1
        return {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}

    def notify(self, method: str, **params: Any) -> None:
        """Says something that is not answered."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self, asked: Message, option: str | None) -> None:
        """Answers a request for permission; None is that the prompt was cancelled."""
        outcome = {"outcome": "cancelled"} if option is None else {"outcome": "selected", "optionId": option}
        self.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": outcome}})

    def call(self, method: str, **params: Any) -> Message:
        """Asks, waits, and takes the result, which has to be one."""
        return self.result(self.request(method, **params))

    def refused(self, method: str, **params: Any) -> Message:
        """Asks, waits, and takes the error, which has to be one."""
        return self.error(self.request(method, **params))

    def initialize(self, **capabilities: Any) -> Message:
        """The first request of every editor."""
        return self.call("initialize", protocolVersion=1, clientCapabilities=capabilities)

    def new(self, cwd: Path, **more: Any) -> str:
        """Opens a new session: its id."""
        return str(self.call("session/new", cwd=str(cwd), mcpServers=[], **more)["sessionId"])

    def load(self, id: str, cwd: Path, **more: Any) -> Message:
        """Opens a session of the past."""
        return self.call("session/load", sessionId=id, cwd=str(cwd), mcpServers=[], **more)

    def ask(self, id: str, *blocks: Message | str) -> int:
        """Prompts and does not wait: the id of the request."""
        return self.request(
            "session/prompt", sessionId=id, prompt=[text(b) if isinstance(b, str) else b for b in blocks]
        )

    def prompt(self, id: str, *blocks: Message | str) -> str:
        """Prompts, waits, and takes the stop reason."""
        return str(self.result(self.ask(id, *blocks))["stopReason"])

    def cancel(self, id: str) -> None:
        """Cancels what runs in a session."""
        self.notify("session/cancel", sessionId=id)

    # --- what mm says

    def result(self, request: int, within: float = 10.0) -> Message:
        """The result of a request of ours, as soon as it is there."""
        answer = self.response(request, within)
        assert "error" not in answer, answer
        result: Message = answer["result"]
        return result

    def error(self, request: int | None, within: float = 10.0) -> Message:
        """The error that answers a request of ours."""
        answer = self.response(request, within)
        assert "result" not in answer, answer
        error: Message = answer["error"]
        assert "\n" not in error["message"]
        return error

    def response(self, request: int | None, within: float = 10.0) -> Message:
        """What answers a request of ours."""
        return self.wait(lambda m: "method" not in m and m.get("id") == request, within)

    def asked(self, number: int = 1, within: float = 10.0) -> Message:
        """The request for permission of this number."""

        def found() -> Iterator[Message]:
            return (m for m in self.messages if m.get("method") == "session/request_permission")

        self.until(lambda: len(list(found())) >= number, within)
        return list(found())[number - 1]

    def shown(self, id: str, kind: str, within: float = 10.0, **fields: Any) -> Message:
        """The first update of this kind and with these fields in a session, as soon as it is there."""
        found = self.wait(
            lambda m: (
                m.get("method") == "session/update"
                and m["params"]["sessionId"] == id
                and m["params"]["update"]["sessionUpdate"] == kind
                and all(m["params"]["update"].get(k) == v for k, v in fields.items())
            ),
            within,
        )
        update: Message = found["params"]["update"]
        return update

    def wait(self, wanted: Callable[[Message], bool], within: float = 10.0) -> Message:
        """The first message that is wanted."""
        self.until(lambda: any(wanted(m) for _, m in self.heard), within)
        return next(m for _, m in self.heard if wanted(m))

    def until(self, true: Callable[[], bool], within: float = 10.0) -> None:
        """Waits for what messages make true."""
        with self._came:
            done = self._came.wait_for(lambda: true() or not self._open, within)
            assert true(), (
                f"{'mm ended' if done else 'did not come'}; heard: {self.heard[-5:]}; {self.errors}"
            )

    @property
    def messages(self) -> list[Message]:
        """All that mm said, in order."""
        with self._came:
            return [message for _, message in self.heard]

    def updates(self, id: str, since: int = 0) -> list[Message]:
        """The updates of a session, from a place in `heard` on."""
        return [
            m["params"]["update"]
            for m in self.messages[since:]
            if m.get("method") == "session/update" and m["params"]["sessionId"] == id
        ]

    def kinds(self, id: str, since: int = 0) -> list[str]:
        """The kinds of the updates that belong to turns."""
        return [u["sessionUpdate"] for u in self.updates(id, since) if u["sessionUpdate"] in TURN_UPDATES]

    def said(self, id: str, kind: str = "agent_message_chunk", since: int = 0) -> str:
        """All text of one kind in a session."""
        return "".join(u["content"]["text"] for u in self.updates(id, since) if u["sessionUpdate"] == kind)

    def place(self, wanted: Message) -> int:
        """Where in `heard` a message stands."""
        return next(place for place, (_, m) in enumerate(self.heard) if m is wanted)

    def came(self, wanted: Message) -> float:
        """When a message came."""
        return next(moment for moment, m in self.heard if m is wanted)

    @property
    def errors(self) -> str:
        """What mm wrote to stderr."""
        return os.pread(self._errors.fileno(), 1_000_000, 0).decode("utf-8", "replace")

    # --- the end

    def hang_up(self) -> None:
        """Closes mm's input."""
        with suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()

    def leave(self, within: float = 2.0) -> int:
        """Closes mm's input: its exit status, which has to come in time."""
        self.hang_up()
        return self.gone(within)

    def gone(self, within: float = 2.0) -> int:
        """The exit status of mm, which has to come in time."""
        status = self.process.wait(within)
        self._reader.join(2)
        return status

    def kill(self) -> None:
        """Ends mm as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(5)
        self._reader.join(2)

    def _read(self) -> None:
        out = self.process.stdout
        assert out is not None
        for line in iter(out.readline, b""):
            moment = time.monotonic()
            try:
                message = json.loads(line.decode("ascii"), parse_constant=_no)
                whole = line.endswith(b"\n") and len(line) < 1_000_000 and message["jsonrpc"] == "2.0"
            except (ValueError, KeyError, TypeError):
                whole = False
            with self._came:
                if whole:
                    self.heard.append((moment, message))
                else:
                    self.garbage.append(line[:500])
                self._came.notify_all()
            if whole and message.get("method") == "session/request_permission":
                option = self.permit(message) if callable(self.permit) else self.permit
                if option is not None:
                    with suppress(OSError, ValueError):
                        self.answer(message, option)
        with self._came:
            self._open = False
            self._came.notify_all()


def _no(constant: str) -> None:
    raise ValueError(constant)


def is_alive(pid: int) -> bool:
    """Whether a process is there and not a mere corpse."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return not state.exists() or state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def dies(pid: int, within: float = 10.0) -> bool:
    """Whether a process is gone in time."""
    deadline = time.monotonic() + within
    while is_alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True

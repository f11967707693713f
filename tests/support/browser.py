"""A real browser without a window, spoken to over two pipes; None where the machine has none."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-dev-shm-usage", "--renderer-process-limit=1", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 60.0
MIDDLE = """(() => {
  const element = document.querySelector(SELECTOR);
  element.scrollIntoView({behavior: "instant", block: "center"});
  const box = element.getBoundingClientRect();
  return [box.x + 20, box.y + box.height / 2];
})()"""
# Such a browser hears commands on descriptor 3 and answers on 4.
WIRED = """
import os, sys
ends = [os.dup(int(end)) for end in sys.argv[1:3]]
for end, wanted in zip(ends, (3, 4)):
    os.dup2(end, wanted)
    os.set_inheritable(wanted, True)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_browser() -> str | None:
    """The program, where there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a headless browser. `asked` are the addresses that it wanted to have."""

    def __init__(self, program: str, home: Path) -> None:
        to_read, self._out = os.pipe()
        self._in, to_write = os.pipe()
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                WIRED,
                str(to_read),
                str(to_write),
                program,
                *FLAGS,
                f"--user-data-dir={home}",
            ],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_read)
        os.close(to_write)
        os.set_blocking(self._in, False)
        self._heard = b""
        self._number = 0
        self._session = ""
        self.asked: list[str] = []
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.do("Network.enable")
        self.do("Page.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def do(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the DevTools protocol, and its result."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": params}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._out, json.dumps(command).encode() + b"\0")
        while True:
            said = self._next()
            if said.get("id") == self._number:
                assert "error" not in said, said
                result: dict[str, Any] = said["result"]
                return result

    def open(self, page: Path) -> None:
        """Opens a page and waits until it is there whole."""
        self.asked.clear()
        self.do("Page.navigate", url=page.as_uri())
        while self.ask("document.readyState + location.protocol") != "completefile:":
            time.sleep(0.02)

    def ask(self, expression: str) -> Any:
        """What an expression comes to in the page; the page's own policy does not hold for it."""
        result = self.do("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def size(self, width: int, height: int = 900) -> None:
        """Gives the window another size."""
        self.do(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def click(self, selector: str) -> None:
        """Clicks with the mouse into the middle of an element."""
        x, y = self.ask(MIDDLE.replace("SELECTOR", json.dumps(selector)))
        for kind in ("mousePressed", "mouseReleased"):
            self.do("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._heard:
            assert time.monotonic() < deadline, "the browser says nothing"
            try:
                piece = os.read(self._in, 1 << 20)
            except BlockingIOError:
                time.sleep(0.005)
                continue
            assert piece, "the browser has ended"
            self._heard += piece
        line, self._heard = self._heard.split(b"\0", 1)
        said: dict[str, Any] = json.loads(line)
        if said.get("method") == "Network.requestWillBeSent":
            self.asked.append(said["params"]["request"]["url"])
        return said

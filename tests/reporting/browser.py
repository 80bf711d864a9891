"""A headless Chromium, driven over a pipe by its DevTools protocol: pages as people see them."""

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
AXE_PLACES = (os.environ.get("AXE_CORE", ""), "/usr/lib/node_modules/axe-core", "/usr/local/lib/node_modules/axe-core")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--remote-debugging-pipe",
)
# The browser reads commands from file descriptor 3 and answers on 4.
LAUNCH = """
import fcntl, os, sys
for there, pipe in zip((3, 4), [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]):
    os.dup2(pipe, there)
os.execv(sys.argv[3], sys.argv[3:])
"""


def program() -> str | None:
    """Where Chromium is, if anywhere."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


def axe() -> str | None:
    """The accessibility checks of axe-core, if they are installed for everybody or where AXE_CORE says."""
    files = (Path(place) / "axe.min.js" for place in AXE_PLACES if place)
    return next((file.read_text() for file in files if file.is_file()), None)


class Page:
    """One page in the browser."""

    def __init__(self, commands: int, answers: int):
        """Open an empty page; what it complains about is kept in `complaints`."""
        self._commands, self._answers = os.fdopen(commands, "wb"), os.fdopen(answers, "rb")
        self._number, self._session = 0, None
        self._rest = b""
        self.complaints: list[str] = []
        self._events: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def open(self, file: Path, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Show a file in a window of some width, as somebody sees it who prefers light or dark pages."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._events.clear()
        self._call("Page.navigate", url=file.resolve().as_uri())
        while "Page.loadEventFired" not in self._events:
            self._read()

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression; of a promise what it is settled to."""
        answer = self._call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:1000])
        return answer["result"].get("value")

    def picture(self) -> bytes:
        """The whole page as PNG."""
        size = self._call("Page.getLayoutMetrics")["cssContentSize"]
        whole = {**size, "x": 0, "y": 0, "scale": 1}
        answer = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=whole)
        return base64.b64decode(answer["data"])

    def close(self) -> None:
        """Ask the browser to end."""
        self._session = None
        self._call("Browser.close")
        self._commands.close()
        self._answers.close()

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        self._commands.flush()
        while (answer := self._read()).get("id") != self._number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._answers.fileno(), 1 << 16)
            if not more:
                raise RuntimeError("Chromium has ended.")
            self._rest += more
        whole, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(whole)
        self._listen(message.get("method", ""), message.get("params", {}))
        return message

    def _listen(self, event: str, told: dict[str, Any]) -> None:
        self._events.append(event)
        if event == "Runtime.exceptionThrown" or (
            event == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert")
        ):
            self.complaints.append(json.dumps(told))
        elif event == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.complaints.append(told["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            address = told["request"]["url"]
            if not address.startswith(("data:", "file:", "blob:")):
                self.complaints.append(f"The page asks for {address[:200]}.")


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """A page in a browser of its own, with an empty profile."""
    chromium = program()
    if chromium is None:
        raise RuntimeError("There is no Chromium.")
    (to_browser, commands), (answers, from_browser) = os.pipe(), os.pipe()
    launch = [sys.executable, "-c", LAUNCH, str(to_browser), str(from_browser)]
    process = subprocess.Popen(
        [*launch, chromium, *FLAGS, f"--user-data-dir={profile}"],
        pass_fds=(to_browser, from_browser),
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(from_browser)
    try:
        page = Page(commands, answers)
        yield page
        page.close()
    finally:
        process.terminate()
        process.wait(30)

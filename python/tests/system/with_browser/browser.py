"""Drives a headless Chromium over its own protocol, through a pair of pipes: no driver, no package."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
LIMIT_S = 60.0
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def found() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One page, and what went wrong on it."""

    def __init__(self, process: subprocess.Popen[bytes], read: int, write: int) -> None:
        self._process, self._read, self._write = process, read, write
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.errors: list[str] = []
        """Uncaught exceptions, and what the browser complained of."""
        self.requested: list[str] = []
        """Every address that was asked for."""
        self._target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=self._target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """Ends the page's scripts."""
        self._session = None
        self.call("Target.closeTarget", targetId=self._target)

    def call(self, method: str, **params: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + LIMIT_S
        while True:
            answer = self._receive(deadline - time.monotonic())
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self._note(answer)

    def _receive(self, seconds: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0.0, seconds))
            assert ready, f"the browser says nothing (exit code {self._process.poll()})"
            data = os.read(self._read, 1 << 20)
            assert data, f"the browser has ended with {self._process.poll()}"
            self._rest += data
        text, self._rest = self._rest.split(b"\0", 1)
        answer: dict[str, Any] = json.loads(text)
        return answer

    def _note(self, event: dict[str, Any]) -> None:
        if event.get("sessionId") != self._session:
            return  # of a page that was closed
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(json.dumps(params["entry"]))
        elif method == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])

    def open(self, url: str, *, width: int = 1280, height: int = 900, scheme: str = "light") -> None:
        self.look(width, height, scheme)
        self.call("Page.navigate", url=url)
        self.until(f"location.href.startsWith({json.dumps(url)}) && document.readyState === 'complete'")

    def look(self, width: int, height: int, scheme: str) -> None:
        """Size of the window and the reader's colour scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def value(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, expression: str) -> Any:
        """Waits until an expression is true."""
        deadline = time.monotonic() + LIMIT_S
        while not (value := self.value(expression)):
            assert time.monotonic() < deadline, f"not within {LIMIT_S:g} s: {expression}\n{self.text()}"
            select.select([], [], [], 0.05)
        return value

    def text(self) -> str:
        return str(self.value("document.body.innerText"))

    def picture(self, file: Path) -> bytes:
        """A screenshot of the whole page, also written to a file."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        png = base64.b64decode(data)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(png)
        return png


@contextmanager
def browser(profile: Path) -> Iterator[Callable[[], Page]]:
    """Starts a browser with an empty profile; gives a page."""
    executable = found()
    assert executable is not None, "there is no Chromium; Debian: apt-get install chromium"
    here_read, there_write = os.pipe()
    there_read, here_write = os.pipe()
    command = f'exec "$@" 3<&{there_read} 4>&{there_write}'
    arguments = [executable, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(
        ["bash", "-c", command, "bash", *arguments],
        pass_fds=(there_read, there_write),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(there_read)
    os.close(there_write)
    try:
        yield lambda: Page(process, here_read, here_write)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)
        os.close(here_read)
        os.close(here_write)

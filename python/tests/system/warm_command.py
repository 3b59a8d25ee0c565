"""Answers commands of tests from one warm JVM for each home, because each start of a JVM takes seconds of processor time.

A command must find what it would find as a process: so its environment, working directory and umask must be those with
which the JVM was started, or it runs as a process. `STOKER_WARM=0` runs all commands as processes.
"""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[3]
SERVER = REPOSITORY / "cli" / "target" / "command-server-tests.jar"
LIBRARIES = REPOSITORY / "cli" / "target" / "dist" / "lib"

PROCESSES = frozenset(("feed", "run", "sql", "mount", "browse", "bench", "mirror"))
"""Verbs that serve others or wait for signals."""

CHANGING = ("PYTEST_CURRENT_TEST", "STOKER_JAVA_OPTS")
"""Variables that pytest sets for each test, and the JVM's options, which have a part of their own."""


class WarmCommand:
    """One JVM that answers commands; another takes its place when it has grown or failed. Thread-safe."""

    def __init__(self, command: Path, environment: Mapping[str, str], limit_s: float, *options: str) -> None:
        """`options`: of the JVM, besides those of the environment; `limit_s`: for each command."""
        self._command = command
        self._surroundings = _surroundings(environment)
        self._environment = dict(environment)
        self._limit_s = limit_s
        self._options = options
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: io.BufferedRandom | None = None
        self.retired: list[str] = []
        """Why each JVM before this one was replaced."""

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def answer(self, environment: Mapping[str, str], args: tuple[object, ...]) -> tuple[int, str, str] | None:
        """The exit code, the output and the error output; None if this command needs a process."""
        if _surroundings(environment) != self._surroundings or not self._lock.acquire(blocking=False):
            return None
        try:
            return self._ask([str(arg) for arg in args])
        finally:
            self._lock.release()

    def close(self) -> None:
        """Ends the JVM as a command ends, with what it does at its end."""
        with self._lock:
            self._end()

    def _ask(self, args: list[str]) -> tuple[int, str, str]:
        process = self._process or self._start()
        assert process.stdin is not None
        slow = threading.Event()
        timer = threading.Timer(self._limit_s, lambda: (slow.set(), process.kill()))
        timer.start()
        try:
            process.stdin.write(json.dumps({"args": args}).encode() + b"\n")
            process.stdin.flush()
            beside, said = self._read(process)
        finally:
            timer.cancel()
        if said is None:
            self.retired.append("time-out" if slow.is_set() else "its end")
            err = self._complaints()
            self._end()
            if slow.is_set():
                raise subprocess.TimeoutExpired(["stoker", *args], self._limit_s, beside, err)
            raise AssertionError(f"the JVM that answers commands ended: {_text(beside + err)}")
        out, err = (base64.b64decode(said[name]) for name in ("out", "err"))
        answer = said["code"], _text(out + beside), _text(err + self._complaints())
        if said["retire"] is not None:
            self.retired.append(said["retire"])
            print("RETIRED", args, said["retire"], flush=True)
            self._end()
        return answer

    def _read(self, process: subprocess.Popen[bytes]) -> tuple[bytes, dict[str, Any] | None]:
        """What the JVM itself prints, and the answer; None if it ended."""
        assert process.stdout is not None
        beside = b""
        for line in process.stdout:
            if line.startswith(b'{"code":'):
                return beside, json.loads(line)
            beside += line
        return beside, None

    def _complaints(self) -> bytes:
        """What the JVM itself has printed as errors since the last call."""
        assert self._messages is not None
        return self._messages.read()

    def _start(self) -> subprocess.Popen[bytes]:
        assert SERVER.exists(), f"there is no {SERVER}; build it with ./mvnw -Dfast -DskipTests -pl cli -am package"
        with tempfile.NamedTemporaryFile("w", prefix="stoker-java-", suffix=".args") as arguments:
            # The launcher's own class path and class follow; for Java, they are arguments of this class.
            arguments.write(f'-cp "{LIBRARIES}/*:{LIBRARIES}/rpc/*:{SERVER}"\ndev.stoker.cli.CommandServer\n')
            arguments.flush()
            options = " ".join((self._environment.get("STOKER_JAVA_OPTS", ""), *self._options, "@" + arguments.name))
            self._messages = tempfile.TemporaryFile()
            self._process = subprocess.Popen(
                ["env", "--default-signal=INT", str(self._command), "warm"],
                env=self._environment | {"STOKER_JAVA_OPTS": options},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=os.dup(self._messages.fileno()),
            )
            assert self._process.stdout is not None
            ready = self._process.stdout.readline()
            assert ready == b"ready\n", f"the JVM that answers commands did not start: {ready!r} {self._complaints()!r}"
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with process:
            assert process.stdin is not None
            try:
                process.stdin.close()
                process.wait(self._limit_s)
            except (BrokenPipeError, subprocess.TimeoutExpired):
                process.kill()
        assert self._messages is not None
        self._messages.close()


_warm: dict[Path, WarmCommand] = {}
_warm_lock = threading.Lock()


def answer(
    command: Path, home: Path, environment: Mapping[str, str], limit_s: float, args: tuple[object, ...]
) -> tuple[int, str, str] | None:
    """The answer of the JVM of this home, which starts with its first command; None if it needs a process."""
    if os.environ.get("STOKER_WARM") == "0" or not args or str(args[0]) in PROCESSES:
        return None
    with _warm_lock:
        warm = _warm.get(home)
        if warm is None:
            warm = _warm[home] = WarmCommand(command, environment, limit_s)
    return warm.answer(environment, args)


def close_all() -> None:
    """At the end of the session."""
    with _warm_lock:
        for warm in _warm.values():
            warm.close()
        _warm.clear()


def _surroundings(environment: Mapping[str, str]) -> tuple[dict[str, str], str, str]:
    status = Path("/proc/self/status").read_text()
    umask = next(line for line in status.splitlines() if line.startswith("Umask:"))
    return {k: v for k, v in environment.items() if k not in CHANGING}, str(Path.cwd()), umask


def _text(data: bytes) -> str:
    """Decodes as `subprocess` does."""
    return io.TextIOWrapper(io.BytesIO(data)).read()

"""Answers commands of tests from one warm JVM for each home. Each start of a JVM takes seconds of processor time.

A command must find what a process would find. So it runs as a process if the test has changed environment, working
directory or umask, while another command runs, and for verbs that serve others. `STOKER_WARM=0` runs all commands as
processes.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import signal
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

OF_LIBRARIES = ("_RJEM_", "KMP_", "OMP_", "TF_", "XLA_")
"""What polars, torch and TensorFlow set for themselves when a test imports them. No command reads it."""


class WarmCommand:
    """One JVM that answers commands; another takes its place when it has grown or failed. Thread-safe."""

    def __init__(self, command: Path, environment: Mapping[str, str], limit_s: float, *options: str) -> None:
        """`options`: of the JVM, besides those of the environment; `limit_s`: for each command."""
        self.limit_s = limit_s
        self._command = command
        self._environment = dict(environment)
        self._options = options
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: io.BufferedRandom | None = None
        self.retired: list[str] = []
        """Why each JVM before this one was replaced."""

    @property
    def pid(self) -> int | None:
        """The process; None before its first command and after its last."""
        return None if self._process is None else self._process.pid

    def answer(self, *args: object) -> tuple[int, str, str] | None:
        """The exit code, the output and the error output; None while it answers another command."""
        if not self._lock.acquire(blocking=False):
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
        request = json.dumps({"args": args}).encode() + b"\n"
        with _Limit(process, self.limit_s) as limit:
            # If it has ended, it says nothing more.
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(request)
                process.stdin.flush()
            beside, said = self._read(process)
        if said is None:
            self.retired.append("time-out" if limit.passed else "its end")
            err = self._complaints()
            self._end()
            if limit.passed:
                raise AssertionError(f"stoker {args}: not within {self.limit_s:g} s\n{_text(beside + err)}")
            raise AssertionError(f"the JVM that answers commands ended: {_text(beside + err)}")
        out, err = (base64.b64decode(said[name]) for name in ("out", "err"))
        answer = said["code"], _text(out + beside), _text(err + self._complaints())
        if said["retire"] is not None:
            self.retired.append(said["retire"])
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
            self._messages = tempfile.TemporaryFile()  # noqa: SIM115
            # Opened again: the reader would otherwise move the position at which the JVM writes.
            with open(f"/proc/self/fd/{self._messages.fileno()}", "ab") as written:
                self._process = process = subprocess.Popen(
                    ["env", "--default-signal=INT", str(self._command), "warm"],
                    env=self._environment | {"STOKER_JAVA_OPTS": options},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=written,
                )
            assert process.stdout is not None
            with _Limit(process, self.limit_s):
                ready = process.stdout.readline()
        err = self._complaints()
        if ready != b"ready\n":
            self._end()
            raise AssertionError(f"the JVM that answers commands did not start: {_text(ready + err)}")
        return process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with _Limit(process, self.limit_s), process, contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        assert self._messages is not None
        self._messages.close()


class _Limit:
    """Kills a JVM that takes longer, after it has printed its threads, which say why."""

    def __init__(self, process: subprocess.Popen[bytes], limit_s: float) -> None:
        self.passed = False
        self._process = process
        self._timer = threading.Timer(limit_s, self._pass)

    def _pass(self) -> None:
        self.passed = True
        self._process.send_signal(signal.SIGQUIT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(3)
        self._process.kill()

    def __enter__(self) -> _Limit:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def surroundings(environment: Mapping[str, str]) -> tuple[dict[str, str], Path, str]:
    """What a test may change before it runs a command. The commands' environment has no variables of these names."""
    variables = {k: v for k, v in environment.items() if not k.startswith(("STOKER_", "PYTEST_", *OF_LIBRARIES))}
    umask = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("Umask:"))
    return {k: v for k, v in variables.items() if k not in ("RANK", "WORLD_SIZE")}, Path.cwd(), umask


_usual = surroundings(os.environ)
_warm: dict[Path, WarmCommand] = {}
_warm_lock = threading.Lock()


def answer(
    command: Path, home: Path, environment: Mapping[str, str], limit_s: float, args: tuple[object, ...]
) -> tuple[int, str, str] | None:
    """The answer of the JVM of this home, which starts with its first command; None if it needs a process."""
    if os.environ.get("STOKER_WARM") == "0" or not args or str(args[0]) in PROCESSES:
        return None
    if surroundings(environment) != _usual or not _is_text(args):
        return None
    with _warm_lock:
        warm = _warm.get(home)
        if warm is None:
            warm = _warm[home] = WarmCommand(command, environment, limit_s)
    return warm.answer(*args)


def of_home(home: Path) -> WarmCommand | None:
    """The JVM of a home, if it has one."""
    return _warm.get(home)


def close_all() -> None:
    """At the end of the session."""
    with _warm_lock:
        for warm in _warm.values():
            warm.close()
        _warm.clear()


def _is_text(args: tuple[object, ...]) -> bool:
    """Java decodes the bytes of other names by its own rules."""
    try:
        "".join(map(str, args)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(data: bytes) -> str:
    """Decodes as `subprocess` does."""
    return io.TextIOWrapper(io.BytesIO(data)).read()

"""Real processes for the system tests: the command `stoker`, feeders, trainers; and what is expected of batches."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import warm_command

REPOSITORY = Path(__file__).parents[3]
COMMAND = REPOSITORY / "stoker"
LIMIT_S = 120.0
"""For anything that a test waits for; a loaded machine may start a JVM in a quarter of a minute."""
QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx2g"
"""For processes of a few seconds: starting takes half the processor time without the full compiler.

The heap is limited because a feeder does not start if its heap could take all free memory.
"""

HEARTBEAT_S = 50
"""How long the parts of a Flink cluster wait for one another by default."""

_pause = threading.Event()


def until(condition: Callable[[], Any], what: str, limit_s: float = LIMIT_S) -> Any:
    """Waits until a condition gives something true, and returns that."""
    deadline = time.monotonic() + limit_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {limit_s:g} s: {what}"
        _pause.wait(0.01)
    return value


def suspend(process: subprocess.Popen[str]) -> None:
    """Stops a process, as the suspension of a laptop does, until Flink restarts its tasks when it continues."""
    process.send_signal(signal.SIGSTOP)
    _pause.wait(HEARTBEAT_S + 5)


def environment(home: Path) -> dict[str, str]:
    values = {k: v for k, v in os.environ.items() if not k.startswith("STOKER_") and k not in ("RANK", "WORLD_SIZE")}
    return values | {"STOKER_HOME": str(home), "STOKER_JAVA_OPTS": QUICK_JVM}


class Cli:
    """The `stoker` command with a separate home directory."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def start(self, *args: object, within: Iterable[str] = (), **options: Any) -> subprocess.Popen[str]:
        """`within`: a command that runs this one in the end, in the same process."""
        return subprocess.Popen(
            # What began in the background of a shell ignores SIGINT, and so would this.
            ["env", "--default-signal=INT", *within, str(COMMAND), *map(str, args)],
            env=environment(self.home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def finish(self, *args: object) -> tuple[int, str, str]:
        """Runs the command to its end, in a warm JVM if possible: exit code, output, what it said beside."""
        warm = warm_command.answer(COMMAND, self.home, environment(self.home), LIMIT_S, args)
        return warm or self.process(*args)

    def process(self, *args: object) -> tuple[int, str, str]:
        """As `finish`, always as a process: for tests of processes."""
        process = self.start(*args)
        try:
            out, err = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            # A JVM prints its threads then, which say why it hangs.
            process.send_signal(signal.SIGQUIT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=3)
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"stoker {args}: not within {LIMIT_S:g} s\n{out}{err}") from None
        finally:
            process.kill()
        return process.returncode, out, err

    def run(self, *args: object) -> str:
        """Runs the command and returns its output."""
        code, out, err = self.finish(*args)
        assert code == 0, f"stoker {args}: {code}\n{out}{err}"
        return out

    def fails(self, *args: object) -> str:
        """Runs the command, which must not succeed, and returns all that it said."""
        code, out, err = self.finish(*args)
        assert code > 0, f"stoker {args}: {code}\n{out}{err}"
        return out + err


def logged(cli: Cli, process: subprocess.Popen[str]) -> int:
    """How many bytes a command has logged."""
    return sum(log.stat().st_size for log in (cli.home / "logs").glob(f"*-{process.pid}.log"))


def warnings(cli: Cli, process: subprocess.Popen[str]) -> str:
    """What a command has logged, without its messages of level INFO."""
    text = "".join(log.read_text(errors="replace") for log in (cli.home / "logs").glob(f"*-{process.pid}.log"))
    entries = re.split(r"^(?=[0-9-]{10} [0-9:.]{12} )", text, flags=re.M)
    return "".join(entry for entry in entries if entry[24:28] != "INFO")


class Feeder:
    """A process `stoker feed`."""

    def __init__(self, cli: Cli, name: str, *args: object, within: Iterable[str] = ()) -> None:
        self.name = name
        self.said: list[str] = []
        options = ["--port", 0, "--checkpoint-interval", "200 ms"]
        self.process = cli.start("feed", *args, "--name", name, *options, within=within)
        self._cli = cli
        self._readers = [
            threading.Thread(target=self._read, args=(stream,), daemon=True)
            for stream in (self.process.stdout, self.process.stderr)
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: Any) -> None:
        with stream:
            for line in stream:
                self.said.append(line)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def ready(self) -> Feeder:
        until(lambda: self._address() or not self.alive, f"feed {self.name} is ready")
        assert self.alive, f"feed {self.name} ended with {self.process.returncode}: {self.text}"
        return self

    def _address(self) -> re.Match[str] | None:
        return re.search(r"^ready at (127\.0\.0\.1:[0-9]+)", "".join(tuple(self.said)), re.M)

    @property
    def text(self) -> str:
        return "".join(self.said)

    @property
    def address(self) -> str:
        found = self._address()
        assert found is not None, self.text
        return found[1]

    def kill(self) -> None:
        """As a crash does."""
        self.process.kill()
        self._end()

    def stop(self) -> None:
        """In good order: the ledger is complete then."""
        self.process.send_signal(signal.SIGTERM)
        self._end()
        assert self.process.returncode in (0, 143), f"feed {self.name}: {self.process.returncode}: {self.text}"

    def _end(self) -> None:
        try:
            self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"feed {self.name} did not end: {self.text}") from None
        for reader in self._readers:
            reader.join(LIMIT_S)


class Trainer:
    """A Python process that reads a feed and writes down each batch when it asks for the next, as training would."""

    def __init__(
        self,
        home: Path,
        notes: Path,
        target: object,
        epochs: int,
        *,
        variables: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        """`variables`: its environment."""
        self.notes = notes
        program = Path(__file__).with_name("trainer_program.py")
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", str(program), str(notes), str(target), str(epochs), repr(options)],
            env=variables or environment(home),
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def lines(self) -> list[dict[str, Any]]:
        """What it has written down, whole lines only."""
        import json

        if not self.notes.exists():
            return []
        return [json.loads(line) for line in self.notes.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def after(self, batches: int) -> list[dict[str, Any]]:
        until(lambda: len(self.lines()) >= batches or self.process.poll() is not None, f"{batches} batches are noted")
        assert len(self.lines()) >= batches, self.process.stderr.read() if self.process.stderr else ""
        return self.lines()

    def allow(self, batches: int) -> None:
        """Lets the trainer read this number of further batches (option `stepwise`)."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n" * batches)
        self.process.stdin.flush()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self) -> str:
        """Waits for its end; returns what it complained of."""
        _, err = self.process.communicate(timeout=LIMIT_S)
        return err

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def view(batch: Any) -> tuple[Any, ...]:
    """All that a batch is: position, repeats, keys, and a digest of its messages byte by byte."""
    digest = hashlib.sha256()
    for piece in batch._pieces:
        digest.update(len(piece.buffer).to_bytes(8, "little"))
        digest.update(piece.buffer)
    return batch.epoch, batch.number, batch.repeated, batch.skipped, tuple(batch.keys), digest.hexdigest()


def views(batches: Iterable[Any]) -> list[tuple[Any, ...]]:
    return [view(batch) for batch in batches]


def make_tree(
    root: Path, classes: Mapping[str, int], size: Callable[[int], int], *, salt: str = ""
) -> dict[str, bytes]:
    """Writes files class/n.bin; returns their content by key. Contents are hashes, so that no two are alike."""
    content = {}
    for name, count in classes.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        for n in range(count):
            key = f"{name}/{salt}{n:04}.bin"
            data = hashlib.shake_128(key.encode()).digest(size(n))
            (root / key).write_bytes(data)
            content[key] = data
    return content

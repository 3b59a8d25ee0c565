"""What the processes do that write and commit, and are killed, in the tests of commits."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from stoker import Writer
from stoker._commit.local_store import FileCalls


class Stepped(FileCalls):
    """Says so before the call of a certain number, and waits to be killed."""

    def __init__(self, step: int, parent: Connection) -> None:
        self._left, self._parent = step, parent

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_"):
            if self._left == 0:
                self._parent.send("waiting")
                self._parent.recv()
            self._left -= 1
        return super().__getattribute__(name)


def write(path: Path, name: str, label: str, calls: FileCalls | None = None) -> None:
    w = Writer(path, {"label": "categorical", "data": "binary"}, append=True, ingest_id=name)
    if calls is not None:
        w._store._calls = calls
    w.write({"key": f"{label}/{name}", "label": label, "data": bytes(3000)})
    w.close()


def contend(path: Path, name: str, commits: int, parent: Connection) -> None:
    """Writes `commits` versions, one after the other, once the parent says so."""
    parent.send("ready")
    parent.recv()
    for n in range(commits):
        write(path, f"{name}-{n}", f"{name}-class-{n % 3}")
    parent.send("done")


def step(path: Path, name: str, number: int, parent: Connection) -> None:
    """Writes one version; stops before the file system change with this number."""
    write(path, name, "x", Stepped(number, parent))
    parent.send("done")

"""A second process that talks to object stores for a forked one.

A process forked from one that has used obstore cannot use it, because obstore's threads do not survive a fork. Such a
process starts this module as a program, and gives it the calls. The program ends with the process that started it.
"""

from __future__ import annotations

import functools
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing.managers import BaseManager
from typing import Any

from stoker._store.hub import open_store
from stoker._store.objects import Objects


class _Calls:
    """Runs in the second process."""

    def __init__(self, opened: Callable[[str], Objects]) -> None:
        self._opened = opened

    def call(self, base: str, method: str, arguments: tuple[Any, ...]) -> Any:
        result = getattr(self._opened(base), method)(*arguments)
        return result if isinstance(result, bytes | int | list | None) else list(result)


class _Manager(BaseManager):
    pass


_Manager.register("calls")


class OtherProcess:
    """The second process of one process, which ends with it."""

    def __init__(self) -> None:
        key = secrets.token_hex(32)
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "stoker._store.other_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{key}\n".encode())
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise OSError(f"the process that reads object stores for this forked process ended: {self._process.wait()}")
        manager: Any = _Manager(json.loads(line), authkey=bytes.fromhex(key))
        manager.connect()
        self._calls = manager.calls()

    def objects(self, base: str) -> Objects:
        """The objects of a store."""
        return _Forwarded(self._calls, base)


class _Forwarded:
    """Gives each call to the second process."""

    def __init__(self, calls: Any, base: str) -> None:
        self._calls, self._base = calls, base

    def get(self, name: str) -> bytes:
        return self._calls.call(self._base, "get", (name,))  # type: ignore[no-any-return]

    def get_range(self, name: str, start: int, length: int) -> bytes:
        return self._calls.call(self._base, "get_range", (name, start, length))  # type: ignore[no-any-return]

    def stream(self, name: str) -> Iterator[bytes]:
        yield from self._calls.call(self._base, "stream", (name,))

    def size(self, name: str) -> int:
        return self._calls.call(self._base, "size", (name,))  # type: ignore[no-any-return]

    def names(self, folder: str, after: str) -> list[str]:
        return self._calls.call(self._base, "names", (folder, after))  # type: ignore[no-any-return]

    def walk(self, folder: str) -> Iterator[str]:
        yield from self._calls.call(self._base, "walk", (folder,))

    def create(self, name: str, content: bytes) -> bool:
        return self._calls.call(self._base, "create", (name, content))  # type: ignore[no-any-return]

    def delete(self, name: str) -> None:
        self._calls.call(self._base, "delete", (name,))


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    """Serves the calls of the process at the other end of standard input, until that is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal; it is meant for the other process
    key = bytes.fromhex(sys.stdin.buffer.readline().decode())
    threading.Thread(target=_end_with_parent, daemon=True).start()

    class Serving(BaseManager):
        pass

    calls = _Calls(functools.cache(open_store))
    Serving.register("calls", callable=lambda: calls)
    server = Serving(authkey=key).get_server()
    address = server.address
    print(json.dumps(list(address) if isinstance(address, tuple) else address), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

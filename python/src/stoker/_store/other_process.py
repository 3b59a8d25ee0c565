"""A second process that talks to object stores for a forked one.

A process forked from one that has used obstore cannot use it, because obstore's threads do not survive a fork. Such a
process starts this module as a program, and gives it the calls. The program ends with the process that started it.
"""

from __future__ import annotations

import functools
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
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
    """The second process of one process, which ends with it. Another one replaces it if it is killed. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: _Running | None = None

    def objects(self, base: str) -> Objects:
        """The objects of a store."""
        return _Forwarded(self, base)

    def call(self, base: str, method: str, *arguments: Any) -> Any:
        """Calls a method of the objects of a store."""
        # Only the store knows whether a creation was done.
        for is_last in (method == "create", True):
            running = self._started()
            try:
                return running.calls.call(base, method, arguments)
            except (EOFError, ConnectionError) as e:
                self._end(running)
                if is_last:
                    raise OSError(
                        f"{base}/{arguments[0]}: the process that uses object stores for this forked process was "
                        "killed; check whether the machine has too little memory"
                    ) from e
        raise AssertionError

    def _started(self) -> _Running:
        with self._lock:
            if self._running is None:
                self._running = _Running()
            return self._running

    def _end(self, running: _Running) -> None:
        with self._lock:
            if self._running is running:
                self._running = None
                running.end()


class _Running:
    """A second process that was started."""

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
        self._address = json.loads(line)
        manager: Any = _Manager(self._address, authkey=bytes.fromhex(key))
        manager.connect()
        self.calls = manager.calls()

    def end(self) -> None:
        """Ends the process, and deletes what it cannot delete if it is killed."""
        self._process.kill()
        self._process.communicate()
        shutil.rmtree(os.path.dirname(self._address), ignore_errors=True)


class _Forwarded:
    """Gives each call to the second process."""

    def __init__(self, other: OtherProcess, base: str) -> None:
        self._call = functools.partial(other.call, base)

    def get(self, name: str) -> bytes:
        return self._call("get", name)  # type: ignore[no-any-return]

    def get_range(self, name: str, start: int, length: int) -> bytes:
        return self._call("get_range", name, start, length)  # type: ignore[no-any-return]

    def stream(self, name: str) -> Iterator[bytes]:
        yield from self._call("stream", name)

    def size(self, name: str) -> int:
        return self._call("size", name)  # type: ignore[no-any-return]

    def names(self, folder: str, after: str) -> list[str]:
        return self._call("names", folder, after)  # type: ignore[no-any-return]

    def walk(self, folder: str) -> Iterator[str]:
        yield from self._call("walk", folder)

    def create(self, name: str, content: bytes) -> bool:
        return self._call("create", name, content)  # type: ignore[no-any-return]

    def replace(self, name: str, content: bytes) -> None:
        self._call("replace", name, content)

    def delete(self, name: str) -> None:
        self._call("delete", name)


def _end_with_parent(folder: str) -> None:
    sys.stdin.buffer.read()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def main() -> None:
    """Serves the calls of the process at the other end of standard input, until that is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal; it is meant for the other process
    key = bytes.fromhex(sys.stdin.buffer.readline().decode())
    folder = tempfile.mkdtemp(prefix="stoker-")
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()

    class Serving(BaseManager):
        pass

    calls = _Calls(functools.cache(open_store))
    Serving.register("calls", callable=lambda: calls)
    server = Serving(os.path.join(folder, "socket"), authkey=key).get_server()
    print(json.dumps(server.address), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

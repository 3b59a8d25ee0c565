"""Locks that processes of one machine share, and that end with the process."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows

    def _lock(fd: int) -> None:
        import msvcrt

        calls: Any = msvcrt
        while True:
            try:
                os.lseek(fd, 0, os.SEEK_SET)
                calls.locking(fd, calls.LK_LOCK, 1)
                return
            except OSError:  # after ten seconds
                continue

else:

    def _lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[int]:
    """Holds the lock of a file, which is created; gives its descriptor. Threads of one process exclude each other."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        _lock(fd)
        yield fd
    finally:
        os.close(fd)

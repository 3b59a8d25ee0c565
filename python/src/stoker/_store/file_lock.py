"""Locks that processes of one machine share, and that end with the process."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(fd: int) -> None:
        while True:
            try:
                os.lseek(fd, 0, os.SEEK_SET)
                msvcrt.locking(fd, msvcrt.LK_LOCK, 1)
                return
            except OSError:  # after ten seconds
                continue

else:
    import fcntl

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

"""Locks that processes of one machine share, and that end with the process."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any, Final

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

    def _unlock(fd: int) -> None:
        """Closing the descriptor is enough."""

else:

    def _lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX)

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


_OPEN: Final[set[int]] = set()
"""Descriptors of lock files that threads of this process hold or wait for."""


def _after_fork() -> None:
    """Closes the duplicates in a forked process, so that it holds no lock of its parent's threads."""
    while _OPEN:
        os.close(_OPEN.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextlib.contextmanager
def locked(fd: int) -> Iterator[int]:
    """Holds the lock of an open file, and closes it. Threads that have opened the file twice exclude each other."""
    _OPEN.add(fd)
    try:
        _lock(fd)
        yield fd
    finally:
        if fd in _OPEN:  # not in a process that was forked meanwhile
            # Closing is not enough: a forked process can have a duplicate, which keeps the lock.
            with contextlib.suppress(OSError):
                _unlock(fd)
            _OPEN.remove(fd)
            os.close(fd)

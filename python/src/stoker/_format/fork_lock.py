"""A lock that no forked process waits for."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType
from typing import Final


class ForkLock:
    """A reentrant lock that is free in a forked process, also if a thread of the parent held it.

    That thread does not exist in the child and would never release the lock. What the lock protects must therefore be
    usable after each single change.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        _ALL.add(self)

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.lock.release()


_ALL: Final[weakref.WeakSet[ForkLock]] = weakref.WeakSet()


def _after_fork() -> None:
    for each in _ALL:
        each.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

"""Decides which thread receives: the trainer's while it waits for data, else the background thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Turn:
    """A lock that the trainer's thread gets at once, and that no interrupt leaves locked.

    Python checks for signals after a call has returned. A function that acquires a lock can thus be interrupted before
    it returns to its caller, which then never releases the lock. Only `with`, on the lock itself, leaves no such gap.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        """`wake` ends the wait of the thread that has the turn."""
        self._lock = threading.Lock()
        self._wake = wake
        self.wanted = False
        """Whether the trainer's thread wants the turn; another thread that has the turn then releases it."""
        self.taken = 0
        """Number of turns that the trainer's thread has taken."""

    def run(self, work: Callable[[], T]) -> T:
        """Runs work of the trainer's thread in its turn."""
        self.wanted = True
        try:
            if self._lock.locked():
                self._wake()
            with self._lock:
                self.wanted = False
                self.taken += 1
                return work()
        finally:
            self.wanted = False

    def run_if_free(self, work: Callable[[], None]) -> bool:
        """Runs work of the background thread, unless the turn is taken or wanted; returns whether it ran."""
        if self.wanted or not self._lock.acquire(blocking=False):
            return False
        try:  # no signal reaches this thread
            work()
        finally:
            self._lock.release()
        return True

"""Who may receive: the trainer's thread while it waits for data, or the background thread while that is busy."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Turn:
    """A lock that the trainer's thread gets at once, and that no interrupt leaves locked.

    Python looks for signals after a call has returned. So a function that acquires a lock may be interrupted before it
    tells its caller, who then never releases it. Only `with`, on the lock itself, leaves no such gap.
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
        """The trainer's thread works in its turn."""
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
        """The background thread works in its turn, unless that is taken or wanted; says whether it did."""
        if self.wanted or not self._lock.acquire(blocking=False):
            return False
        try:  # no signal reaches this thread
            work()
        finally:
            self._lock.release()
        return True

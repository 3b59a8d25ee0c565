"""Looks up host names in separate threads, so that a slow name server delays only the feeder with that name."""

from __future__ import annotations

import os
import socket
import threading
import time
from typing import Any, Final

WAIT_S: Final = 0.05
"""Seconds that the receiving thread waits for a name: much less than the 500 ms of a failover."""
_FRESH_S: Final = 30.0
"""Seconds for which an answer is reused."""
_FAILED_S: Final = 0.2
"""Seconds for which a failure is reported without a new lookup."""
_LOST_S: Final = 60.0
"""A lookup without an answer is followed by another one."""

Found = list[tuple[Any, ...]]


class _Lookup:
    """One question. Its thread writes, anyone reads once it is done."""

    def __init__(self, host: str, port: int, known: Found | None) -> None:
        self.known = known
        """What the name stood for before."""
        self.found: Found | None = None
        self.error: OSError | UnicodeError | None = None
        self.at = time.monotonic()
        """When it began; once it is done, when it ended."""
        self.pid = os.getpid()
        self.done = threading.Event()
        threading.Thread(target=self._ask, args=(host, port), name="stoker-resolve", daemon=True).start()

    def _ask(self, host: str, port: int) -> None:
        try:
            self.found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as e:
            self.error = e
        self.at = time.monotonic()
        self.done.set()

    def is_stale(self) -> bool:
        age = time.monotonic() - self.at
        if not self.done.is_set():
            return age > _LOST_S
        return age > (_FAILED_S if self.found is None else _FRESH_S)


_lookups: dict[tuple[str, int], _Lookup] = {}


def addresses(host: str, port: int) -> Found:
    """What `socket.getaddrinfo` says of a host.

    Raises `OSError` or `UnicodeError` if the name is not known, `TimeoutError` if the answer is still to come.
    """
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except OSError:
        pass  # a name
    lookup = _lookups.get((host, port))
    if lookup is None or lookup.pid != os.getpid() or lookup.is_stale():
        known = None if lookup is None else lookup.found or lookup.known
        lookup = _lookups[host, port] = _Lookup(host, port, known)
    lookup.done.wait(0.0 if lookup.known else WAIT_S)
    if lookup.found is not None:
        return lookup.found
    if lookup.known is not None:
        return lookup.known  # better than nothing while the name server does not answer
    if lookup.error is not None:
        raise lookup.error
    raise TimeoutError(f"the name server has not answered yet for {host}")

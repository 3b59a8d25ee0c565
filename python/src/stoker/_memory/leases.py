"""Files that stay whole while they are mapped, so that Python code may touch the mapping itself.

A mapped file that is cut short kills the process that touches the missing pages (SIGBUS). A read lease (`fcntl(2)`,
`F_SETLEASE`) prevents that: a process that truncates the file, or opens it for writing, waits until this process has
given the lease back, for at most `/proc/sys/fs/lease-break-time` (45 s). A thread looks for such wishes twice a second,
replaces the mapping by a copy of it in memory, at the same address, and gives the lease back. Deleting a file needs no
lease, and the mapping of a deleted file stays whole.

If this process was stopped for longer than that, the kernel has ended the lease, and the other process may have changed
the file. The mapping is then `lost`: memory takes its place as well, but its bytes must not be trusted. What touches a
page that is missing before the thread looks ends the process.

Only the owner of a file may take a lease, and only on file systems of this machine: elsewhere there is no
`LeasedMapping`, and the kernel copies (`stoker._memory.mapping`). A forked child must not rely on a lease of its
parent, which gives it back for both.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stoker._memory.file_reads import has_spare
from stoker._memory.mapping import Mapping, copy_over, populate

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LOG: Final = logging.getLogger("stoker")
MOST: Final = 512
"""Leased mappings of a process at a time: each keeps a descriptor."""
_LOOK_S: Final = 0.5
_LOCAL: Final = frozenset({0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0xF2F52010, 0x2FC12FC1, 0xCA451A4E})
"""Magic numbers of ext4, XFS, Btrfs, tmpfs, F2FS, ZFS and bcachefs; others may change a file from elsewhere."""
_STATFS_BYTES: Final = 256


class LeasedMapping(Mapping):
    """A mapped file that no process can shorten. Keeps a descriptor; ends with its last reference.

    `numpy.asarray` returns its bytes without a copy, and keeps it.
    """

    __slots__ = ("__weakref__", "fd", "held", "lost")

    def __init__(self, fd: int, length: int, private: bool) -> None:
        """Takes the descriptor, which has a lease, if it does not raise OSError."""
        self.fd = -1
        self.held: dict[int, Any] | None = None
        """From which it is removed at its end."""
        self.lost = False
        """Whether the file may have been changed, as the kernel has ended the lease."""
        super().__init__(fd, length, private)
        self.fd = fd

    def __del__(self, *_: Any, close: Callable[[int], None] = os.close) -> None:
        # Uses no name of a module: those may be gone.
        if self.fd >= 0 and self.held is not None:  # first, so that the watching thread does not use it
            self.held.pop(self.fd, None)
        super().__del__()
        if self.fd >= 0:
            close(self.fd)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        place = (self.address, not self.private)
        return {"data": place, "shape": (self.length,), "typestr": "|u1", "version": 3, "owner": self}

    def bytes(self) -> npt.NDArray[np.uint8]:
        """The bytes of the file; writable if the mapping is private, which leaves the file as it is."""
        return np.asarray(self)


class _Watch:
    """The thread that gives leases back when others want to write; it ends with the last lease."""

    def __init__(self) -> None:
        self.held: dict[int, weakref.ref[LeasedMapping]] = {}
        """By descriptor."""
        self.lost = 0
        """Mappings that were lost so far."""
        self._lock = threading.Lock()
        self._running = False

    def add(self, mapping: LeasedMapping) -> None:
        """Raises RuntimeError if no thread can be started."""
        with self._lock:
            if not self._running:
                threading.Thread(target=self._run, name="stoker-leases", daemon=True).start()
                self._running = True
            mapping.held = self.held
            self.held[mapping.fd] = weakref.ref(mapping)

    def _run(self) -> None:
        while True:
            time.sleep(_LOOK_S)
            self.look()
            with self._lock:
                if not self.held:
                    self._running = False
                    return

    def look(self) -> None:
        """Gives back the leases that somebody waits for."""
        for fd in list(self.held):  # the list of keys is made at once
            reference = self.held.get(fd)
            mapping = reference() if reference is not None else None
            with contextlib.suppress(OSError, MemoryError):  # the next look tries again
                if mapping is not None and fcntl.fcntl(fd, fcntl.F_GETLEASE) != fcntl.F_RDLCK:
                    self._give_back(mapping)

    def _give_back(self, mapping: LeasedMapping) -> None:
        fd = mapping.fd
        # A file that is too short has lost its lease already. Its remaining bytes are copied.
        if not copy_over(mapping, partly=os.fstat(fd).st_size < mapping.length):
            return
        self.held.pop(fd, None)
        try:
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except OSError:  # there is none: the file may have been changed before it was copied
            mapping.lost = True
            self.lost += 1
            _LOG.warning(
                "another process waited for longer than fs.lease-break-time to write to %s; its rows may have changed",
                os.readlink(f"/proc/self/fd/{fd}"),
            )

    def forked(self) -> None:
        """Leaves the leases to the parent: one lasts as long as any process has its descriptor."""
        for fd in list(self.held):
            mapping = self.held[fd]()
            if mapping is not None:
                mapping.fd = -1
                os.close(fd)
        self.__init__()  # type: ignore[misc]


_WATCH: Final = _Watch()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WATCH.forked)


def leased(fd: int, length: int, private: bool = False) -> LeasedMapping | None:
    """A leased mapping of a file that is `length` bytes long, which takes the descriptor; None if there is no lease.

    `private`: its memory may be written to, which leaves the file as it is.
    """
    if len(_WATCH.held) >= MOST or not has_spare(fd) or not _on_this_machine(fd):
        return None
    try:
        # Without a signal: the default one ends a process, and the kernel sends none to the owner 0.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError:  # another user's file, or one that is being written
        return None
    mapping = None
    try:
        fcntl.fcntl(fd, fcntl.F_SETOWN, 0)
        if os.fstat(fd).st_size == length:
            mapping = LeasedMapping(fd, length, private)
            _WATCH.add(mapping)
    except (OSError, RuntimeError):  # too many mappings, or too many threads
        if mapping is not None:
            mapping.fd = -1  # the caller keeps it
            mapping = None
    if mapping is None:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return mapping


def any_lost() -> bool:
    """Whether the kernel has ended a lease of this process."""
    return _WATCH.lost > 0


def _bind() -> Any:
    """`fstatfs`, if this system has leases and checks pages without a signal."""
    if not hasattr(fcntl, "F_SETLEASE") or not populate(0, 0):
        return None
    try:
        function = ctypes.CDLL(None, use_errno=True).fstatfs
    except (AttributeError, OSError, TypeError):
        return None
    function.restype, function.argtypes = ctypes.c_int, [ctypes.c_int, ctypes.c_void_p]
    return function


_FSTATFS: Final = _bind()


def _on_this_machine(fd: int) -> bool:
    if _FSTATFS is None:
        return False
    found = np.zeros(_STATFS_BYTES >> 3, np.int64)
    return _FSTATFS(fd, found.ctypes.data) == 0 and int(found[0]) in _LOCAL

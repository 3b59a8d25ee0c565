"""Writes long files past the page cache (`O_DIRECT`).

An ordinary write copies into pages that the kernel has to find and to free again, which takes more processor time than
all that is done to a chunk before. Here bytes are copied into a buffer that is used again, and the disk reads from it.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import mmap
import os
import struct
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from stoker._packing.segments import Bytes

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LENGTH: Final = 4 << 20
"""Bytes of a buffer, and of one write."""
SHORTEST: Final = 1 << 20
"""Files from this length on are written past the cache."""
_BLOCK: Final = 4096
"""Lengths and addresses are multiples of it."""
_DIRECT: Final = getattr(os, "O_DIRECT", 0)
_EMPTY_PATH: Final = 0x1000
_ALIGNMENTS: Final = 0x2000
_ALIGNMENTS_AT: Final = 0x98
"""`AT_EMPTY_PATH`, `STATX_DIOALIGN` (Linux 6.1) and where `statx(2)` returns the alignments."""

Write = Callable[[int, Sequence[Bytes]], int]


class PastCache:
    """Buffers for writes past the page cache. Safe for several threads; each uses one buffer at a time."""

    def __init__(self) -> None:
        self._free: deque[mmap.mmap] = deque()

    def write(self, fd: int, buffers: Sequence[Bytes], write: Write) -> None:
        """Appends buffers to a file for which `begin` returned true. `write` is `os.writev`."""
        try:
            block = self._free.pop()
        except IndexError:
            block = _allocate()
        try:
            with memoryview(block) as view:
                self._write(fd, buffers, write, view)
        finally:
            self._free.append(block)

    def _write(self, fd: int, buffers: Sequence[Bytes], write: Write, view: memoryview) -> None:
        at = 0
        for buffer in buffers:
            length = len(buffer)
            if at + length < LENGTH:
                view[at : at + length] = buffer
                at += length
                continue
            data, done = memoryview(buffer), 0
            while done < length:
                taken = min(LENGTH - at, length - done)
                view[at : at + taken] = data[done : done + taken]
                at, done = at + taken, done + taken
                if at == LENGTH:
                    _flush(fd, view, write)
                    at = 0
        whole = at - at % _BLOCK
        if whole:
            _flush(fd, view[:whole], write)
        # The end of a file is no whole block.
        _set_direct(fd, False)
        if at > whole:
            _flush(fd, view[whole:at], write)


def begin(fd: int) -> bool:
    """Whether the file, which is empty, is written past the cache from now on."""
    if not _DIRECT or fcntl is None or not _is_possible(fd):
        return False
    try:
        _set_direct(fd, True)
    except OSError:
        return False
    return True


def _flush(fd: int, view: memoryview, write: Write) -> None:
    while len(view):
        try:
            view = view[write(fd, [view]) :]
        except OSError as e:
            # A file system that wants another alignment, or that wrote a part.
            if e.errno != errno.EINVAL or not fcntl.fcntl(fd, fcntl.F_GETFL) & _DIRECT:
                raise
            _set_direct(fd, False)


def _set_direct(fd: int, direct: bool) -> None:
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    fcntl.fcntl(fd, fcntl.F_SETFL, flags | _DIRECT if direct else flags & ~_DIRECT)


def _allocate() -> mmap.mmap:
    block = mmap.mmap(-1, LENGTH, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        block.madvise(mmap.MADV_HUGEPAGE)
    return block


@functools.cache
def _statx() -> Any:
    try:
        return ctypes.CDLL(None, use_errno=True).statx
    except (AttributeError, OSError, TypeError):
        return None


def _is_possible(fd: int) -> bool:
    """Whether the file system says that it writes to a disk in blocks; tmpfs and older kernels do not."""
    statx = _statx()
    found = ctypes.create_string_buffer(256)
    if statx is None or statx(fd, b"", _EMPTY_PATH, _ALIGNMENTS, found):
        return False
    (mask,) = struct.unpack_from("=I", found, 0)
    memory, offset = struct.unpack_from("=II", found, _ALIGNMENTS_AT)
    return bool(mask & _ALIGNMENTS) and 0 < memory <= _BLOCK and 0 < offset <= _BLOCK

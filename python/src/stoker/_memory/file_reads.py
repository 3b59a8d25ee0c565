"""Reads ranges of files into memory that the caller owns."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_SEEKING = threading.Lock()


def read_fully(fd: int, data: npt.NDArray[np.uint8], offset: int) -> int:
    """Reads into `data` from a file offset; returns the bytes read, fewer only at the end of the file."""
    return read_into(fd, memoryview(data), offset)


def read_into(fd: int, view: memoryview, offset: int) -> int:
    """The same for a writable view of bytes."""
    got = 0
    while got < len(view):
        n = preadv(fd, (view[got:],) if got else (view,), offset + got)
        if n == 0:
            break
        got += n
    return got


def _seek_and_read(fd: int, length: int, offset: int) -> bytes:
    with _SEEKING:  # a descriptor has one position
        os.lseek(fd, offset, os.SEEK_SET)
        return os.read(fd, length)


pread: Callable[[int, int, int], bytes] = getattr(os, "pread", _seek_and_read)
"""Returns bytes from a file offset, fewer only at the end of the file."""


def _pread(fd: int, views: tuple[memoryview], offset: int) -> int:
    part = pread(fd, len(views[0]), offset)
    views[0][: len(part)] = part
    return len(part)


preadv = getattr(os, "preadv", _pread)
"""Fills one view from a file offset; returns how many bytes came."""


def has_spare(fd: int) -> bool:
    """Whether this new descriptor may be kept: a quarter of the process's limit is left for others.

    The kernel gives the lowest number that is free.
    """
    if resource is None:
        return True
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return limit == resource.RLIM_INFINITY or fd < limit - limit // 4

"""Copies ranges of files into a batch, one behind the other, and checks them while they are in the core's cache.

Ranges lie in mappings, which the kernel copies from (`stoker._memory.mapping`), or in files that are open. Safe for
several threads; none holds the GIL while bytes move. What is missing is said by None, never by a signal.
"""

from __future__ import annotations

import threading
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._format.checksum import extend
from stoker._memory import mapping as _mapping
from stoker._memory.file_reads import read_into

MOST: Final = 1024
"""Ranges of one call to the kernel (IOV_MAX)."""
STRIDE: Final = 512 << 10
"""Bytes copied before they are checked: still in the core's cache then."""
LARGE: Final = 48 << 10
"""From this average length of ranges on one `preadv` each is cheaper than mapped pages, by measurement."""
VIEWED: Final = 2 << 10
"""From this average length of rows on a path leaves them in the files, if it may."""
Integers = npt.NDArray[Any]


class _Lists(threading.local):
    """(address, length) pairs for the kernel, of one thread."""

    def __init__(self) -> None:
        self.remote = np.zeros((MOST, 2), np.int64)
        self.local = np.zeros((MOST, 2), np.int64)
        self.remote_at, self.local_at = self.remote.ctypes.data, self.local.ctypes.data
        self.remote_bytes = memoryview(self.remote.reshape(-1).view(np.uint8))


LISTS: Final = _Lists()


class Target(NamedTuple):
    """Where bytes are copied to, and the checksum so far."""

    buffer: npt.NDArray[np.uint8]
    address: int
    """Address of the buffer's first byte."""
    at: int
    """Offset in the buffer of the first copied byte."""
    crc: int = 0
    """Checksum of the bytes before `since`."""
    since: int = -1
    """Offset in the buffer of the first byte that `crc` does not cover; -1: `at`."""


def copy(target: Target, addresses: Integers, lengths: Integers) -> int | None:
    """Copies ranges of this process's mappings. Returns the checksum up to their end, None if a page is missing."""
    buffer, address, at, crc, since = target
    begin = since if since >= 0 else at
    addresses, lengths = _strides(addresses, lengths)
    lists = LISTS
    remote, local = lists.remote, lists.local
    ends = lengths.cumsum(dtype=np.int64)
    count, first, done = len(lengths), 0, 0
    total = ends.item(-1) if count else 0
    while first < count:
        stop, end = count, total
        if count > MOST or total - done > 2 * STRIDE:
            stop = min(count, first + MOST, max(first + 1, int(ends.searchsorted(done + STRIDE, "right"))))
            end = ends.item(stop - 1)
        remote[: stop - first, 0] = addresses[first:stop]
        remote[: stop - first, 1] = lengths[first:stop]
        local[0] = address + at, end - done
        if not _mapping.copy(lists.local_at, end - done, lists.remote_at, stop - first):
            return None
        at, done, first = at + end - done, end, stop
        crc = extend(crc, buffer, address, begin, at)
        begin = at
    return extend(crc, buffer, address, begin, at) if at > begin else crc


def read(
    target: Target, files: Integers, offsets: Integers, lengths: Integers, mapped: Integers | None = None
) -> int | None:
    """The same with ranges of open files; of those without a descriptor (-1) `mapped` has the addresses."""
    buffer, address, at, crc, since = target
    begin = since if since >= 0 else at
    places = np.zeros((len(files), 3), np.int64)
    places[:, 0], places[:, 1] = files, offsets
    if mapped is not None:
        places[:, 2] = mapped
    local, remote = LISTS.local, LISTS.remote
    with memoryview(buffer) as view:
        for (fd, offset, place), whole in zip(places.tolist(), lengths.tolist(), strict=True):
            for start in range(0, whole, STRIDE):
                length = min(STRIDE, whole - start)
                if fd < 0:
                    remote[0], local[0] = (place + start, length), (address + at, length)
                    got = length if _mapping.copy(LISTS.local_at, length, LISTS.remote_at, 1) else -1
                else:
                    try:
                        got = read_into(fd, view[at : at + length], offset + start)
                    except OSError:
                        got = -1
                if got != length:
                    return None
                at += length
                if at - begin >= STRIDE:
                    crc = extend(crc, buffer, address, begin, at)
                    begin = at
    return extend(crc, buffer, address, begin, at) if at > begin else crc


def _strides(addresses: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    """Divides ranges that are too long to be still in the cache when they are checked."""
    if not len(lengths) or int(lengths.max()) <= 2 * STRIDE:
        return addresses, lengths
    parts = np.maximum(1, -(-lengths.astype(np.int64) // STRIDE))
    of = np.arange(len(lengths)).repeat(parts)
    start = (np.arange(len(of)) - (parts.cumsum() - parts)[of]) * STRIDE
    return addresses[of] + start, np.minimum(STRIDE, lengths[of] - start)

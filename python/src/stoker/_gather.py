"""Copies the payload of shuffled rows from chunk files into a batch, and checks it while it is in the core's cache."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker import _mapping
from stoker._assemble import Gather
from stoker._checksum import crc32c, extend
from stoker._chunk import ChunkHead, ChunkReader, preadv, read_into
from stoker._rows import RowBlock
from stoker.errors import CorruptDataError

_STRIDE = 512 << 10
"""Bytes copied before they are checked."""
_MOST = 1024
"""Rows of one call (IOV_MAX)."""


_LARGE_ROW = 48 << 10
"""From here on one `preadv` a row is cheaper than mapped pages, by measurement."""
_KEPT_OPEN = 256
"""Descriptors that may be kept for that; the usual limit of a process is 1,024."""


class _Kept:
    """Descriptors kept open by this process."""

    count = 0


class OpenChunk:
    """A chunk whose head has been read and checked, and whose payload can be copied."""

    def __init__(self, reader: ChunkReader, index: int, fetch: bool | None = None) -> None:
        """`fetch`: have the kernel read the whole file ahead; None: if it is not in the page cache."""
        self.mapping: _mapping.Mapping | None = None
        self.fd: int | None = None
        fd = reader.open(index)
        try:
            self.head: ChunkHead = reader.head(fd, index)
            if _mapping.supported() and self.head.payload:
                try:
                    self.mapping = _mapping.Mapping(fd, os.fstat(fd).st_size)
                    fetch = not self.mapping.cached() if fetch is None else fetch
                except OSError:  # a file system without mappings, or too many of them
                    pass
            self.fetch = bool(fetch)
            if fetch and hasattr(os, "posix_fadvise"):
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)
            large = sum(int(p.lengths.sum()) for p in self.head.payload) >= _LARGE_ROW * max(1, self.head.rows)
            if large and _Kept.count < _KEPT_OPEN:
                self.mapping = None
                self.fd = fd
                _Kept.count += 1
        finally:
            if self.fd is None:
                os.close(fd)

    def __del__(self) -> None:
        if self.fd is not None:
            os.close(self.fd)
            _Kept.count -= 1


class OpenWindow:
    """The chunks of one window of a lane and its rows in order."""

    def __init__(
        self, reader: ChunkReader, indexes: Sequence[int], chunks: Sequence[OpenChunk | None], block: RowBlock
    ) -> None:
        self.reader, self.indexes, self.block = reader, list(indexes), block
        self._chunks = list(chunks)
        """Keeps mappings and descriptors."""
        self._bases: Any = None
        maps = [c.mapping for c in chunks if c is not None]
        if None not in maps:
            self._bases = np.array([c.mapping.address if c is not None else 0 for c in chunks], np.int64)

    def copy(self, column: int, row: int, stop: int, buffer: npt.NDArray[np.uint8], address: int, at: int) -> bool:
        """Copies the payload of rows [row, stop), at most `_MOST`, to buffer[at:]; False if any byte is missing."""
        block = self.block
        payload = block.payload[column]
        if self._bases is None:
            return self._copy_pread(column, row, stop, buffer, at)
        count = stop - row
        ends = payload.ends[row : stop + 1]
        remote = _SCRATCH.remote
        np.add(self._bases.take(block.places[row:stop]), payload.starts[row:stop], out=remote[:count, 0])
        np.subtract(ends[1:], ends[:-1], out=remote[:count, 1])
        length = ends.item(count) - ends.item(0)
        _SCRATCH.local[:] = address + at, length
        return _mapping.copy(_SCRATCH.local_at, length, _SCRATCH.remote_at, count)

    def _copy_pread(self, column: int, row: int, stop: int, buffer: npt.NDArray[np.uint8], at: int) -> bool:
        payload = self.block.payload[column]
        places = self.block.places[row:stop].tolist()
        starts = payload.starts[row:stop].tolist()
        ends = payload.ends[row : stop + 1].tolist()
        shift = at - ends[0]
        opened: dict[int, int] = {}
        view = memoryview(buffer)
        try:
            for place, start, a, b in zip(places, starts, ends, ends[1:], strict=False):
                chunk = self._chunks[place]
                fd = chunk.fd if chunk is not None else None
                if fd is None:
                    if place not in opened:
                        opened[place] = self.reader.open(self.indexes[place])
                    fd = opened[place]
                part = view[a + shift : b + shift]
                if preadv(fd, (part,), start) != b - a and read_into(fd, part, start) != b - a:
                    return False
            return True
        except CorruptDataError:
            return False
        finally:
            for fd in opened.values():
                os.close(fd)

    def reread(self, column: int, row: int, buffer: npt.NDArray[np.uint8], at: int) -> str | None:
        """Checks one row that is already in the buffer, reads it again if it is wrong; says what is wrong then."""
        payload = self.block.payload[column]
        length = int(payload.ends[row + 1] - payload.ends[row])
        target = buffer[at : at + length]
        expected = int(payload.crcs[row])
        if crc32c(target) == expected:
            return None
        index = self.indexes[int(self.block.places[row])]
        try:
            fd = self.reader.open(index)
        except CorruptDataError as e:
            return str(e)
        try:
            got = read_into(fd, memoryview(target), int(payload.starts[row]))
        finally:
            os.close(fd)
        found = crc32c(target)
        if got == length and found == expected:
            return None
        what = f"{self.reader.describe(index)}, row {int(self.block.chunk_rows[row])}, key {self.block.key(row)!r}"
        what += f", {payload.column.name}: "
        if got < length:
            return what + f"{got} bytes of {length}; the file is cut short"
        return what + f"checksum {found:08x}, expected {expected:08x}"


class _Scratch(threading.local):
    """Address lists of one thread."""

    def __init__(self) -> None:
        self.remote = np.zeros((_MOST, 2), np.int64)
        self.local = np.zeros(2, np.int64)
        self.remote_at = self.remote.ctypes.data
        self.local_at = self.local.ctypes.data


_SCRATCH = _Scratch()


def gather(work: Gather, buffer: npt.NDArray[np.uint8], address: int) -> bool:
    """Copies a run of rows to its place and says whether all of it arrived and its checksum is right.

    `address` is that of the buffer's first byte. Does not hold the GIL while it copies or checks.
    """
    window, start, end = work.segment
    payload = window.block.payload[work.column]
    ends = payload.ends
    crc = 0
    row, at = start, work.at
    base = ends.item(start) - work.at
    while row < end:
        stop = min(end, row + _MOST)
        limit = ends.item(row) + _STRIDE
        if ends.item(stop) > limit:
            stop = max(row + 1, int(ends[row : stop + 1].searchsorted(limit, "right")) - 1 + row)
        until = ends.item(stop) - base
        if not window.copy(work.column, row, stop, buffer, address, at):
            return False
        crc = extend(crc, buffer, address, at, until)
        row, at = stop, until
    return crc == payload.running.of(start, end)

"""Copies the payload of shuffled rows from chunk files into a batch, and checks it while it is in the core's cache."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker import _mapping
from stoker._checksum import crc32c, extend
from stoker._chunk import ChunkHead, ChunkReader, read_fully
from stoker._rows import Gather, RowBlock
from stoker.errors import CorruptDataError

_STRIDE = 512 << 10
"""Bytes copied before they are checked."""
_MOST = 1024
"""Rows of one call (IOV_MAX)."""


class OpenChunk:
    """A chunk whose head has been read and checked, and whose payload can be copied."""

    def __init__(self, reader: ChunkReader, index: int) -> None:
        fd = reader.open(index)
        try:
            self.head: ChunkHead = reader.head(fd, index)
            self.mapping: _mapping.Mapping | None = None
            if _mapping.supported() and self.head.payload:
                try:
                    self.mapping = _mapping.Mapping(fd, os.fstat(fd).st_size)
                    if not self.mapping.cached():
                        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)
                except OSError:  # a file system without mappings, or too many of them
                    self.mapping = None
        finally:
            os.close(fd)


class OpenWindow:
    """The chunks of one window of a lane and its rows in order."""

    def __init__(
        self, reader: ChunkReader, indexes: Sequence[int], chunks: Sequence[OpenChunk | None], block: RowBlock
    ) -> None:
        self.reader, self.indexes, self.block = reader, list(indexes), block
        self._chunks = list(chunks)
        """Keeps the mappings."""
        self._bases: Any = None
        maps = [c.mapping if c is not None else None for c in chunks]
        if all(m is not None for m, c in zip(maps, chunks, strict=True) if c is not None):
            self._bases = np.array([m.address if m is not None else 0 for m in maps], np.int64)

    def copy(self, column: int, row: int, stop: int, buffer: npt.NDArray[np.uint8], address: int, at: int) -> bool:
        """Copies the payload of rows [row, stop), at most `_MOST`, to buffer[at:]; False if any byte is missing."""
        payload = self.block.payload[column]
        if self._bases is None:
            return self._copy_pread(column, row, stop, buffer, at)
        count = stop - row
        length = int(payload.ends[stop] - payload.ends[row])
        np.add(self._bases.take(self.block.places[row:stop]), payload.starts[row:stop], out=_SCRATCH.remote[:count, 0])
        np.subtract(payload.ends[row + 1 : stop + 1], payload.ends[row:stop], out=_SCRATCH.remote[:count, 1])
        _SCRATCH.local[0], _SCRATCH.local[1] = address + at, length
        return _mapping.copy(_SCRATCH.local_at, length, _SCRATCH.remote_at, count)

    def _copy_pread(self, column: int, row: int, stop: int, buffer: npt.NDArray[np.uint8], at: int) -> bool:
        payload = self.block.payload[column]
        places = self.block.places[row:stop].tolist()
        starts = payload.starts[row:stop].tolist()
        lengths = np.diff(payload.ends[row : stop + 1]).tolist()
        fds: dict[int, int] = {}
        try:
            for place, start, length in zip(places, starts, lengths, strict=True):
                if place not in fds:
                    fds[place] = self.reader.open(self.indexes[place])
                if read_fully(fds[place], buffer[at : at + length], start) != length:
                    return False
                at += length
            return True
        except CorruptDataError:
            return False
        finally:
            for fd in fds.values():
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
            got = read_fully(fd, target, int(payload.starts[row]))
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
    crc = 0
    row, at = start, work.at
    base = int(payload.ends[start]) - work.at
    while row < end:
        stop = min(end, row + _MOST)
        if payload.ends[stop] - payload.ends[row] > _STRIDE:
            stop = int(np.searchsorted(payload.ends, payload.ends[row] + _STRIDE, side="right")) - 1
            stop = min(max(stop, row + 1), end, row + _MOST)
        until = int(payload.ends[stop]) - base
        if not window.copy(work.column, row, stop, buffer, address, at):
            return False
        crc = extend(crc, buffer, at, until)
        row, at = stop, until
    return crc == payload.running.of(start, end)

"""Copies the payload of shuffled rows from chunk files into a batch, and checks it while it is in the core's cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from operator import getitem
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._dataset.chunk import ChunkHead, ChunkReader
from stoker._format.checksum import crc32c, extend_at
from stoker._memory import copying
from stoker._memory import mapping as _mapping
from stoker._memory.copying import Target
from stoker._memory.file_reads import has_spare
from stoker._memory.leases import LeasedMapping, any_lost, leased
from stoker._path.assembler import Gather
from stoker._path.rows import RowBlock
from stoker.errors import CorruptDataError, MissingFileError

Integers = npt.NDArray[Any]
_KEPT_OPEN = 256
"""Descriptors that may be kept for that, if the process has as many to spare."""


class _Kept:
    """Descriptors kept open by this process."""

    count = 0


class OpenChunk:
    """A chunk whose head has been read and checked, and whose payload can be copied."""

    def __init__(
        self,
        reader: ChunkReader,
        index: int,
        fetch: bool | None = None,
        *,
        heads_only: bool = False,
        views: bool = False,
    ) -> None:
        """`fetch`: have the kernel read the whole file ahead; None: if it is not in the page cache.

        `heads_only`: no payload will be copied. `views`: large rows may stay in the mapping, to be written to as well.
        """
        self.mapping: _mapping.Mapping | None = None
        self.leased: LeasedMapping | None = None
        """The mapping, if no process can shorten the file."""
        self.fd: int | None = None
        self._crc = int(reader.snapshot.chunks.columns["crc32c"][index])
        fd = reader.open_head(index) if heads_only else reader.open(index)
        try:
            self.head: ChunkHead = reader.head(fd, index)
            payload = () if heads_only else self.head.payload
            fetch = fetch and not heads_only
            average = sum(int(p.lengths.sum()) for p in payload) // max(1, self.head.rows)
            large = average >= copying.LARGE
            if _mapping.supported() and payload:
                length = os.fstat(fd).st_size
                try:
                    self.leased = leased(fd, length, private=views and average >= copying.VIEWED)
                    self.mapping = self.leased or _mapping.Mapping(fd, length)
                    fetch = not self.mapping.cached() if fetch is None else fetch
                except OSError:  # a file system without mappings, or too many of them
                    pass
            self.fetch = bool(fetch)
            if fetch and hasattr(os, "posix_fadvise"):
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)
            if payload and large and self.leased is None and _Kept.count < _KEPT_OPEN and has_spare(fd):
                self.mapping = None
                self.fd = fd
                _Kept.count += 1
        finally:
            if self.fd is None and self.leased is None:
                os.close(fd)

    def verified(self) -> bool:
        """Whether the file's checksum is right, in the mapping. Does not hold the GIL while it reads."""
        assert self.mapping is not None
        return extend_at(0, self.mapping.address, self.mapping.length) == self._crc

    def __del__(self, close: Callable[[int], None] = os.close, kept: type[_Kept] = _Kept) -> None:
        if self.fd is not None:
            close(self.fd)
            kept.count -= 1


class OpenWindow:
    """The chunks of one window of a lane and its rows in order."""

    def __init__(
        self,
        reader: ChunkReader,
        indexes: Sequence[int],
        chunks: Sequence[OpenChunk | None],
        block: RowBlock,
        views: bool = False,
    ) -> None:
        """`views`: payload may stay in the mappings."""
        self.reader, self.indexes, self.block = reader, list(indexes), block
        self._chunks = list(chunks)
        """Keeps mappings and descriptors."""
        self._bytes: dict[int, npt.NDArray[np.uint8]] = {}
        """Mappings of chunks whose payload stays where it is."""
        self.longest: dict[bool, int] = {}
        """Full batches that may be laid out together, by whether their payload stays apart; 0: each alone."""
        self.bases: Any = None
        """Addresses of the chunks' mappings; None if some is not mapped."""
        maps = [c.mapping for c in chunks if c is not None]
        if None not in maps:
            self.bases = np.array(
                [c.mapping.address if c is not None and c.mapping is not None else 0 for c in chunks], np.int64
            )
        leases = [c.leased for c in chunks if c is not None]
        average = sum(int(p.ends[-1]) for p in block.payload) // max(1, block.rows * len(block.payload))
        bytes_only = all(p.column.kind == "bytes" for p in block.payload)
        whole = None not in leases and block.plain
        whole = whole and all(not c.fetch and c.mapping.provided() for c in chunks if c is not None and c.mapping)
        self.collected = whole and average < copying.LARGE
        """Whether payload may be copied without the kernel: no file can be shortened, and all its pages are there."""
        self.apart = whole and views and bytes_only and average >= copying.VIEWED
        self.apart = self.apart and all(c.leased.private and c.verified() for c in chunks if c is not None and c.leased)
        """Whether the payload of batches may stay where it is: the same, and it is large and has been checked."""
        if not self.apart:
            for payload in block.payload:
                _ = payload.running  # made here rather than by the thread that plans
        self._files = np.array([c.fd if c is not None and c.fd is not None else -1 for c in chunks], np.int64)

    def views(self, places: Integers, starts: Integers, stops: Integers) -> list[npt.NDArray[np.uint8]]:
        """Bytes [start, stop) of each of the files at these places of the window, in the mappings."""
        each = places.tolist()
        if any_lost():
            self._require_leases(set(each))
        for place in set(each).difference(self._bytes):
            chunk = self._chunks[place]
            assert chunk is not None
            assert chunk.leased is not None
            self._bytes[place] = chunk.leased.bytes()
        # Without a loop of Python, as this is most of what a batch of small rows costs.
        files: Any = map(self._bytes.__getitem__, each)
        return list(map(getitem, files, map(slice, starts.tolist(), stops.tolist())))

    def _require_leases(self, places: set[int]) -> None:
        for place in places:
            chunk = self._chunks[place]
            if chunk is not None and chunk.leased is not None and chunk.leased.lost:
                problem = "another process could write to the file while it was mapped"
                raise self.reader.corrupt(f"{self.reader.describe(self.indexes[place])}: {problem}")

    def copy(self, column: int, row: int, stop: int, target: Target) -> int | None:
        """Copies the payload of rows [row, stop); the checksum, None if any byte is missing."""
        payload = self.block.payload[column]
        places, starts = self.block.places[row:stop], payload.starts[row:stop]
        ends = payload.ends[row : stop + 1]
        lengths = ends[1:] - ends[:-1]
        if self.bases is not None:
            return copying.copy(target, self.bases.take(places) + starts, lengths)
        files = self._files.take(places)
        opened: list[int] = []
        try:
            if files.min() < 0:
                files = self._open_for(places, opened).take(places)
            return copying.read(target, files, starts, lengths)
        except CorruptDataError:
            return None
        finally:
            for fd in opened:
                os.close(fd)

    def _open_for(self, places: Any, opened: list[int]) -> npt.NDArray[np.int64]:
        """Descriptors by place, also of the chunks that keep none; those are added to `opened`."""
        files = self._files.copy()
        for place in np.unique(places).tolist():
            if files[place] < 0:
                files[place] = self.reader.open(self.indexes[place])
                opened.append(int(files[place]))
        return files

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
        except MissingFileError:
            raise
        except CorruptDataError as e:
            return str(e)
        try:
            self.reader.renew(fd, index)
            got = self.reader.read_file(fd, memoryview(target), int(payload.starts[row]), index)
        finally:
            os.close(fd)
        found = crc32c(target)
        if got == length and found == expected:
            return None
        what = f"{self.reader.describe(index)}, row {int(self.block.chunk_rows[row])}, key {self.block.key(row)!r}"
        what += f", {payload.column.name}: "
        if got < length:
            return what + f"{got} bytes of {length}; the file is truncated"
        return what + f"checksum {found:08x}, expected {expected:08x}"


def gather(work: Gather, buffer: npt.NDArray[np.uint8], address: int) -> bool:
    """Copies a run of rows to its place and says whether all of it arrived and its checksum is right.

    `address` is the address of the buffer's first byte. Does not hold the GIL while it copies or checks.
    """
    window, start, end = work.segment
    if start == end:
        return True
    crc = window.copy(work.column, start, end, Target(buffer, address, work.at))
    return crc is not None and crc == window.block.payload[work.column].running.of(start, end)

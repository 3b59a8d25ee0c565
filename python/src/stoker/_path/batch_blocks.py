"""Blocks: the next full batches of one consumer in one window of a lane, laid out together by a few NumPy calls.

A small batch costs more interpreter than copying if it is laid out alone. A block holds, for each of its batches,
everything but the payload (the *front*: metadata, small columns, offsets), the addresses of its payload rows, its
length and its checksums. Filling one is then a call to the kernel, which collects front, rows and padding, and a
checksum. A block holds no payload: batches have their own buffers, taken when they are filled.

If payload may stay where it is, a batch is its front, and the places of its rows in the mapped files.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._format.checksum import extend
from stoker._format.message import BODY_LIMIT, MessageLayout
from stoker._memory import collecting
from stoker._memory import mapping as _mapping
from stoker._memory.buffers import BufferPool
from stoker._memory.copying import LISTS, MOST
from stoker._path.gather import OpenWindow
from stoker._path.rows import PayloadColumn, RowBlock
from stoker._source.apart import Apart

LONGEST = 64
"""Batches of a block: from here on a batch's share of the calls is small."""
LARGEST = 16 << 20
"""Bytes of a message, on average, up to which blocks are used. Two threads copy a larger one."""
_BYTES = 1 << 19
"""Greatest size of a block, approximately."""
_FRONT = 1 << 16
"""Bytes of small columns in a message, on average, up to which they are copied a second time."""
_PAIR = struct.Struct("=qq")
_ZEROS = np.zeros(64, np.uint8)
_ZEROS_AT = _ZEROS.ctypes.data
I64 = npt.NDArray[np.int64]


class _Places:
    """The place of everything of a block's batches in their bodies; arrays have a value for each batch."""

    def __init__(self, layout: MessageLayout, block: RowBlock, first: I64, rows: int) -> None:
        self.edge = first[:, None] + np.arange(rows + 1)
        """For each batch its rows and the one after them."""
        self.nodes: list[Any] = []
        self.buffers: list[Any] = []
        self.offsets: list[tuple[I64, Any]] = []
        """(place, offsets from 0) of the columns that have them."""
        self.small: list[tuple[I64, Any, Any, Any]] = []
        """(place, whole column of the window, first byte in it, length) of the small columns."""
        self.payload: list[tuple[PayloadColumn, I64, Any, Any]] = []
        """(column, place, ends of the rows from 0, length) of the payload columns."""
        later = []  # buffers of payload data
        end = np.zeros(len(first), np.int64)
        small, payload = iter(block.small), iter(block.payload)
        for c in layout.columns:
            column: Any = next(payload if c.payload else small)
            elements: Any = rows * c.width
            size: Any = elements * c.itemsize
            start: Any = first * (c.width * c.itemsize)
            ends: Any = None
            if c.has_offsets or c.payload:
                ends = (column.ends if c.payload else column.offsets).take(self.edge)
                start = ends[:, 0].astype(np.int64) * c.itemsize
                ends = ends - ends[:, :1]
                size = ends[:, -1].astype(np.int64)
            self.nodes += (rows, 0)
            self.buffers += (end, 0)
            if c.has_offsets:
                # Payload ends are in bytes, offsets of small columns in elements.
                elements, size = (size // c.itemsize, size) if c.payload else (size, size * c.itemsize)
                self.offsets.append((end, ends // c.itemsize if c.payload and c.itemsize > 1 else ends))
                self.buffers += (end, 4 * rows + 4)
                end = end + (4 * rows + 4 + 63 & -64)
            if c.has_child:
                self.nodes += (elements, 0)
                self.buffers += (end, 0)
            if c.payload:
                later.append((len(self.buffers), column, ends, size))
            else:
                data = column.data
                if c.kind == "bool":
                    data = np.packbits(data.take(self.edge[:, :-1]), axis=1, bitorder="little")
                    size = rows + 7 >> 3
                    start = np.arange(len(first)) * size
                self.small.append((end, data, start, size))
            self.buffers += (end, size)
            if not c.payload:
                end = end + (size + 63 & -64)
        self.front = end
        """Bytes before the payload data."""
        for index, column, ends, size in later:
            self.buffers[index] = end
            self.payload.append((column, end, ends, size))
            end = end + (size + 63 & -64)
        self.end = end


class BatchBlock:
    """Some batches of `rows` rows of one window."""

    __slots__ = ("_keep", "checks", "entries", "firsts", "lengths", "ranges", "rows", "views", "window")

    def __init__(
        self, layout: MessageLayout, window: OpenWindow, firsts: Sequence[int], rows: int, apart: bool = False
    ) -> None:
        """The batches begin at these rows of the window, see `longest`. `apart`: their payload stays where it is."""
        self.window, self.firsts, self.rows = window, firsts, rows
        first = np.array(firsts, np.int64)
        places = _Places(layout, window.block, first, rows)
        self.lengths: list[int] = (places.end + layout.body_start).tolist()
        """Lengths of the messages."""
        fronts, at = _fronts(layout, places, rows)
        self._keep = fronts
        self.views: _Views | None = _Views(layout, window, places, fronts, at) if apart else None
        """The batches if their payload stays where it is."""
        if apart:
            return
        ranges = np.zeros((len(first), 1 + len(places.payload) * (rows + 1), 2), np.int64)
        ranges[:, 0, 0] = at + fronts.ctypes.data
        ranges[:, 0, 1] = places.front + layout.body_start
        inner = places.edge[:, :-1]
        addresses = window.bases.take(window.block.places.take(inner))
        self.checks: list[list[tuple[int, int, int]]] = [[] for _ in firsts]
        """For each batch, (start, end, checksum) of the byte ranges to check."""
        to = 1
        for column, place, ends, size in places.payload:
            np.add(addresses, column.starts.take(inner), out=ranges[:, to : to + rows, 0])
            np.subtract(ends[:, 1:], ends[:, :-1], out=ranges[:, to : to + rows, 1])
            ranges[:, to + rows, 0] = _ZEROS_AT
            ranges[:, to + rows, 1] = -size & 63
            to += rows + 1
            starts = place + layout.body_start
            crcs = column.running.of_each(first, first + rows).tolist()
            each = zip(starts.tolist(), (starts + size).tolist(), crcs, strict=True)
            for checks, check in zip(self.checks, each, strict=True):
                checks.append(check)
        self.entries = to
        """Ranges of a batch."""
        self.ranges = memoryview(ranges.reshape(-1).view(np.uint8))
        """For each batch the (address, length) pairs that make up its message."""


class _Views:
    """Batches whose payload stays where it is; arrays have a line for each batch."""

    def __init__(
        self,
        layout: MessageLayout,
        window: OpenWindow,
        places: _Places,
        fronts: npt.NDArray[np.uint8],
        at: I64,
    ) -> None:
        self._window, self._fronts, self._at = window, fronts, at.tolist()
        self._lengths = (places.front + layout.body_start).tolist()
        inner = places.edge[:, :-1]
        begins, lengths, starts, files = [], [], [], []
        for column, place, ends, _ in places.payload:
            begins.append(ends[:, :-1] + (place + layout.body_start)[:, None])
            lengths.append(ends[:, 1:] - ends[:, :-1])
            starts.append(column.starts.take(inner).astype(np.int64))
            files.append(window.block.places.take(inner))
        size = np.concatenate(lengths, 1)
        self._begins, self._starts, self._files = (np.concatenate(a, 1) for a in (begins, starts, files))
        self._ends, self._stops = self._begins + size, self._starts + size
        self._present: Any = None if size.all() else size > 0
        self._rows = inner.shape[1]

    def front(self, i: int) -> npt.NDArray[np.uint8]:
        """The beginning of a message."""
        at = self._at[i]
        return self._fronts[at : at + self._lengths[i]]

    def apart(self, i: int, length: int, on_whole: Callable[[], Any]) -> Apart:
        """The rest of a message of this length."""
        window, files, starts, stops = self._window, self._files[i], self._starts[i], self._stops[i]
        if self._present is None:
            begins, ends, rows = self._begins[i], self._ends[i], self._rows
        else:
            there = self._present[i]
            begins, ends, rows = self._begins[i][there], self._ends[i][there], 0
            files, starts, stops = files[there], starts[there], stops[there]
        return Apart(length, begins, ends, lambda: window.views(files, starts, stops), on_whole, rows)


class Laid(NamedTuple):
    """A full batch that a block has laid out."""

    number: int
    lane: int
    block: BatchBlock
    place: int
    """Which batch of the block."""


def _fronts(layout: MessageLayout, places: _Places, rows: int) -> tuple[npt.NDArray[np.uint8], I64]:
    """Metadata, small columns and offsets of each batch, and where it begins."""
    body = layout.body_start
    front = places.front + body
    at = np.cumsum(front) - front
    fronts = _aligned(int(front.sum()))
    metadata = layout.pack_each(places.end, rows, places.nodes, places.buffers)
    fronts.view(np.int64)[(at >> 3)[:, None] + np.arange(metadata.shape[1])] = metadata
    words = fronts.view(np.int32)
    for place, values in places.offsets:
        words[(at + body + place >> 2)[:, None] + np.arange(rows + 1)] = values
    target = memoryview(fronts)
    for place, data, start, size in places.small:
        source = memoryview(data.reshape(-1).view(np.uint8))
        starts, ends = start.tolist(), (start + size).tolist()
        for to, a, b in zip((at + body + place).tolist(), starts, ends, strict=True):
            target[to : to + b - a] = source[a:b]
    return fronts, at


def _aligned(length: int) -> npt.NDArray[np.uint8]:
    """Zeros that start at a multiple of 64 in memory."""
    out = np.zeros(length + 63, np.uint8)
    start = -out.ctypes.data & 63
    return out[start : start + length]


def longest(layout: MessageLayout, window: OpenWindow, rows: int, apart: bool) -> int:
    """Returns how many batches of a window a block may have; 0 if its batches must be laid out one by one."""
    block = window.block
    nested = any(c.kind == "nested" for c in layout.columns)
    if window.bases is None or not block.plain or not block.payload or nested:
        return 0
    entries = 1 + len(block.payload) * (rows + 1)
    small = sum(c.data.nbytes for c in block.small) * rows // max(1, block.rows)
    payload = sum(int(p.ends[-1]) for p in block.payload) * rows // max(1, block.rows)
    if not apart and (entries > MOST or payload > LARGEST):
        return 0
    if small > _FRONT or rows * _longest_row(layout, block) >= BODY_LIMIT // 2:
        return 0
    offsets = sum(4 * rows + 64 for c in layout.columns if c.has_offsets)
    return min(LONGEST, max(1, _BYTES // (layout.body_start + small + offsets + 16 * entries)))


def _longest_row(layout: MessageLayout, block: RowBlock) -> int:
    """No row of the window takes more in a message, padding aside."""
    bound = sum(8 + c.width * c.itemsize for c in layout.columns)
    bound += sum(int(np.diff(p.ends).max(initial=0)) for p in block.payload)
    return bound + sum(
        int(np.diff(c.offsets).max(initial=0)) * c.column.itemsize for c in block.small if c.offsets is not None
    )


def fill(batches: Sequence[Laid], pool: BufferPool) -> list[npt.NDArray[np.uint8] | None]:
    """The messages of some batches of blocks; None for one that did not arrive or has a wrong checksum.

    Does not hold the GIL while it copies or checks.
    """
    out: list[npt.NDArray[np.uint8] | None] = []
    at = 0
    while at < len(batches):
        stop = at
        entries = 0
        while stop < len(batches) and entries + batches[stop].block.entries <= MOST:
            entries += batches[stop].block.entries
            stop += 1
        out += _fill(batches[at:stop], pool)
        at = stop
    return out


def _fill(batches: Sequence[Laid], pool: BufferPool) -> list[npt.NDArray[np.uint8] | None]:
    if pool.ordinary and all(batch.block.window.collected for batch in batches) and collecting.supported():
        return _checked(batches, _collected(batches))
    copied = _copied(batches, pool)
    return [None] * len(batches) if copied is None else _checked(batches, copied)


def _collected(batches: Sequence[Laid]) -> list[tuple[npt.NDArray[np.uint8], int]]:
    """The messages and their addresses, in one new buffer."""
    ranges = np.empty(sum(b.block.entries for b in batches) << 4, np.uint8)
    to = memoryview(ranges)
    end = 0
    lengths = []
    for _, _, block, i in batches:
        size = 16 * block.entries
        to[end : end + size] = block.ranges[i * size : i * size + size]
        end += size
        lengths.append(block.lengths[i])
    data, address = collecting.collect(ranges.view(np.int64).reshape(-1, 2), sum(lengths))
    out = []
    at = 0
    for length in lengths:
        out.append((data[at : at + length], address + at))
        at += length
    return out


def _copied(batches: Sequence[Laid], pool: BufferPool) -> list[tuple[npt.NDArray[np.uint8], int]] | None:
    """The messages and their addresses, each in a buffer of the pool; None if a page is missing."""
    lists = LISTS
    to, local = lists.remote_bytes, lists.local
    taken = []
    end = total = 0
    for k, (_, _, block, i) in enumerate(batches):
        length = block.lengths[i]
        buffer, address = pool.take_at(length)
        taken.append((buffer, address))
        size = 16 * block.entries
        to[end : end + size] = block.ranges[i * size : i * size + size]
        end += size
        _PAIR.pack_into(local, 16 * k, address, length)
        total += length
    copied = _mapping.copy(lists.local_at, total, lists.remote_at, end >> 4, len(batches))
    return taken if copied else None


def _checked(
    batches: Sequence[Laid], messages: Sequence[tuple[npt.NDArray[np.uint8], int]]
) -> list[npt.NDArray[np.uint8] | None]:
    """The messages that have the right checksums."""
    out: list[npt.NDArray[np.uint8] | None] = []
    for (_, _, block, i), (buffer, address) in zip(batches, messages, strict=True):
        right = True
        for a, b, crc in block.checks[i]:
            right = right and extend(0, buffer, address, a, b) == crc
        out.append(buffer if right else None)
    return out

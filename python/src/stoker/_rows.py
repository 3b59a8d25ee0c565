"""Rows in delivery order: the small columns and payload places of one window, ready to be cut into messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from stoker._checksum import RunningCrcs
from stoker._chunk import ChunkHead, ColumnData
from stoker._message import Column, MessageLayout

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SmallColumn:
    """A small column of a window, in delivery order."""

    column: Column
    validity: npt.NDArray[np.bool_] | None
    offsets: I64 | None
    """In elements."""
    data: npt.NDArray[Any]


@dataclass(frozen=True)
class PayloadColumn:
    """Where the payload of each row lies, in delivery order."""

    column: Column
    starts: npt.NDArray[np.uint32]
    """Offset in the chunk file."""
    ends: I64
    """Bytes of rows [0, i) when concatenated; one entry more than rows."""
    crcs: npt.NDArray[np.uint32]
    running: RunningCrcs


class RowBlock:
    """The rows of one window of one lane."""

    def __init__(self, columns: Sequence[Column], heads: Sequence[ChunkHead | None], places: I64, rows: I64) -> None:
        """Rows (place in `heads`, row), in delivery order; a head that is None makes its rows missing."""
        self.rows = len(rows)
        self.chunk_rows = rows.astype(np.uint32)
        self.places = places.astype(np.uint16 if len(heads) <= 65536 else np.uint32)
        """Which chunk of the window each row is in."""
        bad = [i for i, h in enumerate(heads) if h is None]
        self.missing = np.isin(places, bad) if bad else None
        good = [h for h in heads if h is not None]
        first = np.zeros(len(heads) + 1, np.int64)
        first[1:] = np.cumsum([h.rows if h is not None else 0 for h in heads])
        index = first[places] + rows
        if self.missing is not None:
            index[self.missing] = 0
        small = [c for c in columns if not c.payload]
        payload = [c for c in columns if c.payload]
        self.small: tuple[SmallColumn, ...] = ()
        self.payload: tuple[PayloadColumn, ...] = ()
        if good:
            self.small = tuple(_take(c, [h.small[i] for h in good], index) for i, c in enumerate(small))
            self.payload = tuple(self._payload(c, [h.payload[i] for h in good], index) for i, c in enumerate(payload))

    @staticmethod
    def _payload(column: Column, parts: Sequence[Any], index: I64) -> PayloadColumn:
        starts = _join([p.starts for p in parts]).take(index).astype(np.uint32)
        lengths = _join([p.lengths for p in parts]).take(index)
        crcs = _join([p.crcs for p in parts]).take(index)
        ends = np.zeros(len(index) + 1, np.int64)
        np.cumsum(lengths, out=ends[1:])
        return PayloadColumn(column, starts, ends, crcs, RunningCrcs(crcs, lengths))

    def key(self, row: int) -> str:
        """The key of a row, for an error."""
        keys = self.small[0]
        assert keys.offsets is not None
        return bytes(keys.data[keys.offsets[row] : keys.offsets[row + 1]]).decode("utf-8", "replace")


def _join(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _take(column: Column, parts: Sequence[ColumnData], index: I64) -> SmallColumn:
    validity = None
    if any(p.validity is not None for p in parts):
        valid = [p.validity if p.validity is not None else np.ones(_rows(p), np.bool_) for p in parts]
        validity = _join(valid).take(index)
    if not column.has_offsets:
        return SmallColumn(column, validity, None, _join([p.data for p in parts]).take(index, axis=0))
    size = column.itemsize
    arrays = []
    for p in parts:
        assert p.offsets is not None
        offsets = pa.py_buffer(p.offsets.astype(np.int64) * size)
        data = np.ascontiguousarray(p.data).view(np.uint8)
        arrays.append(pa.Array.from_buffers(pa.large_binary(), len(p.offsets) - 1, [None, offsets, pa.py_buffer(data)]))
    joined = arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)
    taken = joined.take(pa.array(index))
    _, offsets, data = taken.buffers()
    ends = (
        np.frombuffer(offsets, np.int64)[taken.offset : taken.offset + len(index) + 1]
        if len(index)
        else np.zeros(1, np.int64)
    )
    values = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    values = values[int(ends[0]) : int(ends[-1])]
    ends = (ends - ends[0]) // size
    return SmallColumn(column, validity, ends, values.view(column.dtype))


def _rows(part: ColumnData) -> int:
    return len(part.offsets) - 1 if part.offsets is not None else len(part.data)


class Segment(NamedTuple):
    """Rows [start, end) of a window."""

    window: Any
    """An `OpenWindow`; keeps the chunks open."""
    start: int
    end: int

    @property
    def block(self) -> RowBlock:
        """The rows of the window."""
        return self.window.block  # type: ignore[no-any-return]


def without_missing(segments: Sequence[Segment]) -> list[Segment]:
    """Leaves out the rows of chunks that could not be read."""
    out = []
    for s in segments:
        if s.block.missing is None:
            out.append(s)
            continue
        for row in np.flatnonzero(~s.block.missing[s.start : s.end]).tolist():
            at = s.start + row
            if out and out[-1].window is s.window and out[-1].end == at:
                out[-1] = Segment(s.window, out[-1].start, at + 1)
            else:
                out.append(Segment(s.window, at, at + 1))
    return out


class Gather(NamedTuple):
    """Payload of a run of rows that goes to one place of a message."""

    column: int
    """Index among the payload columns."""
    segment: Segment
    at: int
    """Offset in the message."""
    length: int


class SmallParts:
    """The small buffers of a message over some segments, and the payload that is still to come."""

    def __init__(self, layout: MessageLayout, segments: Sequence[Segment], what: str) -> None:
        self.rows = sum(s.end - s.start for s in segments)
        self._segments = segments
        self._arrays: list[tuple[Any, Any, Any]] = []
        parts = []
        small = payload = 0
        for column in layout.columns:
            if column.payload:
                arrays, part = self._payload(column, payload)
                payload += 1
            else:
                arrays, part = self._small(column, small)
                small += 1
            self._arrays.append(arrays)
            parts.append(part)
        self.metadata, self._places, self.length = layout.pack(self.rows, parts, what)

    def _small(self, column: Column, at: int) -> tuple[Any, Any]:
        pieces = [(s.block.small[at], s.start, s.end) for s in self._segments]
        validity, nulls = None, 0
        if any(p.validity is not None for p, _, _ in pieces):
            valid = np.concatenate(
                [p.validity[a:b] if p.validity is not None else np.ones(b - a, np.bool_) for p, a, b in pieces]
            )
            nulls = self.rows - int(np.count_nonzero(valid))
            validity = np.packbits(valid, bitorder="little") if nulls else None
        offsets = None
        if column.has_offsets:
            data = _concat([p.data[p.offsets[a] : p.offsets[b]] for p, a, b in pieces if p.offsets is not None], column)
            offsets = _offsets([(p.offsets, a, b) for p, a, b in pieces], self.rows, 1)
        else:
            data = _concat([p.data[a:b] for p, a, b in pieces], column)
        elements = len(data) if column.kind == "list" else self.rows * column.width
        if column.kind == "bool":
            data = np.packbits(data.view(np.uint8), bitorder="little")
        sizes = (validity.nbytes if validity is not None else 0, offsets.nbytes if offsets is not None else 0)
        return (validity, offsets, data), (nulls, elements, *sizes, data.nbytes)

    def _payload(self, column: Column, at: int) -> tuple[Any, Any]:
        pieces = [(s.block.payload[at], s.start, s.end) for s in self._segments]
        size = sum(int(p.ends[b] - p.ends[a]) for p, a, b in pieces)
        offsets = None
        if column.has_offsets and size < 2**31:
            offsets = _offsets([(p.ends, a, b) for p, a, b in pieces], self.rows, column.itemsize)
        elements = size // column.itemsize if column.kind == "list" else self.rows * column.width
        return (None, offsets, None), (0, elements, 0, 4 * (self.rows + 1) if column.has_offsets else 0, size)

    def write(self, buffer: npt.NDArray[np.uint8], layout: MessageLayout) -> list[Gather]:
        """Writes metadata, small buffers and all padding; returns what payload goes where."""
        buffer[: len(self.metadata)] = np.frombuffer(self.metadata, np.uint8)
        gathers = []
        payload = 0
        for column, arrays, places in zip(layout.columns, self._arrays, self._places, strict=True):
            for array, at in zip(arrays, places, strict=True):
                if array is not None and array.nbytes:
                    _put(buffer, at, array)
            if column.payload:
                at = places[2]
                for s in self._segments:
                    ends = s.block.payload[payload].ends
                    length = int(ends[s.end] - ends[s.start])
                    gathers.append(Gather(payload, s, at, length))
                    at += length
                buffer[at : -(-at // 64) * 64] = 0
                payload += 1
        return gathers


def _put(buffer: npt.NDArray[np.uint8], at: int, array: npt.NDArray[Any]) -> None:
    end = at + array.nbytes
    buffer[at:end] = array.reshape(-1).view(np.uint8)
    buffer[end : -(-end // 64) * 64] = 0


def _concat(parts: Sequence[npt.NDArray[Any]], column: Column) -> npt.NDArray[Any]:
    if len(parts) == 1:
        return parts[0]
    return (
        np.concatenate(parts) if parts else np.zeros((0, column.width) if column.kind == "tensor" else 0, column.dtype)
    )


def _offsets(pieces: Sequence[tuple[Any, int, int]], rows: int, size: int) -> npt.NDArray[np.int32]:
    out = np.zeros(rows + 1, np.int32)
    at = base = 0
    for ends, a, b in pieces:
        part = ends[a + 1 : b + 1] - (ends[a] - base)
        out[at + 1 : at + 1 + b - a] = part if size == 1 else part // size
        at += b - a
        base += int(ends[b] - ends[a])
    return out

"""Cuts messages out of windows: metadata and small columns; the payload is copied in later, by `_gather`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._format.message import Column, MessageLayout, Sizes
from stoker._format.nested_columns import nested_parts
from stoker._memory.buffers import BufferPool
from stoker._path.rows import Segment, without_missing


class Gather(NamedTuple):
    """Payload of a run of rows that goes to one place of a message."""

    column: int
    """Index among the payload columns."""
    segment: Segment
    at: int
    """Offset in the message."""
    length: int


What = tuple[int, int, int]
"""(number, epoch, batch size), for an error."""


class Assembled(NamedTuple):
    """A message whose payload is still to come."""

    buffer: npt.NDArray[np.uint8]
    address: int
    """Address of the buffer's first byte."""
    rows: int
    gathers: list[Gather]
    apart: int = 0
    """Length of the message if the buffer ends before the payload, which stays where it is; else 0."""


class Assembler:
    """Makes messages of one layout."""

    def __init__(self, layout: MessageLayout, pool: BufferPool) -> None:
        self._layout, self._pool = layout, pool
        self._columns = [
            (c.payload, c.has_offsets, c.width * c.itemsize, c.width * c.has_child) for c in layout.columns
        ]
        self._plain = all(c.kind in ("fixed", "bytes", "tensor") for c in layout.columns)
        self._body = layout.body_start

    def assemble(self, segments: Sequence[Segment], what: What, apart: bool = False) -> Assembled:
        """Everything but the payload of a message over some rows, and what payload goes where.

        `apart`: the payload may stay where it is.
        """
        if len(segments) == 1 and self._plain and segments[0].window.block.plain:
            return self._one_run(segments[0], what, apart and segments[0].window.apart)
        parts = SmallParts(self._layout, without_missing(segments), what)
        buffer, address = self._pool.take_at(parts.length)
        return Assembled(buffer, address, parts.rows, parts.write(buffer, self._layout))

    def _one_run(self, segment: Segment, what: What, apart: bool) -> Assembled:
        """The same as `SmallParts` for the usual case: one run of rows, no nulls, no bools, no lists."""
        window, first, last = segment
        block = window.block
        rows = last - first
        small, payload = iter(block.small), iter(block.payload)
        nodes: list[int] = []
        buffers: list[int] = []
        copies: list[tuple[Any, int, int, int, int]] = []  # column, offsets at, data at, data from, data length
        later = []
        offsets_size = 4 * rows + 4
        end = 0
        for is_payload, has_offsets, row_bytes, width in self._columns:
            offsets_at = at = end
            nodes += (rows, 0)
            column = next(payload if is_payload else small)
            buffers += (end, 0)
            if has_offsets:
                ends = column.ends if is_payload else column.offsets
                start = ends.item(first)
                size = ends.item(last) - start
                buffers += (end, offsets_size)
                end += offsets_size + 63 & -64
                at = end
            else:
                start, size = 0, rows * row_bytes
                if width:
                    nodes += (rows * width, 0)
                    buffers += (end, 0)
            if is_payload:
                later.append((len(buffers), column, offsets_at if has_offsets else -1, start, size))
            else:
                copies.append((column, offsets_at if has_offsets else -1, at, start, size))
                end += size + 63 & -64
            buffers += (at, size)
        body = self._body
        small_end = end + body
        gathers = []
        for index, (place, *_, size) in enumerate(later):
            buffers[place] = end
            gathers.append(Gather(index, segment, end + body, size))
            end += size + 63 & -64
        buffer, address = self._pool.take_at(small_end if apart else end + body)
        self._layout.pack_into(buffer, end, rows, nodes, buffers, what)
        buffer[body:small_end] = 0
        words = buffer[: len(buffer) & -4].view(np.int32)
        for column, offsets_at, at, start, size in copies:
            if offsets_at >= 0:
                to = offsets_at + body >> 2
                np.subtract(column.offsets[first : last + 1], start, out=words[to : to + rows + 1], casting="unsafe")
                buffer[at + body : at + body + size] = column.data.view(np.uint8)[start : start + size]
            else:
                buffer[at + body : at + body + size] = column.data[first:last].reshape(-1).view(np.uint8)
        for gather in () if apart else gathers:
            tail = gather.at + gather.length
            if tail & 63:
                buffer[tail : tail + 63 & -64] = 0
        for _, column, offsets_at, start, _ in later:
            if offsets_at >= 0:
                to = offsets_at + body >> 2
                np.subtract(column.ends[first : last + 1], start, out=words[to : to + rows + 1], casting="unsafe")
        return Assembled(buffer, address, rows, gathers, end + body if apart else 0)


class SmallParts:
    """The small buffers of a message over some segments, and the payload that is still to come."""

    def __init__(self, layout: MessageLayout, segments: Sequence[Segment], what: What) -> None:
        self.rows = sum(s.end - s.start for s in segments)
        self._segments = segments
        self._arrays: list[tuple[Any, ...]] = []
        parts: list[Sizes] = []
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

    def _small(self, column: Column, at: int) -> tuple[tuple[Any, ...], Sizes]:
        pieces = [(s.block.small[at], s.start, s.end) for s in self._segments]
        validity, nulls = self._validity(pieces)
        offsets = None
        if column.has_offsets:
            data = _concat([p.data[p.offsets[a] : p.offsets[b]] for p, a, b in pieces if p.offsets is not None], column)
            offsets = _offsets([(p.offsets, a, b) for p, a, b in pieces], self.rows, 1)
            if column.kind == "nested":
                return nested_parts(column, validity, nulls, offsets, data)
        else:
            data = _concat([p.data[a:b] for p, a, b in pieces], column)
        elements = len(data) if column.kind == "list" else self.rows * column.width
        if column.kind == "bool":
            data = np.packbits(data.view(np.uint8), bitorder="little")
        sizes = (validity.nbytes if validity is not None else 0, offsets.nbytes if offsets is not None else 0)
        return (validity, offsets, data, None, None), Sizes(nulls, elements, *sizes, data.nbytes)

    def _payload(self, column: Column, at: int) -> tuple[tuple[Any, ...], Sizes]:
        pieces = [(s.block.payload[at], s.start, s.end) for s in self._segments]
        size = sum(int(p.ends[b] - p.ends[a]) for p, a, b in pieces)
        offsets = None
        if column.has_offsets and size < 2**31:
            offsets = _offsets([(p.ends, a, b) for p, a, b in pieces], self.rows, column.itemsize)
        elements = size // column.itemsize if column.kind == "list" else self.rows * column.width
        validity, nulls = self._validity(pieces)
        sizes = (validity.nbytes if validity is not None else 0, 4 * (self.rows + 1) if column.has_offsets else 0)
        return (validity, offsets, None, None, None), Sizes(nulls, elements, *sizes, size)

    def _validity(self, pieces: Sequence[tuple[Any, int, int]]) -> tuple[npt.NDArray[np.uint8] | None, int]:
        """The validity buffer, and the number of nulls."""
        if all(p.validity is None for p, _, _ in pieces):
            return None, 0
        valid = np.concatenate(
            [p.validity[a:b] if p.validity is not None else np.ones(b - a, np.bool_) for p, a, b in pieces]
        )
        nulls = self.rows - int(np.count_nonzero(valid))
        return (np.packbits(valid, bitorder="little") if nulls else None), nulls

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
                at = places.data
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

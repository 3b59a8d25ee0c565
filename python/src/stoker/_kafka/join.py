"""Puts rows of several messages into one: the parts of a piece, or the rows of a batch that fill up another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._format.message import Buffers, Column, MessageLayout, Sizes, offsets_at
from stoker._format.nested_columns import nested_parts, nested_rows
from stoker._memory.buffers import BufferPool


class Cut(NamedTuple):
    """Rows [start, end) of a message of `rows` rows."""

    message: npt.NDArray[np.uint8]
    rows: int
    start: int
    end: int


class Read(NamedTuple):
    """Values of a column."""

    nulls: int
    valid: npt.NDArray[np.bool_] | None
    lengths: npt.NDArray[np.int32] | None
    data: npt.NDArray[Any]


def join(
    layout: MessageLayout, cuts: Sequence[Cut], pool: BufferPool, what: tuple[int, int, int]
) -> npt.NDArray[np.uint8]:
    """The canonical message of the cuts' rows, one after the other; `what` is (number, epoch, batch size)."""
    rows = sum(cut.end - cut.start for cut in cuts)
    ends = [layout.head(cut.message, "record")[1] for cut in cuts]
    reads = [
        [
            _read(cut, column, layout.column(cut.message, index, cut.rows, end, "record"))
            for cut, end in zip(cuts, ends, strict=True)
        ]
        for index, column in enumerate(layout.columns)
    ]
    return pack(layout, reads, rows, pool, what)


def pack(
    layout: MessageLayout,
    reads: Sequence[Sequence[Read]],
    rows: int,
    pool: BufferPool,
    what: tuple[int, int, int],
) -> npt.NDArray[np.uint8]:
    """The canonical message of `rows` rows, of each column in one or several runs."""
    columns = []
    parts = []
    for column, runs in zip(layout.columns, reads, strict=True):
        arrays, part = _merge(column, runs, rows)
        columns.append(arrays)
        parts.append(part)
    metadata, places, length = layout.pack(rows, parts, what)
    out = pool.take(length)
    out[: len(metadata)] = np.frombuffer(metadata, np.uint8)
    for arrays, at in zip(columns, places, strict=True):
        for array, start in zip(arrays, at, strict=True):
            if array is not None and array.nbytes:
                end = start + array.nbytes
                out[start:end] = array.reshape(-1).view(np.uint8)
                out[end : -(-end // 64) * 64] = 0
    return out


def _read(cut: Cut, column: Column, place: Buffers) -> Read:
    valid = None
    if place.nulls:
        bits = cut.message[place.validity[0] : place.validity[0] + place.validity[1]]
        valid = np.unpackbits(bits, count=cut.rows, bitorder="little").view(np.bool_)[cut.start : cut.end]
    if column.kind == "nested":
        rows, data = nested_rows(cut.message, column, place, cut.rows, column.name)
        lengths = np.diff(rows[cut.start : cut.end + 1]).astype(np.int32)
        nulls = 0 if valid is None else len(valid) - int(np.count_nonzero(valid))
        return Read(nulls, valid, lengths, data[rows[cut.start] : rows[cut.end]])
    raw = cut.message[place.data[0] : place.data[0] + place.data[1]]
    nulls = 0 if valid is None else len(valid) - int(np.count_nonzero(valid))
    if column.kind == "bool":
        bools = np.unpackbits(raw, count=cut.rows, bitorder="little")[cut.start : cut.end]
        return Read(nulls, valid, None, bools)
    if column.has_offsets:
        elements = place.elements if column.kind == "list" else place.data[1]
        offsets = offsets_at(cut.message, place.offsets, elements, column.name)
        size = column.itemsize
        first, last = int(offsets[cut.start]) * size, int(offsets[cut.end]) * size
        return Read(nulls, valid, np.diff(offsets[cut.start : cut.end + 1]), raw[first:last])
    width = column.width * column.itemsize
    return Read(nulls, valid, None, raw[cut.start * width : cut.end * width])


def _merge(column: Column, reads: Sequence[Read], rows: int) -> tuple[tuple[Any, ...], Sizes]:
    nulls = sum(read.nulls for read in reads)
    validity = None
    if nulls:
        sizes = [rows] if len(reads) == 1 else [_rows(column, read) for read in reads]
        flags = [
            read.valid if read.valid is not None else np.ones(n, np.bool_) for read, n in zip(reads, sizes, strict=True)
        ]
        validity = np.packbits(np.concatenate(flags), bitorder="little")
    data = reads[0].data if len(reads) == 1 else np.concatenate([read.data for read in reads])
    elements, offsets = rows * column.width, None
    if column.kind == "bool":
        data = np.packbits(data, bitorder="little")
    elif column.has_offsets:
        offsets = np.zeros(rows + 1, np.int32)
        np.cumsum(np.concatenate([read.lengths for read in reads if read.lengths is not None]), out=offsets[1:])
        elements = data.nbytes // column.itemsize
        if column.kind == "nested":
            return nested_parts(column, validity, nulls, offsets, data)
    validity_bytes, offsets_bytes = (array.nbytes if array is not None else 0 for array in (validity, offsets))
    return (validity, offsets, data, None, None), Sizes(nulls, elements, validity_bytes, offsets_bytes, data.nbytes)


def _rows(column: Column, read: Read) -> int:
    if read.valid is not None:
        return len(read.valid)
    if read.lengths is not None:
        return len(read.lengths)
    return len(read.data) if column.kind == "bool" else len(read.data) // (column.width * column.itemsize)

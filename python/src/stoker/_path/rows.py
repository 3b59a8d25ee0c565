"""Rows in delivery order: the small columns and payload places of one window, ready to be cut into messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from stoker._dataset.chunk import ChunkHead, ColumnData, PayloadPlaces
from stoker._format import arrow_arrays
from stoker._format.checksum import RunningCrcs
from stoker._format.message import Column
from stoker._format.once import once

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SmallColumn:
    """A small column of a window, in delivery order."""

    column: Column
    validity: npt.NDArray[np.bool_] | None
    offsets: npt.NDArray[Any] | None
    """In elements; int32 where that suffices."""
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
    validity: npt.NDArray[np.bool_] | None

    @once
    def running(self) -> RunningCrcs:
        """Made on first use: rows that stay in the mapped files need none."""
        return RunningCrcs(self.crcs, np.diff(self.ends))


class RowBlock:
    """The rows of one window of one lane."""

    def __init__(
        self,
        columns: Sequence[Column],
        heads: Sequence[ChunkHead | None],
        places: I64,
        rows: I64,
        numbers: Sequence[int] | None = None,
    ) -> None:
        """Takes rows (place in `heads`, row) in delivery order. If a head is None, its rows are missing.

        `columns` are the columns of the dataset. Only the ones with these `numbers` are taken, by default all.
        """
        self.rows = len(rows)
        self.chunk_rows = rows.astype(np.uint32)
        self.places: npt.NDArray[np.unsignedinteger[Any]] = places.astype(
            np.uint16 if len(heads) <= 65536 else np.uint32
        )
        """Which chunk of the window each row is in."""
        bad = [i for i, h in enumerate(heads) if h is None]
        self.missing = np.isin(places, bad) if bad else None
        good = [h for h in heads if h is not None]
        first = np.zeros(len(heads) + 1, np.int64)
        first[1:] = np.cumsum([h.rows if h is not None else 0 for h in heads])
        index = first[places] + rows
        if self.missing is not None:
            index[self.missing] = 0
        wanted = set(range(len(columns)) if numbers is None else numbers)
        small = _places_of(columns, wanted, payload=False)
        payload = _places_of(columns, wanted, payload=True)
        self._heads = heads
        self.small: tuple[SmallColumn, ...] = ()
        self.payload: tuple[PayloadColumn, ...] = ()
        if good:
            self.small = tuple(_take(c, [h.small[i] for h in good], index) for i, c in small)
            self.payload = tuple(self._payload(c, [h.payload[i] for h in good], index) for i, c in payload)
        has_nulls = any(c.validity is not None for c in self.small)
        has_nulls = has_nulls or any(c.validity is not None for c in self.payload)
        self.plain = bool(good) and not bad and not has_nulls
        """No nulls and nothing missing."""

    @staticmethod
    def _payload(column: Column, parts: Sequence[Any], index: I64) -> PayloadColumn:
        starts = _join([p.starts for p in parts]).take(index).astype(np.uint32)
        lengths = _join([p.lengths for p in parts]).take(index)
        crcs = _join([p.crcs for p in parts]).take(index)
        ends = np.zeros(len(index) + 1, np.int64)
        np.cumsum(lengths, out=ends[1:])
        valid = _valid(parts)
        return PayloadColumn(
            column,
            starts,
            ends,
            crcs,
            None if valid is None else valid.take(index),
        )

    def key(self, row: int) -> str:
        """The key of a row, for an error."""
        head = self._heads[int(self.places[row])]
        assert head is not None
        keys, at = head.small[0], int(self.chunk_rows[row])
        assert keys.offsets is not None
        return bytes(keys.data[keys.offsets[at] : keys.offsets[at + 1]]).decode("utf-8", "replace")


def _places_of(columns: Sequence[Column], wanted: set[int], *, payload: bool) -> list[tuple[int, Column]]:
    """The wanted columns of a kind, each with its place among all columns of this kind."""
    those = [(number, c) for number, c in enumerate(columns) if c.payload == payload]
    return [(i, c) for i, (number, c) in enumerate(those) if number in wanted]


def _join(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _take(column: Column, parts: Sequence[ColumnData], index: I64) -> SmallColumn:
    valid = _valid(parts)
    validity = None if valid is None else valid.take(index)
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
    taken = joined.take(arrow_arrays.fixed(index))
    _, offsets, data = taken.buffers()
    ends = (
        np.frombuffer(offsets, np.int64)[taken.offset : taken.offset + len(index) + 1]
        if len(index)
        else np.zeros(1, np.int64)
    )
    values = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    values = values[int(ends[0]) : int(ends[-1])]
    ends = (ends - ends[0]) // size
    return SmallColumn(column, validity, ends.astype(np.int32) if ends[-1] < 2**31 else ends, values.view(column.dtype))


def _valid(parts: Sequence[ColumnData | PayloadPlaces]) -> npt.NDArray[np.bool_] | None:
    if all(p.validity is None for p in parts):
        return None
    return _join([p.validity if p.validity is not None else np.ones(_rows(p), np.bool_) for p in parts])


def _rows(part: ColumnData | PayloadPlaces) -> int:
    if isinstance(part, PayloadPlaces):
        return len(part.starts)
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

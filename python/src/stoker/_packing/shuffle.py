"""Puts the rows of a block in random order and cuts it into chunks: what `Writer` does before it packs."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from stoker._format.fields import Field
from stoker._order.stream_order import argsort_keys, fold_array, key
from stoker._packing.pack import KEY_FIELD
from stoker._packing.segments import Segment

Rows = npt.NDArray[np.int64]
_WRITER = 4
"""The purpose, which follows the seed in the key. Differs from the purposes of the order function."""


def shuffled(seed: int, split: str, block: int, rows: int) -> Rows:
    """The row numbers of a block in random order: the same for the same numbers and name, on every machine."""
    prefix = key(seed, _WRITER, zlib.crc32(split.encode()), block)
    return argsort_keys(fold_array(prefix, np.arange(rows)))


def cut(sizes: Rows, most: int) -> list[tuple[int, int]]:
    """(start, end) of runs of rows whose sizes sum up to `most` at most, or of a single larger row."""
    ends = np.cumsum(sizes)
    out = []
    start = 0
    while start < len(sizes):
        before = int(ends[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + most, "right")))
        out.append((start, end))
        start = end
    return out


class Block:
    """Rows of a split, each of which can be taken once, in any order. Any threads, each of them other rows."""

    def __init__(self, fields: Sequence[Field], segments: Sequence[Sequence[Segment]]) -> None:
        """`segments`: of the key, then of the fields."""
        every = (KEY_FIELD, *fields)
        self._columns = [_Column(field, list(own)) for field, own in zip(every, segments, strict=True)]
        self.rows = self._columns[0].rows
        shared = sum(c.shared_bytes for c in self._columns)
        self.shared = shared / max(1, sum(c.bytes for c in self._columns))
        """The part of the memory that is free only when all rows are taken. The rest is free row by row."""

    def sizes(self, row_bytes: int) -> Rows:
        """What each row takes in a file, `row_bytes` of it whatever its values."""
        sizes = np.full(self.rows, row_bytes, np.int64)
        for column in self._columns:
            if column.field.has_offsets:
                sizes += column.lengths
        return sizes

    def take(self, rows: Rows) -> list[Segment]:
        """Segments of the key, then of the fields. The block lets go of these rows."""
        return [column.take(rows) for column in self._columns]


class _Column:
    def __init__(self, field: Field, segments: list[Segment]) -> None:
        self.field = field
        self.rows = sum(s.rows for s in segments)
        self._valid = None
        if any(s.valid is not None for s in segments):
            self._valid = np.concatenate([np.ones(s.rows, np.bool_) if s.valid is None else s.valid for s in segments])
        self._names: list[str] = []
        self._values = None
        if segments and segments[0].values is not None:
            self._values = np.concatenate(self._codes(segments) if field.type == "categorical" else _values(segments))
            self.bytes = self.shared_bytes = self._values.nbytes
            return
        empty = [np.zeros(0, np.int64)]
        self.lengths = np.concatenate([s.lengths for s in segments] or empty)
        self._ends = np.cumsum([s.rows for s in segments])
        self._starts = np.concatenate([np.cumsum(s.lengths) - s.lengths for s in segments] or empty)
        """For each row, the offset of its value in the bytes of its segment."""
        self._parts = [list(s.parts) if len(s.parts) == s.rows else None for s in segments]
        """For each segment, the bytes of each row if rows are separate objects, else None."""
        self._whole = [memoryview(s.parts[0]).cast("B") if len(s.parts) == 1 != s.rows else None for s in segments]
        """For each segment, the bytes of all rows if they are one object, else None."""
        self.bytes = int(self.lengths.sum())
        self.shared_bytes = sum(len(whole) for whole in self._whole if whole is not None)

    def _codes(self, segments: list[Segment]) -> list[npt.NDArray[np.int32]]:
        ids: dict[str, int] = {}
        out = []
        for s in segments:
            own = np.array([ids.setdefault(name, len(ids)) for name in s.names] or [0], np.int32)
            out.append(own[s.values] if s.names else np.zeros(s.rows, np.int32))
        self._names = list(ids)
        return out

    def take(self, rows: Rows) -> Segment:
        valid = None
        if self._valid is not None:
            valid = self._valid[rows]
            valid = None if valid.all() else valid
        if self._values is not None:
            return Segment(len(rows), valid, self._values[rows], self._names)
        which = np.searchsorted(self._ends, rows, "right")
        lengths = self.lengths[rows]
        first = np.concatenate([[0], self._ends])[which]
        places = zip(
            which.tolist(), (rows - first).tolist(), self._starts[rows].tolist(), lengths.tolist(), strict=True
        )
        parts = []
        for segment, row, start, length in places:
            whole, own = self._whole[segment], self._parts[segment]
            if whole is not None:
                parts.append(bytes(whole[start : start + length]))
            else:
                assert own is not None
                parts.append(bytes(own[row]))
                own[row] = b""
        return Segment(len(rows), valid, lengths=lengths, parts=parts)


def _values(segments: list[Segment]) -> list[npt.NDArray[np.generic]]:
    return [s.values for s in segments if s.values is not None]

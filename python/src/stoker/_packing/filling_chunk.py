"""Collects the rows of a split, for one chunk or for a block of chunks that is shuffled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stoker._format.fields import Field
from stoker._packing.pack import KEY_FIELD
from stoker._packing.segments import Segment, of_rows

_JOINED_BYTES = 1024
"""Values up to this average are kept in one piece for all rows: an object for each takes more memory than they do."""


class FillingChunk:
    """A chunk being filled with single rows and slices of Arrow arrays. One thread fills it, until it is handed over.

    A row counts once the counters include it. The methods that add rows change the counters last, in a run of plain
    stores, in which Python does not check for signals. If an interrupt leaves data beyond the counters, the next call
    drops that data before it adds a row.
    """

    __slots__ = ("_fields", "bytes", "groups", "limit", "pending", "rows", "single", "split", "whole")

    def __init__(self, split: str, fields: Sequence[Field], frame_bytes: int, limit: int) -> None:
        """`fields` as the caller orders them, without the key; `limit`: what `bytes` may come to."""
        self.split = split
        self.rows = 0
        self.bytes = frame_bytes
        """Size of the file, approximately."""
        self.limit = limit
        self._fields = (KEY_FIELD, *fields)
        self.pending: list[list[Any]] = []
        """Latest rows: converted values of the key, then of the fields."""
        self.single = 0
        """How many of them count."""
        self.groups: list[list[Segment]] = []
        """Runs of rows before those: segments of the key, then of the fields."""
        self.whole = 0
        """How many of them count."""

    def close_rows(self, compact: bool = False) -> None:
        """Makes a run of the latest rows. `compact`: as small as it can be in memory."""
        self.trim()
        if not self.single:
            return
        columns = zip(self._fields, zip(*self.pending, strict=True), strict=True)
        group = [of_rows(field, list(values)) for field, values in columns]
        if compact:
            group = [_joined(segment) for segment in group]
        fresh: list[list[Any]] = []
        self.groups.append(group)
        self.whole += 1
        self.pending = fresh
        self.single = 0

    def trim(self) -> None:
        """Drops what an interrupted call has left."""
        del self.pending[self.single :]
        del self.groups[self.whole :]

    def segments(self) -> list[list[Segment]]:
        """All rows: of the key, then of the fields."""
        self.close_rows()
        return [list(column) for column in zip(*self.groups, strict=True)] or [[] for _ in self._fields]

    def take(self) -> list[list[Segment]]:
        """The same, and the chunk lets go of them."""
        segments = self.segments()
        self.groups, self.whole = [], 0
        return segments

    def average_bytes(self, index: int, rows: int) -> float:
        """Average bytes of a variable or tensor field (counted from 0, without the key) in the first rows."""
        lengths: list[int] = [length for s in self.segments()[index + 1] for length in s.lengths[:rows].tolist()][:rows]
        return sum(lengths) / max(1, len(lengths))


def _joined(segment: Segment) -> Segment:
    """The same rows, small values in one piece."""
    if segment.values is not None or int(np.sum(segment.lengths)) > _JOINED_BYTES * segment.rows:
        return segment
    joined = memoryview(b"".join(segment.parts))
    return Segment(segment.rows, segment.valid, lengths=segment.lengths, parts=[joined])

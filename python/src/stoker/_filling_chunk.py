"""A chunk while it is filled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stoker._fields import Field
from stoker._pack import KEY_FIELD
from stoker._segments import Segment, of_rows


class FillingChunk:
    """Rows of one split: single values, and slices of Arrow arrays. One thread; no longer changed once handed over."""

    __slots__ = ("_fields", "_segments", "bytes", "columns", "rows", "split")

    def __init__(self, split: str, fields: Sequence[Field], frame_bytes: int) -> None:
        """`fields` as the caller orders them, without the key."""
        self.split = split
        self.rows = 0
        self.bytes = frame_bytes
        """Of the file, more or less."""
        self._fields = (KEY_FIELD, *fields)
        self.columns: list[list[Any]] = [[] for _ in self._fields]
        """Converted values of the latest rows: keys, then the fields."""
        self._segments: list[list[Segment]] = [[] for _ in self._fields]

    def add_segments(self, segments: Sequence[Segment], rows: int, size: int) -> None:
        """Adds rows: keys, then the fields."""
        self._close_rows()
        for own, segment in zip(self._segments, segments, strict=True):
            own.append(segment)
        self.rows += rows
        self.bytes += size

    def _close_rows(self) -> None:
        if self.columns[0]:
            for field, own, values in zip(self._fields, self._segments, self.columns, strict=True):
                own.append(of_rows(field, values))
            self.columns = [[] for _ in self._fields]

    def segments(self) -> list[list[Segment]]:
        """All rows: of the key, then of the fields."""
        self._close_rows()
        return self._segments

    def take(self) -> list[list[Segment]]:
        """The same, and the chunk lets go of them."""
        segments, self._segments = self.segments(), []
        return segments

    def average_bytes(self, index: int, rows: int) -> float:
        """Average bytes of a variable or tensor field (counted from 0, without the key) in the first rows."""
        lengths = [length for s in self.segments()[index + 1] for length in s.lengths[:rows].tolist()][:rows]
        return sum(lengths) / max(1, len(lengths))

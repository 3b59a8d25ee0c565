"""Rows of varying length as one array of values and one of offsets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

import numpy as np
import numpy.typing as npt


class Ragged:
    """The values of a variable-size field of a batch; rows are views, nothing is copied.

    `values` holds all rows one after the other, `offsets` (int32 or int64, one entry more than rows) where each begins.
    """

    __slots__ = ("offsets", "values")

    def __init__(self, values: npt.NDArray[Any], offsets: npt.NDArray[Any]) -> None:
        self.values = values
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> npt.NDArray[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Ragged: ...
    def __getitem__(self, index: int | slice) -> npt.NDArray[Any] | Ragged:
        count = len(self.offsets) - 1
        if isinstance(index, slice):
            start, stop, step = index.indices(count)
            if step != 1:
                raise ValueError("rows of varying length can be sliced with step 1 only")
            return Ragged(self.values, self.offsets[start : max(start, stop) + 1])
        if index < 0:
            index += count
        if not 0 <= index < count:
            raise IndexError(f"row {index} of {count}")
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        ends = self.offsets.tolist()
        return map(self.values.__getitem__, map(slice, ends, ends[1:]))

    @property
    def lengths(self) -> npt.NDArray[Any]:
        """Elements of each row."""
        return np.diff(self.offsets)

    def padded(self, length: int | None = None, value: Any = 0) -> npt.NDArray[Any]:
        """A new (rows, length) array, short rows filled up with `value`; by default as long as the longest row.

        Raises ValueError if a row is longer than `length`.
        """
        lengths = self.lengths
        longest = int(lengths.max(initial=0))
        if length is None:
            length = longest
        elif longest > length:
            raise ValueError(f"row {int(lengths.argmax())} has {longest} elements, more than {length}")
        out = np.full((len(self), length), value, self.values.dtype)
        out[np.arange(length) < lengths[:, None]] = self.values[self.offsets[0] : self.offsets[-1]]
        return out

    def tolist(self) -> list[bytes] | list[list[Any]]:
        """Rows as `bytes` (uint8 values) or as lists of numbers."""
        if self.values.dtype == np.uint8:
            return [row.tobytes() for row in self]
        return [row.tolist() for row in self]

    def __repr__(self) -> str:
        return f"Ragged({len(self)} rows of {self.values.dtype}, {int(self.offsets[-1] - self.offsets[0])} elements)"

"""Rows of varying length as one array of values and one of offsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from stoker._batch.torch_tensors import jagged


class Ragged:
    """The values of a variable-size field of a batch; rows are views, nothing is copied.

    `values` holds all rows one after the other, `offsets` (int32 or int64, one entry more than rows) where each begins.
    What came in several parts is joined, by a copy, when one of the two is wanted; single rows are not.
    """

    __slots__ = ("_parts",)

    def __init__(self, values: npt.NDArray[Any], offsets: npt.NDArray[Any]) -> None:
        self._parts: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = [(values, offsets)]

    @classmethod
    def of(cls, parts: Sequence[tuple[npt.NDArray[Any], npt.NDArray[Any]]]) -> Ragged:
        """The rows of some parts (values, offsets), at least one, in order."""
        made = cls(*parts[0])
        made._parts = list(parts)
        return made

    @property
    def values(self) -> npt.NDArray[Any]:
        """All rows, one after the other."""
        return self._joined()[0]

    @property
    def offsets(self) -> npt.NDArray[Any]:
        """Where each row begins in `values`, and where the last one ends."""
        return self._joined()[1]

    def _joined(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        parts = self._parts
        if len(parts) > 1:
            lengths = self.lengths
            values = np.concatenate([values[offsets[0] : offsets[-1]] for values, offsets in parts])
            ends = np.zeros(len(lengths) + 1, np.int32 if len(values) < 2**31 else np.int64)
            np.cumsum(lengths, out=ends[1:])
            self._parts = parts = [(values, ends)]
        return parts[0]

    def __len__(self) -> int:
        return sum([len(offsets) - 1 for _, offsets in self._parts])

    @overload
    def __getitem__(self, index: int) -> npt.NDArray[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Ragged: ...
    def __getitem__(self, index: int | slice) -> npt.NDArray[Any] | Ragged:
        count = len(self)
        if isinstance(index, slice):
            start, stop, step = index.indices(count)
            if step != 1:
                raise ValueError("rows of varying length can be sliced with step 1 only")
            return Ragged(self.values, self.offsets[start : max(start, stop) + 1])
        if index < 0:
            index += count
        if not 0 <= index < count:
            raise IndexError(f"row {index} of {count}")
        for values, offsets in self._parts:
            if index < len(offsets) - 1:
                return values[offsets[index] : offsets[index + 1]]
            index -= len(offsets) - 1
        raise AssertionError

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        if len(self._parts) > 1:
            return chain.from_iterable([_rows(*part) for part in self._parts])
        return _rows(*self._parts[0])

    @property
    def lengths(self) -> npt.NDArray[Any]:
        """Elements of each row."""
        lengths = [np.diff(offsets) for _, offsets in self._parts]
        return lengths[0] if len(lengths) == 1 else np.concatenate(lengths)

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

    def nested(self, device: Any = "cpu", non_blocking: bool = False) -> Any:
        """A torch nested tensor of layout `torch.jagged`, on the CPU without a copy of the values.

        Raises `MissingDependencyError` without a torch that has them (2.4).
        """
        return jagged(self.values, self.offsets, device, non_blocking)

    def tolist(self) -> list[bytes] | list[list[Any]]:
        """Rows as `bytes` (uint8 values) or as lists of numbers."""
        if self._parts[0][0].dtype == np.uint8:
            return [row.tobytes() for row in self]
        return [row.tolist() for row in self]

    def __repr__(self) -> str:
        elements = sum(int(offsets[-1] - offsets[0]) for _, offsets in self._parts)
        return f"Ragged({len(self)} rows of {self._parts[0][0].dtype}, {elements} elements)"


def _rows(values: npt.NDArray[Any], offsets: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    ends = offsets.tolist()
    count = len(ends) - 1
    length = ends[1] - ends[0] if count > 1 else 0
    if length and ends == list(range(ends[0], ends[-1] + 1, length)) and values.flags.c_contiguous:
        return iter(values[ends[0] : ends[-1]].reshape(count, length))
    return map(values.__getitem__, map(slice, ends, ends[1:]))

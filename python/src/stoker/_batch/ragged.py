"""Rows of varying length as one array of values and one of offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from stoker._batch.pinned_memory import Moves
from stoker._batch.torch_tensors import jagged
from stoker._batch.unequal_rows import ARRAY_NAMES


class RowsApart:
    """Rows that do not lie one after the other."""

    def __init__(self, rows: Sequence[npt.NDArray[Any]], join: Callable[[], Whole]) -> None:
        """`join` returns copies of the rows as values and offsets."""
        self.rows, self.join = rows, join


_ADVICE = "decode bytes with Feed(decode={field: 'rgb'}) or a function, or take .padded(), .nested() or .values"
Whole = tuple[npt.NDArray[Any], npt.NDArray[Any]]
"""Values and offsets."""
Part = Whole | RowsApart


class Ragged:
    """The values of a variable-size field of a batch; rows are views, nothing is copied.

    `values` holds all rows one after the other, `offsets` (int32 or int64, one entry more than rows) where each begins.
    Rows that lie apart are joined, by a copy, when one of the two is wanted; single rows are not.
    """

    __slots__ = ("_parts",)

    def __init__(self, values: npt.NDArray[Any], offsets: npt.NDArray[Any]) -> None:
        self._parts: list[Part] = [(values, offsets)]

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Ragged:
        """The rows of some parts, at least one, in order."""
        made = cls.__new__(cls)
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

    def _joined(self) -> Whole:
        parts = [part.join() if isinstance(part, RowsApart) else part for part in self._parts]
        if len(parts) > 1:
            lengths = self.lengths
            values = np.concatenate([values[offsets[0] : offsets[-1]] for values, offsets in parts])
            ends = np.zeros(len(lengths) + 1, np.int32 if len(values) < 2**31 else np.int64)
            np.cumsum(lengths, out=ends[1:])
            parts = [(values, ends)]
        self._parts = [parts[0]]
        return parts[0]

    def __len__(self) -> int:
        return sum([len(part.rows) if isinstance(part, RowsApart) else len(part[1]) - 1 for part in self._parts])

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
        for part in self._parts:
            rows = len(part.rows) if isinstance(part, RowsApart) else len(part[1]) - 1
            if index < rows:
                if isinstance(part, RowsApart):
                    return part.rows[index]
                values, offsets = part
                return values[offsets[index] : offsets[index + 1]]
            index -= rows
        raise AssertionError

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        parts = [iter(part.rows) if isinstance(part, RowsApart) else _rows(*part) for part in self._parts]
        return parts[0] if len(parts) == 1 else chain.from_iterable(parts)

    @property
    def lengths(self) -> npt.NDArray[Any]:
        """Elements of each row."""
        lengths = [
            np.array([len(row) for row in part.rows], np.int32) if isinstance(part, RowsApart) else np.diff(part[1])
            for part in self._parts
        ]
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
        with Moves(device, non_blocking) as move:
            return jagged(self.values, self.offsets, move)

    def tolist(self) -> list[bytes] | list[list[Any]]:
        """Rows as `bytes` (uint8 values) or as lists of numbers."""
        if self._dtype() == np.uint8:
            return [row.tobytes() for row in self]
        return [row.tolist() for row in self]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """The rows as a new array, if all are of one length."""
        if dtype == np.dtype(object) and len(set(self.lengths.tolist())) > 1:
            rows = np.empty(len(self), object)
            rows[:] = list(self)
            return rows
        self._require_equal()
        whole = self.padded()
        return whole if dtype is None else whole.astype(dtype)

    def __dlpack__(self, **options: Any) -> Any:
        """Asked by `torch.tensor`, as the next method."""
        self._require_equal()
        return self.padded().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        self._require_equal()
        return 1, 0  # the CPU

    def _require_equal(self) -> None:
        if len(set(self.lengths.tolist())) > 1:
            raise ValueError(f"the rows have different lengths and form no array: {_ADVICE}")

    def __getattr__(self, name: str) -> Any:
        if name in ARRAY_NAMES:
            raise AttributeError(f"a Ragged has no {name!r}, because its rows can have different lengths: {_ADVICE}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"Ragged({len(self)} rows of {self._dtype()}, {int(self.lengths.sum())} elements)"

    def _dtype(self) -> np.dtype[Any]:
        part = self._parts[0]
        return part.rows[0].dtype if isinstance(part, RowsApart) else part[0].dtype


def _rows(values: npt.NDArray[Any], offsets: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    ends = offsets.tolist()
    count = len(ends) - 1
    length = ends[1] - ends[0] if count > 1 else 0
    if length and ends == list(range(ends[0], ends[-1] + 1, length)) and values.flags.c_contiguous:
        return iter(values[ends[0] : ends[-1]].reshape(count, length))
    return map(values.__getitem__, map(slice, ends, ends[1:]))

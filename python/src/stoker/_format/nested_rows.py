"""Rows of nested lists (`utf8[]`, `int32[][]`) and of lists with null items (`int32?[]`) as byte strings.

A column of nested lists has two buffers of offsets in a message. Everywhere else a row is one byte string, so rows
are gathered, sorted and joined in the same way as the rows of a binary column:

    i32 number of items | i32 length of each item | the items one after the other

A length counts bytes, or the elements of a list of numbers; it is 1 for a number and -1 for a null item, which has no
bytes. A row without a value is an empty byte string. A row of a nested list takes as many bytes in a batch as its byte
string has, because an offset of the row takes the place of the number of items.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker.errors import CorruptDataError

I64 = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


def encoded(items: Sequence[Any], unit: int) -> bytes:
    """Returns the byte string of a row. `items` are bytes or None; `unit`: bytes that a unit of a length stands for."""
    lengths = [len(items), *(-1 if item is None else len(item) // unit for item in items)]
    return np.array(lengths, "<i4").tobytes() + b"".join(item for item in items if item is not None)


def items_of(row: bytes, unit: int) -> list[bytes | None]:
    """Returns the items of a row that has a value."""
    count = int.from_bytes(row[:4], "little")
    start = 4 + 4 * count
    lengths = np.frombuffer(row, "<i4", count, 4)
    ends = np.cumsum(np.maximum(lengths, 0), dtype=np.int64) * unit + start
    items = zip(lengths.tolist(), pairwise([start, *ends.tolist()]), strict=True)
    return [None if length < 0 else row[a:b] for length, (a, b) in items]


def rows_of(
    outer: npt.NDArray[Any],
    inner: npt.NDArray[Any],
    values: Bytes,
    unit: int,
    valid: npt.NDArray[np.bool_] | None = None,
) -> tuple[I64, Bytes]:
    """Returns the rows of a column: offsets in bytes, and the byte strings.

    `outer` has the offsets of the rows in items. `inner` has the offsets of the items in units, from 0. `values` has
    the bytes of all items. `valid` says which items are not null; None: none is.
    """
    rows = len(outer) - 1
    if valid is not None:
        inner, values = without_nulls(inner.astype(np.int64) * unit, values, valid)
        inner = inner // unit
    outer, inner = outer.astype(np.int64), inner.astype(np.int64)
    counts, starts = np.diff(outer), inner[outer]
    sizes = np.diff(starts) * unit
    offsets = np.zeros(rows + 1, np.int64)
    np.cumsum(4 + 4 * counts + sizes, out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    heads = np.empty(rows + int(outer[-1] - outer[0]), "<i4")
    at = np.arange(rows) + outer[:-1] - outer[0]
    heads[at] = counts
    lengths = np.diff(inner[outer[0] : outer[-1] + 1])
    if valid is not None:
        lengths = np.where(valid[outer[0] : outer[-1]], lengths, -1)
    heads[np.delete(np.arange(len(heads)), at)] = lengths
    is_head = np.repeat(np.tile([True, False], rows), np.stack([4 + 4 * counts, sizes], 1).reshape(-1))
    data[is_head] = heads.view(np.uint8)
    data[~is_head] = values[int(starts[0]) * unit : int(starts[-1]) * unit]
    return offsets, data


def columns_of(
    offsets: npt.NDArray[Any], data: Bytes, unit: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Bytes, npt.NDArray[np.bool_] | None]:
    """Returns the opposite of `rows_of`: offsets of the rows and of the items, bytes of all items, and valid items."""
    offsets = offsets.astype(np.int64)
    sizes = np.diff(offsets)
    rows = np.flatnonzero(sizes)
    starts, sizes = offsets[:-1][rows], sizes[rows]
    data = np.ascontiguousarray(data)
    counts = data[(starts[:, None] + np.arange(4)).reshape(-1)].view("<i4").astype(np.int64)
    outer = np.zeros(len(offsets), np.int32)
    per_row = np.zeros(len(offsets) - 1, np.int64)
    per_row[rows] = counts
    np.cumsum(per_row, out=outer[1:])
    used = data[int(offsets[0]) : int(offsets[-1])]
    kinds = np.stack([np.full(len(rows), 4), 4 * counts, sizes - 4 - 4 * counts], 1).reshape(-1)
    which = np.repeat(np.tile(np.array([0, 1, 2], np.int8), len(rows)), kinds)
    lengths = np.ascontiguousarray(used[which == 1]).view("<i4")
    valid = lengths >= 0
    inner = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(np.where(valid, lengths, 0), out=inner[1:])
    values = used[which == 2]
    if int(inner[-1]) * unit != len(values) or inner[-1] >= 2**31:
        raise CorruptDataError(f"{len(values)} bytes of items, expected {int(inner[-1]) * unit} and fewer than 2 GiB")
    return outer, inner.astype(np.int32), values, None if valid.all() else valid


def without_nulls(offsets: I64, data: Bytes, valid: npt.NDArray[np.bool_] | None) -> tuple[I64, Bytes]:
    """Returns the rows with empty byte strings where there is no value."""
    if valid is None or valid.all():
        return offsets, data
    sizes = np.diff(offsets)
    kept = np.zeros(len(offsets), np.int64)
    np.cumsum(np.where(valid, sizes, 0), out=kept[1:])
    return kept, data[np.repeat(valid, sizes)]

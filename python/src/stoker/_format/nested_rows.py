"""Rows of nested lists (`utf8[]`, `binary[]`, `int32[][]`) as byte strings, one for each row.

A column of nested lists has two buffers of offsets in a message. Everywhere else a row is one byte string, so rows
are gathered, sorted and joined in the same way as the rows of a binary column:

    i32 number of items | i32 length of each item | the items one after the other

A length counts bytes, or the elements of a list of numbers. A row without a value is an empty byte string. A row takes
as many bytes in a batch as its byte string has, because an offset of the row takes the place of the number of items.
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
    """Returns the byte string of a row. `items` are bytes; `unit`: bytes that one unit of a length stands for."""
    lengths = [len(items), *(len(item) // unit for item in items)]
    return np.array(lengths, "<i4").tobytes() + b"".join(items)


def items_of(row: bytes, unit: int) -> list[bytes]:
    """Returns the items of a row that has a value."""
    count = int.from_bytes(row[:4], "little")
    start = 4 + 4 * count
    ends = np.cumsum(np.frombuffer(row, "<i4", count, 4), dtype=np.int64) * unit + start
    return [row[a:b] for a, b in pairwise([start, *ends.tolist()])]


def rows_of(outer: npt.NDArray[Any], inner: npt.NDArray[Any], values: Bytes, unit: int) -> tuple[I64, Bytes]:
    """Returns the rows of a column: offsets in bytes, and the byte strings.

    `outer` has the offsets of the rows in items. `inner` has the offsets of the items in units. `values` has the bytes
    of all items.
    """
    rows = len(outer) - 1
    outer, inner = outer.astype(np.int64), inner.astype(np.int64)
    counts, starts = np.diff(outer), inner[outer]
    sizes = np.diff(starts) * unit
    offsets = np.zeros(rows + 1, np.int64)
    np.cumsum(4 + 4 * counts + sizes, out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    heads = np.empty(rows + int(outer[-1] - outer[0]), "<i4")
    at = np.arange(rows) + outer[:-1] - outer[0]
    heads[at] = counts
    heads[np.delete(np.arange(len(heads)), at)] = np.diff(inner[outer[0] : outer[-1] + 1])
    is_head = np.repeat(np.tile([True, False], rows), np.stack([4 + 4 * counts, sizes], 1).reshape(-1))
    data[is_head] = heads.view(np.uint8)
    data[~is_head] = values[int(starts[0]) * unit : int(starts[-1]) * unit]
    return offsets, data


def columns_of(
    offsets: npt.NDArray[Any], data: Bytes, unit: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Bytes]:
    """Returns the opposite of `rows_of`: offsets of the rows, offsets of the items, and the bytes of all items."""
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
    inner = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=inner[1:])
    values = used[which == 2]
    if int(inner[-1]) * unit != len(values) or inner[-1] >= 2**31:
        raise CorruptDataError(f"{len(values)} bytes of items, expected {int(inner[-1]) * unit} and fewer than 2 GiB")
    return outer, inner.astype(np.int32), values


def without_nulls(offsets: I64, data: Bytes, valid: npt.NDArray[np.bool_] | None) -> tuple[I64, Bytes]:
    """Returns the rows with empty byte strings where there is no value."""
    if valid is None or valid.all():
        return offsets, data
    sizes = np.diff(offsets)
    kept = np.zeros(len(offsets), np.int64)
    np.cumsum(np.where(valid, sizes, 0), out=kept[1:])
    return kept, data[np.repeat(valid, sizes)]

"""Columns of a chunk while it is filled: runs of rows, and the Arrow buffers made of them.

A `Segment` is a run of rows of one column, either of single values that were written one by one or a slice of an
Arrow array; nothing of variable length is copied before the chunk is packed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._format import crc as crc_library
from stoker._format.fields import Field
from stoker._format.message import Column, Sizes
from stoker._format.nested_columns import nested_parts
from stoker._format.numbers import FLOATS
from stoker._format.temporal import DECIMAL
from stoker._packing.stored_numbers import float_bits

Bytes = bytes | memoryview
_NO_LENGTHS = np.zeros(0, np.int64)


@dataclass
class Segment:
    """Some rows of a column."""

    rows: int
    valid: npt.NDArray[np.bool_] | None = None
    """Which rows have a value; None: all."""
    values: npt.NDArray[Any] | None = None
    """Elements of fixed width or bool, or the codes of a categorical field into `names`; else None."""
    names: Sequence[str] = ()
    lengths: npt.NDArray[np.int64] = field(default_factory=lambda: _NO_LENGTHS)
    """Bytes of each row of utf8, binary, lists, nested lists or tensors."""
    parts: Sequence[Bytes] = ()
    """Their bytes: one for each row, or one in all."""


@dataclass(frozen=True)
class Content:
    """The buffers of a column, finished."""

    nulls: int
    elements: int
    validity: bytes
    offsets: bytes
    data: list[Bytes]
    data_bytes: int
    row_sizes: npt.NDArray[np.int64] | int
    """What each row takes in a batch."""
    lengths: npt.NDArray[np.int64]
    """Bytes of each row of utf8, binary, lists or tensors."""
    crcs: npt.NDArray[np.uint32] | None = None
    """Checksum of each row of a payload field."""
    classes: list[str] | None = None
    """Names of a categorical field, by id."""
    item_offsets: bytes = b""
    """Offsets of the items of a nested list."""
    items: int = 0
    """Number of items of a nested list."""
    item_validity: bytes = b""
    item_nulls: int = 0
    """Number of null items of a nested list."""

    def sizes(self) -> Sizes:
        """What `MessageLayout.pack` needs."""
        lengths = (len(self.validity), len(self.offsets), self.data_bytes)
        return Sizes(self.nulls, self.elements, *lengths, self.items, self.item_nulls)


def of_rows(field: Field, values: list[Any]) -> Segment:
    """A segment of values as the converters of `_values` give them; None: no value."""
    rows = len(values)
    valid = None
    if field.nullable and None in values:
        valid = np.fromiter((v is not None for v in values), np.bool_, rows)
    if field.has_offsets or field.shape:
        if valid is not None:
            nothing = bytes(0 if field.has_offsets else field.row_bytes)
            values = [nothing if v is None else v for v in values]
        return Segment(rows, valid, lengths=np.fromiter(map(len, values), np.int64, rows), parts=values)
    if field.type == "categorical":
        ids: dict[str, int] = {}
        codes = [0 if v is None else ids.setdefault(v, len(ids)) for v in values]
        return Segment(rows, valid, np.array(codes, np.int32), names=list(ids))
    if valid is not None:
        values = [0 if v is None else v for v in values]
    if field.dtype == DECIMAL:
        nothing = bytes(DECIMAL.itemsize)
        return Segment(rows, valid, np.frombuffer(b"".join(v or nothing for v in values), DECIMAL))
    if field.element in FLOATS:
        return Segment(rows, valid, float_bits(np.array(values, np.float64), field.element))
    return Segment(rows, valid, np.array(values, field.dtype))


def content(field: Field, column: Column, segments: Sequence[Segment]) -> Content:
    """The column of a chunk."""
    rows = sum(s.rows for s in segments)
    valid = None
    if any(s.valid is not None for s in segments):
        valid = np.concatenate([np.ones(s.rows, np.bool_) if s.valid is None else s.valid for s in segments])
    nulls = 0 if valid is None else rows - int(np.count_nonzero(valid))
    validity = bitmap(valid) if nulls and valid is not None else b""
    extra = int(field.nullable)
    if not (column.has_offsets or column.kind == "tensor"):
        classes, values = _fixed(field, segments)
        data = bitmap(values) if column.kind == "bool" else values.tobytes()
        width = 1 if column.kind == "bool" else column.itemsize
        return Content(nulls, rows, validity, b"", [data], len(data), width + extra, _NO_LENGTHS, None, classes)
    lengths = _joined([s.lengths for s in segments])
    parts = [p for s in segments for p in s.parts]
    total = int(lengths.sum())
    crcs = _crcs(segments, rows) if column.payload else None
    if column.kind == "tensor":
        sizes: Any = column.itemsize * column.width + extra
        return Content(nulls, rows * column.width, validity, b"", parts, total, sizes, lengths, crcs)
    offsets = np.zeros(rows + 1, np.int64)
    np.cumsum(lengths // column.itemsize, out=offsets[1:])
    if column.kind == "nested":
        return _nested(column, Content(nulls, 0, validity, b"", parts, total, extra, lengths), offsets)
    elements = int(offsets[-1])
    return Content(
        nulls,
        elements,
        validity,
        offsets.astype("<i4").tobytes(),
        parts,
        total,
        lengths + (4 + extra),
        lengths,
        crcs,
    )


def _nested(column: Column, rows: Content, offsets: npt.NDArray[np.int64]) -> Content:
    """The buffers of a nested list from its rows as byte strings."""
    arrays, sizes = nested_parts(column, None, 0, offsets, np.frombuffer(b"".join(rows.data), np.uint8))
    _, outer, values, inner, bits = arrays
    # A row of n items takes its byte string, see `nested_rows`; one without a value takes an offset.
    taken = (np.maximum(rows.lengths, 4) + rows.row_sizes).astype(np.int64)
    if column.null_items:
        counts = np.diff(outer)
        if not column.has_item_offsets:
            taken = 4 + rows.row_sizes + counts.astype(np.int64) * column.unit
        taken += counts + 7 >> 3
    return Content(
        rows.nulls,
        sizes.elements,
        rows.validity,
        outer.astype("<i4").tobytes(),
        [memoryview(values)],
        values.nbytes,
        taken,
        rows.lengths,
        item_offsets=b"" if inner is None else inner.astype("<i4").tobytes(),
        items=sizes.items,
        item_validity=b"" if bits is None else bits.tobytes(),
        item_nulls=sizes.item_nulls,
    )


def bitmap(values: npt.NDArray[Any]) -> bytes:
    """One bit for each row, least significant first."""
    return np.packbits(values.view(np.uint8), bitorder="little").tobytes()


def _joined(arrays: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _fixed(field: Field, segments: Sequence[Segment]) -> tuple[list[str] | None, npt.NDArray[Any]]:
    """Class names, if categorical, and the elements; zero where there is no value."""
    ids: dict[str, int] = {}
    arrays = []
    for s in segments:
        values = s.values
        assert values is not None
        if field.type == "categorical":
            # Ids in the order of their first use by the chunk's rows; what a slice does not use gets none.
            used = values if s.valid is None else values[s.valid]
            codes, first = np.unique(used, return_index=True)
            local = np.zeros(max(len(s.names), 1), np.int32)
            for code in codes[np.argsort(first)].tolist():
                local[code] = ids.setdefault(s.names[code], len(ids))
            values = local[values]
        if s.valid is not None:
            values = np.where(s.valid, values, np.zeros((), values.dtype))
        arrays.append(values)
    return list(ids) if field.type == "categorical" else None, _joined(arrays)


def _crcs(segments: Sequence[Segment], rows: int) -> npt.NDArray[np.uint32]:
    value = crc_library.value
    out = np.empty(rows, np.uint32)
    at = 0
    for s in segments:
        if not s.parts:
            out[at : at + s.rows] = 0
        elif isinstance(s.parts[0], bytes):
            out[at : at + s.rows] = np.fromiter(map(value, s.parts), np.uint32, s.rows)
        else:
            # Slices of an array, as the checksum takes no memoryview.
            whole, end = np.frombuffer(s.parts[0], np.uint8), 0
            sums = []
            for length in s.lengths.tolist():
                sums.append(value(whole[end : end + length]))
                end += length
            out[at : at + s.rows] = sums
        at += s.rows
    return out

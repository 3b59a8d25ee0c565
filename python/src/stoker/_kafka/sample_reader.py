"""Samples of a topic, put together to the messages of batches (docs/formats/kafka.md). Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._format.avro import _Cursor
from stoker._format.fields import Field
from stoker._format.message import KEY, Column, MessageLayout
from stoker._format.nested_rows import encoded
from stoker._format.temporal import DECIMAL, Decimal128
from stoker._kafka.join import Read, pack
from stoker._memory.buffers import BufferPool
from stoker.errors import CorruptDataError

Value = Callable[[_Cursor], Any]
_WIDTHS = {"float16": 4, "bfloat16": 4, "float32": 4, "float64": 8}


def _bytes(c: _Cursor) -> bytes:
    return c.take(c.long())


def _value(field: Field, classes: Mapping[str, Sequence[str]]) -> Value:
    """Reads a value that is there."""
    if field.is_list or field.shape or field.type in ("utf8", "binary"):
        return _bytes
    if field.item is not None:
        return _items(field)
    if isinstance(field.special, Decimal128):
        return _unscaled
    if field.type == "categorical":
        ids = {name.encode(): number for number, name in enumerate(classes[field.name])}
        return lambda c: ids[_bytes(c)]
    if field.type == "bool":
        return lambda c: c.take(1)[0]
    width = _WIDTHS.get(field.type)
    return (lambda c: c.take(width)) if width else _Cursor.long


def _items(field: Field) -> Value:
    """Reads an array in the one form that the feed writes: at most one block, then 0."""
    unit = field.dtype.itemsize
    is_number = field.null_items and field.item not in ("utf8", "binary")

    def read(c: _Cursor) -> bytes:
        count = c.long()
        if count < 0:
            raise CorruptDataError(f"{count} items of {field.name}")
        items = [_bytes_or_null(c, field) if field.null_items else _bytes(c) for _ in range(count)]
        halves = any(len(item) != unit if is_number else len(item) % unit for item in items if item is not None)
        if halves or (count and c.long() != 0):
            raise CorruptDataError(f"{field.name} has half an element, or items in several blocks")
        return encoded(items, unit)

    return read


def _bytes_or_null(c: _Cursor, field: Field) -> bytes | None:
    """Reads an item, or null."""
    branch = c.long()
    if branch not in (0, 1):
        raise CorruptDataError(f"branch {branch} of an item of {field.name}, expected 0 or 1")
    return _bytes(c) if branch else None


def _unscaled(c: _Cursor) -> bytes:
    """Reads an unscaled decimal number: 128 bits, little-endian."""
    return int.from_bytes(_bytes(c), "big", signed=True).to_bytes(16, "little", signed=True)


def _halves(singles: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint16]:
    """The bits of the binary16 that these binary32 were made of."""
    sign, exponent = singles >> 16 & 0x8000, (singles >> 23 & 0xFF).astype(np.int64)
    mantissa = (singles & 0x7FFFFF).astype(np.int64)
    small = (mantissa | 0x800000) >> np.clip(126 - exponent, 0, 63)
    usual = (exponent - 112 << 10) | mantissa >> 13
    special = np.where(exponent == 255, 0x7C00 | mantissa >> 13, np.where(exponent > 112, usual, small))
    return (sign | np.where(exponent == 0, 0, special)).astype(np.uint16)


class SampleReader:
    """Reads records that hold a sample each. Immutable."""

    def __init__(self, fields: Sequence[Field], classes: Mapping[str, Sequence[str]], schema_id: int | None) -> None:
        """`schema_id` is what a registry calls the schema; None if records do not begin with it."""
        self._opening = b"" if schema_id is None else b"\0" + schema_id.to_bytes(4, "big")
        self._small = [(f.nullable, _value(f, classes)) for f in fields if not f.payload]
        self._payload = [(f.nullable, _value(f, classes)) for f in fields if f.payload]
        self._columns = [(KEY, "utf8"), *((Column.of(f), f.type) for f in fields)]

    def message(
        self,
        layout: MessageLayout,
        values: Sequence[bytes],
        pool: BufferPool,
        what: tuple[int, int, int],
        where: str,
    ) -> npt.NDArray[np.uint8]:
        """The canonical message of some samples; `what` is (number, epoch, batch size)."""
        try:
            rows = [self._sample(value) for value in values]
            columns = list(zip(*rows, strict=True)) or [()] * len(self._columns)
            reads = [[_read(c, kind, found)] for (c, kind), found in zip(self._columns, columns, strict=True)]
        except (CorruptDataError, KeyError, ValueError, OverflowError) as e:
            raise CorruptDataError(f"{where} is corrupt: not the samples that the topic describes: {e}") from e
        return pack(layout, reads, len(values), pool, what)

    def _sample(self, value: bytes) -> list[Any]:
        c = _Cursor(value)
        if c.take(len(self._opening)) != self._opening:
            raise CorruptDataError("the value does not begin with the id of the schema")
        found: list[Any] = [_bytes(c)]
        for nullable, read in self._small:
            found.append(None if nullable and c.long() == 0 else read(c))
        for _ in self._payload:
            c.long()  # the payload's checksum; the record's checksum was compared before
        found.extend(None if nullable and c.long() == 0 else read(c) for nullable, read in self._payload)
        if c.at != len(value):
            raise CorruptDataError(f"{len(value) - c.at} bytes are left")
        return found


def _read(column: Column, kind: str, values: Sequence[Any]) -> Read:
    there = np.fromiter((v is not None for v in values), np.bool_, len(values))
    nulls = len(values) - int(np.count_nonzero(there))
    valid = there if nulls else None
    if column.has_offsets:
        lengths = np.fromiter((0 if v is None else len(v) for v in values), np.int32, len(values))
        if np.any(lengths % column.itemsize):
            raise CorruptDataError(f"a value of {column.name} has half an element")
        whole = np.frombuffer(b"".join(v for v in values if v is not None), np.uint8)
        return Read(nulls, valid, lengths // column.itemsize, whole)
    data: npt.NDArray[Any]
    width = column.width * column.itemsize
    if column.kind == "tensor":
        return Read(nulls, valid, None, _fixed(values, width))
    if kind == "float16":
        data = _halves(_fixed(values, 4).view(np.uint32))
    elif kind == "bfloat16":
        data = (_fixed(values, 4).view(np.uint32) >> 16).astype(np.uint16)
    elif kind in _WIDTHS or column.dtype == DECIMAL:
        return Read(nulls, valid, None, _fixed(values, width))
    else:
        numbers = np.fromiter((0 if v is None else v for v in values), np.int64, len(values))
        data = numbers.astype(np.uint8 if column.kind == "bool" else column.dtype)
        if column.kind == "bool":
            return Read(nulls, valid, None, data)
    return Read(nulls, valid, None, data.view(np.uint8))


def _fixed(values: Sequence[Any], width: int) -> npt.NDArray[np.uint8]:
    data = b"".join(bytes(width) if v is None else v for v in values)
    if len(data) != width * len(values):
        raise CorruptDataError(f"{len(data)} bytes for {len(values)} values of {width}")
    return np.frombuffer(data, np.uint8)

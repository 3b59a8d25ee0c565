"""Samples of a topic, put together to the messages of batches (docs/formats/kafka.md). Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._format.avro import _Cursor
from stoker._format.fields import Field
from stoker._format.list_types import TEXTS
from stoker._format.message import KEY, Column, MessageLayout
from stoker._format.nested_rows import encoded
from stoker._format.numbers import FLOATS, NUMBERS
from stoker._format.temporal import DECIMAL, Decimal128
from stoker._kafka.join import Read, pack
from stoker._memory.buffers import BufferPool
from stoker.errors import CorruptDataError

Value = Callable[[_Cursor], Any]
_WIDTHS = {kind: max(4, NUMBERS[kind].dtype.itemsize) for kind in FLOATS}
"""Bytes of a floating-point number in Avro."""
_MOST = 10
"""Bytes of the longest number of Avro."""


def _bytes(c: _Cursor) -> bytes:
    return c.take(c.long())


def _value(field: Field, classes: Mapping[str, Sequence[str]]) -> Value:
    """Reads a value that is there."""
    if field.is_list:
        return _numbers(field)
    if field.shape or field.type in TEXTS:
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


def _numbers(field: Field) -> Value:
    """Reads an array of numbers as the little-endian elements of a list."""
    dtype, width = field.dtype, _WIDTHS.get(field.element)

    def read(c: _Cursor) -> bytes:
        count = _count(c, field)
        found = _integers(c, count, dtype) if width is None else _floats(c.take(count * width), field.element)
        _end(c, count, field)
        return found

    return read


def _count(c: _Cursor, field: Field) -> int:
    """Reads the number of items of an array in the one form that the feed writes: at most one block, then 0."""
    count = c.long()
    if not 0 <= count <= len(c.data) - c.at:
        raise CorruptDataError(f"{count} items of {field.name}")
    return count


def _end(c: _Cursor, count: int, field: Field) -> None:
    if count and c.long() != 0:
        raise CorruptDataError(f"{field.name} has items in several blocks")


def _integers(c: _Cursor, count: int, dtype: np.dtype[Any]) -> bytes:
    """Reads many of Avro's integers at once."""
    if count == 0:
        return b""
    data = np.frombuffer(c.data, np.uint8, min(len(c.data) - c.at, count * _MOST), c.at)
    ends = np.flatnonzero(data < 0x80)[:count]
    starts = np.concatenate(([0], ends[:-1] + 1))
    sizes = ends - starts + 1
    if len(ends) < count or sizes.max() > _MOST:
        raise CorruptDataError(f"bad numbers at {c.at}")
    bits = np.zeros(count, np.uint64)
    for place in range(int(sizes.max())):
        longer = sizes > place
        bits[longer] |= (data[starts[longer] + place] & 0x7F).astype(np.uint64) << np.uint64(7 * place)
    numbers = (bits >> np.uint64(1)).view(np.int64) ^ -(bits & np.uint64(1)).view(np.int64)
    c.at += int(ends[-1]) + 1
    if dtype.itemsize < 8 and (numbers.min() < np.iinfo(dtype).min or numbers.max() > np.iinfo(dtype).max):
        raise CorruptDataError(f"a number of a list does not fit into {dtype}")
    return numbers.astype(dtype.newbyteorder("<")).tobytes()


def _floats(data: bytes, element: str) -> bytes:
    if element == "float16":
        return _halves(np.frombuffer(data, "<u4").astype(np.uint32)).astype("<u2").tobytes()
    if element == "bfloat16":
        return (np.frombuffer(data, "<u4") >> 16).astype("<u2").tobytes()
    return data


def _items(field: Field) -> Value:
    """Reads an array of byte strings, of arrays of numbers, or of nulls and other items."""
    unit = field.dtype.itemsize
    item: Value = _bytes
    if field.element not in TEXTS:
        item = _number(field) if field.null_items else _numbers(field)

    def read(c: _Cursor) -> bytes:
        count = _count(c, field)
        items = [_or_null(c, item, field) if field.null_items else item(c) for _ in range(count)]
        _end(c, count, field)
        return encoded(items, unit)

    return read


def _number(field: Field) -> Value:
    """Reads a number as its little-endian bytes. One that does not fit raises `OverflowError`."""
    width, size = _WIDTHS.get(field.element), field.dtype.itemsize
    if width is not None:
        return lambda c: _floats(c.take(width), field.element)
    if field.element == "uint64":
        return lambda c: (c.long() & (1 << 64) - 1).to_bytes(size, "little")
    signed = field.dtype.kind == "i"
    return lambda c: c.long().to_bytes(size, "little", signed=signed)


def _or_null(c: _Cursor, item: Value, field: Field) -> bytes | None:
    """Reads an item, or null."""
    branch = c.long()
    if branch not in (0, 1):
        raise CorruptDataError(f"branch {branch} of an item of {field.name}, expected 0 or 1")
    return item(c) if branch else None


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

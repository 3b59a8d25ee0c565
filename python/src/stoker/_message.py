"""The canonical Arrow record batch message: byte for byte the same from Java and from here.

    FF FF FF FF | i32 metadata length | flatbuffer | zeros up to a multiple of 64 | body

The flatbuffer's layout is fixed (docs/formats/batch.md): only body length, rows, field nodes and buffers vary.
In the body all buffers stand in metadata order, except that payload data buffers come last; each non-empty one
starts at a multiple of 64.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._fields import Field
from stoker.errors import BatchTooLargeError, CorruptDataError

BODY_LIMIT = 1 << 31


@dataclass(frozen=True)
class Column:
    """How a column stands in a message."""

    name: str
    kind: str
    """fixed, bool, bytes, list or tensor."""
    itemsize: int
    """Bytes of an element."""
    width: int
    """Elements of a row (tensor), else 1."""
    nullable: bool
    payload: bool
    dtype: np.dtype[Any]

    @property
    def has_offsets(self) -> bool:
        return self.kind in ("bytes", "list")

    @property
    def nodes(self) -> int:
        return 2 if self.kind in ("list", "tensor") else 1

    @property
    def buffers(self) -> int:
        return {"fixed": 2, "bool": 2, "bytes": 3, "list": 4, "tensor": 3}[self.kind]

    @staticmethod
    def of(field: Field) -> Column:
        kind = "fixed"
        if field.type in ("utf8", "binary"):
            kind = "bytes"
        elif field.is_list:
            kind = "list"
        elif field.shape:
            kind = "tensor"
        elif field.type == "bool":
            kind = "bool"
        width = int(np.prod(field.shape)) if field.shape else 1
        return Column(field.name, kind, field.dtype.itemsize, width, field.nullable, field.payload, field.dtype)


KEY = Column("key", "bytes", 1, 1, False, False, np.dtype(np.uint8))


def crc_column(payload: str) -> Column:
    """The checksum column of a payload field in a chunk."""
    return Column(f"crc32c:{payload}", "fixed", 4, 1, False, False, np.dtype(np.uint32))


def batch_columns(fields: Sequence[Field]) -> list[Column]:
    """Columns of a batch: key, small fields, payload fields."""
    return [KEY, *map(Column.of, fields)]


def chunk_columns(fields: Sequence[Field]) -> list[Column]:
    """Columns of a chunk: key, small fields, checksums, payload fields."""
    small = [Column.of(f) for f in fields if not f.payload]
    large = [Column.of(f) for f in fields if f.payload]
    return [KEY, *small, *(crc_column(c.name) for c in large), *large]


@dataclass(frozen=True)
class Buffers:
    """Where a column's buffers lie, as (offset in the message, length); length 0 if absent."""

    nulls: int
    elements: int
    """Length of the child node of a list or tensor, else the rows."""
    validity: tuple[int, int]
    offsets: tuple[int, int]
    data: tuple[int, int]


class MessageLayout:
    """Packs and reads the messages of one set of columns."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)
        nodes = sum(c.nodes for c in columns)
        buffers = sum(c.buffers for c in columns)
        self._size = 112 + 16 * nodes + 16 * buffers
        self.body_start = -(-self._size // 64) * 64
        """Offset of the body in a message."""
        vtable_message = struct.pack("<6H", 12, 24, 16, 18, 4, 8)
        vtable_batch = struct.pack("<5H", 10, 24, 8, 4, 16)
        self._c0 = b"\xff\xff\xff\xff" + struct.pack("<iII", self.body_start - 8, 24, 0)
        self._c0 += vtable_message + struct.pack("<IiI", 0, 16, 36)
        self._c1 = struct.pack("<hB5x", 4, 3) + vtable_batch + bytes(6) + struct.pack("<iI", 16, 24)
        self._c2 = struct.pack("<IIII", 20 + 16 * nodes, 0, 0, nodes)
        self._c3 = struct.pack("<II", 0, buffers)
        pad = self.body_start - self._size
        self._struct = struct.Struct(f"<40sq32sq16s{2 * nodes}q8s{2 * buffers}q{pad}x")
        assert len(self._c0) == 40
        assert len(self._c1) == 32
        assert self._struct.size == self.body_start
        self._nodes, self._buffers = nodes, buffers

    def pack(
        self, rows: int, parts: Sequence[tuple[int, int, int, int, int]], what: str
    ) -> tuple[bytes, list[tuple[int, int, int]], int]:
        """Lays out a message.

        `parts` holds for each column (nulls, elements, validity bytes, offsets bytes, data bytes).
        Returns the metadata, for each column the offsets of validity, offsets and data in the message, and
        the message's length. Raises `BatchTooLargeError` naming `what`.
        """
        nodes: list[int] = []
        buffers: list[int] = []
        places: list[tuple[int, int, int]] = []
        end = 0
        later: list[tuple[int, int, int]] = []  # (index into buffers, column, length) of payload data
        for index, (column, (nulls, elements, valid, offs, data)) in enumerate(zip(self.columns, parts, strict=True)):
            nodes += (rows, nulls)
            v = end
            buffers += (v, valid)
            end += -(-valid // 64) * 64
            o = end
            if column.has_offsets:
                buffers += (o, offs)
                end += -(-offs // 64) * 64
            if column.nodes == 2:
                nodes += (elements, 0)
                buffers += (end, 0)
            d = end
            if column.payload:
                later.append((len(buffers), index, data))
            buffers += (d, data)
            if not column.payload:
                end += -(-data // 64) * 64
            places.append((v, o, d))
        if later:
            for at, index, data in later:
                buffers[at] = end
                places[index] = (*places[index][:2], end)
                end += -(-data // 64) * 64
            # an empty child validity in front of payload data keeps the place it got above
        if end >= BODY_LIMIT:
            raise BatchTooLargeError(f"{what}: {end} bytes, the limit is 2 GiB; use a smaller batch size")
        metadata = self._struct.pack(self._c0, end, self._c1, rows, self._c2, *nodes, self._c3, *buffers)
        start = self.body_start
        return metadata, [(v + start, o + start, d + start) for v, o, d in places], start + end

    def read(self, data: npt.NDArray[np.uint8], what: str) -> tuple[int, list[Buffers], int]:
        """Reads a message's metadata: rows, the columns' buffers and the message's length.

        Only `body_start` bytes of `data` are looked at. Anything that is not the canonical form, and any
        buffer outside the body, raises `CorruptDataError` naming `what`.
        """
        if len(data) < self.body_start:
            raise CorruptDataError(f"{what}: {len(data)} bytes are no message with these {len(self.columns)} columns")
        values = self._struct.unpack_from(data)
        c0, body, c1, rows, c2 = values[:5]
        nodes = values[5 : 5 + 2 * self._nodes]
        buffers = values[6 + 2 * self._nodes :]
        if (c0, c1, c2, values[5 + 2 * self._nodes]) != (self._c0, self._c1, self._c2, self._c3):
            raise CorruptDataError(f"{what}: not a record batch message with these {len(self.columns)} columns")
        if not 0 <= body < BODY_LIMIT or not 0 <= rows < BODY_LIMIT:
            raise CorruptDataError(f"{what}: impossible body of {body} bytes with {rows} rows")
        start = self.body_start
        out = []
        n = b = 0
        for column in self.columns:
            nulls = nodes[n + 1]
            elements = rows
            valid = (buffers[b] + start, buffers[b + 1])
            b += 2
            offs = (0, 0)
            if column.has_offsets:
                offs = (buffers[b] + start, buffers[b + 1])
                b += 2
            if column.nodes == 2:
                elements = nodes[n + 2]
                b += 2
            place = (buffers[b] + start, buffers[b + 1])
            b += 2
            good = nodes[n] == rows and 0 <= nulls <= rows and (not nulls or (column.nullable and valid[1] * 8 >= rows))
            n += 2 * column.nodes
            for offset, length in (valid, offs, place):
                good = good and (length == 0 or (start <= offset and 0 < length <= start + body - offset))
            if column.has_offsets:
                good = good and offs[1] == 4 * (rows + 1)
            if column.kind == "list":
                good = good and place[1] == elements * column.itemsize
            elif column.kind in ("tensor", "fixed"):
                good = good and place[1] == rows * column.width * column.itemsize
                good = good and (column.kind == "fixed" or elements == rows * column.width)
            elif column.kind == "bool":
                good = good and place[1] == (rows + 7) // 8
            if not good:
                raise CorruptDataError(f"{what}: impossible buffers of column {column.name} ({rows} rows)")
            out.append(Buffers(nulls, elements, valid, offs, place))
        return rows, out, start + body


def checked_offsets(data: npt.NDArray[np.uint8], place: tuple[int, int], end: int, what: str) -> npt.NDArray[np.int32]:
    """An offsets buffer: from 0, ascending, up to `end` elements."""
    offsets = data[place[0] : place[0] + place[1]].view(np.int32)
    if offsets[0] != 0 or offsets[-1] != end or np.any(offsets[1:] < offsets[:-1]):
        raise CorruptDataError(f"{what}: offsets do not ascend from 0 to {end}")
    return offsets

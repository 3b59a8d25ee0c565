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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._format.fields import Field
from stoker._format.list_types import TEXTS
from stoker._format.once import once
from stoker.errors import BatchTooLargeError, CorruptDataError

BODY_LIMIT = 1 << 31
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Column:
    """How a message contains a column."""

    name: str
    kind: str
    """fixed, bool, bytes, list, tensor or nested. Outside of messages a nested row is a byte string, see
    `nested_rows`."""
    itemsize: int
    """Bytes of an element; 1 if nested."""
    width: int
    """Elements of a row (tensor), else 1."""
    nullable: bool
    payload: bool
    dtype: np.dtype[Any]
    item: np.dtype[Any] | None = None
    """The type of the innermost items of a nested list: numbers or bytes."""
    has_number_lists: bool = False
    """Whether the items of a nested list are lists of numbers."""
    null_items: bool = False
    """Whether the items of a nested list may be null."""
    has_item_offsets: bool = False
    """Whether the items of a nested list differ in length. Only numbers that may be null do not."""

    @once
    def has_offsets(self) -> bool:
        """Whether rows vary in length."""
        return self.kind in ("bytes", "list", "nested")

    @once
    def has_child(self) -> bool:
        """Whether it has one child, of numbers."""
        return self.kind in ("list", "tensor")

    @once
    def nodes(self) -> int:
        """The number of field nodes, including the children's."""
        if self.kind == "nested":
            return 3 if self.has_number_lists else 2
        return 2 if self.has_child else 1

    @once
    def buffers(self) -> int:
        """The number of buffers, including the children's."""
        if self.kind == "nested":
            return 4 + self.has_item_offsets + self.has_number_lists
        return {"fixed": 2, "bool": 2, "bytes": 3, "list": 4, "tensor": 3}[self.kind]

    @property
    def unit(self) -> int:
        """Bytes that one unit of the item offsets of a nested list stands for."""
        assert self.item is not None
        return self.item.itemsize

    @staticmethod
    def of(field: Field) -> Column:
        """The column of a field."""
        kind = "fixed"
        own = field.list_type
        if own is not None and not own.is_plain:
            items = (field.dtype, own.is_of_lists, own.null_items, not own.is_of_numbers)
            return Column(field.name, "nested", 1, 1, field.nullable, False, np.dtype(np.uint8), *items)
        if field.type in TEXTS:
            kind = "bytes"
        elif own is not None:
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


_HEAD = struct.Struct("<40sq32sq16s")
_NODES = {n: struct.Struct(f"<{2 * n}q") for n in (1, 2, 3)}
_BUFFERS = {n: struct.Struct(f"<{2 * n}q") for n in (2, 3, 4, 5, 6)}
_NONE = (0, 0)


class Buffers(NamedTuple):
    """Where a column's buffers lie, as (offset in the message, length); length 0 if absent."""

    nulls: int
    elements: int
    """Length of the node of the elements of a list, nested list or tensor, else the rows."""
    validity: tuple[int, int]
    offsets: tuple[int, int]
    data: tuple[int, int]
    item_offsets: tuple[int, int] = _NONE
    """The buffer with the offsets of the items of a nested list."""
    items: int = 0
    """Items of all rows of a nested list."""
    item_validity: tuple[int, int] = _NONE
    """The validity of the items of a nested list."""
    item_nulls: int = 0
    """Null items of a nested list."""

    def with_checksum(self, column: Column) -> list[tuple[int, int]]:
        """The buffers that have a checksum in the footer of a chunk: all except payload data, in metadata order."""
        offsets = [self.offsets] if column.has_offsets else []
        items = [_NONE] if column.has_child else []
        if column.kind == "nested":
            inner = [self.item_offsets] if column.has_item_offsets else []
            items = [self.item_validity, *inner, *([_NONE] if column.has_number_lists else [])]
        return [self.validity, *offsets, *items, *([] if column.payload else [self.data])]

    def moved(self, by: int) -> Buffers:
        """The same buffers in a message that is cut off before them."""
        buffers = (self.validity, self.offsets, self.data, self.item_offsets, self.item_validity)
        validity, offsets, data, item_offsets, bits = ((at + by, length) for at, length in buffers)
        counts = (self.nulls, self.elements)
        return Buffers(*counts, validity, offsets, data, item_offsets, self.items, bits, self.item_nulls)

    def sizes(self) -> Sizes:
        """What `MessageLayout.pack` needs."""
        lengths = (self.validity[1], self.offsets[1], self.data[1])
        return Sizes(self.nulls, self.elements, *lengths, self.items, self.item_nulls)


class Sizes(NamedTuple):
    """Contents of a column of a message; the last three of bytes."""

    nulls: int
    elements: int
    """Length of the node of the elements of a list, nested list or tensor, else the rows."""
    validity: int
    offsets: int
    data: int
    items: int = 0
    """Number of items of a nested list."""
    item_nulls: int = 0
    """Number of null items of a nested list."""


class Places(NamedTuple):
    """Offsets of a column's buffers in a message."""

    validity: int
    offsets: int
    data: int
    item_offsets: int = 0
    """Offset of the buffer with the offsets of the items of a nested list."""
    item_validity: int = 0
    """Offset of the buffer with the validity of the items of a nested list."""


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
        assert self._struct.size == self.body_start
        self._counts = struct.Struct(f"<{104 + 16 * nodes}x8s")
        self._at = []
        """(place of its nodes, place of its buffers), by column."""
        node, buffer = 104, 112 + 16 * nodes
        for c in columns:
            self._at.append((node, buffer))
            node += 16 * c.nodes
            buffer += 16 * c.buffers

    def pack(
        self, rows: int, parts: Sequence[Sizes], what: tuple[int, int, int]
    ) -> tuple[bytearray, list[Places], int]:
        """Lays out a message of these columns.

        Returns the metadata, the places of the buffers of each column in the message, and the message's length. Raises
        `BatchTooLargeError`; `what` is (number, epoch, batch size).
        """
        nodes: list[int] = []
        buffers: list[int] = []
        places: list[Places] = []
        start = self.body_start
        end = 0
        later: list[tuple[int, int, int]] = []  # (index into buffers, column, length) of payload data
        for index, (column, part) in enumerate(zip(self.columns, parts, strict=True)):
            nulls, elements, valid, offs, data, items, item_nulls = part
            nodes += (rows, nulls)
            v = end
            buffers += (v, valid)
            end += -(-valid // 64) * 64
            o = end
            if column.has_offsets:
                buffers += (o, offs)
                end += -(-offs // 64) * 64
            i = bits = end
            if column.kind == "nested":
                nodes += (items, item_nulls)
                length = items + 7 >> 3 if item_nulls else 0
                buffers += (end, length)
                end += length + 63 & -64
                i = end
            if column.has_item_offsets:
                buffers += (end, 4 * items + 4)
                end += 4 * items + 4 + 63 & -64
            if column.has_child or column.has_number_lists:
                nodes += (elements, 0)
                buffers += (end, 0)
            d = end
            if column.payload:
                later.append((len(buffers), index, data))
            buffers += (d, data)
            if not column.payload:
                end += -(-data // 64) * 64
            places.append(Places(v + start, o + start, d + start, i + start, bits + start))
        if later:
            for at, index, data in later:
                buffers[at] = end
                places[index] = places[index]._replace(data=end + start)
                end += -(-data // 64) * 64
            # an empty child validity in front of payload data keeps the place it got above
        metadata = bytearray(self.body_start)
        self.pack_into(metadata, end, rows, nodes, buffers, what)
        return metadata, places, start + end

    def pack_into(
        self, data: Any, body: int, rows: int, nodes: Sequence[int], buffers: Sequence[int], what: tuple[int, int, int]
    ) -> None:
        """Writes the metadata of a message that has been laid out: nodes and buffers as in the flatbuffer."""
        check_size(body, what)
        self._struct.pack_into(data, 0, self._c0, body, self._c1, rows, self._c2, *nodes, self._c3, *buffers)

    def pack_each(self, body: I64, rows: int, nodes: Sequence[Any], buffers: Sequence[Any]) -> I64:
        """The metadata of several messages, as words of 64 bits, a line each.

        `body`, and where messages differ the values of `nodes` and `buffers`, are arrays with a value for each.
        """
        one = bytearray(self.body_start)
        varying = [(5, body), *enumerate(nodes, 13), *enumerate(buffers, 14 + len(nodes))]
        plain = [v if isinstance(v, int) else v.item(0) for _, v in varying]
        count = 1 + len(nodes)
        self.pack_into(one, plain[0], rows, plain[1:count], plain[count:], (0, 0, 0))
        out = np.empty((len(body), self.body_start >> 3), np.int64)
        out[:] = np.frombuffer(one, np.int64)
        for at, value in varying:
            if not isinstance(value, int):
                out[:, at] = value
        return out

    def head(self, data: npt.NDArray[np.uint8], what: object) -> tuple[int, int]:
        """(rows, length of the message); raises `CorruptDataError` naming `what` if it is not of the canonical form."""
        if len(data) < self.body_start:
            raise CorruptDataError(
                f"{what}: {len(data)} bytes are not a message with these {len(self.columns)} columns"
            )
        c0, body, c1, rows, c2 = _HEAD.unpack_from(data)
        if c0 != self._c0 or c1 != self._c1 or c2 != self._c2 or self._counts.unpack_from(data)[0] != self._c3:
            raise CorruptDataError(f"{what}: not a record batch message with these {len(self.columns)} columns")
        if not 0 <= body < BODY_LIMIT or not 0 <= rows < BODY_LIMIT:
            raise CorruptDataError(f"{what}: impossible body of {body} bytes with {rows} rows")
        return rows, self.body_start + body

    def column(self, data: npt.NDArray[np.uint8], index: int, rows: int, end: int, what: object) -> Buffers:
        """The buffers of one column of a message of `rows` rows that ends at `end`.

        Raises `CorruptDataError` naming `what` if they are not what such a column has, or reach beyond the message.
        """
        column, start = self.columns[index], self.body_start
        node, buffer = self._at[index]
        nodes = _NODES[column.nodes].unpack_from(data, node)
        places = _BUFFERS[column.buffers].unpack_from(data, buffer)
        nulls = nodes[1]
        valid = (places[0] + start, places[1])
        place = (places[-2] + start, places[-1])
        offs = (places[2] + start, places[3]) if column.has_offsets else _NONE
        elements = nodes[2] if column.has_child else rows
        items, inner = 0, _NONE
        item_nulls, bits = 0, _NONE
        if column.kind == "nested":
            items, item_nulls, bits = nodes[2], nodes[3], (places[4] + start, places[5])
            inner = (places[6] + start, places[7]) if column.has_item_offsets else _NONE
            elements = nodes[4] if column.has_number_lists else place[1] // column.unit
        good = nodes[0] == rows and (nulls == 0 or (column.nullable and 0 < nulls <= rows <= valid[1] * 8))
        for offset, length in (valid, offs, place, inner, bits):
            if length:
                good = good and start <= offset and 0 < length <= end - offset
        if column.has_offsets:
            good = good and offs[1] == 4 * rows + 4
        if column.kind == "nested":
            good = good and 0 <= items < BODY_LIMIT and inner[1] == (4 * items + 4) * column.has_item_offsets
            good = good and place[1] == elements * column.unit and (column.has_item_offsets or elements == items)
            good = good and (item_nulls == 0 or (column.null_items and 0 < item_nulls <= items <= bits[1] * 8))
        elif column.kind == "list":
            good = good and place[1] == elements * column.itemsize
        elif column.kind == "bool":
            good = good and place[1] == rows + 7 >> 3
        elif column.kind != "bytes":
            good = good and place[1] == rows * column.width * column.itemsize
            good = good and (column.kind == "fixed" or elements == rows * column.width)
        if not good:
            raise CorruptDataError(f"{what}: impossible buffers of column {column.name} ({rows} rows)")
        return Buffers(nulls, elements, valid, offs, place, inner, items, bits, item_nulls)

    def read(self, data: npt.NDArray[np.uint8], what: object) -> tuple[int, list[Buffers]]:
        """Rows and the buffers of every column; see `head` and `column`."""
        rows, end = self.head(data, what)
        return rows, [self.column(data, i, rows, end, what) for i in range(len(self.columns))]


def check_size(body: int, what: tuple[int, int, int]) -> None:
    """Raises `BatchTooLargeError` if a body would reach the limit; `what` is (number, epoch, batch size)."""
    if body >= BODY_LIMIT:
        raise BatchTooLargeError(
            f"batch {what[0]} of epoch {what[1]} would have {body} bytes, the limit is 2 GiB; "
            f"use a batch size smaller than {what[2]}"
        )


def offsets_at(data: npt.NDArray[np.uint8], place: tuple[int, int], end: int, what: object) -> npt.NDArray[np.int32]:
    """An offsets buffer: from 0 up to `end` elements."""
    offsets = data[place[0] : place[0] + place[1]].view(np.int32)
    if offsets.item(0) != 0 or offsets.item(-1) != end:
        raise CorruptDataError(f"{what}: offsets do not ascend from 0 to {end}")
    return offsets


def checked_offsets(
    data: npt.NDArray[np.uint8], place: tuple[int, int], end: int, what: object
) -> npt.NDArray[np.int32]:
    """An offsets buffer that also ascends."""
    offsets = offsets_at(data, place, end, what)
    if np.any(offsets[1:] < offsets[:-1]):
        raise CorruptDataError(f"{what}: offsets do not ascend")
    return offsets

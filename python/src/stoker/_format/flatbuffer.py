"""Flatbuffers of a chunk's schema and footer, byte for byte as docs/formats/chunk.md has them.

A builder writes from the end to the beginning and counts positions from the end; the order of its calls is part of
the format, so equal content makes equal files in every language.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stoker._format.canonical_json import array_of_numbers
from stoker._format.fields import Field
from stoker._format.list_types import element_of, list_type, tensor_type
from stoker._format.numbers import NUMBERS
from stoker._format.temporal import UNITS, Decimal128, Special, Time, Timestamp, special

_STRUCTS = {code: struct.Struct("<" + code) for code in "BhiIq"}
_OFFSET = "offset"
_INT, _FLOAT, _BINARY, _UTF8, _BOOL, _LIST, _FIXED_BINARY, _FIXED_LIST = 2, 3, 4, 5, 6, 12, 15, 16
_DECIMAL, _DATE, _TIME, _TIMESTAMP = 7, 8, 9, 10
_MILLISECONDS = 1
_TIME_BITS = 32
_PLAIN = {"utf8": _UTF8, "binary": _BINARY, "bool": _BOOL}
_PRECISIONS = (2, 4, 8)
"""Bytes of floating-point numbers, in the order of Arrow's Precision."""

MAGIC = b"ARROW1\0\0"
ALIGNMENT = 64


class SchemaColumn(NamedTuple):
    """A column as a schema describes it; `type` is a canonical type string, or fixed_size_binary(16).

    A categorical column is a dictionary, whose id is the column's number.
    """

    name: str
    type: str
    nullable: bool = False
    metadata: Mapping[str, str] = {}


def chunk_schema(fields: Sequence[Field]) -> list[SchemaColumn]:
    """The columns of a chunk: key, small fields, checksums, payload fields."""
    small = [f for f in fields if not f.payload]
    payload = [f for f in fields if f.payload]
    return [
        SchemaColumn("key", "utf8"),
        *(SchemaColumn(f.name, f.type, f.nullable) for f in small),
        *(SchemaColumn(f"crc32c:{f.name}", "uint32") for f in payload),
        *(SchemaColumn(f.name, f.type, f.nullable) for f in payload),
    ]


class Block(NamedTuple):
    """Where a record batch or dictionary batch lies in a file."""

    message_at: int
    head_length: int
    """Prefix, flatbuffer and padding of its message."""
    body_length: int


class _Builder:
    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._align = 1
        self._vtables: dict[bytes, int] = {}
        self.size = 0

    def prep(self, size: int, more: int = 0) -> None:
        """Zeros, so that after `more` bytes the position is a multiple of `size`."""
        self._align = max(self._align, size)
        pad = -(self.size + more) % size
        if pad:
            self.put(bytes(pad))

    def put(self, data: bytes) -> int:
        self._parts.append(data)
        self.size += len(data)
        return self.size

    def number(self, code: str, value: int) -> int:
        packer = _STRUCTS[code]
        self.prep(packer.size)
        return self.put(packer.pack(value))

    def offset(self, target: int) -> int:
        self.prep(4)
        return self.put(_STRUCTS["I"].pack(self.size + 4 - target))

    def string(self, text: str) -> int:
        utf8 = text.encode()
        self.prep(4, len(utf8) + 1)
        self.put(utf8 + b"\0")
        return self.put(_STRUCTS["I"].pack(len(utf8)))

    def vector(self, targets: Sequence[int]) -> int:
        self.prep(4, 4 * len(targets))
        for target in reversed(targets):
            self.offset(target)
        return self.put(_STRUCTS["I"].pack(len(targets)))

    def table(self, *fields: tuple[int, str, int] | tuple[int, str, int, int]) -> int:
        """Fields as (slot, struct code or "offset", value, default), in the order of writing; defaults are left out."""
        start = self.size
        slots: dict[int, int] = {}
        for slot, code, value, *default in fields:
            if value != (default[0] if default else 0):
                slots[slot] = self.offset(value) if code is _OFFSET else self.number(code, value)
        self.prep(4)
        at = self.size + 4
        entries = [at - slots[s] if s in slots else 0 for s in range(max(slots, default=-1) + 1)]
        vtable = struct.pack(f"<{2 + len(entries)}H", 4 + 2 * len(entries), at - start, *entries)
        known = self._vtables.get(vtable)
        self.put(_STRUCTS["i"].pack((at + len(vtable) if known is None else known) - at))
        if known is None:
            self._vtables[vtable] = self.put(vtable)
        return at

    def finish(self, root: int) -> bytes:
        self.prep(self._align, 4)
        self.offset(root)
        return b"".join(reversed(self._parts))


def _type(b: _Builder, kind: str) -> tuple[int, int]:
    """Type code and position of the type's table."""
    own = special(kind)
    if own is not None:
        return _special(b, own)
    if list_type(kind) is not None:
        return _LIST, b.table()
    tensor = tensor_type(kind)
    if tensor is not None:
        return _FIXED_LIST, b.table((0, "i", math.prod(tensor.shape)))
    if kind in _PLAIN:
        return _PLAIN[kind], b.table()
    if kind.startswith("fixed_size_binary("):
        return _FIXED_BINARY, b.table((0, "i", int(kind[18:-1])))
    stored = NUMBERS[kind].dtype
    if stored.kind == "f":
        return _FLOAT, b.table((0, "h", _PRECISIONS.index(stored.itemsize)))
    return _INT, b.table((0, "i", 8 * stored.itemsize), (1, "B", int(stored.kind == "i")))


def _special(b: _Builder, kind: Special) -> tuple[int, int]:
    units = list(UNITS)
    if isinstance(kind, Timestamp):
        zone = 0 if kind.zone is None else b.string(kind.zone)
        return _TIMESTAMP, b.table((1, _OFFSET, zone), (0, "h", units.index(kind.unit)))
    if isinstance(kind, Time):
        unit, bits = units.index(kind.unit), 8 * kind.dtype.itemsize
        return _TIME, b.table((1, "i", bits, _TIME_BITS), (0, "h", unit, _MILLISECONDS))
    if isinstance(kind, Decimal128):
        return _DECIMAL, b.table((1, "i", kind.scale), (0, "i", kind.precision))
    return _DATE, b.table((0, "h", 0, _MILLISECONDS))


def _pairs(b: _Builder, metadata: Mapping[str, str]) -> int:
    if not metadata:
        return 0
    entries = []
    for key, value in metadata.items():
        k = b.string(key)
        v = b.string(value)
        entries.append(b.table((1, _OFFSET, v), (0, _OFFSET, k)))
    return b.vector(entries)


def _field(b: _Builder, column: SchemaColumn, number: int, is_child: bool = False) -> int:
    items, tensor = list_type(column.type), tensor_type(column.type)
    children, own = [], {}
    if items is not None:
        children = [_field(b, SchemaColumn("item", items.item, items.null_items), number, True)]
    if tensor is not None:
        children = [_field(b, SchemaColumn("item", tensor.element), number, True)]
    if element_of(column.type) == "bfloat16" and not is_child:
        own["stoker.type"] = column.type
    if tensor is not None:
        own["ARROW:extension:name"] = "arrow.fixed_shape_tensor"
        own["ARROW:extension:metadata"] = f'{{"shape":{array_of_numbers(tensor.shape)}}}'
    name = b.string(column.name)
    categorical = column.type == "categorical"
    code, table = _type(b, "utf8" if categorical else column.type)
    dictionary = 0
    if categorical:
        _, index = _type(b, "int32")
        dictionary = b.table((0, "q", number), (1, _OFFSET, index))
    vector = b.vector(children)
    metadata = _pairs(b, own | dict(column.metadata))
    return b.table(
        (0, _OFFSET, name),
        (1, "B", int(column.nullable)),
        (2, "B", code),
        (3, _OFFSET, table),
        (4, _OFFSET, dictionary),
        (5, _OFFSET, vector),
        (6, _OFFSET, metadata),
    )


def _schema(b: _Builder, columns: Sequence[SchemaColumn], metadata: Mapping[str, str]) -> int:
    vector = b.vector([_field(b, column, number) for number, column in enumerate(columns)])
    pairs = _pairs(b, metadata)
    return b.table((1, _OFFSET, vector), (2, _OFFSET, pairs))


def _blocks(b: _Builder, blocks: Sequence[Block]) -> int:
    b.prep(4, 24 * len(blocks))
    b.prep(8, 24 * len(blocks))
    for block in reversed(blocks):
        b.put(struct.pack("<qi4xq", *block))
    return b.put(struct.pack("<I", len(blocks)))


def opening(columns: Sequence[SchemaColumn], metadata: Mapping[str, str]) -> bytes:
    """Magic and schema message, up to where the first dictionary batch or the record batch message begins."""
    b = _Builder()
    header = _schema(b, columns, metadata)
    flat = b.finish(b.table((0, "h", 4), (1, "B", 1), (2, _OFFSET, header)))
    length = -(-(16 + len(flat)) // ALIGNMENT) * ALIGNMENT
    return (MAGIC + b"\xff\xff\xff\xff" + struct.pack("<i", length - 16) + flat).ljust(length, b"\0")


def closing(
    columns: Sequence[SchemaColumn],
    metadata: Mapping[str, str],
    block: Block,
    footer: Mapping[str, Any],
    dictionaries: Sequence[Block] = (),
) -> bytes:
    """Everything behind the body."""
    b = _Builder()
    header = _schema(b, columns, metadata)
    dictionary_blocks = _blocks(b, dictionaries)
    batches = _blocks(b, [block])
    extra = _pairs(b, footer)
    flat = b.finish(
        b.table(
            (0, "h", 4),
            (1, _OFFSET, header),
            (2, _OFFSET, dictionary_blocks),
            (3, _OFFSET, batches),
            (4, _OFFSET, extra),
        )
    )
    return b"\xff\xff\xff\xff\0\0\0\0" + flat + struct.pack("<i", len(flat)) + b"ARROW1"

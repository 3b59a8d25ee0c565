"""A second writer of chunks and batches, made from docs/formats/chunk.md alone: slow, and as short as the page allows.

It shares nothing with the Java writer but the page, so equal bytes mean that the page says all there is to say.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any


def crc32c(data: bytes) -> int:
    """Bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def pad64(data: bytes) -> bytes:
    """Fills with zeros to a multiple of 64."""
    return data + bytes(-len(data) % 64)


class FlatBuilder:
    """Writes a flatbuffer from its end to its beginning; a position is counted from the end."""

    def __init__(self) -> None:
        self.data = b""
        self.align = 1
        self.vtables: list[tuple[int, bytes]] = []

    def prep(self, size: int, more: int = 0) -> None:
        """Zeros, so that after `more` bytes the position is a multiple of `size`."""
        self.align = max(self.align, size)
        self.data = bytes(-(len(self.data) + more) % size) + self.data

    def put(self, code: str, *values: Any) -> int:
        self.data = struct.pack("<" + code, *values) + self.data
        return len(self.data)

    def number(self, code: str, value: Any) -> int:
        self.prep(struct.calcsize("<" + code))
        return self.put(code, value)

    def offset(self, target: int) -> int:
        self.prep(4)
        return self.put("I", len(self.data) - target + 4)

    def string(self, text: str) -> int:
        utf8 = text.encode()
        self.prep(4, len(utf8) + 1)
        self.data = utf8 + b"\0" + self.data
        return self.put("I", len(utf8))

    def vector(self, targets: list[int]) -> int:
        self.prep(4, 4 * len(targets))
        for target in reversed(targets):
            self.offset(target)
        return self.put("I", len(targets))

    def table(self, fields: list[tuple[int, str, Any]]) -> int:
        """(slot, struct code or 'offset', value) in the order of writing; None, zeros and absent offsets left out.

        A number whose default is not 0 is given as None where it has its default, and as a text where it is 0.
        """
        start = len(self.data)
        slots: dict[int, int] = {}
        for slot, code, value in fields:
            if value:
                slots[slot] = self.offset(value) if code == "offset" else self.number(code, int(value))
        at = self.number("i", 0)
        entries = [at - slots[s] if s in slots else 0 for s in range(max(slots, default=-1) + 1)]
        vtable = struct.pack(f"<{2 + len(entries)}H", 4 + 2 * len(entries), at - start, *entries)
        known = [position for position, content in self.vtables if content == vtable]
        if not known:
            self.data = vtable + self.data
            self.vtables.append((len(self.data), vtable))
            known = [len(self.data)]
        end = len(self.data) - at
        self.data = self.data[:end] + struct.pack("<i", known[0] - at) + self.data[end + 4 :]
        return at

    def finish(self, root: int) -> bytes:
        self.prep(self.align, 4)
        self.offset(root)
        return self.data


NUMBERS = {
    "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
    "float16": "e", "float32": "f", "float64": "d", "bfloat16": "H", "categorical": "i",
}  # fmt: skip
INT, FLOAT, BINARY, UTF8, BOOL, LIST, FIXED_SIZE_LIST = 2, 3, 4, 5, 6, 12, 16
DECIMAL, DATE, TIME, TIMESTAMP = 7, 8, 9, 10
UNITS = ["s", "ms", "us", "ns"]


def split(kind: str) -> tuple[str, list[int] | None]:
    """Item type and shape; an empty shape for lists, None for everything else."""
    if kind.startswith("time"):
        return kind, None
    element, bracket, shape = kind.rpartition("[") if kind.endswith("]") else (kind, "", "")
    shape_of = [int(d) for d in shape[:-1].split(",") if d] if bracket else None
    return element.removesuffix("?"), shape_of


def has_null_items(kind: str) -> bool:
    return kind.endswith("?[]")


def arrow_type(b: FlatBuilder, kind: str) -> tuple[int, int]:
    """Type code and table."""
    element, shape = split(kind)
    if shape is not None:
        return (FIXED_SIZE_LIST, b.table([(0, "i", math.prod(shape))])) if shape else (LIST, b.table([]))
    if kind == "date":
        return DATE, b.table([(0, "h", "0")])
    if kind.startswith("decimal"):
        precision, scale = (int(n) for n in kind[8:-1].split(","))
        return DECIMAL, b.table([(1, "i", scale), (0, "i", precision)])
    if kind.startswith("timestamp"):
        unit, _, zone = kind[10:-1].partition(",")
        zone_at = b.string(zone) if zone else 0
        return TIMESTAMP, b.table([(1, "offset", zone_at), (0, "h", UNITS.index(unit))])
    if kind.startswith("time"):
        unit = kind[5:-1]
        bits = None if unit in ("s", "ms") else 64
        return TIME, b.table([(1, "i", bits), (0, "h", None if unit == "ms" else str(UNITS.index(unit)))])
    if kind in ("utf8", "binary", "bool"):
        return {"utf8": UTF8, "binary": BINARY, "bool": BOOL}[kind], b.table([])
    if kind in ("float16", "float32", "float64"):
        return FLOAT, b.table([(0, "h", ["float16", "float32", "float64"].index(kind))])
    code = NUMBERS[element]
    return INT, b.table([(0, "i", 8 * struct.calcsize(code)), (1, "B", code.islower())])


def pairs(b: FlatBuilder, metadata: dict[str, str]) -> int:
    if not metadata:
        return 0
    entries = []
    for key, value in metadata.items():
        k, v = b.string(key), b.string(value)
        entries.append(b.table([(1, "offset", v), (0, "offset", k)]))
    return b.vector(entries)


def field(b: FlatBuilder, number: int, name: str, kind: str, nullable: bool) -> int:
    element, shape = split(kind)
    children = [field(b, number, "item", element, has_null_items(kind))] if shape is not None else []
    own = {}
    if element.removesuffix("[]") == "bfloat16" and name != "item":
        own["stoker.type"] = kind
    if shape:
        own["ARROW:extension:name"] = "arrow.fixed_shape_tensor"
        own["ARROW:extension:metadata"] = json.dumps({"shape": shape}, separators=(",", ":"))
    text = b.string(name)
    code, table = arrow_type(b, "utf8" if kind == "categorical" else kind)
    dictionary = 0
    if kind == "categorical":
        _, index = arrow_type(b, "int32")
        dictionary = b.table([(0, "q", number), (1, "offset", index)])
    vector = b.vector(children)
    metadata_at = pairs(b, own)
    return b.table([
        (0, "offset", text), (1, "B", nullable), (2, "B", code), (3, "offset", table), (4, "offset", dictionary),
        (5, "offset", vector), (6, "offset", metadata_at),
    ])  # fmt: skip


Columns = list[tuple[str, str, bool]]


def schema(b: FlatBuilder, columns: Columns, metadata: dict[str, str]) -> int:
    vector = b.vector([field(b, number, *column) for number, column in enumerate(columns)])
    return b.table([(1, "offset", vector), (2, "offset", pairs(b, metadata))])


def opening(columns: Columns, metadata: dict[str, str]) -> bytes:
    b = FlatBuilder()
    header = schema(b, columns, metadata)
    flat = b.finish(b.table([(0, "h", 4), (1, "B", 1), (2, "offset", header)]))
    length = -(-(16 + len(flat)) // 64) * 64
    return pad64(b"ARROW1\0\0" + b"\xff\xff\xff\xff" + struct.pack("<i", length - 16) + flat)


Block = tuple[int, int, int]


def blocks(b: FlatBuilder, places: list[Block]) -> int:
    b.prep(4, 24 * len(places))
    b.prep(8, 24 * len(places))
    for place in reversed(places):
        b.put("qi4xq", *place)
    return b.put("I", len(places))


def closing(
    columns: Columns, metadata: dict[str, str], dictionaries_at: list[Block], batch: Block, footer: dict[str, str]
) -> bytes:
    b = FlatBuilder()
    header = schema(b, columns, metadata)
    dictionaries = blocks(b, dictionaries_at)
    batches = blocks(b, [batch])
    extra = pairs(b, footer)
    flat = b.finish(b.table([
        (0, "h", 4), (1, "offset", header), (2, "offset", dictionaries), (3, "offset", batches), (4, "offset", extra),
    ]))  # fmt: skip
    return b"\xff\xff\xff\xff\0\0\0\0" + flat + struct.pack("<i", len(flat)) + b"ARROW1"


def value_bytes(kind: str, value: Any, class_id: Callable[[str], int]) -> bytes:
    element, shape = split(kind)
    if kind == "utf8":
        return value.encode()
    if kind == "binary":
        return bytes.fromhex(value)
    if kind == "categorical":
        return struct.pack("<i", class_id(value))
    if kind.startswith("decimal"):
        sign, digits, exponent = Decimal(value).as_tuple()
        assert exponent == -int(kind[8:-1].split(",")[1])
        number = int("".join(map(str, digits)))
        return (-number if sign else number).to_bytes(16, "little", signed=True)
    values = [0 if v is None else v for v in value] if shape is not None else [value]
    if element == "bfloat16":  # the golden values fit: their lower halves are zero
        return b"".join(struct.pack("<f", v)[2:] for v in values)
    return struct.pack(f"<{len(values)}{code_of(element)}", *values)


def code_of(kind: str) -> str:
    """Struct code of a number."""
    if kind == "date" or kind in ("time[s]", "time[ms]"):
        return "i"
    return "q" if kind.startswith("time") else NUMBERS[kind]


def width_of(kind: str) -> int:
    """Bytes of a value of fixed width; 0 for other types."""
    if kind.startswith("decimal"):
        return 16
    fixed = kind in NUMBERS or kind == "date" or kind.startswith("time")
    return struct.calcsize("<" + code_of(kind)) if fixed else 0


def row_bytes(kind: str, values: list[Any]) -> list[bytes]:
    """The bytes of each row in the values buffer of a payload field."""
    element, shape = split(kind)
    nothing = bytes(math.prod(shape) * struct.calcsize(NUMBERS[element]) if shape else 0)
    return [nothing if v is None else value_bytes(kind, v, [].index) for v in values]


def bitmap(bits: list[bool]) -> bytes:
    return bytes(sum(bit << i for i, bit in enumerate(bits[at : at + 8])) for at in range(0, len(bits), 8))


Parts = tuple[list[tuple[int, int]], list[bytes]]


def column(kind: str, values: list[Any], class_id: Callable[[str], int]) -> Parts:
    """Nodes and buffers."""
    element, shape = split(kind)
    nulls = sum(v is None for v in values)
    validity = bitmap([v is not None for v in values]) if nulls else b""
    if kind == "bool":
        return [(len(values), nulls)], [validity, bitmap([bool(v) for v in values])]
    if shape == [] and (element in ("utf8", "binary") or element.endswith("]")):
        ends = [0]
        for value in values:
            ends.append(ends[-1] + len(value or []))
        nodes, buffers = column(element, [item for value in values for item in value or []], class_id)
        offsets = struct.pack(f"<{len(ends)}i", *ends)
        return [(len(values), nulls), *nodes], [validity, offsets, *buffers]
    width = math.prod(shape or []) * width_of(element)
    packed = [bytes(width if shape != [] else 0) if v is None else value_bytes(kind, v, class_id) for v in values]
    data = b"".join(packed)
    if kind in ("utf8", "binary") or shape == []:
        unit = struct.calcsize(NUMBERS[element]) if shape == [] else 1
        ends = [0]
        for each in packed:
            ends.append(ends[-1] + len(each) // unit)
        offsets = struct.pack(f"<{len(ends)}i", *ends)
        if shape is None:
            return [(len(values), nulls)], [validity, offsets, data]
        items = [item for value in values for item in value or []]
        missing = sum(item is None for item in items)
        bits = bitmap([item is not None for item in items]) if missing else b""
        return [(len(values), nulls), (ends[-1], missing)], [validity, offsets, bits, data]
    if shape is not None:
        return [(len(values), nulls), (len(values) * math.prod(shape), 0)], [validity, b"", data]
    return [(len(values), nulls)], [validity, data]


def message(rows: int, columns: list[Parts], payload: list[bool], dictionary: int = 0) -> tuple[bytes, bytes, bytes]:
    """Head of the message, small part of the body, payload part. With a number: the dictionary batch with this id."""
    nodes = [node for part, _ in columns for node in part]
    buffers = [(data, last and i == len(own) - 1) for (_, own), last in zip(columns, payload, strict=True)
               for i, data in enumerate(own)]  # fmt: skip
    offsets = {}
    bodies = []
    end = 0
    for late in (False, True):
        body = b""
        for i, (data, is_late) in enumerate(buffers):
            if is_late == late:
                offsets[i] = end + len(body)
                body += pad64(data)
        end += len(body)
        bodies.append(body)
    n, count = len(nodes), len(buffers)
    flat = struct.pack("<II6HI", 24, 0, 12, 24, 16, 18, 4, 8, 0)
    flat += struct.pack("<iIqhB5x", 16, 36, end, 4, 2 if dictionary else 3)
    if dictionary:
        flat += struct.pack("<4H8xiIq", 8, 16, 8, 4, 16, 28, dictionary)
    flat += struct.pack("<5H6x", 10, 24, 8, 4, 16) + struct.pack("<iIqIII", 16, 24, rows, 20 + 16 * n, 0, 0)
    flat += struct.pack("<I", n) + b"".join(struct.pack("<qq", *node) for node in nodes)
    flat += struct.pack("<II", 0, count)
    flat += b"".join(struct.pack("<qq", offsets[i], len(buffers[i][0])) for i in range(count))
    length = -(-(8 + len(flat)) // 64) * 64
    return pad64(b"\xff\xff\xff\xff" + struct.pack("<i", length - 8) + flat), bodies[0], bodies[1]


def chunk(spec: dict[str, Any]) -> bytes:
    """The chunk that a golden JSON file describes."""
    rows = spec["rows"]
    small = [f for f in spec["fields"] if not f["payload"]]
    payload = [f for f in spec["fields"] if f["payload"]]
    no_class: Callable[[str], int] = [].index
    columns: Columns = [("key", "utf8", False)]
    parts = [column("utf8", [row["key"] for row in rows], no_class)]
    dictionaries: list[tuple[bytes, bytes, bytes]] = []
    for f in small:
        values = [row[f["name"]] for row in rows]
        names = list(dict.fromkeys(v for v in values if v is not None)) if f["type"] == "categorical" else []
        if f["type"] == "categorical":
            dictionaries.append(message(len(names), [column("utf8", names, no_class)], [False], len(columns)))
        columns.append((f["name"], f["type"], f["nullable"]))
        parts.append(column(f["type"], values, names.index))
    for f in payload:
        columns.append(("crc32c:" + f["name"], "uint32", False))
        sums = [crc32c(data) for data in row_bytes(f["type"], [row[f["name"]] for row in rows])]
        parts.append(column("uint32", sums, no_class))
    for f in payload:
        columns.append((f["name"], f["type"], f["nullable"]))
        parts.append(column(f["type"], [row[f["name"]] for row in rows], no_class))
    metadata = {"stoker.format": "1"}
    metadata |= {f"stoker.{key}": spec[key] for key in ("dataset", "chunk", "ingest", "split", "created")}
    metadata["stoker.payload"] = json.dumps([f["name"] for f in payload], separators=(",", ":"), ensure_ascii=False)
    if "overlaid" in spec:
        metadata["stoker.overlaid"] = spec["overlaid"]
    first = opening(columns, metadata)
    places: list[Block] = []
    for top, body, _ in dictionaries:
        places.append((len(first), len(top), len(body)))
        first += top + body
    head, before, after = message(len(rows), parts, [False] * (len(columns) - len(payload)) + [True] * len(payload))
    start = first + head + before
    checksums = [crc32c(top + body) for top, body, _ in dictionaries] + [crc32c(head)]
    for (_, buffers), is_payload in zip(
        parts, [False] * (len(columns) - len(payload)) + [True] * len(payload), strict=True
    ):
        checksums += [crc32c(data) for data in (buffers[:-1] if is_payload else buffers)]
    footer = {"stoker.head_length": str(len(start)), "stoker.head_crc32c": f"{crc32c(start):08x}"}
    footer["stoker.buffer_crc32c"] = "".join(f"{crc:08x}" for crc in checksums)
    place = (len(first), len(head), len(before) + len(after))
    return start + after + closing(columns, metadata, places, place, footer)


def batch(fields: list[dict[str, Any]], rows: list[dict[str, Any]], classes: dict[str, list[str]]) -> bytes:
    """The message of these rows, as docs/formats/batch.md has it."""
    parts = [column("utf8", [row["key"] for row in rows], [].index)]
    parts += [column(f["type"], [row[f["name"]] for row in rows], classes.get(f["name"], []).index) for f in fields]
    return b"".join(message(len(rows), parts, [False] + [f["payload"] for f in fields]))

"""Makes the files of a dataset straight from the format's description, sharing no code with the package's reader."""

from __future__ import annotations

import json
import struct
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import google_crc32c
import numpy as np
import pyarrow as pa

import chunk_prototype

CREATED = "2026-01-02T03:04:05.678Z"
ZERO_CRC = b"stoker.crc32c=00000000"


def sealed(data: bytes) -> bytes:
    """Puts the self-checksum in."""
    assert data.count(ZERO_CRC) == 1
    return data.replace(ZERO_CRC, b"stoker.crc32c=%08x" % google_crc32c.value(data))


def pad64(data: bytes) -> bytes:
    return data + bytes(-len(data) % 64)


# --- Avro ---------------------------------------------------------------------------------------------------------


def a_long(n: int) -> bytes:
    n = (n << 1) ^ (n >> 63)
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def a_bytes(data: bytes) -> bytes:
    return a_long(len(data)) + data


def a_text(text: str) -> bytes:
    return a_bytes(text.encode())


def a_array(items: Sequence[bytes]) -> bytes:
    return (a_long(len(items)) + b"".join(items) if items else b"") + a_long(0)


COMMIT = {
    "type": "record",
    "name": "Commit",
    "namespace": "dev.stoker",
    "fields": [
        {"name": "format", "type": "int"},
        {"name": "dataset", "type": "string"},
        {"name": "version", "type": "long"},
        {"name": "ingest", "type": "string"},
        {"name": "operation", "type": "string"},
        {"name": "committed_ms", "type": "long"},
        {"name": "committed_by", "type": "string"},
        {
            "name": "added",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "Added",
                    "fields": [
                        {"name": "ordinal", "type": "long"},
                        {"name": "id", "type": {"type": "fixed", "name": "ChunkId", "size": 16}},
                        {"name": "split", "type": "string"},
                        {"name": "rows", "type": "int"},
                        {"name": "length", "type": "long"},
                        {"name": "crc32c", "type": "long"},
                        {"name": "head_length", "type": "long"},
                        {"name": "head_crc32c", "type": "long"},
                        {"name": "largest_row", "type": "long"},
                    ],
                },
            },
        },
        {
            "name": "removed",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "Removed",
                    "fields": [
                        {"name": "ordinal", "type": "long"},
                        {"name": "rows", "type": ["null", {"type": "array", "items": "int"}]},
                    ],
                },
            },
        },
        {
            "name": "updated",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "Updated",
                    "fields": [
                        {"name": "ordinal", "type": "long"},
                        {"name": "overlay", "type": "ChunkId"},
                        {"name": "length", "type": "long"},
                        {"name": "crc32c", "type": "long"},
                        {"name": "largest_row", "type": "long"},
                    ],
                },
            },
        },
        {"name": "classes", "type": {"type": "map", "values": {"type": "array", "items": "string"}}},
        {"name": "properties", "type": {"type": "map", "values": "string"}},
    ],
}


def container(schema: Any, records: Sequence[bytes], *, self_check: bool = True) -> bytes:
    meta = {"avro.schema": json.dumps(schema).encode(), "avro.codec": b"null"}
    if self_check:
        meta["stoker.self"] = ZERO_CRC
    body = b"".join(records)
    sync = bytes(range(16))
    return (
        b"Obj\x01"
        + a_long(len(meta))
        + b"".join(a_text(k) + a_bytes(v) for k, v in meta.items())
        + a_long(0)
        + sync
        + a_long(len(records))
        + a_bytes(body)
        + sync
    )


# --- Arrow --------------------------------------------------------------------------------------------------------

NUMBERS = {"bfloat16": "uint16", "categorical": "int32"}


def parse_type(text: str) -> tuple[str, list[int] | None]:
    kind, bracket, rest = text.partition("[")
    if not bracket:
        return kind, None
    return kind, [int(d) for d in rest[:-1].split(",")] if rest != "]" else []


def is_special(text: str) -> bool:
    """Whether values are given as in the golden files: times as numbers, decimals as text, nested lists as lists."""
    return (
        text.startswith(("time", "date", "decimal")) or text in ("utf8[]", "binary[]") or text.endswith(("[][]", "?[]"))
    )


def arrow_type(text: str) -> pa.DataType:
    kind, shape = parse_type(text)
    plain = {"utf8": pa.utf8(), "binary": pa.binary(), "bool": pa.bool_()}
    value = plain.get(kind) or pa.type_for_alias(NUMBERS.get(kind, kind))
    if shape is None:
        return value
    return pa.fixed_shape_tensor(value, shape) if shape else pa.list_(pa.field("item", value, False))


def column_buffers(text: str, values: Sequence[Any]) -> tuple[list[tuple[int, int]], list[bytes]]:
    """(nodes, buffers) of a column, in Arrow's depth-first order."""
    if is_special(text):
        return chunk_prototype.column(text, list(values), [].index)
    kind, shape = parse_type(text)
    nulls = [v is None for v in values]
    validity = np.packbits([not n for n in nulls], bitorder="little").tobytes() if any(nulls) else b""
    nodes, buffers = [(len(values), sum(nulls))], [validity]
    if kind in ("utf8", "binary"):
        raw = [b"" if v is None else v.encode() if isinstance(v, str) else bytes(v) for v in values]
        buffers += [np.cumsum([0, *map(len, raw)]).astype("<i4").tobytes(), b"".join(raw)]
    elif kind == "bool":
        buffers.append(np.packbits([bool(v) for v in values], bitorder="little").tobytes() if values else b"")
    elif shape is None:
        buffers.append(np.array([0 if v is None else v for v in values], NUMBERS.get(kind, kind)).tobytes())
    else:
        size = int(np.prod(shape)) if shape else 0
        arrays = [np.zeros(size, NUMBERS.get(kind, kind)) if v is None else np.asarray(v).reshape(-1) for v in values]
        flat = np.concatenate([a.astype(NUMBERS.get(kind, kind)) for a in arrays]) if arrays else np.zeros(0)
        if not shape:
            buffers.append(np.cumsum([0, *map(len, arrays)]).astype("<i4").tobytes())
        nodes.append((len(flat) if arrays else 0, 0))
        buffers += [b"", flat.tobytes() if arrays else b""]
    return nodes, buffers


def message(columns: Sequence[tuple[str, Sequence[Any], bool]], rows: int) -> tuple[bytes, bytes, int]:
    """(metadata, body, offset of the first payload data buffer in the body) of (type, values, payload) columns."""
    nodes: list[tuple[int, int]] = []
    flat: list[tuple[bytes, bool]] = []
    for text, values, payload in columns:
        n, buffers = column_buffers(text, values)
        nodes += n
        flat += [(b, payload and i == len(buffers) - 1) for i, b in enumerate(buffers)]
    body = b""
    places: dict[int, tuple[int, int]] = {}
    first_payload = None
    for late in (False, True):
        if late:
            first_payload = len(body)
        for i, (b, is_payload) in enumerate(flat):
            if is_payload == late:
                places[i] = (len(body), len(b))
                body += pad64(b)
    assert first_payload is not None
    n, b = len(nodes), len(flat)
    table = struct.pack("<II", 24, 0) + struct.pack("<6H", 12, 24, 16, 18, 4, 8) + bytes(4)
    table += struct.pack("<iIqhB5x", 16, 36, len(body), 4, 3)
    table += struct.pack("<5H6x", 10, 24, 8, 4, 16)
    table += struct.pack("<iIqIII", 16, 24, rows, 20 + 16 * n, 0, 0)
    table += struct.pack("<I", n) + b"".join(struct.pack("<qq", *x) for x in nodes)
    table += struct.pack("<II", 0, b) + b"".join(struct.pack("<qq", *places[i]) for i in range(b))
    assert len(table) == 104 + 16 * n + 16 * b
    length = -(-(8 + len(table)) // 64) * 64 - 8
    return b"\xff\xff\xff\xff" + struct.pack("<i", length) + table.ljust(length, b"\0"), body, first_payload


def dictionary(column: int, names: Sequence[str]) -> bytes:
    """Returns the message with the class names of a column, made from the message of a batch with one column."""
    metadata, body, _ = message([("utf8", names, False)], len(names))
    table = metadata[8:]
    between = struct.pack("<4H8xiIq", 8, 16, 8, 4, 16, 28, column)
    flat = (table[:42] + b"\2" + table[43:48] + between + table[48:168]).ljust(248, b"\0")
    return metadata[:4] + struct.pack("<i", len(flat)) + flat + body


def batch_message(fields: Sequence[Mapping[str, Any]], samples: Sequence[Mapping[str, Any]]) -> bytes:
    """A delivered piece; categorical values are ids of the version."""
    columns = [("utf8", [s["key"] for s in samples], False)]
    columns += [(f["type"], [s[f["name"]] for s in samples], f["payload"]) for f in fields]
    metadata, body, _ = message(columns, len(samples))
    return metadata + body


def chunk_file(
    info: Mapping[str, Any],
    chunk: uuid.UUID,
    ingest: str,
    split: str,
    samples: Sequence[Mapping[str, Any]],
    overlaid: uuid.UUID | None = None,
):
    """(file, head length); categorical values are class names, or None. `overlaid`: the chunk of an overlay."""
    fields = info["fields"]
    arrow = [pa.field("key", pa.utf8(), False)]
    columns: list[tuple[str, list[Any], bool]] = [("utf8", [s["key"] for s in samples], False)]
    payload = [f for f in fields if f["payload"]]
    dictionaries = b""
    for f in fields:
        if f["payload"]:
            continue
        values = [s[f["name"]] for s in samples]
        meta = {"stoker.type": f["type"]} if f["type"] == "bfloat16" else {}
        kind = arrow_type(f["type"])
        if f["type"] == "categorical":
            names = sorted({v for v in values if v is not None}, key=lambda v: (v[::-1], v))  # some local order
            dictionaries += dictionary(len(columns), names)
            kind = pa.dictionary(pa.int32(), pa.utf8())
            values = [None if v is None else names.index(v) for v in values]
        arrow.append(pa.field(f["name"], kind, f["nullable"], meta or None))
        columns.append((f["type"], values, False))
    for f in payload:
        crcs = [google_crc32c.value(column_buffers(f["type"], [s[f["name"]]])[1][-1]) for s in samples]
        arrow.append(pa.field(f"crc32c:{f['name']}", pa.uint32(), False))
        columns.append(("uint32", crcs, False))
    for f in payload:
        meta = {"stoker.type": "bfloat16"} if f["type"].startswith("bfloat16") else None
        arrow.append(pa.field(f["name"], arrow_type(f["type"]), False, meta))
        columns.append((f["type"], [s[f["name"]] for s in samples], True))
    metadata = {
        "stoker.format": "1",
        "stoker.dataset": info["id"],
        "stoker.chunk": str(chunk),
        "stoker.ingest": ingest,
        "stoker.split": split,
        "stoker.created": CREATED,
        "stoker.payload": json.dumps([f["name"] for f in payload], separators=(",", ":")),
    }
    if overlaid is not None:
        metadata["stoker.overlaid"] = str(overlaid)
    serialized = pa.schema(arrow, metadata).serialize().to_pybytes()
    head = b"ARROW1\0\0" + serialized
    grown = -len(head) % 64
    length = struct.unpack_from("<i", serialized, 4)[0]
    head = b"ARROW1\0\0" + serialized[:4] + struct.pack("<i", length + grown) + serialized[8:] + bytes(grown)
    assert len(head) % 64 == 0
    head += dictionaries
    meta, body, first_payload = message(columns, len(samples))
    head_length = len(head) + len(meta) + (first_payload if payload else len(body))
    return head + meta + body + b"\xff\xff\xff\xff\0\0\0\0" + b"footer" + b"ARROW1", head_length

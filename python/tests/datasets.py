"""Writes datasets for the tests straight from the format's description, sharing no code with the package's reader."""

from __future__ import annotations

import json
import struct
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
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
    return text.startswith(("time", "date", "decimal")) or text in ("utf8[]", "binary[]") or text.endswith("[][]")


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
    info: Mapping[str, Any], chunk: uuid.UUID, ingest: str, split: str, samples: Sequence[Mapping[str, Any]]
):
    """(file, head length); categorical values are class names, or None."""
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


# --- a dataset ----------------------------------------------------------------------------------------------------


class DatasetWriter:
    """Writes a dataset directory and remembers what is in it."""

    def __init__(self, root: Path, fields: Sequence[Mapping[str, Any]], name: str = "test", seed: int = 0) -> None:
        self.root = root
        self._ids = np.random.default_rng(seed)
        self.fields = [{"nullable": False, "payload": False, **f} for f in fields]
        self.id = str(uuid.UUID(bytes=self._ids.bytes(16), version=4))
        self.version = 0
        self.ordinal = 0
        self.classes: dict[str, list[str]] = {}
        self.splits: list[str] = []
        self.rows: dict[tuple[int, int], dict[str, Any]] = {}
        """(ordinal, row) -> sample, class names in place of ids."""
        self.table: list[dict[str, Any]] = []
        (root / "_stoker" / "log").mkdir(parents=True)
        content = {
            "self": ZERO_CRC.decode(),
            "format": 1,
            "id": self.id,
            "name": name,
            "created": CREATED,
            "fields": [{k: f[k] for k in ("name", "type", "nullable", "payload")} for f in self.fields],
            "options": {"chunk_size": 8388608},
        }
        self.info = content
        (root / "_stoker" / "dataset.json").write_bytes(sealed(json.dumps(content, separators=(",", ":")).encode()))

    def chunk_path(self, ordinal: int) -> Path:
        name = str(self.table[ordinal]["id"])
        return self.root / "chunks" / name[-2:] / f"{name}.arrow"

    def commit(
        self,
        chunks: Iterable[Sequence[Mapping[str, Any]]],
        split: str = "train",
        removed: Mapping[int, Sequence[int] | None] | None = None,
    ) -> int:
        """Adds chunks of samples and removes rows; returns the version."""
        self.version += 1
        ingest = str(uuid.UUID(bytes=self._ids.bytes(16), version=4))
        added = []
        used: dict[str, set[str]] = {}
        for samples in chunks:
            chunk = uuid.UUID(bytes=self._ids.bytes(16), version=4)
            data, head_length = chunk_file(self.info, chunk, ingest, split, samples)
            entry = {
                "ordinal": self.ordinal,
                "id": chunk,
                "added_in": self.version,
                "split": split,
                "live": True,
                "rows": len(samples),
                "length": len(data),
                "crc32c": google_crc32c.value(data),
                "head_length": head_length,
                "head_crc32c": google_crc32c.value(data[:head_length]),
                "largest_row": 1 << 20,
                "removed": set(),
            }
            self.table.append(entry)
            path = self.chunk_path(self.ordinal)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            for row, sample in enumerate(samples):
                self.rows[self.ordinal, row] = dict(sample)
                for f in self.fields:
                    if f["type"] == "categorical" and sample[f["name"]] is not None:
                        used.setdefault(f["name"], set()).add(sample[f["name"]])
            self.ordinal += 1
            added.append(
                a_long(entry["ordinal"])
                + chunk.bytes
                + a_text(split)
                + b"".join(
                    a_long(entry[k]) for k in ("rows", "length", "crc32c", "head_length", "head_crc32c", "largest_row")
                )
            )
        gone = []
        for ordinal, rows in (removed or {}).items():
            gone.append(
                a_long(ordinal) + (a_long(0) if rows is None else a_long(1) + a_array([a_long(r) for r in rows]))
            )
            self.table[ordinal]["removed"] |= set(rows or ())
            self.table[ordinal]["live"] &= rows is not None
            for r in range(self.table[ordinal]["rows"]) if rows is None else rows:
                self.rows.pop((ordinal, r), None)
        if split not in self.splits and added:
            self.splits.append(split)
        for field, names in used.items():
            known = self.classes.setdefault(field, [])
            known.extend(n for n in sorted(names) if n not in known)
        record = a_long(1) + a_text(self.id) + a_long(self.version) + a_text(ingest) + a_text("ingest")
        record += a_long(1767323045678) + a_text("tester") + a_array(added) + a_array(gone)
        record += a_array([a_text(f) + a_array([a_text(n) for n in sorted(names)]) for f, names in used.items()])
        record += a_array([])
        path = self.root / "_stoker" / "log" / f"{self.version:020d}.avro"
        path.write_bytes(sealed(container(COMMIT, [record])))
        return self.version

    def write_table(self) -> Path:
        """Writes the chunk table of the newest version."""
        t = self.table
        columns = {
            "ordinal": pa.array([e["ordinal"] for e in t], pa.int64()),
            "id": pa.array([e["id"].bytes for e in t], pa.binary(16)),
            "added_in": pa.array([e["added_in"] for e in t], pa.int64()),
            "split": pa.array([self.splits.index(e["split"]) for e in t], pa.int32()),
            "live": pa.array([e["live"] for e in t], pa.bool_()),
            "rows": pa.array([e["rows"] for e in t], pa.int32()),
            "live_rows": pa.array([(e["rows"] - len(e["removed"])) * e["live"] for e in t], pa.int32()),
            "length": pa.array([e["length"] for e in t], pa.int64()),
            "crc32c": pa.array([e["crc32c"] for e in t], pa.uint32()),
            "head_length": pa.array([e["head_length"] for e in t], pa.int64()),
            "head_crc32c": pa.array([e["head_crc32c"] for e in t], pa.uint32()),
            "largest_row": pa.array([e["largest_row"] for e in t], pa.int64()),
            "removed_rows": pa.array([sorted(e["removed"]) or None for e in t], pa.list_(pa.int32())),
        }
        metadata = {
            "stoker.self": ZERO_CRC.decode(),
            "stoker.format": "1",
            "stoker.dataset": self.id,
            "stoker.version": str(self.version),
            "stoker.splits": json.dumps(self.splits),
            "stoker.classes": json.dumps(self.classes),
            "stoker.topics": "{}",
            "stoker.recovered": "0",
        }
        batch = pa.record_batch(columns)
        schema = batch.schema.with_metadata(metadata)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, schema) as writer:
            writer.write_batch(batch.replace_schema_metadata(metadata))
        data = sink.getvalue().to_pybytes()
        footer = data.rfind(ZERO_CRC)  # the schema stands twice in an IPC file
        data = data[:footer] + b"stoker_crc32c=--------" + data[footer + len(ZERO_CRC) :]
        path = self.root / "_stoker" / "tables" / f"{self.version:020d}.arrow"
        path.parent.mkdir(parents=True)
        path.write_bytes(sealed(data))
        return path

    def live(self, split: str = "train") -> dict[tuple[int, int], dict[str, Any]]:
        """(ordinal, row) -> sample of a split, with class ids."""
        out = {}
        for (ordinal, row), sample in self.rows.items():
            if self.table[ordinal]["split"] == split:
                s = dict(sample)
                for f in self.fields:
                    if f["type"] == "categorical" and s[f["name"]] is not None:
                        s[f["name"]] = self.classes[f["name"]].index(s[f["name"]])
                out[ordinal, row] = s
        return out


IMAGES = [
    {"name": "label", "type": "categorical"},
    {"name": "image", "type": "binary", "payload": True},
]

MANY = [
    {"name": "label", "type": "categorical", "nullable": True},
    {"name": "flag", "type": "bool", "nullable": True},
    {"name": "score", "type": "float32"},
    {"name": "half", "type": "bfloat16", "nullable": True},
    {"name": "caption", "type": "utf8", "nullable": True},
    {"name": "blob", "type": "binary"},
    {"name": "tokens", "type": "int32[]"},
    {"name": "box", "type": "float64[2,2]"},
    {"name": "image", "type": "binary", "payload": True},
    {"name": "text", "type": "utf8", "payload": True},
    {"name": "ids", "type": "uint16[]", "payload": True},
    {"name": "pixels", "type": "uint8[3,4]", "payload": True},
]


def sample(
    rng: np.random.Generator, number: int, fields: Sequence[Mapping[str, Any]] = IMAGES, size: int = 200
) -> dict[str, Any]:
    """A random sample."""
    out: dict[str, Any] = {"key": f"dir/{number:05d}-é.jpg"}
    for f in fields:
        kind, shape = parse_type(f["type"])
        if f.get("nullable") and rng.random() < 0.2:
            out[f["name"]] = None
        elif shape:
            out[f["name"]] = rng.integers(0, 256, shape)
        elif shape is not None:
            out[f["name"]] = rng.integers(0, 60000, rng.integers(0, 9))
        else:
            out[f["name"]] = {
                "categorical": lambda: ["zebra", "ant", "cat", "ünder"][rng.integers(4)],
                "bool": lambda: bool(rng.integers(2)),
                "float32": lambda: float(np.float32(rng.random())),
                "bfloat16": lambda: int(rng.integers(65536)),
                "utf8": lambda: "wörter " * int(rng.integers(0, 5)),
                "binary": lambda: rng.bytes(int(rng.integers(0, size))),
            }[kind]()
    return out


def small_dataset(
    root: Path, fields: Sequence[Mapping[str, Any]] = IMAGES, chunks: Sequence[int] = (7, 5, 9, 6, 8, 3), seed: int = 1
) -> DatasetWriter:
    """One version with chunks of the given row counts."""
    rng = np.random.default_rng(seed)
    writer = DatasetWriter(root, fields, seed=seed)
    numbers = iter(range(10**6))
    writer.commit([[sample(rng, next(numbers), fields) for _ in range(n)] for n in chunks])
    return writer

"""Writes datasets for the tests, and describes their samples."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import pyarrow as pa

from dataset_files import COMMIT, CREATED, ZERO_CRC, a_array, a_long, a_text, chunk_file, container, parse_type, sealed


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
        self.all_rows: dict[tuple[int, int], dict[str, Any]] = {}
        """The same, with removed rows."""
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
                "overlay": None,
                "overlay_fields": set(),
            }
            self.table.append(entry)
            path = self.chunk_path(self.ordinal)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            for row, sample in enumerate(samples):
                self.rows[self.ordinal, row] = dict(sample)
                self.all_rows[self.ordinal, row] = dict(sample)
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
        record += a_long(1767323045678) + a_text("tester") + a_array(added) + a_array(gone) + a_array([])
        record += a_array([a_text(f) + a_array([a_text(n) for n in sorted(names)]) for f, names in used.items()])
        record += a_array([])
        self._write_entry(record)
        return self.version

    def _write_entry(self, record: bytes) -> None:
        path = self.root / "_stoker" / "log" / f"{self.version:020d}.avro"
        path.write_bytes(sealed(container(COMMIT, [record])))

    def overlay_path(self, ordinal: int) -> Path:
        name = str(self.table[ordinal]["overlay"][0])
        return self.root / "overlays" / name[-2:] / f"{name}.arrow"

    def update(self, values: Mapping[tuple[int, int], Mapping[str, Any]], largest_row: int = 1 << 20) -> int:
        """Gives rows (ordinal, row) other values of small fields; returns the version."""
        self.version += 1
        ingest = str(uuid.UUID(bytes=self._ids.bytes(16), version=4))
        updated = []
        used: dict[str, set[str]] = {}
        for ordinal in sorted({o for o, _ in values}):
            entry = self.table[ordinal]
            for (o, row), new in values.items():
                if o == ordinal:
                    entry["overlay_fields"] |= set(new)
                    self.all_rows[o, row] |= new
                    if (o, row) in self.rows:
                        self.rows[o, row] |= new
            fields = [f for f in self.fields if f["name"] in entry["overlay_fields"]]
            samples = [self.all_rows[ordinal, row] for row in range(entry["rows"])]
            overlay = uuid.UUID(bytes=self._ids.bytes(16), version=4)
            data, _ = chunk_file({**self.info, "fields": fields}, overlay, ingest, entry["split"], samples, entry["id"])
            entry |= {"overlay": (overlay, len(data), google_crc32c.value(data)), "largest_row": largest_row}
            path = self.overlay_path(ordinal)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            for f in fields:
                if f["type"] == "categorical":
                    used.setdefault(f["name"], set()).update(s[f["name"]] for s in samples if s[f["name"]] is not None)
            updated.append(
                a_long(ordinal)
                + overlay.bytes
                + b"".join(a_long(n) for n in (len(data), google_crc32c.value(data), largest_row))
            )
        for field, names in used.items():
            known = self.classes.setdefault(field, [])
            known.extend(n for n in sorted(names) if n not in known)
        record = a_long(1) + a_text(self.id) + a_long(self.version) + a_text(ingest) + a_text("update")
        record += a_long(1767323045678) + a_text("tester") + a_array([]) + a_array([]) + a_array(updated)
        record += a_array([a_text(f) + a_array([a_text(n) for n in sorted(names)]) for f, names in used.items()])
        record += a_array([])
        self._write_entry(record)
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
            "overlay": pa.array(
                [(e["live"] and e["overlay"] and e["overlay"][0].bytes) or None for e in t], pa.binary(16)
            ),
            "overlay_length": pa.array(
                [(e["live"] and e["overlay"] and e["overlay"][1]) or None for e in t], pa.int64()
            ),
            "overlay_crc32c": pa.array(
                [(e["live"] and e["overlay"] and e["overlay"][2]) or None for e in t], pa.uint32()
            ),
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

"""The golden chunks and batches of the Java writer, read by pyarrow, hold what their JSON says."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import chunk_prototype
from chunk_prototype import crc32c
from stoker._chunk import ChunkReader
from stoker._dataset import Chunks, Snapshot
from stoker._fields import Field
from stoker._gather import OpenChunk, OpenWindow, gather
from stoker._log import DatasetInfo
from stoker._message import MessageLayout, batch_columns
from stoker._rows import RowBlock, Segment, SmallParts

GOLDEN = Path(__file__).parents[2] / "schemas" / "src" / "test" / "resources" / "golden"
CHUNKS = ("chunk-1a", "chunk-1b")


def _spec(name: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def _open(name: str) -> pa.RecordBatch:
    with pa.ipc.open_file(pa.py_buffer((GOLDEN / f"{name}.arrow").read_bytes())) as file:
        assert file.num_record_batches == 1
        batch = file.get_batch(0)
    batch.validate(full=True)
    return batch


def _numbers(values: np.ndarray, bfloat16: bool) -> list[Any]:
    if bfloat16:
        values = (values.astype(np.uint32) << 16).view(np.float32)
    return values.ravel().tolist()


def _plain(column: pa.Array, row: int, field: dict[str, Any], classes: list[str]) -> Any:
    """The value of a row in the form that the JSON has it."""
    scalar = column[row]
    kind = field["type"]
    if not scalar.is_valid:
        return None
    if kind == "categorical":
        return classes[scalar.as_py()]
    if kind == "binary":
        return scalar.as_py().hex()
    if kind == "bfloat16":
        return _numbers(np.array([scalar.as_py()], np.uint16), True)[0]
    if kind.endswith("]"):
        storage = column.storage if isinstance(column, pa.ExtensionArray) else column
        return _numbers(storage[row].values.to_numpy(), kind.startswith("bfloat16"))
    return scalar.as_py()


def _rows(batch: pa.RecordBatch, spec: dict[str, Any], classes: dict[str, list[str]]) -> list[dict[str, Any]]:
    rows = []
    for row in range(batch.num_rows):
        values: dict[str, Any] = {"key": batch.column("key")[row].as_py()}
        for field in spec["fields"]:
            name = field["name"]
            values[name] = _plain(batch.column(name), row, field, classes.get(name, []))
        rows.append(values)
    return rows


def _classes(schema: pa.Schema) -> dict[str, list[str]]:
    return {
        field.name: json.loads(field.metadata[b"stoker.classes"])
        for field in schema
        if field.metadata and b"stoker.classes" in field.metadata
    }


@pytest.mark.parametrize("name", CHUNKS)
def test_chunk_holds_the_rows(name: str) -> None:
    spec = _spec(name)
    batch = _open(name)
    assert _rows(batch, spec, _classes(batch.schema)) == spec["rows"]


@pytest.mark.parametrize("name", CHUNKS)
def test_schema_describes_the_chunk(name: str) -> None:
    spec = _spec(name)
    schema = _open(name).schema
    payload = [field["name"] for field in spec["fields"] if field["payload"]]
    small = [field["name"] for field in spec["fields"] if not field["payload"]]
    assert schema.names == ["key", *small, *(f"crc32c:{p}" for p in payload), *payload]
    metadata = {key.decode(): value.decode() for key, value in schema.metadata.items()}
    assert list(metadata.items()) == [
        ("stoker.format", "1"),
        *((f"stoker.{key}", spec[key]) for key in ("dataset", "chunk", "ingest", "split", "created")),
        ("stoker.payload", json.dumps(payload, separators=(",", ":"))),
    ]
    nullable = {field["name"] for field in spec["fields"] if field["nullable"]}
    assert {field.name for field in schema if field.nullable} == nullable


@pytest.mark.parametrize("name", CHUNKS)
def test_a_writer_made_from_the_page_makes_the_golden_bytes(name: str) -> None:
    assert chunk_prototype.chunk(_spec(name)) == (GOLDEN / f"{name}.arrow").read_bytes()


@pytest.mark.parametrize("name", CHUNKS)
def test_checksums_cover_head_and_samples(name: str) -> None:
    data = (GOLDEN / f"{name}.arrow").read_bytes()
    with pa.ipc.open_file(pa.py_buffer(data)) as file:
        footer = {key.decode(): value.decode() for key, value in file.metadata.items()}
        batch = file.get_batch(0)
    head = int(footer["stoker.head_length"])
    assert footer["stoker.head_crc32c"] == f"{crc32c(data[:head]):08x}"
    assert head % 64 == 0
    for field in _spec(name)["fields"]:
        if field["payload"]:
            column = batch.column(field["name"])
            storage = column.storage if isinstance(column, pa.ExtensionArray) else column
            sums = batch.column("crc32c:" + field["name"]).to_pylist()
            assert sums == [crc32c(_bytes(storage[row])) for row in range(batch.num_rows)]


def _bytes(scalar: pa.Scalar) -> bytes:
    if isinstance(scalar, pa.ListScalar):
        return scalar.values.to_numpy().tobytes()
    return scalar.as_buffer().to_pybytes()


@pytest.mark.parametrize("name", ["all", "one", "none"])
def test_batch_holds_the_rows_of_its_chunks(name: str) -> None:
    spec = _spec("batch-1")
    chunks = [_spec(chunk) for chunk in spec["chunks"]]
    schema = _open(spec["chunks"][0]).schema
    schema = pa.schema([field for field in schema if not field.name.startswith("crc32c:")])
    message = pa.py_buffer((GOLDEN / f"batch-1-{name}.bin").read_bytes())
    batch = pa.ipc.read_record_batch(message, schema)
    batch.validate(full=True)
    expected = [chunks[chunk]["rows"][row] for chunk, row in spec["batches"][name]]
    assert _rows(batch, chunks[0], spec["classes"]) == expected


def _snapshot(root: Path, spec: dict[str, Any]) -> Snapshot:
    """A dataset of the golden chunks."""
    chunks = [_spec(name) for name in spec["chunks"]]
    columns: dict[str, list[int]] = {"ordinal": [], "split": [], "rows": [], "length": []}
    columns.update({"head_length": [], "head_crc32c": []})
    for ordinal, (name, chunk) in enumerate(zip(spec["chunks"], chunks, strict=True)):
        data = (GOLDEN / f"{name}.arrow").read_bytes()
        path = root / "chunks" / chunk["chunk"][-2:] / f"{chunk['chunk']}.arrow"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        with pa.ipc.open_file(pa.py_buffer(data)) as file:
            head = int(file.metadata[b"stoker.head_length"])
        values = (ordinal, 0, len(chunk["rows"]), len(data), head, crc32c(data[:head]))
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    fields = tuple(Field(f["name"], f["type"], f["nullable"], f["payload"]) for f in chunks[0]["fields"])
    info = DatasetInfo(chunks[0]["dataset"], "golden", chunks[0]["created"], fields, {})
    ids = np.frombuffer(b"".join(uuid.UUID(c["chunk"]).bytes for c in chunks), np.uint8).reshape(-1, 16)
    table = Chunks({name: np.array(column) for name, column in columns.items()}, ids, {})
    return Snapshot(root, info, 1, ("train",), {f: tuple(c) for f, c in spec["classes"].items()}, table)


@pytest.mark.parametrize("name", ["all", "one", "none"])
def test_path_reader_makes_the_golden_batch(name: str, tmp_path: Path) -> None:
    spec = _spec("batch-1")
    snapshot = _snapshot(tmp_path, spec)
    reader = ChunkReader(snapshot)
    opened = [OpenChunk(reader, index) for index in range(len(spec["chunks"]))]
    rows = np.array(spec["batches"][name], np.int64).reshape(-1, 2)
    columns = batch_columns(snapshot.info.fields)
    block = RowBlock(columns, [chunk.head for chunk in opened], rows[:, 0], rows[:, 1])
    window = OpenWindow(reader, range(len(opened)), opened, block)
    layout = MessageLayout(columns)
    segments = [Segment(window, start, min(start + 4, len(rows))) for start in range(0, len(rows), 4)]
    parts = SmallParts(layout, segments, "golden")
    buffer = np.full(parts.length, 0xFF, np.uint8)
    for work in parts.write(buffer, layout):
        assert gather(work, buffer, buffer.ctypes.data)
    assert buffer.tobytes() == (GOLDEN / f"batch-1-{name}.bin").read_bytes()

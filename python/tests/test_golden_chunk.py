"""The golden chunks and batches of the Java writer, read by pyarrow, hold what their JSON says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import chunk_prototype
import dataset_files
from chunk_prototype import crc32c

GOLDEN = Path(__file__).parents[2] / "schemas" / "src" / "test" / "resources" / "golden"
CHUNKS = ("chunk-1a", "chunk-1b", "overlay-1")


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
    """The value of a row in the form that the JSON has it; a batch has ids, which `classes` name."""
    scalar = column[row]
    kind = field["type"]
    if not scalar.is_valid:
        return None
    if kind == "categorical":
        return scalar.as_py() if pa.types.is_dictionary(column.type) else classes[scalar.as_py()]
    if kind == "binary":
        return scalar.as_py().hex()
    if kind.startswith("decimal"):
        return f"{scalar.as_py():f}"
    if kind.startswith(("time", "date")):
        return scalar.value
    if kind.endswith("?[]") and kind not in ("utf8?[]", "binary?[]"):
        whole = scalar.as_py()
        if not kind.startswith("bfloat16"):
            return whole
        return [None if item is None else _numbers(np.array([item], np.uint16), True)[0] for item in whole]
    if kind in ("utf8[]", "utf8?[]"):
        return scalar.as_py()
    if kind in ("binary[]", "binary?[]"):
        return [None if item is None else item.hex() for item in scalar.as_py()]
    if kind.endswith("[][]"):
        return [
            _numbers(np.array(item.as_py(), item.type.value_type.to_pandas_dtype()), kind.startswith("bfloat16"))
            for item in scalar.values
        ]
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


@pytest.mark.parametrize("name", CHUNKS)
def test_chunk_holds_the_rows(name: str) -> None:
    spec = _spec(name)
    batch = _open(name)
    assert _rows(batch, spec, {}) == spec["rows"]


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
        ("stoker.payload", json.dumps(payload, separators=(",", ":"), ensure_ascii=False)),
        *((("stoker.overlaid", spec["overlaid"]),) if "overlaid" in spec else ()),
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
    if not scalar.is_valid:
        fixed = isinstance(scalar, pa.FixedSizeListScalar)
        return bytes(scalar.type.list_size * scalar.type.value_type.byte_width if fixed else 0)
    if isinstance(scalar, pa.ListScalar):
        return scalar.values.to_numpy().tobytes()
    return scalar.as_buffer().to_pybytes()


@pytest.mark.parametrize("name", ["all", "one", "none"])
def test_batch_holds_the_rows_of_its_chunks(name: str) -> None:
    spec = _spec("batch-1")
    chunks = [_spec(chunk) for chunk in spec["chunks"]]
    schema = _open(spec["chunks"][0]).schema
    ids = [field.with_type(pa.int32()) if pa.types.is_dictionary(field.type) else field for field in schema]
    schema = pa.schema([field for field in ids if not field.name.startswith("crc32c:")])
    message = pa.py_buffer((GOLDEN / f"batch-1-{name}.bin").read_bytes())
    batch = pa.ipc.read_record_batch(message, schema)
    batch.validate(full=True)
    expected = [chunks[chunk]["rows"][row] for chunk, row in spec["batches"][name]]
    assert _rows(batch, chunks[0], spec["classes"]) == expected


@pytest.mark.parametrize("name", ["all", "one", "none"])
def test_writers_made_from_the_page_make_the_golden_batch(name: str) -> None:
    """One of them is what the tests of the path reader compare it with."""
    spec = _spec("batch-1")
    chunks = [_spec(chunk) for chunk in spec["chunks"]]
    fields = chunks[0]["fields"]
    rows = [chunks[chunk]["rows"][row] for chunk, row in spec["batches"][name]]
    golden = (GOLDEN / f"batch-1-{name}.bin").read_bytes()
    assert chunk_prototype.batch(fields, rows, spec["classes"]) == golden
    samples = [{key: _sample_value(key, value, fields, spec) for key, value in row.items()} for row in rows]
    assert dataset_files.batch_message(fields, samples) == golden


def _sample_value(name: str, value: Any, fields: list[dict[str, Any]], spec: dict[str, Any]) -> Any:
    """The form in which `datasets` wants it."""
    kind = next((f["type"] for f in fields if f["name"] == name), "utf8")
    if value is None or dataset_files.is_special(kind):
        return value
    if kind == "binary":
        return bytes.fromhex(value)
    if kind == "categorical":
        return spec["classes"][name].index(value)
    if kind.startswith("bfloat16"):
        return (np.array(value, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return value

"""Topics of samples: the batches of the path reader, out of records that fastavro writes by the schema of the page."""

from __future__ import annotations

import io
import json
import struct
import sys
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pytest

from kafka_fake import NAMES, FakeTopic, Writer
from small_datasets import small_dataset
from stoker import Feed, errors
from stoker._format.fields import Field, batch_schema
from stoker._format.message import MessageLayout, batch_columns
from stoker._kafka.record import read_header
from stoker._kafka.sample_reader import SampleReader, _halves
from stoker._memory.buffers import BufferPool
from test_kafka import ORDER, expected, seen

GOLDEN = Path(__file__).parents[2] / "schemas/src/test/resources/golden"
SCALARS = {"bool": "boolean", "uint32": "long", "int64": "long", "uint64": "long", "float64": "double"}
SCALARS |= {"utf8": "string", "categorical": "string", "binary": "bytes"}


def schema_of(fields: Any) -> dict[str, Any]:
    def column(field: Any) -> dict[str, Any]:
        kind: Any = SCALARS.get(field.element, "float" if "float" in field.element else "int")
        kind = {"type": "array", "items": kind} if field.is_list else "bytes" if field.shape else kind
        return {"name": field.name, "type": ["null", kind] if field.nullable else kind}

    small = [column(f) for f in fields if not f.payload]
    crcs = [{"name": f"crc32c_{f.name}", "type": "long"} for f in fields if f.payload]
    columns = [{"name": "key", "type": "string"}, *small, *crcs, *(column(f) for f in fields if f.payload)]
    return {"type": "record", "name": "Sample", "namespace": "dev.stoker", "fields": columns}


class SampleWriter(Writer):
    """Writes a record for each row. The records of `lost` rows are empty."""

    def __init__(self, path: Any, schema_id: int | None = None, **order: Any):
        super().__init__(path, 1 << 20, **order)
        self.schema_id = schema_id
        self.schema = fastavro.parse_schema(schema_of(self.info.fields))

    def control(self, kind: str, epoch: int, lane: int) -> Any:
        headers, value = super().control(kind, epoch, lane)
        told = json.loads(value) | {"values": {"format": "avro", "schema": self.schema, "schema_id": self.schema_id}}
        return self.again(headers, json.dumps(told).encode())

    def again(self, headers: Any, value: bytes, row: int = 0, **changed: Any) -> Any:
        texts = dict(headers) | {"stoker.format": b"2"}
        texts |= {f"stoker.{name}": str(v).encode() for name, v in changed.items()}
        import google_crc32c

        ordered = [(f"stoker.{name}", texts[f"stoker.{name}"]) for name in NAMES] + [("stoker.row", b"%d" % row)]
        crc = google_crc32c.value(b"".join(b"%s=%s\n" % (n.encode(), t) for n, t in ordered) + value)
        return [*ordered, ("stoker.crc32c", b"%08x" % crc)], value

    def epoch(self, epoch: int) -> list[list[Any]]:
        return [[self.sample(*record) for record in lane] for lane in super().epoch(epoch)]

    def sample(self, headers: Any, value: bytes) -> Any:
        texts = dict(headers)
        if texts["stoker.kind"] != b"batch":
            return headers, value
        with pa.ipc.open_stream(value) as stream:
            (row,) = stream.read_all().cast(batch_schema(self.info.fields)).to_pylist()
        for field in self.info.fields:
            got = row[field.name]
            if field.type == "categorical" and got is not None:
                row[field.name] = self.info.classes[field.name][got]
            elif field.shape:
                row[field.name] = np.array(got, field.dtype).tobytes()
            if field.payload:
                row[f"crc32c_{field.name}"] = 0
        out = io.BytesIO(b"" if self.schema_id is None else b"\0" + struct.pack(">I", self.schema_id))
        out.seek(0, io.SEEK_END)
        fastavro.schemaless_writer(out, self.schema, row)
        return self.again(headers, out.getvalue(), int(texts["stoker.part"]))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    small_dataset(tmp_path / "d", chunks=(7, 5, 9, 6, 8, 3, 11, 10))
    return tmp_path / "d"


@pytest.fixture
def open_feed(monkeypatch: pytest.MonkeyPatch) -> Any:
    feeds = []

    def open_feed(topic: FakeTopic, **options: Any) -> Feed:
        monkeypatch.setitem(sys.modules, "confluent_kafka", topic.module())
        feeds.append(Feed("kafka://broker:9092/photos", **{"connect_timeout": 0.3, "batch_timeout": 0.5} | options))
        return feeds[-1]

    yield open_feed
    for feed in feeds:
        feed.close()


@pytest.mark.parametrize("schema_id", [None, 77])
def test_samples_make_the_same_batches(path: Path, open_feed: Any, schema_id: int | None) -> None:
    writer = SampleWriter(path, schema_id, **ORDER)
    topic = writer.write(0, 1)
    feed = open_feed(topic, tail="keep")
    assert seen(feed) == expected(writer, tail="keep")
    assert seen(feed) == expected(writer, 1, tail="keep")
    for rank in range(3):
        feed = open_feed(topic, rank=rank, world_size=3)
        assert seen(feed) == expected(writer, rank=rank, world_size=3)


def test_records_that_come_again_are_dropped_and_missing_ones_named(path: Path, open_feed: Any) -> None:
    writer = SampleWriter(path, **ORDER)
    topic = writer.write(0)
    for log in topic.partitions:
        log[7:7] = log[2:6]
    assert seen(open_feed(topic, tail="keep")) == expected(writer, tail="keep")
    del topic.partitions[1][12:]
    del topic.partitions[1][3:10]
    with pytest.raises(errors.StokerError):
        seen(open_feed(topic, tail="keep"))


def test_a_sample_that_was_left_out_is_counted(path: Path, open_feed: Any) -> None:
    writer = SampleWriter(path, **ORDER)
    topic = writer.write(0)
    headers, _ = topic.partitions[0][2]
    topic.partitions[0][2] = writer.again(headers, b"", 1, rows=0, skipped=1)
    batches = list(open_feed(topic, tail="keep"))
    assert sum(len(b.keys) for b in batches) == writer.info.samples - 1
    assert sum(b.skipped for b in batches) == 1


@pytest.mark.parametrize("damage", [lambda v: v[:-1], lambda v: v + b"\0", lambda v: b"\0" * len(v)])
def test_values_that_are_no_samples_are_named(path: Path, open_feed: Any, damage: Any) -> None:
    writer = SampleWriter(path, 5, **ORDER)
    topic = writer.write(0)
    headers, value = topic.partitions[0][1]
    topic.partitions[0][1] = writer.again(headers, damage(value))
    with pytest.raises(errors.CorruptDataError, match=r"photos.* is corrupt: not the samples that the topic describes"):
        seen(open_feed(topic, tail="keep"))


def test_rows_are_covered_by_the_checksum(path: Path) -> None:
    headers, value = SampleWriter(path, **ORDER).write(0).partitions[0][1]
    read_header(headers, value, "here")
    changed = [(name, b"3" if name == "stoker.row" else text) for name, text in headers]
    with pytest.raises(errors.CorruptDataError, match="CRC32C"):
        read_header(changed, value, "here")
    with pytest.raises(errors.CorruptDataError, match=r"stoker\.row is missing"):
        read_header([(n, t) for n, t in headers if n != "stoker.row"], value, "here")


def test_the_golden_samples_make_the_golden_batch() -> None:
    spec = json.loads((GOLDEN / "chunk-1a.json").read_text())
    classes = json.loads((GOLDEN / "batch-1.json").read_text())["classes"]["categorical"]
    fields = [Field.from_json(field, "here") for field in spec["fields"]]
    data, values = (GOLDEN / "kafka-2-all.bin").read_bytes(), []
    schema = json.loads((GOLDEN / "kafka-2-schema.avsc").read_text())
    while data:
        (length,) = struct.unpack(">I", data[:4])
        values.append(data[4 : 4 + length])
        data = data[4 + length :]
        fastavro.schemaless_reader(io.BytesIO(values[-1]), schema, None)
    reader = SampleReader(fields, {f.name: classes for f in fields if f.type == "categorical"}, None)
    layout = MessageLayout(batch_columns(fields))
    message = reader.message(layout, values, BufferPool(1 << 20), (0, 0, len(values)), "here")
    assert message.tobytes() == (GOLDEN / "batch-1-all.bin").read_bytes()


@pytest.mark.parametrize(
    "kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]
)
def test_lists_of_numbers_come_back_from_arrays(kind: str) -> None:
    avro = SCALARS.get(kind, "float" if "float" in kind else "int")
    dtype = np.dtype(kind)
    ends = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)
    numbers = np.array([0, 1, ends.min, ends.max, 63, 64, *range(100)], dtype)
    told = numbers.view(np.int64) if kind == "uint64" else numbers
    types = [
        {"type": "array", "items": avro},
        {"type": "array", "items": ["null", avro]},
        {"type": "array", "items": {"type": "array", "items": avro}},
    ]
    fields = [Field("a", f"{kind}[]"), Field("b", f"{kind}?[]"), Field("c", f"{kind}[][]")]
    columns = [{"name": f.name, "type": t} for f, t in zip(fields, types, strict=True)]
    schema = {"type": "record", "name": "S", "fields": [{"name": "key", "type": "string"}, *columns]}
    out = io.BytesIO()
    plain = told.tolist()
    row = {"key": "k", "a": plain, "b": [None, *plain, None], "c": [plain, [], plain]}
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), row)
    layout = MessageLayout(batch_columns(fields))
    reader = SampleReader(fields, {}, None)
    message = reader.message(layout, [out.getvalue()], BufferPool(1 << 20), (0, 0, 1), "here")
    rows = pa.ipc.read_record_batch(pa.py_buffer(message.tobytes()), batch_schema(fields)).to_pylist()
    expected = numbers.tolist()
    assert rows == [{"key": "k", "a": expected, "b": [None, *expected, None], "c": [expected, [], expected]}]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int8[]", b"\x02\x80\x02\0"),
        ("uint8[]", b"\x02\x01\0"),
        ("int32[]", b"\x04\x02"),
        ("int32[]", b"\x02" + b"\xff" * 11 + b"\0"),
        ("int32[]", b"\x01\x02\0"),
        ("int32[]", b"\x02\x02\x02\x02\0"),
        ("int8?[]", b"\x02\x04\x02\0"),
        ("float32[]", b"\x02\0\0"),
    ],
)
def test_lists_that_are_no_arrays_are_named(kind: str, value: bytes) -> None:
    fields = [Field("x", kind)]
    reader = SampleReader(fields, {}, None)
    with pytest.raises(errors.CorruptDataError, match="here is corrupt"):
        reader.message(MessageLayout(batch_columns(fields)), [b"\x02k" + value], BufferPool(1 << 20), (0, 0, 1), "here")


def test_every_half_comes_back_from_the_single_of_its_value() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16)
    numbers = halves[~np.isnan(halves.view(np.float16))]
    assert np.array_equal(_halves(numbers.view(np.float16).astype(np.float32).view(np.uint32)), numbers)
    odd = halves[np.isnan(halves.view(np.float16))].astype(np.uint32)
    assert np.array_equal(_halves((odd & 0x8000) << 16 | 0x7F800000 | (odd & 0x3FF) << 13), odd)

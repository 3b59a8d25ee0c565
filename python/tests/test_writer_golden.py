"""What the writer makes is, byte for byte, what the Java half makes: the golden files are its."""

from __future__ import annotations

import itertools
import json
import uuid
from calendar import timegm
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from stoker._commit.entry import encode_entry, encode_info
from stoker._commit.keys import hash_keys
from stoker._commit.lease import read_lease
from stoker._commit.table import encode_table
from stoker._dataset.log import DatasetInfo, LogEntry
from stoker._dataset.snapshot import Snapshot, _read_table
from stoker._format.avro import read_container
from stoker._format.fields import Field
from stoker._format.temporal import Date, Decimal128, Time, Timestamp
from stoker._packing.columns import keys_of, segment, sliced
from stoker._packing.filling_chunk import FillingChunk
from stoker._packing.pack import ChunkFormat, ChunkIdentity
from stoker._packing.values import converter
from stoker.errors import CorruptDataError

GOLDEN = Path(__file__).parents[2] / "schemas" / "src" / "test" / "resources" / "golden"
CHUNKS = ("chunk-1a", "chunk-1b")


def _spec(name: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def _fields(spec: dict[str, Any]) -> list[Field]:
    return [Field.from_json(f, "golden") for f in spec["fields"]]


def _identity(spec: dict[str, Any]) -> ChunkIdentity:
    seconds, _, fraction = spec["created"].rstrip("Z").partition(".")
    ms = timegm(datetime.fromisoformat(seconds).timetuple()) * 1000 + int(fraction)
    return ChunkIdentity(spec["dataset"], uuid.UUID(spec["chunk"]), spec["ingest"], spec["split"], ms)


def _value(field: Field, value: Any) -> Any:
    """As a user has it: arrays in their shape, bytes as bytes."""
    if value is None:
        return None
    if field.type == "binary":
        return bytes.fromhex(value)
    if field.shape:
        return np.array(value).reshape(field.shape)
    if isinstance(field.special, Decimal128):
        return Decimal(value)
    if isinstance(field.special, Date | Time | Timestamp):
        return np.int64(value).view(field.special.view)
    if field.item == "binary":
        return [None if item is None else bytes.fromhex(item) for item in value]
    return value


def _filled(spec: dict[str, Any], rows: list[dict[str, Any]], chunk: FillingChunk) -> None:
    plan = [(f, converter(f)) for f in _fields(spec)]
    for row in rows:
        given = [(convert, _value(field, row[field.name])) for field, convert in plan]
        chunk.pending.append([row["key"].encode(), *(None if v is None else convert(v) for convert, v in given)])
        chunk.single += 1


def _add(chunk: FillingChunk, group: Any) -> None:
    chunk.close_rows()
    chunk.groups.append(group)
    chunk.whole += 1


def _arrow(field: Field, values: list[Any]) -> pa.Array:
    given = [_value(field, v) for v in values]
    if isinstance(field.special, Decimal128):
        return pa.array(given, pa.decimal128(38, field.special.scale))
    if field.special is not None:
        stored = pa.array(values, pa.from_numpy_dtype(field.special.dtype))
        return stored.view(field.special.arrow())
    if field.item is not None:
        element = pa.float32() if field.element == "bfloat16" else None
        large = {"utf8": pa.large_utf8(), "binary": pa.binary()}.get(field.item)
        number = element or pa.from_numpy_dtype(field.dtype)
        inner = large or (number if field.null_items else pa.list_(number))
        return pa.array(given, pa.large_list(inner) if field.nullable else pa.list_(inner))
    if field.type == "categorical":
        return pa.array(given, pa.utf8()).dictionary_encode() if "maybe" in field.name else pa.array(given, pa.utf8())
    if field.type in ("utf8", "binary", "bool"):
        return pa.array(given, {"utf8": pa.large_utf8(), "binary": pa.binary(), "bool": pa.bool_()}[field.type])
    dtype = np.dtype(np.float32) if field.element == "bfloat16" else field.dtype
    element = pa.from_numpy_dtype(dtype)
    if field.is_list:
        return pa.array([None if v is None else np.array(v) for v in given], pa.list_(element))
    if field.shape:
        size = int(np.prod(field.shape))
        return pa.array([None if v is None else v.ravel() for v in given], pa.list_(element, size))
    return pa.array([None if v is None else dtype.type(v) for v in given], element)


def _packed(spec: dict[str, Any], chunk: FillingChunk) -> bytes:
    keys, *columns = chunk.take()
    packed = ChunkFormat(_fields(spec)).pack(keys, columns, _identity(spec))
    content = b"".join(packed.buffers)
    assert packed.summary.length == len(content)
    return content


@pytest.mark.parametrize("name", CHUNKS)
def test_rows_make_the_golden_chunk(name: str) -> None:
    spec = _spec(name)
    chunk = FillingChunk(spec["split"], _fields(spec), 0, 0)
    _filled(spec, spec["rows"], chunk)
    assert _packed(spec, chunk) == (GOLDEN / f"{name}.arrow").read_bytes()


@pytest.mark.parametrize("name", CHUNKS)
@pytest.mark.parametrize("cuts", [(), (1,), (2, 3), "every"])
def test_arrow_batches_in_any_slices_make_the_golden_chunk(name: str, cuts: Any) -> None:
    spec = _spec(name)
    rows = spec["rows"]
    edges = list(range(len(rows) + 1)) if cuts == "every" else [0, *(c for c in cuts if c < len(rows)), len(rows)]
    chunk = FillingChunk(spec["split"], _fields(spec), 0, 0)
    whole = [keys_of(pa.array([row["key"] for row in rows]))]
    whole += [segment(_arrow(f, [row[f.name] for row in rows]), f) for f in _fields(spec)]
    for start, end in itertools.pairwise(edges):
        _add(chunk, [sliced(s, start, end) for s in whole])
    assert _packed(spec, chunk) == (GOLDEN / f"{name}.arrow").read_bytes()


@pytest.mark.parametrize("name", CHUNKS)
def test_rows_and_batches_mix(name: str) -> None:
    spec = _spec(name)
    rows = spec["rows"]
    chunk = FillingChunk(spec["split"], _fields(spec), 0, 0)
    _filled(spec, rows[:1], chunk)
    rest = rows[1:-1]
    if rest:
        whole = [keys_of(pa.array([row["key"] for row in rest]))]
        # From within larger arrays, as slices of tables are.
        for f in _fields(spec):
            larger = _arrow(f, [row[f.name] for row in (rows[0], *rest, rows[0])])
            whole.append(segment(larger.slice(1, len(rest)), f))
        _add(chunk, whole)
    _filled(spec, rows[max(1, len(rows) - 1) :], chunk)
    assert _packed(spec, chunk) == (GOLDEN / f"{name}.arrow").read_bytes()


def test_log_entry_is_encoded_as_the_golden_one() -> None:
    content = (GOLDEN / "log-entry-1.avro").read_bytes()
    record = read_container(content, "golden")[0]
    assert record.pop("format") == 1
    dataset = record.pop("dataset")
    for classes in (record["classes"], dict(reversed(record["classes"].items()))):
        entry = LogEntry(**{**record, "classes": classes})
        assert encode_entry(entry, dataset) == content


def test_dataset_json_is_encoded_as_the_golden_one() -> None:
    content = (GOLDEN / "dataset-1.json").read_bytes()
    tree = json.loads(content)
    fields = tuple(Field.from_json(f, "golden") for f in tree["fields"])
    info = DatasetInfo(tree["id"], tree["name"], tree["created"], fields, tree["options"], {"label": ("zebra", "café")})
    assert encode_info(info) == content


def test_lease_is_read_and_encoded_as_the_golden_one(tmp_path: Path) -> None:
    content = (GOLDEN / "lease-1.json").read_bytes()
    lease = read_lease(GOLDEN / "lease-1.json")
    assert lease.encode() == content
    assert (lease.ingest, lease.by) == ("photos-1", "zoë@host")
    (tmp_path / "x.json").write_bytes(content[:-3] + b"6" + content[-2:])
    with pytest.raises(CorruptDataError):
        read_lease(tmp_path / "x.json")


def test_chunk_table_is_encoded_as_the_golden_one(tmp_path: Path) -> None:
    path = GOLDEN / "chunk-table-1.arrow"
    with pa.ipc.open_file(str(path)) as file:
        metadata = {k.decode(): v.decode() for k, v in file.schema.metadata.items()}
    dataset, version = metadata["stoker.dataset"], int(metadata["stoker.version"])
    info = DatasetInfo(dataset, "x", "", (), {})
    table = _read_table(path, info, version)
    snapshot = Snapshot(
        tmp_path, info, version, tuple(table.splits), table.classes, table.chunks(), table.topics, table.recovered
    )
    assert snapshot.topics
    assert encode_table(snapshot) == path.read_bytes()


def test_keys_are_hashed_as_the_ingest_does() -> None:
    for key, expected in (("", "48218226ff3cd4bf"), ("a", "4e23c0c98b9a6368")):
        data = np.frombuffer(b"other" + key.encode() + b"another", np.uint8)
        hashes = hash_keys(data, np.array([5, len(key), 7]))
        assert f"{hashes[1]:016x}" == expected


def test_hashes_of_many_lengths_do_not_depend_on_neighbours() -> None:
    rng = np.random.default_rng(3)
    keys = [rng.bytes(int(n)) for n in rng.integers(0, 41, 200)]
    lengths = np.array([len(k) for k in keys], np.int64)
    together = hash_keys(np.frombuffer(b"".join(keys), np.uint8), lengths)
    alone = [hash_keys(np.frombuffer(k, np.uint8), np.array([len(k)]))[0] for k in keys]
    assert together.tolist() == alone


def test_a_dictionary_in_any_order_makes_the_chunk_that_single_names_make() -> None:
    """Ids follow the first use by the chunk's rows; a row without a class has id 0, whatever the dictionary says."""
    names = ["b", None, "a", "c", None, "b"]
    field = Field("label", "categorical", nullable=True)
    identity = ChunkIdentity("d" * 36, uuid.UUID(int=7), "i", "train", 0)
    rows = FillingChunk("train", [field], 0, 0)
    rows.pending += [[b"%d" % n, name] for n, name in enumerate(names)]
    rows.single = 6
    encoded = pa.DictionaryArray.from_arrays(pa.array([3, None, 2, 0, None, 3], pa.int8()), ["c", "unused", "a", "b"])
    batch = FillingChunk("train", [field], 0, 0)
    whole = [keys_of(pa.array([str(n) for n in range(6)])), segment(encoded, field)]
    for start, end in ((0, 2), (2, 6)):
        _add(batch, [sliced(s, start, end) for s in whole])
    packed = [ChunkFormat([field]).pack(*_split(chunk), identity) for chunk in (rows, batch)]
    assert packed[0].buffers == packed[1].buffers
    assert packed[0].classes == {"label": ["b", "a", "c"]}


def _split(chunk: FillingChunk) -> tuple[Any, Any]:
    keys, *columns = chunk.take()
    return keys, columns

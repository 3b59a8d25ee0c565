"""Lists with null items: the bytes of the page, both ways of writing, all ways of reading, and damaged messages."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import chunk_prototype
import stoker
from rounds import Round, is_replay, rounds
from stoker import Feed, Writer
from stoker._batch.batch import Batch
from stoker._batch.piece import Form
from stoker._dataset.snapshot import open_snapshot
from stoker._format.fields import Field
from stoker._source.batch_source import DeliveredBatch, PieceData
from stoker.errors import CorruptDataError, InvalidSampleError

ITEMS: dict[str, Any] = {
    "int8": lambda rng: rng.randint(-128, 127),
    "int64": lambda rng: rng.randint(-(2**63), 2**63 - 1),
    "uint16": lambda rng: rng.randint(0, 2**16 - 1),
    "uint64": lambda rng: rng.randint(0, 2**64 - 1),
    "float32": lambda rng: rng.randint(-100, 100) / 8,
    "float64": lambda rng: rng.random(),
    "bfloat16": lambda rng: rng.randint(-8, 8) / 2,
    "utf8": lambda rng: "ä" * rng.randint(0, 3),
    "binary": lambda rng: rng.randbytes(rng.randint(0, 3)),
}
FIELDS = [Field(f"{kind}{maybe}", f"{kind}?[]", bool(maybe)) for kind in ITEMS for maybe in ("", ".maybe")]
SCHEMA = {f.name: f.type + "?" * f.nullable for f in FIELDS}


def samples(seed: int, count: int) -> list[dict[str, Any]]:
    """Rows of all types: no item, only null items, no null item, and a mixture."""
    rng = random.Random(seed)
    rows = []
    for n in range(count):
        row: dict[str, Any] = {"key": f"k{n:03d}"}
        for field in FIELDS:
            share = rng.choice((0, 0.3, 0.9, 1)) if seed % 3 else 1  # every third dataset has no null item
            make = ITEMS[field.element]
            row[field.name] = [make(rng) if rng.random() < share else None for _ in range(rng.choice((0, 1, 7, 8, 17)))]
            if field.nullable and rng.random() < 0.2:
                row[field.name] = None
        rows.append(row)
    return rows


def written(path: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    with Writer(path, SCHEMA, shuffle=False, **options) as writer:
        for row in rows:
            writer.write(row)
    return path


def table(rows: list[dict[str, Any]]) -> pa.Table:
    columns = {"key": pa.array([row["key"] for row in rows])}
    for field in FIELDS:
        item = pa.float32() if field.element == "bfloat16" else field.arrow().type.value_type
        columns[field.name] = pa.array([row[field.name] for row in rows], pa.list_(item))
    return pa.table(columns)


def in_json(value: Any) -> Any:
    """In the form of the golden files."""
    return None if value is None else [item.hex() if isinstance(item, bytes) else item for item in value]


def plain(field: Field, values: Any, valid: Any = None) -> Any:
    """A row in the form in which it was written."""
    if values is None or isinstance(values, list):
        return values
    mask = np.ma.getmaskarray(values) if valid is None else ~valid
    data = np.ma.getdata(values)
    assert not data[mask].any(), "null items are zeros"
    if field.element == "bfloat16":
        data = (data.astype(np.uint32) << 16).view(np.float32)
    return np.ma.MaskedArray(data, mask).tolist()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("way", ["rows", "batches"])
def test_chunks_are_those_of_the_page(tmp_path: Path, seed: int, way: str) -> None:
    rows = samples(seed, 23)
    if way == "rows":
        written(tmp_path / "d", rows)
    else:
        whole = table(rows)
        with Writer(tmp_path / "d", SCHEMA, shuffle=False) as writer:
            for start, end in ((0, 5), (5, 6), (6, 23)):
                writer.write_batch(whole.slice(start, end - start))
    (file,) = (tmp_path / "d").glob("chunks/*/*.arrow")
    with pa.ipc.open_file(file) as opened:
        metadata = {key.decode(): value.decode() for key, value in opened.schema.metadata.items()}
        opened.read_all().validate(full=True)
    spec = {name: metadata[f"stoker.{name}"] for name in ("dataset", "chunk", "ingest", "split", "created")}
    spec |= {
        "fields": [field.to_json() for field in FIELDS],
        "rows": [{name: value if name == "key" else in_json(value) for name, value in row.items()} for row in rows],
    }
    assert chunk_prototype.chunk(spec) == file.read_bytes()


def row_bytes(row: dict[str, Any]) -> int:
    """What a row takes in a batch, as the page says."""
    total = 4 + len(row["key"])
    for field in FIELDS:
        items = row[field.name] or []
        total += 4 + field.nullable + -(-len(items) // 8)
        if field.element in ("utf8", "binary"):
            total += sum(4 + len(i.encode() if isinstance(i, str) else i or b"") for i in items)
        else:
            total += len(items) * field.dtype.itemsize
    return total


@pytest.mark.parametrize("seed", range(4))
def test_the_largest_row_is_that_of_the_page(tmp_path: Path, seed: int) -> None:
    rows = samples(seed, 9)
    largest = open_snapshot(written(tmp_path / "d", rows)).chunks.columns["largest_row"]
    assert largest.tolist() == [max(map(row_bytes, rows))]


@pytest.mark.parametrize("seed", range(4))
def test_samples_tables_and_feeds_have_each_item(tmp_path: Path, seed: int) -> None:
    rows = {row["key"]: row for row in samples(seed, 40)}
    path = written(tmp_path / "d", list(rows.values()), chunk_size=6_000)
    opened = stoker.open(path)
    for row in opened:
        for field in FIELDS:
            assert plain(field, row[field.name]) == rows[row["key"]][field.name], (row["key"], field)
    read = opened.to_arrow()
    read.validate(full=True)
    taken = opened.to_arrow(filter=pa.compute.field("key") > "k020")
    for found in (read, taken):
        for row in found.drop_columns(["bfloat16", "bfloat16.maybe"]).to_pylist():
            assert row == {name: rows[row["key"]][name] for name in row}
    for options in ({}, {"columns": ["key", *SCHEMA][::-1]}):
        with Feed(path, batch_size=7, seed=seed, tail="keep", **options) as feed:
            for batch in feed:
                batch.arrow.validate(full=True)
                for field in FIELDS:
                    values, present, items = (
                        batch[field.name],
                        batch.validity(field.name),
                        batch.item_validity(field.name),
                    )
                    for i, key in enumerate(batch.keys):
                        value = values[i] if present is None or present[i] else None
                        valid = np.ones(len(value), bool) if items is None and value is not None else items and items[i]
                        assert plain(field, value, valid) == rows[key][field.name], (key, field)


def test_fields_without_null_items_have_no_item_validity(tmp_path: Path) -> None:
    with Writer(tmp_path / "d", {"a": "int32[]", "b": "int32?[]", "c": "utf8?[]"}) as writer:
        writer.write({"key": "x", "a": [1], "b": [1, 2], "c": ["y"]})
    with Feed(tmp_path / "d", batch_size=1) as feed:
        batch = next(iter(feed))
    assert [batch.item_validity(name) for name in ("key", "a", "b", "c")] == [None] * 4
    assert batch["b"].tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        ("int32?[]", [1, "a"], "item 1: expected a whole number"),
        ("int8?[]", [None, 128], "item 1: 128 is not between -128 and 127"),
        ("int32?[]", [[1], None], "item 0: expected a whole number"),
        ("int32?[]", np.zeros((2, 2), np.int32), "expected one dimension"),
        ("int32?[]", "ab", "expected a list of int32"),
        ("utf8?[]", [None, 1], "item 1: expected str"),
        ("utf8[]", ["a", None], r"declare the field as utf8\?\[\]"),
    ],
)
def test_values_that_do_not_fit_are_refused(tmp_path: Path, kind: str, value: Any, why: str) -> None:
    with Writer(tmp_path / "d", {"x": kind}) as writer:
        with pytest.raises(InvalidSampleError, match=why):
            writer.write({"key": "a", "x": value})
        writer.write({"key": "b", "x": []})
    assert len(stoker.open(tmp_path / "d")) == 1


def test_columns_with_null_items_name_the_type(tmp_path: Path) -> None:
    numbers = pa.table({"key": ["a", "b"], "x": pa.array([[1], [2, None]], pa.list_(pa.int64()))})
    with Writer(tmp_path / "d", numbers.schema) as writer:
        with pytest.raises(InvalidSampleError, match=r"sample 'b' .*declare the field as int64\?\[\]"):
            writer.write_batch(numbers)
        writer.write_batch(numbers.slice(0, 1))


def test_masked_arrays_are_written(tmp_path: Path) -> None:
    with Writer(tmp_path / "d", {"x": "float32?[]"}) as writer:
        writer.write({"key": "a", "x": np.ma.MaskedArray([1.5, 2.5, np.nan], [False, True, False])})
        writer.write({"key": "b", "x": np.array([1, 2])})
    found = stoker.open(tmp_path / "d")
    assert found["a"]["x"].mask.tolist() == [False, True, False]
    assert np.isnan(found["a"]["x"].data[2])
    assert found["b"]["x"].tolist() == [1, 2]


def test_damaged_messages_end_in_an_error_or_in_rows(tmp_path: Path) -> None:
    """Nothing but the message itself is read, whatever its lengths and offsets say."""
    rows = samples(1, 12)
    path = written(tmp_path / "d", rows)
    with Feed(path, batch_size=12, seed=1) as feed:
        whole = bytes(next(iter(feed))._pieces[0].buffer)
    form = Form(tuple(FIELDS))
    head = form.layout.body_start
    refused = 0

    def one(rng: Round) -> None:
        nonlocal refused
        damaged = bytearray(whole)
        for _ in range(rng.choice((1, 1, 3))):
            at = rng.randrange(head if rng.number % 2 else len(whole))
            damaged[at] ^= 1 << rng.randrange(8)
        piece = PieceData(0, 12, False, 0, np.frombuffer(damaged, np.uint8))
        batch = Batch(form, DeliveredBatch(0, 0, [piece]), dict)
        for field in FIELDS:
            try:
                assert len(batch.raw(field.name)) == 12
                assert len(batch.item_validity(field.name) or range(12)) == 12
            except CorruptDataError:
                refused += 1

    done = rounds(one, seconds=1, at_least=200)
    assert is_replay() or refused > done / 6

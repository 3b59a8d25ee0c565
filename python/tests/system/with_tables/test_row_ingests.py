"""Tables that other systems wrote become datasets, value by value."""

from __future__ import annotations

import csv
import datetime as dt
import decimal
import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import stoker
from stoker import Feed

ROWS = 3000
FIELDS = ("label", "age", "score", "tokens", "when", "day", "tags", "price", "image")


def table(first: int = 0, rows: int = ROWS) -> pa.Table:
    """Rows with a column of each kind, with nulls and empty lists."""
    numbers = range(first, first + rows)
    start = dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc)
    return pa.table({
        "id": [f"s{i:06d}" for i in numbers],
        "label": pa.array([("cat", "dog", "öwl")[i % 3] for i in numbers]).dictionary_encode(),
        "age": pa.array([None if i % 7 == 0 else i % 90 for i in numbers], pa.int8()),
        "image": pa.array([i.to_bytes(4, "big") * (500 + i % 100) for i in numbers], pa.binary()),
        "score": pa.array([i / 7 for i in numbers], pa.float32()),
        "tokens": pa.array([list(range(i % 5)) for i in numbers], pa.list_(pa.int32())),
        "when": pa.array([start + dt.timedelta(seconds=i) for i in numbers], pa.timestamp("us", tz="UTC")),
        "day": pa.array([dt.date(2020, 1, 1) + dt.timedelta(days=i % 400) for i in numbers], pa.date32()),
        "tags": pa.array([["a", "bü"][: i % 3] for i in numbers], pa.list_(pa.string())),
        "price": pa.array([decimal.Decimal(i) / 100 for i in numbers], pa.decimal128(10, 2)),
        "box": pa.array([{"x": i, "y": i / 2} for i in numbers]),
    })  # fmt: skip


def stored(path: Path) -> dict[str, dict]:
    """Key -> row of a dataset with one version, read by pyarrow."""
    found = {}
    for file in path.glob("chunks/*/*.arrow"):
        for row in pyarrow.ipc.open_file(file).read_all().to_pylist():
            assert row["key"] not in found
            found[row["key"]] = row
    return found


def require_equal(found: dict[str, dict], source: pa.Table) -> None:
    assert len(found) == source.num_rows
    for row in source.to_pylist():
        mine = found[row["id"]]
        assert {name: mine[name] for name in FIELDS} == {name: row[name] for name in FIELDS}
        assert (mine["box.x"], mine["box.y"]) == (row["box"]["x"], row["box"]["y"])


def delivered(value: Any) -> Any:
    """A value of a batch as pyarrow gives it."""
    if value is np.ma.masked:
        return None
    if isinstance(value, np.ndarray) and value.dtype == np.uint8:
        return value.tobytes()
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


@pytest.fixture
def source(tmp_path):
    whole = table()
    (tmp_path / "source").mkdir()
    pq.write_table(whole.slice(0, 2000), tmp_path / "source" / "a.parquet", row_group_size=300)
    pq.write_table(whole.slice(2000), tmp_path / "source" / "b.parquet", compression="zstd", use_dictionary=False)
    return whole


BY_ID = ("--key", "id", "--label", "label", "--chunk-size", "256kb")


@pytest.mark.parametrize("order", ["shuffled", "listed"])
def test_every_value_of_a_table_is_stored_and_fed(cli, tmp_path, source, order):
    said = json.loads(cli.run("ingest", tmp_path / "source", tmp_path / "data", *BY_ID, "--order", order, "--json"))
    assert (said["version"], said["samples"]) == (1, ROWS)
    require_equal(stored(tmp_path / "data"), source)
    by_id = {row["id"]: row for row in source.to_pylist()}
    fed = set()
    columns = [*FIELDS, "box.x", "box.y"]
    with Feed(tmp_path / "data", tail="keep", epochs=1, columns=["key", *columns]) as feed:
        classes = feed.classes["label"]
        for batch in feed:
            for at, key in enumerate(batch.keys):
                row = by_id[key]
                wanted = {name: row[name] for name in FIELDS} | {"box.x": row["box"]["x"], "box.y": row["box"]["y"]}
                wanted["when"] = row["when"].replace(tzinfo=None)
                given = {name: delivered(batch[name][at]) for name in columns}
                given["label"] = classes[given["label"]]
                assert given == wanted
            fed |= set(batch.keys)
    assert fed == by_id.keys()
    assert "no damage found" in cli.run("verify", tmp_path / "data")


@pytest.mark.full("stores")
def test_rows_in_listed_order_follow_each_other_and_are_named_by_their_position(cli, tmp_path, source):
    cli.run("ingest", tmp_path / "source", tmp_path / "data", "--order", "listed", "--chunk-size", "256kb")
    samples = stoker.open(tmp_path / "data")
    keys = [sample["key"] for sample in samples]
    ids = [sample["id"] for sample in samples]
    assert ids == source["id"].to_pylist()
    assert keys == [f"a.parquet#{i}" for i in range(2000)] + [f"b.parquet#{i}" for i in range(1000)]


@pytest.mark.full("stores")
def test_a_key_that_occurs_again_is_refused_and_nothing_is_committed(cli, tmp_path, source):
    cli.run("ingest", tmp_path / "source", tmp_path / "data", *BY_ID)
    pq.write_table(table(2990, 20), tmp_path / "more.parquet")
    for order in ("shuffled", "listed"):
        said = cli.fails("ingest", tmp_path / "more.parquet", tmp_path / "data", *BY_ID, "--append", "--order", order)
        assert "already has a sample with the key s00299" in said
    pq.write_table(table(ROWS, 20), tmp_path / "more.parquet")
    cli.run("ingest", tmp_path / "more.parquet", tmp_path / "data", *BY_ID, "--append", "--order", "listed")
    assert json.loads(cli.run("info", tmp_path / "data", "--json"))["version"] == 2
    assert "occurs twice" in cli.fails("ingest", tmp_path / "source", tmp_path / "other", "--key", "label")


@pytest.mark.full("stores")
def test_an_ingest_that_is_killed_leaves_nothing_and_resumes(cli, tmp_path, source):
    arguments = ("ingest", tmp_path / "source", tmp_path / "data", *BY_ID)
    identity = "11111111-2222-4333-8444-555555555555"
    with cli.start(*arguments, "--ingest-id", identity) as process:
        for line in process.stderr:
            if line.startswith("chunks of"):
                break
        process.kill()
    said = json.loads(cli.run(*arguments, "--ingest-id", identity, "--json"))
    assert said["version"] == 1
    found = json.loads(cli.run("info", tmp_path / "data", "--json"))
    assert (found["version"], found["samples"]) == (1, ROWS)


@pytest.mark.full("stores")
def test_what_is_wrong_is_said_before_anything_is_written(cli, tmp_path, source):
    said = cli.fails("ingest", tmp_path / "source", tmp_path / "data", "--columns", "nope", "--key", "idd")
    assert "the source has no column nope" in said
    assert "the source has no column idd; it has id, label, age" in said
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "source" / "a.parquet").read_bytes()[:5000])
    said = cli.fails("ingest", tmp_path / "cut.parquet", tmp_path / "data")
    assert "cut.parquet is damaged" in said
    plan = cli.run("ingest", tmp_path / "source", tmp_path / "data", *BY_ID, "--dry-run")
    assert "3,000 rows" in plan
    assert "field  price: decimal(10,2)" in plan
    assert not (tmp_path / "data").exists()


@pytest.mark.full("stores")
def test_rows_that_cannot_be_samples_are_left_out_on_request(cli, tmp_path):
    rows = pa.table({"id": ["a", None, "c"], "age": pa.array([1, 2, 300], pa.int32())})
    pq.write_table(rows, tmp_path / "few.parquet")
    arguments = ("ingest", tmp_path / "few.parquet", tmp_path / "data", "--key", "id", "--type", "age=int8")
    assert "row few.parquet#1 cannot be a sample" in cli.fails(*arguments, "--order", "listed")
    cli.run(*arguments, "--on-error", "skip")
    assert list(stored(tmp_path / "data")) == ["a"]


@pytest.mark.full("stores")
def test_ten_thousand_columns_survive_a_round_trip(cli, tmp_path):
    numbers = range(10_000)
    source = pa.table({f"ü{i}": pa.array([i, None, -i], pa.int32() if i % 2 else pa.float32()) for i in numbers})
    pq.write_table(source, tmp_path / "wide.parquet", row_group_size=1)
    cli.run("ingest", tmp_path / "wide.parquet", tmp_path / "data", "--order", "listed")
    cli.run("export", tmp_path / "data", tmp_path / "out", "--format", "parquet")
    found = pq.read_table(tmp_path / "out" / "train-00000-of-00001.parquet")
    assert found["key"].to_pylist() == [f"wide.parquet#{i}" for i in range(3)]
    assert found.drop_columns("key").to_pydict() == source.to_pydict()


@pytest.mark.full("stores")
def test_columns_of_the_same_name_are_refused_until_columns_are_named(cli, tmp_path):
    rows = pa.Table.from_arrays([pa.array([1, 2]), pa.array(["x", "y"]), pa.array([3, 4])], ["a", "a", "b"])
    pq.write_table(rows, tmp_path / "double.parquet")
    arguments = ("ingest", tmp_path / "double.parquet", tmp_path / "data", "--order", "listed")
    assert "two columns are named a; rename one in the source" in cli.fails(*arguments)
    cli.run(*arguments, "--columns", "a,b")
    assert [(sample["a"], sample["b"]) for sample in stoker.open(tmp_path / "data")] == [(1, 3), (2, 4)]


SIMPLE = [
    {"id": f"s{i:04d}", "label": ("cat", "dog")[i % 2], "n": i - 100, "x": i / 4, "text": f"Zeile {i}, „ü“\n2"}
    for i in range(400)
]


def write_jsonl(path):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in SIMPLE), encoding="utf-8")


def write_csv(path):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, SIMPLE[0].keys())
        writer.writeheader()
        writer.writerows(SIMPLE)


def write_arrow(path):
    rows = pa.Table.from_pylist(SIMPLE)
    with pyarrow.ipc.new_stream(path, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=150)


def write_avro(path):
    types = {"id": "string", "label": "string", "n": "long", "x": "double", "text": "string"}
    fields = [{"name": name, "type": kind} for name, kind in types.items()]
    with path.open("wb") as file:
        fastavro.writer(file, {"type": "record", "name": "row", "fields": fields}, SIMPLE, codec="deflate")


def write_gzipped_jsonl(path):
    write_jsonl(path)
    path.write_bytes(gzip.compress(path.read_bytes()))


@pytest.mark.cells
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("rows.jsonl", write_jsonl),
        ("rows.csv", write_csv),
        ("rows.arrow", write_arrow),
        ("rows.avro", write_avro),
        ("rows.jsonl.gz", write_gzipped_jsonl),
    ],
)
@pytest.mark.full("stores")
def test_each_format_gives_the_same_samples(cli, tmp_path, name, write):
    write(tmp_path / name)
    cli.run("ingest", tmp_path / name, tmp_path / "data", "--key", "id", "--label", "label")
    found = stored(tmp_path / "data")
    for row in SIMPLE:
        mine = found.pop(row["id"])
        assert {key: mine[key] for key in row if key != "id"} == {key: row[key] for key in row if key != "id"}
    assert not found


@pytest.mark.full("stores")
def test_members_of_an_archive_with_one_base_name_are_a_sample(cli, tmp_path):
    with tarfile.open(tmp_path / "shard.tar", "w") as archive:
        for i in range(50):
            for ending, content in (("jpg", b"\xff\xd8" + bytes([i]) * 2000), ("cls", str(i % 3).encode())):
                member = tarfile.TarInfo(f"d/{i:03d}.{ending}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    cli.run("ingest", tmp_path / "shard.tar", tmp_path / "data")
    found = stored(tmp_path / "data")
    assert {key: (row["jpg"], row["cls"]) for key, row in found.items()} == {
        f"d/{i:03d}": (b"\xff\xd8" + bytes([i]) * 2000, i % 3) for i in range(50)
    }


@pytest.mark.full("stores")
def test_files_with_rows_beside_other_files_are_packed_whole_with_a_warning(cli, tmp_path, source):
    for i in range(5):
        (tmp_path / "source" / f"{i}.jpg").write_bytes(b"\xff\xd8" + bytes([i]) * 100)
    plan = cli.run("ingest", tmp_path / "source", tmp_path / "data", "--dry-run")
    assert "2 of 7 files are files of parquet (a.parquet): each becomes one sample of opaque bytes" in plan
    assert "/source/**.parquet' TARGET --format parquet" in plan
    whole = cli.run("ingest", tmp_path / "source" / "a.parquet", tmp_path / "data", "--dry-run", "--columns", "age")
    assert "field  age: int8" in whole
    assert "left out: the columns id, label" in whole

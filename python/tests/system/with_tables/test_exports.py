"""Datasets leave as files that other libraries read, value by value."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import io
import json
import tarfile

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from export_tables import ROWS, START, by_key, expected, files, require_equal, without
from tfrecords import example, frames

import stoker


def test_parquet_files_hold_every_value_and_their_splits(cli, tmp_path, everything):
    data, source = everything
    said = json.loads(cli.run("export", data, tmp_path / "out", "--format", "parquet", "--shards", 2, "--json"))
    found = files(tmp_path / "out", ".parquet")
    assert [file.name for file in found] == [f"{s}-0000{i}-of-00002.parquet" for s in ("train", "val") for i in (0, 1)]
    assert (said["version"], said["samples"], said["files"]) == (1, ROWS, 4)
    assert said["bytes"] == sum(file.stat().st_size for file in found)
    tables = [pq.read_table(file, page_checksum_verification=True) for file in found]
    assert pa.types.is_dictionary(tables[0].schema.field("label").type)
    assert tables[0].schema.field("when").type == pa.timestamp("us", tz="Europe/Berlin")
    assert tables[0].schema.field("tensor").type.shape == [2, 3]
    rows = []
    for each in tables:
        tensors = each["tensor"].combine_chunks().to_numpy_ndarray()
        rows += [
            row | {"tensor": tensor.tolist()}
            for row, tensor in zip(each.drop_columns("tensor").to_pylist(), tensors, strict=True)
        ]
    require_equal(by_key(rows), source)
    val = {row["key"] for row in rows[sum(map(len, tables[:2])) :]}
    assert val == {sample["key"] for sample in stoker.open(data, split="val")}
    # Other readers find one dataset, without _SUCCESS.
    assert pyarrow.dataset.dataset(tmp_path / "out").count_rows() == ROWS


def plain(value):
    """Arrays as lists; Parquet and Avro have no tensors."""
    if isinstance(value, np.ndarray):
        return [plain(item) for item in (value.ravel() if value.dtype != object else value)]
    return [plain(item) for item in value] if isinstance(value, list) else value


@pytest.mark.cells
@pytest.mark.parametrize(
    ("name", "leave_out", "options"),
    [
        ("parquet", (), ("--compression", "snappy")),
        ("arrow", (), ()),
        ("avro", ("u64", "größe"), ("--compression", "zstd")),
    ],
)
@pytest.mark.full("stores")
def test_a_round_trip_changes_nothing(cli, tmp_path, everything, name, leave_out, options):
    data, _ = everything
    cli.run("export", data, tmp_path / "out", "--format", name, *options, "--columns", without(*leave_out))
    cli.run("ingest", tmp_path / "out", tmp_path / "again", "--key", "key", "--label", "label", "--payload", "image")
    for split in ("train", "val"):
        before = {sample["key"]: sample for sample in stoker.open(data, split=split)}
        after = {sample["key"]: sample for sample in stoker.open(tmp_path / "again", split=split)}
        assert after.keys() == before.keys()
        for key, sample in after.items():
            for field in sample:
                mine, theirs = sample[field], before[key][field]
                assert plain(mine) == plain(theirs), (key, field)


def test_arrow_files_hold_every_value_in_its_type(cli, tmp_path, everything):
    data, source = everything
    cli.run("export", data, tmp_path / "out", "--format", "arrow", "--rename", "i8=small")
    rows = []
    for file in files(tmp_path / "out", ".arrow"):
        whole = pyarrow.ipc.open_file(file).read_all()
        whole.validate(full=True)
        for name in ("u64", "f16", "at_s", "when", "when_s", "huge", "tokens", "boxes"):
            assert str(whole.schema.field(name).type).replace(" not null", "") == str(source.schema.field(name).type)
        tensors = whole["tensor"].combine_chunks().to_numpy_ndarray()
        for row, tensor in zip(whole.drop_columns("tensor").to_pylist(), tensors, strict=True):
            row["i8"] = row.pop("small")
            rows.append(row | {"tensor": tensor.tolist()})
    require_equal(by_key(rows), source)


@pytest.mark.full("stores")
def test_avro_files_hold_what_avro_can_hold(cli, tmp_path, everything):
    data, source = everything
    said = cli.fails("export", data, tmp_path / "out", "--format", "avro")
    assert "column u64: Avro cannot hold uint64; leave such columns out with --columns" in said
    assert "--rename 'größe=gr__e'" in said
    assert not (tmp_path / "out").exists()
    options = ("--columns", without("u64"), "--rename", "größe=size", "--compression", "deflate")
    cli.run("export", data, tmp_path / "out", "--format", "avro", *options)
    rows = []
    for file in files(tmp_path / "out", ".avro"):
        with file.open("rb") as opened:
            rows += list(fastavro.reader(opened))
    zone = source.schema.field("when").type.tz
    for row in rows:
        row["größe"] = row.pop("size")
        row["tensor"] = np.reshape(row["tensor"], (2, 3)).tolist()
        row["when_s"] = row["when_s"].replace(tzinfo=None)
        row["f32"] = np.float32(row["f32"])
    wanted = source.set_column(source.schema.get_field_index("when_ns"), "when_ns", source["when_ns"].cast(pa.int64()))
    found = by_key(rows)
    for row in found.values():
        row["when_ns"] = as_nanoseconds(row["when_ns"])
    assert zone == "Europe/Berlin"
    require_equal(found, wanted, ("u64",))


def as_nanoseconds(value) -> int:
    """fastavro gives nanoseconds as integers, or rounds them to a datetime."""
    return value if isinstance(value, int) else round(value.replace(tzinfo=dt.timezone.utc).timestamp() * 10**9)


@pytest.mark.full("stores")
def test_json_lines_hold_all_but_bytes(cli, tmp_path, everything):
    data, source = everything
    said = cli.fails("export", data, tmp_path / "out", "--format", "jsonl")
    assert "column image: JSON cannot hold binary; leave such columns out with --columns" in said
    assert "column blobs" in said
    options = ("--columns", without("image", "blobs"), "--compression", "gzip")
    cli.run("export", data, tmp_path / "out", "--format", "jsonl", *options)
    rows = []
    for file in files(tmp_path / "out", ".jsonl.gz"):
        with gzip.open(file, "rt", encoding="utf-8") as opened:
            rows += [json.loads(line) for line in opened]
    utc = source["when"].cast(pa.timestamp("us", tz="UTC"))
    for row in rows:
        row["day"] = row["day"] and dt.date.fromisoformat(row["day"])
        row["at"] = dt.time.fromisoformat(row["at"].ljust(15, "0") if "." in row["at"] else row["at"])
        row["at_s"] = dt.time.fromisoformat(row["at_s"])
        row["price"] = row["price"] and decimal.Decimal(row["price"])
        row["huge"] = decimal.Decimal(row["huge"])
        row["f32"] = float(np.float32(row["f32"]))
    found = by_key(rows)
    wanted = source.set_column(source.schema.get_field_index("when"), "when", utc)
    for row in found.values():
        for name in ("when", "when_s", "when_ns"):
            row.pop(name)
    require_equal(found, wanted.drop_columns(["when", "when_s", "when_ns"]), ("image", "blobs"))
    with gzip.open(files(tmp_path / "out", ".gz")[0], "rt", encoding="utf-8") as opened:
        first = json.loads(opened.readline())
    number = int(first["key"][5:11])
    assert first["when_s"] == str(source["when_s"][number]).replace(" ", "T")
    assert first["when"] in (None, (START + dt.timedelta(milliseconds=1500 * number)).isoformat()[:19] + "Z") or (
        "." in first["when"]
    )


@pytest.mark.full("stores")
def test_tfrecords_hold_examples(cli, tmp_path, everything):
    data, source = everything
    said = cli.fails("export", data, tmp_path / "out", "--format", "tfrecord")
    assert "column f64: TFRecord has lists of bytes, float32 and int64, and cannot hold float64" in said
    left = ("u64", "f64", "price", "huge", "scores", "boxes", "when", "when_ns", "when_s", "at", "at_s", "day")
    cli.run("export", data, tmp_path / "out", "--format", "tfrecord", "--columns", without(*left))
    found = {}
    for file in files(tmp_path / "out", ".tfrecord"):
        for record in frames(file):
            row = example(record)
            found[row["key"][0].decode()] = row
    wanted = expected(source)
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        mine = found[key]
        for name in ("flag", "i8", "u16", "u32", "i64", "f16", "f32"):
            assert mine.get(name) == (None if row[name] is None else [row[name]]), name
        for name in ("label", "kind", "größe"):
            assert mine[name] == [row[name].encode()]
        assert mine["image"] == [row["image"]]
        assert mine["blobs"] == row["blobs"]
        assert mine.get("tokens") == row["tokens"]
        assert mine.get("tags") == (None if row["tags"] is None else [tag.encode() for tag in row["tags"]])
        assert mine["tensor"] == np.ravel(row["tensor"]).tolist()


@pytest.mark.full("stores")
def test_archives_hold_a_member_for_each_value(cli, tmp_path, everything):
    data, source = everything
    said = cli.fails("export", data, tmp_path / "out", "--format", "webdataset", "--columns", "label,image")
    assert "add it with --columns key,label,image" in said
    options = ("--columns", without("blobs"), "--rename", "image=jpg", "--rename", "label=cls.txt")
    cli.run("export", f"{data}:train", tmp_path / "out", "--format", "webdataset", *options, "--shards", 2)
    wanted, rows = expected(source), {}
    for file in files(tmp_path / "out", ".tar"):
        with tarfile.open(file) as archive:
            for member in archive:
                base, ending = member.name[: member.name.index(".")], member.name[member.name.index(".") + 1 :]
                rows.setdefault(base, {})[ending] = archive.extractfile(member).read()
    assert len(rows) == len(list(stoker.open(data, split="train")))
    for base, members in rows.items():
        assert base.endswith("%2Ex")
        row = wanted[base.replace("%2E", ".")]
        assert members["jpg"] == row["image"]
        assert members["cls.txt"].decode() == row["label"]
        assert members["größe"].decode() == row["größe"]
        assert members["u64"].decode() == str(row["u64"])
        assert ("i8" in members) == (row["i8"] is not None)
        assert ("tokens.npy" in members) == (row["tokens"] is not None)
        if row["tokens"] is not None:
            assert np.load(io.BytesIO(members["tokens.npy"])).tolist() == row["tokens"]
        tensor = np.load(io.BytesIO(members["tensor.npy"]))
        assert (tensor.dtype, tensor.tolist()) == (np.float32, row["tensor"])
        assert json.loads(members["boxes.json"]) == row["boxes"]


@pytest.mark.full("stores")
def test_files_lie_below_the_target_at_the_paths_of_their_keys(cli, tmp_path):
    keys = ["a/b.jpg", "../../up", "/abs", "a//c", "ü/ö.txt", "100%", "back\\slash", ".", "_SUCCESS", "x/", "tab\t"]
    keys += ["12:30", "d", "d/e", "l" * 300]
    content = {key: f"content of {key}".encode() * 100 for key in keys}
    rows = pa.table({"id": keys, "data": pa.array(content.values(), pa.binary()), "n": list(range(len(keys)))})
    pq.write_table(rows, tmp_path / "rows.parquet")
    cli.run("ingest", tmp_path / "rows.parquet", tmp_path / "data", "--key", "id")
    said = cli.fails("export", tmp_path / "data", tmp_path / "out" / "deep", "--format", "files")
    assert "a file holds the value of one column, not of 2; choose one with --columns key,NAME (data)" in said
    options = ("--format", "files", "--columns", "key,data", "--shards", 3)
    cli.run("export", tmp_path / "data", tmp_path / "out" / "deep", *options)
    target = tmp_path / "out" / "deep"
    found = {str(file.relative_to(target)): file.read_bytes() for file in target.rglob("*") if file.is_file()}
    assert json.loads(found.pop("_SUCCESS"))["files"] == len(keys)
    assert found == {
        "a/b.jpg": content["a/b.jpg"],
        "%2E./%2E./up": content["../../up"],
        "%/abs": content["/abs"],
        "a/%/c": content["a//c"],
        "ü/ö.txt": content["ü/ö.txt"],
        "100%25": content["100%"],
        "back%5Cslash": content["back\\slash"],
        "%2E": content["."],
        "%5FSUCCESS": content["_SUCCESS"],
        "x/%": content["x/"],
        "tab%09": content["tab\t"],
        "12%3A30": content["12:30"],
        "d": content["d"],
        "d%/e": content["d/e"],
        "l" * 247 + "%-/" + "l" * 53: content["l" * 300],
    }
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["deep"]

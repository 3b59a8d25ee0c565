"""Lists with null items between the programs: from files into a dataset, and out again."""

from __future__ import annotations

import json
import tarfile

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from export_tables import files

import stoker

pytestmark = pytest.mark.full("stores")

ROWS = 40
TYPES = {
    "counts": "int32?[]",
    "bytes": "uint8?[]",
    "scores": "float64?[]",
    "halves": "bfloat16?[]",
    "words": "utf8?[]",
    "blobs": "binary?[]",
}
MAYBE = ("scores", "words")
"""The fields that are nullable themselves."""


def rows():
    """Rows with no, one, some and only null items, and rows of which the whole list is missing."""
    rng = np.random.default_rng(7)
    for n in range(ROWS):
        row = {"key": f"k{n:03d}"}
        for name, make in {
            "counts": lambda: int(rng.integers(-(2**31), 2**31)),
            "bytes": lambda: int(rng.integers(256)),
            "scores": lambda: float(rng.normal()),
            "halves": lambda: float(rng.integers(-8, 8)) / 2,
            "words": lambda: "ö" * int(rng.integers(4)),
            "blobs": lambda: rng.bytes(int(rng.integers(4))),
        }.items():
            items = [make() if rng.random() < (0, 0.5, 0.8, 1)[n % 4] else None for _ in range(int(rng.integers(20)))]
            row[name] = None if name in MAYBE and n % 5 == 0 else items
        yield row


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    path = tmp_path_factory.mktemp("null-items") / "d"
    schema = {name: f"{kind}?" if name in MAYBE else kind for name, kind in TYPES.items()}
    with stoker.Writer(path, schema, chunk_size=4_000) as writer:
        for row in rows():
            writer.write(row)
    return path


def values(path, names):
    """The rows of a dataset, with None for null items; bfloat16 as numbers."""
    found = {}
    for sample in stoker.open(path):
        row = {}
        for name in names:
            value = sample[name]
            if isinstance(value, np.ma.MaskedArray):
                bits = value.data
                numbers = (bits.astype(np.uint32) << 16).view(np.float32) if name == "halves" else bits
                value = np.ma.MaskedArray(numbers, value.mask).tolist()
            row[name] = value
        found[sample["key"]] = row
    return found


def wanted(names):
    return {row["key"]: {name: row[name] for name in names} for row in rows()}


def typed(names):
    return [part for name in names for part in ("--type", f"{name}={TYPES[name]}")]


@pytest.mark.cells
@pytest.mark.parametrize(
    ("name", "leave_out", "others"),
    [
        ("parquet", (), {"halves": "float32?[]"}),
        ("arrow", ("halves",), {}),  # Other programs take bfloat16 in Arrow files for uint16.
        ("avro", (), {"halves": "float32?[]", "bytes": "int32?[]"}),
        ("jsonl", ("blobs",), {}),
    ],
)
@pytest.mark.parametrize("order", ["listed", "shuffled"])
def test_a_round_trip_changes_nothing(cli, tmp_path, dataset, name, leave_out, others, order):
    names = [field for field in TYPES if field not in leave_out]
    cli.run("export", dataset, tmp_path / "out", "--format", name, "--columns", ",".join(["key", *names]))
    types = [part for field in names for part in ("--type", f"{field}={others.get(field, TYPES[field])}")]
    cli.run("ingest", tmp_path / "out", tmp_path / "again", "--key", "key", "--order", order, *types)
    fields = {field.name: field.type for field in stoker.open(tmp_path / "again").fields}
    assert fields == {field: others.get(field, TYPES[field]) for field in names}
    found = values(tmp_path / "again", [field for field in names if field not in others])
    assert found == wanted([field for field in names if field not in others])
    cli.run("verify", tmp_path / "again")


def test_other_programs_read_the_exports(cli, tmp_path, dataset):
    for name in ("parquet", "arrow", "avro"):
        cli.run("export", dataset, tmp_path / name, "--format", name)
    source = wanted(TYPES)
    for file in files(tmp_path / "parquet", ".parquet"):
        table = pq.read_table(file)
        assert table.schema.field("counts").type == pa.list_(pa.field("element", pa.int32()))
        for row in table.to_pylist():
            assert {name: row[name] for name in TYPES} == source[row["key"]]
    for file in files(tmp_path / "arrow", ".arrow"):
        table = pyarrow.ipc.open_file(file).read_all()
        table.validate(full=True)
        for row in table.drop_columns("halves").to_pylist():
            assert all(row[name] == source[row["key"]][name] for name in TYPES if name != "halves")
    for file in files(tmp_path / "avro", ".avro"):
        with file.open("rb") as opened:
            for row in fastavro.reader(opened):
                assert {name: row[name] for name in TYPES} == source[row["key"]]


def test_formats_that_cannot_hold_them_say_so(cli, tmp_path, dataset):
    said = cli.fails("export", dataset, tmp_path / "tf", "--format", "tfrecord")
    assert "column counts: TFRecord has lists of bytes, float32 and int64, and cannot hold int32?[]" in said
    said = cli.fails("export", dataset, tmp_path / "jsonl", "--format", "jsonl")
    assert "column blobs: JSON cannot hold binary?[]" in said
    said = cli.fails("export", dataset, tmp_path / "tar", "--format", "webdataset")
    assert "column blobs: a member holds one value, not binary?[]" in said
    columns = ["key", *(name for name in TYPES if name != "blobs")]
    cli.run("export", dataset, tmp_path / "tar", "--format", "webdataset", "--columns", ",".join(columns))
    source = wanted(TYPES)
    for file in files(tmp_path / "tar", ".tar"):
        with tarfile.open(file) as archive:
            for member in archive:
                key, _, name = member.name.partition(".")
                assert json.load(archive.extractfile(member)) == source[key][name.removesuffix(".json")]


def write(kind, path, values):
    """A file of another program with lists whose items are declared nullable, as all programs do."""
    if kind == "jsonl":
        path.write_text("".join(json.dumps({"id": f"a{i}", "x": v}) + "\n" for i, v in enumerate(values)))
        return
    table = pa.table({"id": [f"a{i}" for i in range(len(values))], "x": pa.array(values, pa.list_(pa.int64()))})
    if kind == "parquet":
        pq.write_table(table, path)
    elif kind == "arrow":
        with pa.ipc.new_file(path, table.schema) as out:
            out.write_table(table)
    else:
        items = {"type": "array", "items": ["null", "long"]}
        fields = [{"name": "id", "type": "string"}, {"name": "x", "type": items}]
        with path.open("wb") as out:
            fastavro.writer(out, {"type": "record", "name": "r", "fields": fields}, table.to_pylist())


@pytest.mark.cells
@pytest.mark.parametrize("kind", ["parquet", "arrow", "avro", "jsonl"])
def test_null_items_need_the_type(cli, tmp_path, kind):
    source = tmp_path / f"a.{kind}"
    write(kind, source, [[1, 2], [3]])
    cli.run("ingest", source, tmp_path / "plain", "--key", "id")
    assert [f.type for f in stoker.open(tmp_path / "plain").fields] == ["int64[]"]
    write(kind, source, [[1, None], [3], []])
    said = cli.fails("ingest", source, tmp_path / "refused", "--key", "id")
    assert "--type x=int64?[]" in said
    cli.run("ingest", source, tmp_path / "kept", "--key", "id", "--type", "x=int64?[]")
    samples = stoker.open(tmp_path / "kept")
    assert {s["key"]: s["x"].tolist() for s in samples} == {"a0": [1, None], "a1": [3], "a2": []}
    assert [(f.type, f.payload) for f in samples.fields] == [("int64?[]", False)]
    said = cli.fails("ingest", source, tmp_path / "big", "--key", "id", "--type", "x=int64?[]", "--payload", "x")
    assert "make it a small field" in said
    if kind != "jsonl":  # JSON lines have the numbers in the type that is asked for.
        cli.run("ingest", source, tmp_path / "narrow", "--key", "id", "--type", "x=int32?[]")
        assert {s["key"]: s["x"].tolist() for s in stoker.open(tmp_path / "narrow")} == {
            "a0": [1, None], "a1": [3], "a2": []
        }  # fmt: skip
        said = cli.fails("ingest", source, tmp_path / "other", "--key", "id", "--type", "x=int32[]")
        assert "--type x=int32?[]" in said
        # The field of the dataset has the type, so that an append needs no option.
        table = tmp_path / f"b.{kind}"
        write(kind, table, [[None], [4, None]])
        cli.run("ingest", table, tmp_path / "kept", "--columns", "x", "--append")
        assert sorted(str(s["x"].tolist()) for s in stoker.open(tmp_path / "kept"))[-2:] == ["[None]", "[]"]

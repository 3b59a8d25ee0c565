"""Fields that versions have beside those of dataset.json: docs/formats/dataset.md, "Added fields"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import stoker
from stoker._commit.entry import encode_entry
from stoker._commit.table import encode_table
from stoker._dataset.added_fields import all_fields, merged_fields, parse_added, text_of_added
from stoker._dataset.log import DatasetInfo, LogEntry, entry_path, read_entry
from stoker._dataset.snapshot import Snapshot, _read_table, open_snapshot
from stoker._dataset.versions import table_path
from stoker._format.fields import Field
from stoker.errors import CorruptDataError
from written import Writer

GOLDEN = Path(__file__).resolve().parents[2] / "schemas/src/test/resources/golden"
DATASET = "5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d"
SCORE, REVIEWER = Field("score", "float64", True), Field('reviewer ä "x"', "categorical", True)
TYPES = (
    "bool", "int8", "uint64", "float16", "bfloat16", "categorical", "utf8", "binary", "int32[]", "float32[2,3]",
    "utf8[]", "int64[][]", "int16?[]", "utf8?[]", "date", "time[us]", "timestamp[us]", "decimal(10,2)",
)  # fmt: skip


def test_the_golden_entry_is_read_and_encoded(tmp_path: Path) -> None:
    path = entry_path(tmp_path, 2)
    path.parent.mkdir(parents=True)
    content = (GOLDEN / "log-entry-fields-1.avro").read_bytes()
    path.write_bytes(content)
    entry = read_entry(tmp_path, 2, DATASET)
    assert parse_added(entry.properties["fields"]) == (SCORE, REVIEWER)
    assert text_of_added((SCORE, REVIEWER)) == entry.properties["fields"]
    assert encode_entry(entry, DATASET) == content


def test_the_golden_table_is_read_and_encoded(tmp_path: Path) -> None:
    path = GOLDEN / "chunk-table-fields-1.arrow"
    info = DatasetInfo(DATASET, "x", "", (), {})
    table = _read_table(path, info, 2)
    assert table.added == (SCORE, REVIEWER)
    snapshot = Snapshot(tmp_path, info, 2, (), {}, table.chunks(), table.topics, table.recovered, (), table.added)
    assert encode_table(snapshot) == path.read_bytes()


def test_the_fields_of_a_version() -> None:
    number, image = Field("n", "int64"), Field("image", "binary", payload=True)
    assert all_fields((number, image), (SCORE, REVIEWER)) == (number, SCORE, REVIEWER, image)
    assert all_fields((number, REVIEWER, image), (SCORE, REVIEWER)) == (number, SCORE, REVIEWER, image)
    assert merged_fields((SCORE,), (REVIEWER, SCORE)) == (SCORE, REVIEWER)
    with pytest.raises(ValueError, match="has the type float64; it cannot be added with the type utf8"):
        merged_fields((SCORE,), (Field("score", "utf8", True),))
    with pytest.raises(ValueError, match="has the name of another one"):
        all_fields((number, image), (Field("n", "utf8", True),))


def add_fields(root: Path, fields: tuple[Field, ...]) -> None:
    """Commits an entry that adds fields and no values, as an update of samples that were deleted meanwhile does."""
    snapshot = open_snapshot(root)
    version = snapshot.version + 1
    entry = LogEntry(version, "update", f"update-{version}", 1, "ada", [], [], {}, {"fields": text_of_added(fields)})
    entry_path(root, version).write_bytes(encode_entry(entry, snapshot.info.id))


def rows_of(samples: Any) -> dict[str, dict[str, Any]]:
    return {sample["key"]: {name: value for name, value in sample.items() if name != "key"} for sample in samples}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Version 1: ten samples. 2: a field of every type. 3: more samples, of which some have values."""
    path = tmp_path / "data"
    with Writer(path, {"n": "int64", "image": "binary"}, payload=["image"], chunk_size=512, shuffle=False) as writer:
        for n in range(10):
            writer.write({"key": f"a{n}", "n": n, "image": bytes([n]) * 200})
    add_fields(path, tuple(Field(f"new {kind}", kind, True) for kind in TYPES))
    with Writer(path, append=True) as writer:
        writer.write({"key": "b0", "n": 10, "image": b"x", "new utf8": "ä", "new int32[]": np.array([1, 2])})
    return path


def test_every_reader_gives_nulls_of_every_type(path: Path) -> None:
    nulls = {f"new {kind}": None for kind in TYPES}
    samples = stoker.open(path)
    assert [field.name for field in samples.fields] == ["n", *nulls, "image"]
    rows = rows_of(samples)
    assert rows["a3"] == {"n": 3, **nulls, "image": b"\3" * 200}
    assert rows["b0"]["new utf8"] == "ä"
    assert rows["b0"]["new bool"] is None
    assert samples["a3"]["new decimal(10,2)"] is None
    table = {row.pop("key"): row for row in samples.to_arrow().to_pylist()}
    assert table["a3"] == {"n": 3, **nulls, "image": b"\3" * 200}
    assert table["b0"]["new int32[]"] == [1, 2]
    with stoker.Feed(path, batch_size=4, tail="keep") as feed:
        fed = {row["key"]: row for batch in feed for row in batch.arrow.to_pylist()}
    assert fed["a3"] == {"key": "a3", "n": 3, **nulls, "image": b"\3" * 200}
    assert fed["b0"]["new utf8"] == "ä"
    assert set(rows_of(stoker.open(path, version=1))["a3"]) == {"n", "image"}


@pytest.mark.parametrize("how", ["append", "replace", "part"])
def test_a_writer_that_names_its_schema_goes_on_after_a_field_was_added(path: Path, how: str) -> None:
    schema = {"n": "int64", "image": "binary"}
    with Writer(path, schema, payload=["image"], **{how: True}) as writer:
        writer.write({"key": "c0", "n": 11, "image": b"y"})
        writer.write_batch(pa.table({"key": ["c1"], "n": [12], "image": [b"z"]}))
    if writer.part is not None:
        stoker.commit(path, [writer.part], append=True)
    rows = rows_of(stoker.open(path))
    nulls = {f"new {kind}": None for kind in TYPES}
    assert rows["c0"] == {"n": 11, **nulls, "image": b"y"}
    assert rows["c1"] == {"n": 12, **nulls, "image": b"z"}
    assert ("b0" in rows) == (how != "replace")
    with Writer(path, {**schema, "new utf8": "utf8?"}, append=True) as writer:
        writer.write({"key": "d0", "n": 13, "image": b"", "new utf8": "given"})
    assert rows_of(stoker.open(path))["d0"]["new utf8"] == "given"


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"image": "binary"}, "field 'n' is int64 in the dataset .*, but absent in the schema"),
        ({"n": "int64", "image": "binary", "new": "utf8?"}, "field 'new' is absent in the dataset"),
        ({"n": "int64", "image": "binary", "new utf8": "binary?"}, "field 'new utf8' is utf8 in the dataset"),
    ],
)
def test_a_schema_with_other_fields_is_refused(path: Path, schema: dict[str, str], says: str) -> None:
    for how in ("append", "replace", "part"):
        with pytest.raises(ValueError, match=f"{says}.* also with replace=True: .* at another path"):
            Writer(path, schema, **{how: True})


def test_a_chunk_table_keeps_the_fields(path: Path) -> None:
    before = open_snapshot(path)
    table_path(path, 3).parent.mkdir(exist_ok=True)
    table_path(path, 3).write_bytes(encode_table(before))
    assert open_snapshot(path).info.fields == before.info.fields
    assert rows_of(stoker.open(path))["a1"]["n"] == 1


def test_two_types_of_one_field_are_an_error(path: Path) -> None:
    add_fields(path, (Field("new bool", "utf8", True),))
    with pytest.raises(CorruptDataError, match="it cannot be added with the type utf8"):
        stoker.open(path)

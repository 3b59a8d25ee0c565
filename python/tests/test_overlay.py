"""Overlays: every reader of a path gives the values of the version."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import chunk_prototype
import stoker
from small_datasets import MANY, DatasetWriter, small_dataset
from stoker._commit.entry import encode_entry
from stoker._commit.table import encode_table
from stoker._dataset.log import LogEntry, entry_path
from stoker._dataset.snapshot import open_snapshot
from stoker._dataset.versions import table_path
from stoker.errors import CorruptDataError
from written import Writer

NEW: dict[str, Any] = {
    "label": "brand new",
    "flag": None,
    "score": 0.5,
    "half": 7,
    "caption": "neu ä",
    "blob": b"",
    "tokens": np.array([1, 2, 3]),
    "box": np.array([[1.0, 2.0], [3.0, 4.0]]),
}
"""Another value of each small field."""


@pytest.fixture
def writer(tmp_path: Path) -> DatasetWriter:
    """Version 1: six chunks. 2: two chunks updated. 3: one of them again, in other fields. 4: rows removed."""
    made = small_dataset(tmp_path / "d", MANY)
    made.update({(1, 0): NEW, (1, 4): {"label": None}, (3, 2): {"score": 2.0}})
    made.update({(1, 0): {"label": "ant"}, (1, 1): {"flag": True, "caption": None}})
    made.commit([], removed={1: [2], 3: [0]})
    return made


def plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def expected(writer: DatasetWriter) -> dict[str, dict[str, Any]]:
    return {s["key"]: {name: plain(v) for name, v in s.items()} for s in writer.rows.values()}


def found(samples: Any) -> dict[str, dict[str, Any]]:
    out = {}
    for sample in samples:
        values = {name: plain(v) for name, v in sample.items()}
        if values["half"] is not None:
            values["half"] = (
                int(np.array(sample["half"]).view(np.uint16)) if not isinstance(sample["half"], int) else sample["half"]
            )
        out[values["key"]] = values
    return out


def test_samples_have_the_values_of_their_version(writer: DatasetWriter) -> None:
    assert found(stoker.open(writer.root)) == expected(writer)
    by_key = stoker.open(writer.root)
    assert by_key["dir/00007-é.jpg"]["label"] == "ant"
    before = found(stoker.open(writer.root, version=1))
    fresh = small_dataset(writer.root.parent / "same", MANY)
    assert before == expected(fresh)
    assert stoker.open(writer.root, version=2)["dir/00007-é.jpg"]["label"] == "brand new"


def test_the_chunk_table_has_the_overlays(writer: DatasetWriter) -> None:
    snapshot = open_snapshot(writer.root)
    assert sorted(snapshot.chunks.overlays) == [1, 3]
    writer.write_table()
    from_table = open_snapshot(writer.root)
    assert from_table.chunks.overlays == snapshot.chunks.overlays
    assert encode_table(from_table) == encode_table(snapshot)
    assert found(stoker.open(writer.root)) == expected(writer)
    # A removal after the table takes the overlay away.
    writer.commit([], removed={3: None})
    assert sorted(open_snapshot(writer.root).chunks.overlays) == [1]
    assert found(stoker.open(writer.root)) == expected(writer)


def put_overlay(root: Path, index: int, values: dict[str, dict[str, Any]], overlaid: str | None = None) -> Path:
    """Commits other values of some keys of a chunk that `stoker.Writer` has written, as `stoker update` does."""
    snapshot = open_snapshot(root)
    info, chunk = snapshot.info, snapshot.chunks.id_of(index)
    names = {name for new in values.values() for name in new}
    fields = [f.to_json() for f in info.fields if f.name in names]
    table = pa.ipc.open_file(snapshot.chunk_path(index)).read_all()
    rows = table.select(["key", *(f["name"] for f in fields)]).to_pylist()
    for row in rows:
        row |= values.get(row["key"], {})
    overlay = str(uuid.uuid4())
    data = chunk_prototype.chunk({
        "dataset": info.id, "chunk": overlay, "overlaid": overlaid or chunk, "ingest": f"update-{snapshot.version}",
        "split": "train", "created": "2026-01-02T03:04:05.678Z", "fields": fields, "rows": rows,
    })  # fmt: skip
    path = root / "overlays" / overlay[-2:] / f"{overlay}.arrow"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    version = snapshot.version + 1
    ordinal = int(snapshot.chunks.columns["ordinal"][index])
    updated = {
        "ordinal": ordinal, "overlay": uuid.UUID(overlay).bytes, "length": len(data),
        "crc32c": google_crc32c.value(data), "largest_row": 1 << 20,
    }  # fmt: skip
    classes = {
        f["name"]: sorted({row[f["name"]] for row in rows if row[f["name"]] is not None})
        for f in fields
        if f["type"] == "categorical"
    }
    entry = LogEntry(version, "update", f"update-{version}", 0, "ada@host", [], [], classes, {}, [updated])
    entry_path(root, version).write_bytes(encode_entry(entry, info.id))
    return path


FIELDS = {"label": "categorical?", "score": "float32", "note": "utf8?", "tags": "utf8[]", "image": "binary"}


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Five samples in two versions, of which the third has other values in the first chunk."""
    root = tmp_path / "w"
    for keys in ("abc", "de"):
        with Writer(root, FIELDS, append=True) as w:
            for key in keys:
                w.write(
                    {"key": key, "label": "x", "score": 1.5, "note": None, "tags": [key], "image": b"i" + key.encode()}
                )
    put_overlay(root, 0, {"b": {"label": "new", "note": "neu"}, "c": {"label": None, "tags": ["ä", ""]}})
    return root


def test_tables_and_filters_use_the_overlay(written: Path) -> None:
    samples = stoker.open(written)
    rows = {row.pop("key"): row for row in samples.to_arrow().to_pylist()}
    assert rows["b"] == {"label": "new", "score": 1.5, "note": "neu", "tags": ["b"], "image": b"ib"}
    assert rows["c"] == {"label": None, "score": 1.5, "note": None, "tags": ["ä", ""], "image": b"ic"}
    assert rows["a"] == {"label": "x", "score": 1.5, "note": None, "tags": ["a"], "image": b"ia"}
    assert rows["d"]["label"] == "x"
    kept = samples.to_arrow(["key"], filter=pc.field("note") == "neu")
    assert kept.column("key").to_pylist() == ["b"]
    assert samples.to_arrow(["key"], filter=pc.field("label") == "new").column("key").to_pylist() == ["b"]
    old = stoker.open(written, version=2).to_arrow(["label"]).column("label").to_pylist()
    assert old == ["x"] * 5
    assert {s["key"]: s["label"] for s in samples} == {k: r["label"] for k, r in rows.items()}


def test_a_writer_keeps_the_overlays_of_the_version(written: Path) -> None:
    with Writer(written, FIELDS, append=True) as w:
        w.write({"key": "f", "label": "y", "score": 0.0, "note": None, "tags": [], "image": b""})
    assert {s["key"]: s["label"] for s in stoker.open(written)}["b"] == "new"
    snapshot = open_snapshot(written)
    table = table_path(written, snapshot.version)
    table.parent.mkdir(exist_ok=True)
    table.write_bytes(encode_table(snapshot))
    assert {s["key"]: s["label"] for s in stoker.open(written)}["b"] == "new"


def test_tables_name_a_damaged_overlay(written: Path) -> None:
    (path,) = written.glob("overlays/*/*.arrow")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(CorruptDataError, match=path.name):
        stoker.open(written).to_arrow(["label"])
    assert len(stoker.open(written, version=2).to_arrow(["label"])) == 5


def test_the_path_reader_feeds_the_overlay(writer: DatasetWriter) -> None:
    scores = {}
    with stoker.Feed(writer.root, batch_size=4, epochs=1, tail="keep") as feed:
        for batch in feed:
            scores |= dict(zip(batch.keys, np.array(batch.score).tolist(), strict=True))
    assert scores == {k: r["score"] for k, r in expected(writer).items()}


def test_the_path_reader_feeds_other_classes_and_texts(written: Path) -> None:
    labels, notes = {}, {}
    with stoker.Feed(written, batch_size=2, epochs=1, tail="keep") as feed:
        for batch in feed:
            arrow = batch.arrow.to_pylist()
            labels |= {row["key"]: row["label"] for row in arrow}
            notes |= {row["key"]: row["note"] for row in arrow}
        classes = feed.classes["label"]
    assert classes == ("x", "new")
    assert labels == {"a": 0, "b": 1, "c": None, "d": 0, "e": 0}
    assert notes == {"a": None, "b": "neu", "c": None, "d": None, "e": None}


def test_the_lengths_of_the_index_do_not_count_overlays(writer: DatasetWriter) -> None:
    key = "dir/00007-é.jpg"
    assert stoker.open(writer.root).stat(key).length == stoker.open(writer.root, version=1).stat(key).length


@pytest.mark.parametrize("damage", ["missing", "short", "flip", "chunk"])
def test_a_damaged_overlay_is_named(writer: DatasetWriter, damage: str) -> None:
    path = writer.overlay_path(1)
    data = bytearray(path.read_bytes())
    if damage == "missing":
        path.unlink()
    elif damage == "short":
        path.write_bytes(data[:-1])
    elif damage == "flip":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    else:
        path.write_bytes(writer.chunk_path(1).read_bytes())
    key = "dir/00007-é.jpg"
    with pytest.raises(CorruptDataError, match=f"(?s)overlay .*{path.name}.*stoker verify"):
        stoker.open(writer.root)[key]
    with pytest.raises(CorruptDataError, match=path.name):
        list(stoker.Feed(writer.root, batch_size=4, epochs=1))
    # A version without the overlay is not affected.
    assert stoker.open(writer.root, version=1)[key]["key"] == key


def test_an_overlay_of_another_chunk_is_refused(written: Path) -> None:
    other = open_snapshot(written).chunks.id_of(1)
    path = put_overlay(written, 0, {"b": {"label": "wrong"}}, overlaid=other)
    with pytest.raises(CorruptDataError, match=f"{path.name}.*stoker.overlaid is '{other}'"):
        stoker.open(written)["b"]
    with pytest.raises(CorruptDataError, match=r"stoker\.overlaid"):
        stoker.open(written).to_arrow(["label"])


def test_pyarrow_opens_an_overlay(writer: DatasetWriter) -> None:
    golden = Path(__file__).parents[2] / "schemas/src/test/resources/golden/overlay-1.arrow"
    with pa.ipc.open_file(golden) as file:
        table = file.read_all()
    assert table.schema.metadata[b"stoker.overlaid"] == b"0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4001"
    assert table.column("categorical").to_pylist()[0] == "new class"
    assert table.schema.names == ["key", "int16.maybe", "categorical", "float32_2_3", "utf8_list.maybe"]

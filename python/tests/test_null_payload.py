"""Payload fields that a sample may lack: written, read from the path and at random, and what trainers see."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import stoker
from stoker import Feed, errors
from stoker._dataset.chunk import ChunkReader
from stoker._dataset.columns import ColumnReader
from stoker._dataset.snapshot import open_snapshot
from stoker._format.fields import Field

SCHEMA = {"n": "int32", "image": "binary?", "text": "utf8?", "ids": "int32[]?", "box": "uint8[2,3]?", "all": "binary"}
PAYLOAD = ["image", "text", "ids", "box", "all"]
ROWS = 61


def a_sample(i: int) -> dict[str, Any]:
    rng = np.random.default_rng(i)
    return {
        "key": f"k{i:03}",
        "n": i,
        "image": None if i % 3 == 0 else rng.bytes(i * 7 % 90),
        "text": None if i % 4 == 0 else "ü" * (i % 9),
        "ids": None if i % 5 == 0 else rng.integers(0, 9999, i % 6).astype(np.int32),
        "box": None if i % 7 == 0 else rng.integers(0, 255, (2, 3)).astype(np.uint8),
        "all": rng.bytes(i),
    }


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
        assert found is not None
    else:
        assert found == expected
        assert (found is None) == (expected is None)


@pytest.fixture(scope="module", params=["samples", "arrow"])
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("nulls") / "d"
    with stoker.Writer(root, SCHEMA, payload=PAYLOAD, chunk_size=1500) as writer:
        samples = [a_sample(i) for i in range(ROWS)]
        if request.param == "samples":
            for sample in samples:
                writer.write(sample)
        else:
            columns = {name: [s[name] for s in samples] for name in ("key", *SCHEMA)}
            types = {
                "key": pa.utf8(), "n": pa.int32(), "image": pa.binary(), "text": pa.utf8(), "ids": pa.list_(pa.int32()),
                "box": pa.list_(pa.uint8(), 6), "all": pa.binary(),
            }  # fmt: skip
            columns["box"] = [None if b is None else b.ravel().tolist() for b in columns["box"]]
            columns["ids"] = [None if b is None else b.tolist() for b in columns["ids"]]
            writer.write_batch(pa.table({n: pa.array(v, types[n]) for n, v in columns.items()}))
    return root


def test_random_access_finds_none(root: Path) -> None:
    samples = stoker.open(root)
    assert {f.name: (f.nullable, f.payload) for f in samples.fields}["image"] == (True, True)
    for i in range(ROWS):
        expected = a_sample(i)
        for name, value in samples[expected["key"]].items():
            assert_same(value, expected[name])


@pytest.mark.parametrize("order", [{"shuffle": "none"}, {"seed": 3, "lanes": 2, "shuffle_window": 4000}])
def test_batches_have_a_validity(root: Path, order: dict[str, Any]) -> None:
    seen = 0
    with Feed(root, batch_size=8, tail="keep", **order) as feed:
        for batch in feed.epoch(0) if hasattr(feed, "epoch") else feed:
            for row, i in enumerate(batch["n"].tolist()):
                expected = a_sample(i)
                for name in PAYLOAD:
                    valid = batch.validity(name)
                    there = valid is None or bool(valid[row])
                    assert there == (expected[name] is not None), (name, i)
                for name in ("image", "ids"):
                    found = batch[name][row]
                    if expected[name] is None:
                        assert len(found) == 0
                    else:
                        np.testing.assert_array_equal(found, np.frombuffer(expected[name], found.dtype))
                assert_same(batch["text"][row], expected["text"])
                assert bool(np.ma.getmaskarray(batch["box"])[row].all()) == (expected["box"] is None)
                np.testing.assert_array_equal(
                    batch["box"].data[row], np.full((2, 3), 255) if expected["box"] is None else expected["box"]
                )
            seen += len(batch)
            arrow = batch.arrow
            arrow.validate(full=True)
            assert [v is None for v in arrow["image"].to_pylist()] == [i % 3 == 0 for i in batch["n"].tolist()]
            if seen == ROWS:
                break
    assert seen == ROWS


def test_a_decoder_is_not_asked_about_rows_without_a_value(root: Path) -> None:
    with Feed(root, batch_size=20, shuffle="none", decode={"image": lambda row: len(row)}) as feed:
        batch = next(iter(feed))
    expected = [a_sample(i)["image"] for i in batch["n"].tolist()]
    assert batch["image"] == [None if e is None else len(e) for e in expected]


def test_other_programs_read_nulls(root: Path) -> None:
    snapshot = open_snapshot(root)
    found: dict[int, Any] = {}
    for index in range(len(snapshot.chunks)):
        table = pa.ipc.open_file(snapshot.chunk_path(index)).read_all()
        table.validate(full=True)
        for n, image, ids in zip(*(table[name].to_pylist() for name in ("n", "image", "ids")), strict=True):
            found[n] = (image, ids)
    for i in range(ROWS):
        sample = a_sample(i)
        assert found[i] == (sample["image"], None if sample["ids"] is None else sample["ids"].tolist())


def test_columns_beside_null_payload_are_read_alone(root: Path) -> None:
    reader = ChunkReader(open_snapshot(root))
    fd = reader.open(0)
    columns, whole = ColumnReader(reader, fd, 0), reader.head(fd, 0)
    np.testing.assert_array_equal(columns.column(1).data, whole.small[1].data)
    os.close(fd)


def test_a_null_row_with_bytes_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from stoker._packing import segments

    right = segments.bitmap
    with stoker.Writer(tmp_path / "d", {"image": "binary?"}, payload=["image"]) as writer:
        # The second row is marked as null, although it has bytes.
        monkeypatch.setattr(segments, "bitmap", lambda valid: right(np.array([False, False])))
        for i, image in enumerate([None, b"x"]):
            writer.write({"key": str(i), "image": image})
    with pytest.raises(errors.CorruptDataError, match=r"impossible buffers|a null row has bytes other than 0 zeros"):
        stoker.open(tmp_path / "d")["1"]


def test_size_alone_makes_no_nullable_field_payload(tmp_path: Path) -> None:
    with stoker.Writer(tmp_path / "d", {"image": "binary?", "other": "binary"}) as writer:
        for i in range(20):
            writer.write({"key": str(i), "image": bytes(9000) if i % 2 else None, "other": bytes(9000)})
    assert {f.name: f.payload for f in stoker.open(tmp_path / "d").fields} == {"image": False, "other": True}


@pytest.mark.parametrize(("kind", "right"), [("int32?[][]", "int32[][]"), ("uint8?[2,3]", "uint8[2,3]")])
def test_items_that_may_be_null_are_refused_by_name(tmp_path: Path, kind: str, right: str) -> None:
    said = f"items of tensors and of nested lists cannot be null: '{kind}'; use '{right}'; the field itself may be "
    said += "nullable"
    with pytest.raises(ValueError, match="items of tensors") as raised:
        stoker.Writer(tmp_path / "d", {"x": kind})
    assert str(raised.value) == said
    with pytest.raises(ValueError, match="items of tensors") as raised:
        Field("x", kind)
    assert str(raised.value) == said


def test_a_list_with_a_null_item_does_not_fit(tmp_path: Path) -> None:
    with (
        pytest.raises(errors.InvalidSampleError, match="'x'"),
        stoker.Writer(tmp_path / "d", {"x": "int32[]"}) as writer,
    ):
        writer.write_batch(pa.table({"key": ["a"], "x": pa.array([[1, None]], pa.list_(pa.int32()))}))


@pytest.mark.parametrize("seed", [0, 1])
def test_many_batches_of_one_window_have_a_validity(tmp_path: Path, seed: int) -> None:
    with stoker.Writer(tmp_path / "d", {"n": "int32", "image": "binary?"}, payload=["image"]) as writer:
        for i in range(400):
            writer.write({"key": str(i), "n": i, "image": None if i % 3 == 0 else bytes(i)})
    rows = 0
    with Feed(tmp_path / "d", batch_size=4, seed=seed, lanes=1) as feed:
        for batch in feed:
            valid = batch.validity("image")
            there = [True] * len(batch) if valid is None else valid.tolist()
            assert there == [i % 3 != 0 for i in batch["n"].tolist()]
            assert [len(image) for image in batch["image"]] == [i if i % 3 else 0 for i in batch["n"].tolist()]
            rows += len(batch)
            if rows == 400:
                break
    assert rows == 400

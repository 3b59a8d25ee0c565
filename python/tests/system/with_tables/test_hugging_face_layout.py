"""Parquet files in the layout of the library datasets: its types exactly, its metadata, and the way back."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import stoker
from images import encoded

ROWS = 12
TYPES = {
    "photo": "binary?",
    "sound": "binary",
    "label": "categorical?",
    "tensor": "float32[2,2]",
    "boxes": "int64[][]",
    "score": "float32",
}


def label(n):
    return None if n % 4 == 0 else ("zebra", "ant")[n % 2]


@pytest.fixture(scope="module")
def exported(cli, tmp_path_factory):
    path = tmp_path_factory.mktemp("layout")
    with stoker.Writer(path / "data", TYPES, payload=["photo", "sound"]) as writer:
        for n in range(ROWS):
            writer.write(
                {
                    "key": f"k{n:02d}",
                    "photo": None if n % 5 == 0 else encoded(n, 6),
                    "sound": b"RIFF1234WAVE" + bytes([n]),
                    "label": label(n),
                    "tensor": np.arange(4, dtype=np.float32).reshape(2, 2) + n,
                    "boxes": [[n], [], [1, 2]][: n % 4],
                    "score": n / 2,
                }
            )
    cli.run("export", path / "data", path / "out", "--format", "parquet", "--layout", "huggingface", "--shards", 2)
    return path


def test_all_files_have_the_types_of_the_features(exported):
    files = sorted((exported / "out").glob("*.parquet"))
    assert len(files) == 2
    wanted = pa.schema(
        {
            "key": pa.string(),
            "label": pa.int64(),
            "tensor": pa.list_(pa.field("element", pa.float32())),
            "boxes": pa.list_(pa.field("element", pa.list_(pa.field("element", pa.int64())))),
            "score": pa.float32(),
            "photo": pa.struct({"bytes": pa.binary(), "path": pa.string()}),
            "sound": pa.binary(),
        }
    )
    for file in files:
        found = pq.read_schema(file)
        assert {field.name: field for field in found} == {field.name: field for field in wanted}
        assert found.metadata.keys() == {b"huggingface"}
        features = json.loads(found.metadata[b"huggingface"])["info"]["features"]
        assert list(features) == found.names
        assert features["photo"] == {"_type": "Image"}
        assert features["label"]["_type"] == "ClassLabel"
        assert sorted(features["label"]["names"]) == ["ant", "zebra"]
        assert features["sound"] == {"dtype": "binary", "_type": "Value"}
        assert features["tensor"] == {"feature": {"dtype": "float32", "_type": "Value"}, "_type": "Sequence"}
    rows = {row["key"]: row for file in files for row in pq.read_table(file).to_pylist()}
    names = features["label"]["names"]
    for n in range(ROWS):
        row = rows[f"k{n:02d}"]
        assert row["photo"] == (None if n % 5 == 0 else {"bytes": encoded(n, 6), "path": None})
        assert row["label"] == (None if label(n) is None else names.index(label(n)))
        assert row["tensor"] == [n, n + 1, n + 2, n + 3]
        assert row["boxes"] == [[n], [], [1, 2]][: n % 4]


def test_an_ingest_gives_images_and_classes_again(cli, exported, tmp_path):
    cli.run("ingest", exported / "out", tmp_path / "again", "--key", "key", "--type", "tensor=float32[2,2]")
    again = stoker.open(tmp_path / "again")
    assert dict(again.classes) == dict(stoker.open(exported / "data").classes)
    assert [field.name for field in again.fields if field.payload] == ["photo"]
    for sample in again:
        n = int(sample["key"][1:])
        assert sample["photo"] == (None if n % 5 == 0 else encoded(n, 6))
        assert sample["label"] == label(n)
        assert sample["tensor"].shape == (2, 2)


def test_the_result_names_the_layout_and_other_formats_refuse_it(cli, exported, tmp_path):
    assert json.loads((exported / "out" / "_SUCCESS").read_text())["layout"] == "huggingface"
    options = ("--format", "arrow", "--layout", "huggingface")
    assert "give --format parquet" in cli.fails("export", exported / "data", tmp_path / "out", *options)

"""The libraries that teams have write files that Stoker packs, and read the files that Stoker exports."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pytest
import tensorflow as tf
import webdataset
from export_tables import expected, write_arrow
from hugging_face import FIRST

import stoker
from images import encoded

pytestmark = pytest.mark.full("programs")

COUNT = 300


def hugging_face(verb: str, source: Path, target: Path) -> None:
    program = Path(__file__).with_name("hugging_face.py")
    done = subprocess.run(
        [sys.executable, program, verb, source, target], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def rows() -> list[dict[str, Any]]:
    start = dt.datetime(2024, 1, 1)
    return [
        {
            "id": f"s{i:03d}",
            "kind": ("cat", "dög")[i % 2],
            "n": i - 100,
            "x": i / 8,
            "text": None if i % 5 == 0 else f"„{i}“, \n\t'",
            "at": start + dt.timedelta(seconds=i),
            "tokens": list(range(i % 4)),
        }
        for i in range(COUNT)
    ]


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()
    if isinstance(value, np.generic):
        return value.item()
    return value


def stored(path: Path, split: str = "train") -> dict[str, dict[str, Any]]:
    found = {}
    for sample in stoker.open(path, split=split):
        row = {name: plain(sample[name]) for name in sample}
        found[row.pop("key")] = row
    return found


def pandas_parquet(path: Path) -> None:
    frame = pd.DataFrame(rows()).astype({"kind": "category"})
    frame.to_parquet(path / "rows.parquet", index=False)


def duckdb_parquet(path: Path) -> None:
    duckdb.from_arrow(pa.Table.from_pylist(rows())).write_parquet(str(path / "rows.parquet"), row_group_size=100)


def polars_parquet(path: Path) -> None:
    pl.DataFrame(rows()).with_columns(pl.col("kind").cast(pl.Categorical)).write_parquet(path / "rows.parquet")


def polars_arrow(path: Path) -> None:
    pl.DataFrame(rows()).with_columns(pl.col("kind").cast(pl.Categorical)).write_ipc(
        path / "rows.arrow", compression="zstd"
    )


def polars_avro(path: Path) -> None:
    pl.DataFrame(rows()).write_avro(path / "rows.avro", compression="snappy")


def datasets_parquet(path: Path) -> None:
    write_arrow(path.parent / "rows.arrow", pa.Table.from_pylist(rows()))
    hugging_face("parquet", path.parent / "rows.arrow", path)


def datasets_saved(path: Path) -> None:
    write_arrow(path.parent / "rows.arrow", pa.Table.from_pylist(rows()))
    hugging_face("saved", path.parent / "rows.arrow", path)


@pytest.mark.cells
@pytest.mark.parametrize(
    "write",
    [pandas_parquet, duckdb_parquet, polars_parquet, polars_arrow, polars_avro, datasets_parquet, datasets_saved],
    ids=lambda write: write.__name__,
)
def test_tables_are_packed_value_by_value(cli, tmp_path, write):
    if not write.__name__.startswith("datasets"):
        (tmp_path / "source").mkdir()
    write(tmp_path / "source")
    cli.run("ingest", tmp_path / "source", tmp_path / "data", "--key", "id", "--label", "kind")
    assert stored(tmp_path / "data") == {row["id"]: {k: v for k, v in row.items() if k != "id"} for row in rows()}


def test_tables_of_text_are_packed_value_by_value(cli, tmp_path):
    frame = pd.DataFrame(rows()).drop(columns=["tokens"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_json(tmp_path / "rows.jsonl", orient="records", lines=True, date_format="iso", date_unit="us")
    wanted = {row["id"]: {k: v for k, v in row.items() if k not in ("id", "tokens")} for row in rows()}
    for name in ("rows.csv", "rows.jsonl"):
        target = tmp_path / f"of {name}"
        cli.run("ingest", tmp_path / name, target, "--key", "id", "--label", "kind", "--type", "at=timestamp[us]")
        assert stored(target) == wanted


def test_images_and_classes_of_datasets_are_those_of_the_source(cli, tmp_path):
    rows = pa.table({
        "image": [{"bytes": encoded(i, 20), "path": None} for i in range(COUNT)],
        "sound": [{"bytes": b"RIFF" + bytes([i % 256]), "path": f"{i}.wav"} for i in range(COUNT)],
        "kind": [i % 2 for i in range(COUNT)],
    })  # fmt: skip
    write_arrow(tmp_path / "rows.arrow", rows)
    hugging_face("splits", tmp_path / "rows.arrow", tmp_path / "hf")
    cli.run("ingest", tmp_path / "hf" / "saved", tmp_path / "data", "--order", "listed")
    for split, first, end in (("train", 0, FIRST), ("test", FIRST, COUNT)):
        found = list(stoker.open(tmp_path / "data", split=split))
        assert len(found) == end - first
        for i, sample in enumerate(found, first):
            assert bytes(sample["image"]) == encoded(i, 20)
            assert bytes(sample["sound"]) == b"RIFF" + bytes([i % 256])
            assert (sample["sound.path"], sample["kind"]) == (f"{i}.wav", ("zebra", "ant")[i % 2])
    assert stoker.open(tmp_path / "data").classes == {"kind": ("zebra", "ant")}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # webdataset leaves archives open
def test_archives_of_webdataset_and_its_reader(cli, tmp_path):
    (tmp_path / "shards").mkdir()
    pattern = str(tmp_path / "shards" / "train-%05d.tar")
    wanted = {f"dir/{i:04d}": (encoded(i, 16), i % 7, {"i": i, "t": "é"}) for i in range(COUNT)}
    with webdataset.ShardWriter(pattern, maxcount=100, verbose=0) as writer:
        for key, (image, label, note) in wanted.items():
            writer.write({"__key__": key, "png": image, "cls": label, "json": note})
    cli.run("ingest", tmp_path / "shards", tmp_path / "data")
    found = {s["key"]: (bytes(s["png"]), int(s["cls"]), json.loads(s["json"])) for s in stoker.open(tmp_path / "data")}
    assert found == wanted
    cli.run("export", tmp_path / "data", tmp_path / "out", "--format", "webdataset", "--shards", 2)
    urls = [str(file) for file in sorted((tmp_path / "out").glob("*.tar"))]
    read = webdataset.WebDataset(urls, shardshuffle=False).decode()
    for sample in read:
        image, label, note = wanted.pop(sample["__key__"])
        assert (sample["png"], int(sample["cls"]), sample["json"]) == (image, label, note)
    assert not wanted


def test_records_of_tensorflow_and_its_reader(cli, tmp_path):
    def feature(value: Any) -> Any:
        if isinstance(value, bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
        if isinstance(value, int):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))

    samples = [
        {"id": f"s{i}".encode(), "image": encoded(i, 16), "label": i % 7, "box": [i / 4, 1.0]} for i in range(COUNT)
    ]
    (tmp_path / "records").mkdir()
    for split, part in (("train", samples[:200]), ("validation", samples[200:])):
        name = tmp_path / "records" / f"{split}-00000-of-00001.tfrecord"
        with tf.io.TFRecordWriter(str(name)) as writer:
            for sample in part:
                features = tf.train.Features(feature={key: feature(value) for key, value in sample.items()})
                writer.write(tf.train.Example(features=features).SerializeToString())
    cli.run("ingest", tmp_path / "records", tmp_path / "data", "--key", "id", "--type", "id=utf8")
    for split, part in (("train", samples[:200]), ("validation", samples[200:])):
        found = {sample["key"]: sample for sample in stoker.open(tmp_path / "data", split=split)}
        assert found.keys() == {sample["id"].decode() for sample in part}
        for sample in part:
            mine = found[sample["id"].decode()]
            assert (bytes(mine["image"]), int(mine["label"])) == (sample["image"], sample["label"])
            assert mine["box"].tolist() == sample["box"]

    cli.run("export", f"{tmp_path / 'data'}:train", tmp_path / "out", "--format", "tfrecord", "--compression", "gzip")
    spec = {
        "key": tf.io.FixedLenFeature([], tf.string),
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
        "box": tf.io.FixedLenFeature([2], tf.float32),
    }
    by_key = {sample["id"]: sample for sample in samples[:200]}
    files = [str(file) for file in (tmp_path / "out").glob("*.tfrecord.gz")]
    for record in tf.data.TFRecordDataset(files, compression_type="GZIP"):
        example = tf.io.parse_single_example(record, spec)
        sample = by_key.pop(example["key"].numpy())
        assert (example["image"].numpy(), int(example["label"])) == (sample["image"], sample["label"])
        assert example["box"].numpy().tolist() == sample["box"]
    assert not by_key


COLUMNS = (
    *("key", "label", "flag", "i8", "u32", "u64", "i64", "f32", "f64", "größe", "day", "when", "when_s", "price"),
    *("huge", "tokens", "scores", "tags", "blobs", "boxes", "image"),
)


@pytest.fixture(scope="module")
def exported(cli, everything, tmp_path_factory) -> tuple[Path, dict[str, dict[str, Any]]]:
    """Parquet files of two splits with the columns that all readers know, and the rows by key."""
    data, source = everything
    out = tmp_path_factory.mktemp("exported") / "parquet"
    cli.run("export", data, out, "--format", "parquet", "--columns", ",".join(COLUMNS), "--shards", 2)
    return out, {key: {name: row[name] for name in COLUMNS} for key, row in expected(source).items()}


def test_duckdb_reads_an_export(exported):
    out, wanted = exported
    # Without pytz, DuckDB gives no points in time; Arrow has them.
    read = duckdb.sql(f"SELECT * FROM read_parquet('{out}/*.parquet')").to_arrow_table().to_pylist()
    assert {row["key"]: row for row in read} == wanted
    assert duckdb.sql(f"SELECT COUNT(*) FROM read_parquet('{out}/*.parquet') WHERE label = 'öwl'").fetchall() == [
        (sum(row["label"] == "öwl" for row in wanted.values()),)
    ]


def test_polars_reads_an_export(exported):
    out, wanted = exported
    read = pl.read_parquet(out / "*.parquet").to_dicts()
    assert {row["key"]: row for row in read} == wanted
    few = pl.scan_parquet(out / "*.parquet").filter(pl.col("u64") > 2**64 - 11).select("key").collect()
    assert set(few["key"]) == {key for key, row in wanted.items() if row["u64"] > 2**64 - 11}


def test_pandas_reads_an_export(exported):
    out, wanted = exported
    frame = pd.read_parquet(out)
    assert len(frame) == len(wanted)
    for row in frame.to_dict("records"):
        source = wanted[row["key"]]
        for name in ("label", "u32", "u64", "f32", "größe", "image"):
            assert row[name] == source[name], name
        for name in ("flag", "f64", "price", "day"):
            assert (None if pd.isna(row[name]) else row[name]) == source[name], name
        assert row["scores"].tolist() == source["scores"]
        assert (None if pd.isna(row["when"]) else row["when"].to_pydatetime()) == source["when"]


def test_datasets_reads_an_export_with_its_splits(exported, tmp_path):
    out, wanted = exported
    hugging_face("load", out, tmp_path / "loaded")
    files = sorted((tmp_path / "loaded").glob("*.arrow"))
    # The library calls val validation.
    assert [file.stem for file in files] == ["train", "validation"]
    found = {}
    for file in files:
        found |= {row["key"]: row for row in pyarrow.ipc.open_file(file).read_all().to_pylist()}
    assert found.keys() == wanted.keys()
    for key, row in found.items():
        for name in ("flag", "i8", "u64", "f64", "größe", "day", "when", "price", "tokens", "boxes", "image"):
            assert row[name] == wanted[key][name], name


def test_datasets_reads_images_and_classes_of_its_layout(cli, tmp_path):
    types = {"image": "binary?", "label": "categorical?", "tensor": "float32[2,2]", "words": "utf8[]"}
    with stoker.Writer(tmp_path / "data", types, payload=["image"]) as writer:
        for n in range(12):
            writer.write({
                "key": f"k{n:02d}",
                "image": None if n % 5 == 0 else encoded(n, 6),
                "label": None if n % 4 == 0 else ("zebra", "ant")[n % 2],
                "tensor": np.arange(4, dtype=np.float32).reshape(2, 2) + n,
                "words": ["a", ""][: n % 3],
            })  # fmt: skip
    cli.run("export", tmp_path / "data", tmp_path / "out", "--format", "parquet", "--layout", "huggingface")
    hugging_face("features", tmp_path / "out", tmp_path / "loaded")
    found = json.loads((tmp_path / "loaded" / "features.json").read_text(encoding="utf-8"))
    assert found["kinds"] == {
        "key": "Value",
        "image": "Image",
        "label": "ClassLabel",
        "tensor": "List",
        "words": "List",
    }
    names = found["names"]
    assert sorted(names) == ["ant", "zebra"]
    rows = {row["key"]: row for row in found["rows"]}
    assert len(rows) == 12
    for n in range(12):
        row = rows[f"k{n:02d}"]
        assert row["image"] == (None if n % 5 == 0 else ["PNG", 6, 6])
        assert row["label"] == (None if n % 4 == 0 else names.index(("zebra", "ant")[n % 2]))
        assert row["tensor"] == [n, n + 1, n + 2, n + 3]
        assert row["words"] == ["a", ""][: n % 3]

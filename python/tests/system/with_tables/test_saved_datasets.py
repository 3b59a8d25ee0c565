"""Datasets that other libraries describe with files beside their data: splits of Hugging Face, and shards of MDS."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import stoker

pytestmark = pytest.mark.full("stores")


def splits(path: Path) -> dict[str, list[str]]:
    """Split -> sorted keys of a dataset with one version."""
    found: dict[str, list[str]] = {}
    for file in path.glob("chunks/*/*.arrow"):
        rows = pyarrow.ipc.open_file(file).read_all()
        split = rows.schema.metadata[b"stoker.split"].decode()
        found.setdefault(split, []).extend(rows["key"].to_pylist())
    return {split: sorted(keys) for split, keys in found.items()}


def save(path: Path, first: int, count: int) -> None:
    """A split as save_to_disk writes it, in two files whose names are not in the order of the rows."""
    path.mkdir(parents=True)
    half = count // 2
    for name, at, rows in (("data-b.arrow", first, half), ("data-a.arrow", first + half, count - half)):
        table = pa.table({"id": [f"s{i:03d}" for i in range(at, at + rows)]})
        with pyarrow.ipc.new_stream(path / name, table.schema) as writer:
            writer.write_table(table)
    files = [{"filename": "data-b.arrow"}, {"filename": "data-a.arrow"}]
    (path / "state.json").write_text(json.dumps({"_data_files": files, "_indices_data_files": None}))
    (path / "dataset_info.json").write_text("{}")


def test_splits_of_a_saved_dataset_stay_splits(cli, tmp_path):
    save(tmp_path / "saved" / "train", 0, 40)
    save(tmp_path / "saved" / "test", 40, 10)
    (tmp_path / "saved" / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    # The cache of a map, which is not part of the dataset.
    (tmp_path / "saved" / "train" / "cache-1.arrow").write_bytes(
        (tmp_path / "saved" / "train" / "data-a.arrow").read_bytes()
    )
    arguments = ("ingest", tmp_path / "saved", tmp_path / "data", "--key", "id", "--columns", "id")
    assert "splits of the source: test, train" in cli.run(*arguments, "--dry-run")
    cli.run(*arguments)
    ids = [f"s{i:03d}" for i in range(50)]
    assert splits(tmp_path / "data") == {"train": ids[:40], "test": ids[40:]}
    cli.run("ingest", tmp_path / "saved", tmp_path / "own", "--key", "id", "--columns", "id", "--split", "val=0.999")
    assert splits(tmp_path / "own").keys() <= {"train", "val"}
    cli.run("ingest", tmp_path / "saved" / "train", tmp_path / "listed", "--order", "listed")
    file = next((tmp_path / "listed").glob("chunks/*/*.arrow"))
    assert pyarrow.ipc.open_file(file).read_all()["id"].to_pylist() == ids[:40]


def test_splits_of_a_repository_of_the_hub_are_in_the_names_of_its_files(cli, tmp_path):
    (tmp_path / "hub" / "data").mkdir(parents=True)
    for split, first, count in (("train", 0, 40), ("test", 40, 10), ("unsupervised", 50, 5)):
        numbers = range(first, first + count)
        rows = pa.table({"id": [f"s{i:03d}" for i in numbers], "n": numbers})
        pq.write_table(rows, tmp_path / "hub" / "data" / f"{split}-00000-of-00001.parquet")
    (tmp_path / "hub" / "README.md").write_text("---\nlicense: mit\n---\n")
    (tmp_path / "hub" / ".gitattributes").write_text("*.parquet filter=lfs\n")
    arguments = ("ingest", tmp_path / "hub", tmp_path / "data", "--key", "id")
    plan = cli.run("ingest", tmp_path / "hub", tmp_path / "data", "--dry-run")
    assert "splits of the source: test, train, unsupervised" in plan
    assert "left out: 1 text beside the data, such as README.md" in plan
    cli.run(*arguments)
    ids = [f"s{i:03d}" for i in range(55)]
    assert splits(tmp_path / "data") == {"train": ids[:40], "test": ids[40:50], "unsupervised": ids[50:]}
    cli.run("ingest", tmp_path / "hub", tmp_path / "own", "--key", "id", "--split", "train=1")
    assert splits(tmp_path / "own") == {"train": ids}


def write_labelled(path: Path, names: list[str], labels: list[int], first: int = 0) -> None:
    """A Parquet file with a ClassLabel, as the library datasets writes it."""
    features = {"id": {"_type": "Value", "dtype": "string"}, "label": {"_type": "ClassLabel", "names": names}}
    table = pa.table({"id": [f"s{first + i}" for i in range(len(labels))], "label": labels})
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    pq.write_table(table.replace_schema_metadata(metadata), path)


def ids_of(path: Path) -> dict[str, int]:
    """Key -> class id that a feed delivers."""
    feed = stoker.Feed(path, batch_size=4)
    return {key: int(label) for batch in feed for key, label in zip(batch.keys, batch["label"], strict=True)}


def test_class_ids_are_those_of_the_source(cli, tmp_path):
    names = ["zebra", "never used", "ant"]
    write_labelled(tmp_path / "a.parquet", names, [0, 2, 2, 0, 2])
    cli.run("ingest", tmp_path / "a.parquet", tmp_path / "data", "--key", "id")
    assert stoker.open(tmp_path / "data").classes == {"label": tuple(names)}
    assert ids_of(tmp_path / "data") == {"s0": 0, "s1": 2, "s2": 2, "s3": 0, "s4": 2}
    # Another file has another order; further names come behind.
    write_labelled(tmp_path / "b.parquet", ["bee", "ant", "zebra"], [0, 1, 2], first=5)
    cli.run("ingest", tmp_path / "b.parquet", tmp_path / "data", "--key", "id", "--append")
    assert stoker.open(tmp_path / "data").classes == {"label": (*names, "bee")}
    found = ids_of(tmp_path / "data")
    assert [found[f"s{i}"] for i in range(8)] == [0, 2, 2, 0, 2, 3, 2, 0]
    # A version is the same without its chunk tables, and the description survives the loss of its file.
    (tmp_path / "data" / "_stoker" / "dataset.json").unlink()
    cli.run("recover", tmp_path / "data", "--yes")
    for table in (tmp_path / "data" / "_stoker").glob("tables/*"):
        table.unlink()
    assert ids_of(tmp_path / "data") == found


def shard(path: Path, first: int, count: int) -> dict:
    """Writes a shard as MosaicML's writer does, and returns its entry in the index."""
    names, encodings, sizes = ["id", "n"], ["str", "int"], [None, 8]
    common = {
        "column_encodings": encodings,
        "column_names": names,
        "column_sizes": sizes,
        "compression": None,
        "format": "mds",
        "hashes": ["sha1"],
        "size_limit": 1 << 26,
        "version": 2,
    }
    config = json.dumps(common, sort_keys=True).encode()
    samples = []
    for i in range(first, first + count):
        text = f"s{i:03d}".encode()
        samples.append(struct.pack("<I", len(text)) + text + struct.pack("<q", i))
    offset = 4 + 4 * (count + 1) + len(config)
    offsets = [offset + sum(map(len, samples[:i])) for i in range(count + 1)]
    content = struct.pack(f"<I{count + 1}I", count, *offsets) + config + b"".join(samples)
    path.write_bytes(content)
    raw = {"basename": path.name, "bytes": len(content), "hashes": {"sha1": hashlib.sha1(content).hexdigest()}}
    return common | {"raw_data": raw, "zip_data": None, "samples": count}


def test_shards_of_mds_are_those_of_the_index_and_are_verified(cli, tmp_path):
    source = tmp_path / "mds"
    source.mkdir()
    shards = [shard(source / f"shard.{i:05d}.mds", 20 * i, 20) for i in range(3)]
    (source / "index.json").write_text(json.dumps({"version": 2, "shards": shards[:2]}))
    arguments = ("ingest", source, tmp_path / "data", "--key", "id")
    plan = cli.run(*arguments, "--dry-run")
    assert "index.json does not name 1 file beside it, such as shard.00002.mds; left out" in plan
    assert json.loads(cli.run(*arguments, "--json"))["samples"] == 40
    content = bytearray((source / "shard.00001.mds").read_bytes())
    content[-1] ^= 1
    (source / "shard.00001.mds").write_bytes(content)
    assert "sha1" in cli.fails(*arguments, "--replace")
    (source / "shard.00001.mds").write_bytes(content[:-1])
    assert "index.json says that shard.00001.mds has " in cli.fails(*arguments, "--replace")

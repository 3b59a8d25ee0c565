"""Datasets that Python wrote, as the command, the feeder and a simultaneous ingest see them."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from stoker_processes import LIMIT_S, make_tree, until, views

import stoker
from stoker import Feed, Writer
from stoker._dataset.snapshot import open_snapshot
from stoker._dataset.versions import newest_version
from stoker._format.fields import Field
from stoker._packing.filling_chunk import FillingChunk
from stoker._packing.pack import ChunkFormat, ChunkIdentity
from stoker._packing.values import converter

SCHEMA = {"label": "categorical", "size": "int32?", "data": "binary"}


def sample(n):
    data = hashlib.shake_128(b"%d" % n).digest(40 + n % 200)
    return {"key": f"{n:05d}", "label": f"c{n % 4}", "size": None if n % 7 == 0 else len(data), "data": data}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("written") / "notes"
    with Writer(path, SCHEMA, payload=["data"], chunk_size=8 << 10, shuffle=False) as w:
        for n in range(300):
            w.write(sample(n), split="val" if n % 10 == 9 else None)
    return path


def test_the_command_knows_a_written_dataset(cli, written):
    info = json.loads(cli.run("info", written, "--json"))
    assert info["version"] == 1
    assert "notes" in json.dumps(info)
    shown = cli.run("show", written, "--n", 3)
    assert "00000" in shown
    assert "c1" in shown
    cli.run("verify", written)
    assert "stoker-python" not in cli.run("gc", written, "--older-than", "0s")


def test_every_chunk_of_an_ingest_is_made_again_from_its_rows(photos):
    """The Java half packs a tree; Python packs the rows of each chunk under the same identity."""
    snapshot = open_snapshot(photos.path)
    fields = snapshot.info.fields
    layout = ChunkFormat(fields)
    for index in range(len(snapshot.chunks)):
        content = Path(snapshot.chunk_path(index)).read_bytes()
        with pa.ipc.open_file(pa.py_buffer(content)) as file:
            batch, metadata = file.get_batch(0), {k.decode(): v.decode() for k, v in file.schema.metadata.items()}
        chunk = FillingChunk(metadata["stoker.split"], fields, 0, 0)
        plan = [(field.name, converter(field)) for field in fields]
        for row in batch.to_pylist():
            chunk.pending.append([row["key"].encode(), *(convert(row[name]) for name, convert in plan)])
            chunk.single += 1
        keys, *columns = chunk.take()
        packed = layout.pack(keys, columns, identity(metadata))
        assert b"".join(packed.buffers) == content
        columns_of = snapshot.chunks.columns
        for name in ("rows", "length", "crc32c", "head_length", "head_crc32c", "largest_row"):
            assert getattr(packed.summary, name) == int(columns_of[name][index]), name


def identity(metadata):
    import calendar
    import time
    import uuid

    seconds, _, ms = metadata["stoker.created"].rstrip("Z").partition(".")
    created = calendar.timegm(time.strptime(seconds, "%Y-%m-%dT%H:%M:%S")) * 1000 + int(ms)
    return ChunkIdentity(
        metadata["stoker.dataset"],
        uuid.UUID(metadata["stoker.chunk"]),
        metadata["stoker.ingest"],
        metadata["stoker.split"],
        created,
    )


def test_a_feeder_serves_it_as_the_path_reader_does(written, start_feeder):
    feeder = start_feeder("notes", written, "--batch-size", 16, "--lanes", 3).ready()
    options = {"batch_size": 16, "lanes": 3, "epochs": 2, "tail": "keep"}
    with Feed(written, **options) as path:
        expected = views(path)
    with Feed(feeder.address, epochs=2, tail="keep") as feed:
        assert views(feed) == expected
    feeder.stop()


@pytest.mark.full("stores")
def test_writers_and_ingests_contest_one_dataset(cli, tmp_path):
    path = tmp_path / "data"
    content = make_tree(tmp_path / "t0", {"a": 20}, lambda n: 60)
    cli.run("ingest", tmp_path / "t0", path, "--label-from", "parent-dir", "--payload", "data")
    content |= make_tree(tmp_path / "t1", {"b": 20, "q": 5}, lambda n: 60, salt="1")
    ingest = cli.start("ingest", tmp_path / "t1", path, "--append", "--label-from", "parent-dir")
    program = (
        "import sys, stoker\n"
        "for n in range(10):\n"
        "    with stoker.Writer(sys.argv[1], append=True) as w:\n"
        "        name = sys.argv[2] + str(n % 3)\n"
        "        w.write({'key': f'{name}/{n}', 'label': name, 'data': b'x' * 50})\n"
    )
    writers = [subprocess.Popen([sys.executable, "-W", "error", "-c", program, str(path), name]) for name in "wq"]
    for writer in writers:
        assert writer.wait(LIMIT_S) == 0
    out, err = ingest.communicate(timeout=LIMIT_S)
    assert ingest.returncode == 0, out + err
    assert newest_version(path) == 1 + 1 + 20
    samples = stoker.open(path)
    assert len(samples) == len(content) + 20
    for one in samples:
        assert one["label"] == one["key"].split("/")[0]
    cli.run("verify", path)


def test_what_a_killed_writer_leaves_is_found_by_gc(cli, tmp_path):
    path = tmp_path / "data"
    with Writer(path, {"data": "binary"}) as w:
        w.write({"data": b"x" * 2000})
    program = (
        "import sys, stoker\n"
        "w = stoker.Writer(sys.argv[1], append=True, chunk_size=5000, shuffle=False)\n"
        "for n in range(20): w.write({'data': bytes(2000)})\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    process.stdout.readline()
    until(lambda: len(list(path.glob("chunks/*/*.arrow"))) > 3, "chunks of the writer")
    process.kill()
    process.communicate()
    assert newest_version(path) == 1
    left = len(list(path.glob("chunks/*/*")))
    said = cli.run("gc", path, "--older-than", "0s", "--yes")
    assert "kept: lease of" in said
    assert "whose process has ended" in said
    assert len(list(path.glob("chunks/*/*"))) == left
    (lease,) = (path / "_stoker/leases").glob("*.json")
    assert f"ended ingest {lease.stem}" in cli.run("gc", path, "--break", lease.stem, "--yes")
    cli.run("gc", path, "--older-than", "0s", "--yes")
    assert len(list(path.glob("chunks/*/*"))) == 1
    assert newest_version(path) == 2
    assert len(stoker.open(path)) == 1
    cli.run("verify", path)


def test_fields_are_those_of_the_command(written):
    assert stoker.open(written).fields == (
        Field("label", "categorical"),
        Field("size", "int32", nullable=True),
        Field("data", "binary", payload=True),
    )

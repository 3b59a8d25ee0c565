"""What a user of `Writer` sees."""

from __future__ import annotations

import pickle
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import stoker
from stoker import Feed
from stoker._dataset.snapshot import open_snapshot
from stoker._dataset.versions import newest_version
from stoker.errors import CommitRefusedError, DuplicateKeyError, NotADatasetError
from written import PHOTOS, Writer, chunk_files, contents, photo


def test_samples_come_back(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", PHOTOS, chunk_size=20_000) as w:
        for n in range(50):
            w.write(photo(n))
    assert w.version == 1
    assert w.samples == 50
    samples = stoker.open(tmp_path / "x")
    assert [(f.name, f.payload) for f in samples.fields] == [("label", False), ("weight", False), ("image", True)]
    assert samples.classes["label"] == ("cat", "dog")
    assert samples.name == "x"
    assert list(samples.keys()) == [photo(n)["key"] for n in range(50)], "in the order in which they were written"
    for n in range(50):
        assert samples[photo(n)["key"]] == photo(n)
    table = open_snapshot(tmp_path / "x").chunks.columns
    for path in (tmp_path / "x").glob("chunks/*/*.arrow"):
        with pa.ipc.open_file(str(path)) as file:
            batch = file.get_batch(0)
        batch.validate(full=True)
        for key, image in zip(batch.column("key").to_pylist(), batch.column("image").to_pylist(), strict=True):
            assert image == samples[key]["image"]
    assert len(table["rows"]) > 5
    assert table["length"].max() <= 20_000


def test_a_feed_delivers_what_was_written(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", {"tokens": "int32[]", "pixels": "uint8(2,3)"}, payload=["tokens"]) as w:
        for n in range(40):
            w.write({"tokens": range(n), "pixels": np.full((2, 3), n, np.uint8)})
    seen = {}
    with Feed(tmp_path / "x", batch_size=7, tail="keep", epochs=1) as feed:
        for batch in feed:
            for row, key in enumerate(batch.keys):
                seen[key] = (batch["tokens"][row].tolist(), int(batch["pixels"][row][1][2]))
    assert seen == {f"{n:08d}": (list(range(n)), n) for n in range(40)}


def test_batches_and_samples_mix_and_are_cut_alike(tmp_path: Path) -> None:
    rows = [photo(n) for n in range(60)]
    with Writer(tmp_path / "rows", PHOTOS, payload=["image"], chunk_size=20_000) as w:
        for row in rows:
            w.write(row)
    table = pa.Table.from_pylist(rows).cast(
        pa.schema([("key", pa.utf8()), ("label", pa.utf8()), ("weight", pa.float32()), ("image", pa.binary())])
    )
    with Writer(tmp_path / "batches", PHOTOS, payload=["image"], chunk_size=20_000) as w:
        w.write_batch(table.slice(0, 7))
        w.write(rows[7])
        w.write_batch(table.slice(8, 30).to_batches()[0])
        for row in rows[38:]:
            w.write(row)
    one, other = open_snapshot(tmp_path / "rows").chunks, open_snapshot(tmp_path / "batches").chunks
    assert one.columns["rows"].tolist() == other.columns["rows"].tolist()
    assert one.columns["length"].tolist() == other.columns["length"].tolist()
    assert contents(tmp_path / "rows") == contents(tmp_path / "batches")


def test_nothing_is_visible_after_an_exception_or_within(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Writer(tmp_path / "x", PHOTOS, chunk_size=5_000) as w:  # noqa: PT012
        for n in range(30):
            w.write(photo(n))
        assert newest_version(tmp_path / "x") == 0
        1 / 0  # noqa: B018
    assert newest_version(tmp_path / "x") == 0
    assert chunk_files(tmp_path / "x") == set()
    assert w.version is None
    with pytest.raises(ValueError, match="closed"):
        w.write(photo(1))
    assert list((tmp_path / "x/_stoker/leases").iterdir()) == []
    with pytest.raises(ValueError, match=r"Another writer began this dataset .* without append=True, or delete"):
        Writer(tmp_path / "x", {"text": "utf8"}, append=True)
    with Writer(tmp_path / "x", PHOTOS) as w:
        w.write(photo(1))
    assert w.version == 1


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    program = (
        "import stoker, sys\n"
        f"with stoker.Writer({str(tmp_path / 'x')!r}, {{'image': 'binary'}}, chunk_size=5000, shuffle=False) as w:\n"
        "    for n in range(30): w.write({'image': bytes(2000)})\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        # The process that started the tests may ignore the signal.
        ["env", "--default-signal=INT", sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in err
    assert newest_version(tmp_path / "x") == 0
    assert chunk_files(tmp_path / "x") == set()


@pytest.mark.parametrize("chunk_size", [200, 100_000])
def test_a_key_that_comes_twice_is_refused(tmp_path: Path, chunk_size: int) -> None:
    w = Writer(tmp_path / "x", {"n": "int64"}, chunk_size=chunk_size)
    for n in range(40):
        w.write({"key": "seven" if n in (7, 30) else str(n), "n": n})
    with pytest.raises(DuplicateKeyError, match="key 'seven' occurs twice, in samples 7 and 30"):
        w.close()
    assert newest_version(tmp_path / "x") == 0
    assert chunk_files(tmp_path / "x") == set()


def test_a_key_that_the_dataset_has_is_refused_unless_it_was_removed(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", {"n": "int64"}) as w:
        w.write_batch(pa.table({"key": ["a", "b"], "n": [1, 2]}))
    with (
        pytest.raises(DuplicateKeyError, match="the dataset already has a sample with the key 'b', since version 1"),
        Writer(tmp_path / "x", append=True) as w,
    ):
        w.write_batch(pa.table({"key": ["c", "b"], "n": [1, 2]}))
    with Writer(tmp_path / "x", replace=True) as w:
        w.write_batch(pa.table({"key": ["b", "c"], "n": [5, 6]}))
    assert w.version == 2
    assert {k: s["n"] for k, s in contents(tmp_path / "x").items()} == {"b": 5, "c": 6}
    assert {k: s["n"] for k, s in contents(tmp_path / "x", 1).items()} == {"a": 1, "b": 2}
    with Writer(tmp_path / "x", append=True) as w:
        w.write({"key": "a", "n": 7})
    assert {k: s["n"] for k, s in contents(tmp_path / "x").items()} == {"b": 5, "c": 6, "a": 7}


def test_a_dataset_with_a_version_wants_append_or_replace(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", {"n": "int64"}) as w:
        w.write({"n": 1})
    with pytest.raises(CommitRefusedError, match="already has version 1; add to it with append=True"):
        Writer(tmp_path / "x", {"n": "int64"})
    with pytest.raises(ValueError, match=r"field 'n' is int64 in the dataset .*, but int32 in the schema"):
        Writer(tmp_path / "x", {"n": "int32"}, append=True)
    with pytest.raises(ValueError, match="exclude each other"):
        Writer(tmp_path / "x", append=True, replace=True)
    (tmp_path / "y").mkdir()
    (tmp_path / "y" / "holiday.txt").touch()
    with pytest.raises(CommitRefusedError, match=r"is not a dataset and contains holiday\.txt"):
        Writer(tmp_path / "y", {"n": "int64"})
    with pytest.raises(ValueError, match="its fields must be given"):
        Writer(tmp_path / "z")


def test_a_pickled_copy_opens_the_same_version(tmp_path: Path) -> None:
    for first in (0, 10):
        with Writer(tmp_path / "x", PHOTOS, append=bool(first)) as w:
            for n in range(first, first + 10):
                w.write(photo(n), split="val" if n % 2 else None)
        if not first:
            samples = stoker.open(tmp_path / "x", split="val")
    copied = pickle.loads(pickle.dumps(samples))
    assert (copied.version, len(copied)) == (1, 5)
    assert list(copied) == list(samples)


def test_a_lost_description_is_never_written_anew(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", {"n": "int64"}) as w:
        w.write({"n": 1})
    lost = (tmp_path / "x/_stoker/dataset.json").read_bytes()
    assert (tmp_path / "x/_stoker/dataset-copy.json").read_bytes() == lost
    (tmp_path / "x/_stoker/dataset.json").unlink()
    with pytest.raises(CommitRefusedError, match="stoker recover"):
        Writer(tmp_path / "x", {"n": "int64"}, append=True)
    with pytest.raises(NotADatasetError, match="stoker recover"):
        stoker.open(tmp_path / "x")


def test_an_empty_writer_commits_nothing(tmp_path: Path) -> None:
    with pytest.raises(CommitRefusedError, match="no sample"), Writer(tmp_path / "x", {"n": "int64"}):
        pass
    assert not (tmp_path / "x").exists()


def test_one_ingest_id_commits_once(tmp_path: Path) -> None:
    for _ in range(2):
        with Writer(tmp_path / "x", {"n": "int64"}, ingest_id="monday", append=True) as w:
            w.write({"key": "a", "n": 1})
        assert w.version == 1
    assert newest_version(tmp_path / "x") == 1
    with pytest.raises(ValueError, match="not an ingest id"):
        Writer(tmp_path / "x", {"n": "int64"}, ingest_id="../x", append=True)


def test_splits_have_chunks_of_their_own(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", {"n": "int64"}, split="fit") as w:
        for n in range(10):
            w.write({"key": str(n), "n": n}, split="val" if n % 3 == 0 else None)
        w.write_batch(pa.table({"key": ["t"], "n": [9]}), split="test")
        with pytest.raises(ValueError, match="split is ''"):
            w.write({"key": "x", "n": 1}, split="")
    assert stoker.open(tmp_path / "x").splits == ("fit", "val", "test") or set(stoker.open(tmp_path / "x").splits) == {
        "fit",
        "val",
        "test",
    }
    assert list(stoker.open(tmp_path / "x", split="val").keys()) == ["0", "3", "6", "9"]


def test_one_open_chunk_bounds_the_memory(tmp_path: Path) -> None:
    """Writes 256 MB in chunks of 4 MB, in a separate process."""
    program = (
        "import resource, stoker\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"with stoker.Writer({str(tmp_path / 'x')!r}, {{'image': 'binary'}}, chunk_size=4 << 20, shuffle=False) as w:\n"
        "    for n in range(200): w.write({'image': n.to_bytes(4, 'little') * 16384})\n"
        "    before = peak()\n"
        "    for n in range(200, 4000): w.write({'image': n.to_bytes(4, 'little') * 16384})\n"
        "print(peak() - before)\n"
    )
    out = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=120)
    assert int(out.stdout) < 32 << 10, "KiB more than with the first chunks"
    assert resource.getpagesize() > 0

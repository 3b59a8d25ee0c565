"""Damaged files: every flipped bit and every cut ends in a typed error, or does not matter to any delivered byte."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stoker
from dataset_files import ZERO_CRC, sealed
from small_datasets import IMAGES, DatasetWriter, sample, small_dataset
from stoker import Feed, errors
from stoker._dataset.log import read_info
from stoker._dataset.snapshot import open_snapshot
from stoker._memory import copying as _copying
from stoker._memory import leases as _leases
from stoker._memory import mapping as _mapping
from stoker._order.spec import OrderSpec
from stoker._order.stream_order import fingerprint
from stoker._path import filling as _filling
from stoker._path.path_source import PathSource
from stoker._path.path_stream import PathStream
from stoker._source.batch_source import DeliveredBatch

SPEC = OrderSpec(batch_size=3, lanes=2, shuffle_window=10**6)
LEASED = "collected", "apart"


@pytest.fixture(params=["collected", "apart", "mapped", "pread", "in parts"])
def copying(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    leased = request.param in LEASED
    monkeypatch.setattr(_leases, "MOST", 512 if leased else 0)
    monkeypatch.setattr(_leases, "_LOOK_S", 0.01)
    monkeypatch.setattr(_copying, "LARGE", 1 << 30 if request.param == "collected" else _copying.LARGE)
    monkeypatch.setattr(_copying, "VIEWED", 1 if request.param == "apart" else 1 << 30)
    if request.param == "in parts":
        for module, name, value in ((_copying, "STRIDE", 700), (_filling, "_SHARED", 5000), (_filling, "_PART", 900)):
            monkeypatch.setattr(module, name, value)
    if request.param == "pread":
        monkeypatch.setattr(_mapping, "_LIBC", None)
    else:
        assert _mapping.supported()
    return str(request.param)


def epoch_of(stream: PathStream, **given: Any) -> list[list[bytes]]:
    source = PathSource(stream, threads=1, **given)
    try:
        return [parts_of(b) for b in source.epoch(0, 0, 1, stream.batches, "pad")]
    finally:
        source.close()


def parts_of(batch: DeliveredBatch) -> list[bytes]:
    return [p.message().tobytes() for p in batch.pieces]


def flips(data: bytes, bits: Iterator[int] | None = None) -> Iterator[tuple[int, bytes]]:
    """The data with each byte damaged in one bit (a different one from byte to byte)."""
    for at in range(len(data)):
        bit = (at * 5 + at // 8) % 8
        yield at, data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


@pytest.mark.cells
@pytest.mark.usefixtures("copying")
def test_no_flipped_bit_of_a_chunk_reaches_a_batch(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    writer = DatasetWriter(tmp_path / "d", IMAGES)
    writer.commit([[sample(rng, i, size=60) for i in range(4)]])
    stream = PathStream(open_snapshot(writer.root), "train", SPEC)
    expected = epoch_of(stream)
    path = writer.chunk_path(0)
    data = path.read_bytes()
    caught = harmless = 0
    for at, damaged in flips(data):
        path.write_bytes(damaged)
        try:
            got = epoch_of(stream)
        except errors.CorruptDataError as e:
            caught += str(path) in str(e) and f"run: stoker verify {writer.root}" in str(e)
        else:
            assert got == expected, f"byte {at} of {len(data)}"
            harmless += 1
    assert caught + harmless == len(data)
    assert caught >= writer.table[0]["head_length"]


@pytest.mark.usefixtures("copying")
def test_no_cut_chunk_reaches_a_batch(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d", chunks=(3,))
    stream = PathStream(open_snapshot(writer.root), "train", SPEC)
    path = writer.chunk_path(0)
    data = path.read_bytes()
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        with pytest.raises(
            errors.CorruptDataError, match=f"{length} bytes long, expected {len(data)}; run: stoker verify"
        ):
            epoch_of(stream)
    path.write_bytes(data + b"\0")
    with pytest.raises(errors.CorruptDataError):
        epoch_of(stream)
    path.unlink()
    with pytest.raises(errors.CorruptDataError, match="missing; run: stoker verify"):
        epoch_of(stream)


@pytest.mark.parametrize("size", [9_000, 70_000])
@pytest.mark.parametrize("cut", [0, 5000, 100_000])
def test_a_file_cut_while_it_is_being_read_does_not_end_the_process(
    tmp_path: Path, cut: int, size: int, copying: str
) -> None:
    writer = small_dataset(tmp_path / "d", chunks=(2,))
    rng = np.random.default_rng(0)
    writer.commit([[{**sample(rng, 100 + i), "image": rng.bytes(size)} for i in range(6_000_000 // size)]])
    stream = PathStream(open_snapshot(writer.root), "train", SPEC)
    expected = epoch_of(stream)
    source = PathSource(stream, threads=1, ahead_bytes=1)
    batches = source.epoch(0, 0, 1, stream.batches, "pad")
    got = [parts_of(next(batches))]
    with open(writer.chunk_path(1), "r+b") as f:
        f.truncate(cut)
    if copying in LEASED:  # the window that is open keeps what the file had
        assert got + [parts_of(b) for b in batches] == expected
        batches = source.epoch(1, 0, 1, stream.batches, "pad")
    with pytest.raises(errors.CorruptDataError, match=r"bytes long, expected|cut short"):
        for _ in batches:
            pass
    source.close()


def test_payload_flipped_after_the_window_opened_is_noticed(tmp_path: Path, copying: str) -> None:
    rng = np.random.default_rng(0)
    writer = DatasetWriter(tmp_path / "d", IMAGES)
    writer.commit([[{**sample(rng, i), "image": rng.bytes(9_000)} for i in range(400)]])
    stream = PathStream(open_snapshot(writer.root), "train", SPEC)
    expected = epoch_of(stream)
    source = PathSource(stream, threads=1, ahead_bytes=1)
    batches = source.epoch(0, 0, 1, stream.batches, "pad")
    got = [parts_of(next(batches))]
    path = writer.chunk_path(0)
    data = bytearray(path.read_bytes())
    for at in range(writer.table[0]["head_length"], len(data), 9_000):
        data[at] ^= 4
    with open(path, "r+b") as f:
        f.write(data)
    if copying in LEASED:  # the window that is open keeps what the file had
        assert got + [parts_of(b) for b in batches] == expected
        batches = source.epoch(1, 0, 1, stream.batches, "pad")
    with pytest.raises(errors.CorruptDataError, match=r"row \d+, key 'dir/.*', image: checksum .*; run: stoker verify"):
        for _ in batches:
            pass
    source.close()


@pytest.mark.parametrize("operation", ["os.open", "stoker._memory.file_reads.preadv"])
@pytest.mark.parametrize(("number", "says"), [(errno.EACCES, "Permission denied; check"), (errno.EMFILE, "ulimit -n")])
def test_a_chunk_that_the_system_does_not_open_or_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str, number: int, says: str
) -> None:
    writer = small_dataset(tmp_path / "d")
    stream = PathStream(open_snapshot(writer.root), "train", SPEC)

    def fail(*_: Any) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(operation, fail)
        with pytest.raises(errors.StokerError, match=rf"^chunk \d+ \(.*\.arrow\): .*{says}"):
            epoch_of(stream)


def test_a_file_that_was_cut_names_the_next_step_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_mapping, "_LIBC", None)
    writer = small_dataset(tmp_path / "d")
    source = PathSource(PathStream(open_snapshot(writer.root), "train", SPEC), ahead_bytes=1, buffer_bytes=1)
    batches = source.epoch(0, 0, 1, 12, "pad")
    next(batches)
    for path in (writer.root / "chunks").rglob("*.arrow"):
        os.truncate(path, 9)
    with pytest.raises(errors.CorruptDataError) as failed:
        list(batches)
    assert str(failed.value).count("run: stoker verify") == 1
    source.close()


@pytest.mark.usefixtures("copying")
def test_damaged_rows_are_left_out_if_asked(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d")
    keys = {place: s["key"] for place, s in writer.live().items()}
    expected = {(b.epoch, b.number): b.keys for b in _batches(writer)}
    # one row of chunk 2, and all of chunk 4
    image = writer.rows[2, 3]["image"]
    assert len(image) > 8
    path = writer.chunk_path(2)
    data = path.read_bytes()
    assert data.count(image) == 1
    path.write_bytes(data.replace(image, image[:5] + bytes([image[5] ^ 1]) + image[6:]))
    head = bytearray(writer.chunk_path(4).read_bytes())
    head[100] ^= 16
    writer.chunk_path(4).write_bytes(head)
    gone = {keys[2, 3], *(k for (ordinal, _), k in keys.items() if ordinal == 4)}
    assert len(gone) == 9
    for _ in range(2):
        left = {(b.epoch, b.number): b for b in _batches(writer, on_corrupt="skip")}
        assert left.keys() == expected.keys()
        for which, b in left.items():
            assert b.keys == [k for k in expected[which] if k not in gone]
            assert b.skipped == len(expected[which]) - len(b)
            live = {s["key"]: s for s in writer.live().values()}
            assert [v.tobytes() for v in b["image"]] == [live[k]["image"] for k in b.keys]
    with pytest.raises(errors.CorruptDataError):
        _batches(writer)


@pytest.mark.parametrize("on_corrupt", ["fail", "skip"])
def test_a_missing_file_is_not_damage(tmp_path: Path, on_corrupt: str) -> None:
    writer = small_dataset(tmp_path / "d")
    writer.chunk_path(4).unlink()
    with pytest.raises(errors.MissingFileError, match=r"chunk 4 .*the file is missing; run: stoker verify"):
        _batches(writer, on_corrupt=on_corrupt)


@pytest.mark.parametrize("on_corrupt", ["fail", "skip"])
def test_a_dataset_that_is_away_ends_no_epoch(tmp_path: Path, on_corrupt: str) -> None:
    writer = small_dataset(tmp_path / "d")
    options = {"batch_size": 4, "lanes": 1, "shuffle_window": 1, "tail": "keep", "on_corrupt": on_corrupt}
    with Feed(writer.root, **options, buffer_bytes=1) as feed:  # so that it has not read everything at the rename
        batches = iter(feed)
        next(batches)
        writer.root.rename(tmp_path / "away")
        for each in (batches, feed):
            with pytest.raises(errors.MissingFileError, match=r"is missing, and so is the dataset .*mounted"):
                list(each)
        (tmp_path / "away").rename(writer.root)
        assert sum(1 for _ in feed) > 0


def test_samples_that_are_left_out_are_told_once_for_a_chunk(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    writer = small_dataset(tmp_path / "d")
    head = bytearray(writer.chunk_path(4).read_bytes())
    head[100] ^= 16
    writer.chunk_path(4).write_bytes(head)
    with Feed(writer.root, batch_size=4, lanes=3, epochs=2, on_corrupt="skip") as feed:
        for _ in feed.batches():
            pass
    (record,) = caplog.records
    assert "leaving out damaged samples" in record.getMessage()
    assert "chunk 4 " in record.getMessage()


def _batches(writer: DatasetWriter, **given: Any) -> list[stoker.Batch]:
    with Feed(writer.root, batch_size=4, lanes=3, shuffle_window=1, tail="keep", **given) as feed:
        return list(feed)


def test_a_passing_read_error_is_healed_by_a_second_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = PathStream(open_snapshot(small_dataset(tmp_path / "d").root), "train", SPEC)
    expected = epoch_of(stream)
    true_gather = _filling.gather
    spoiled = []

    def gather(work: Any, buffer: Any, address: int) -> bool:
        ok = true_gather(work, buffer, address)
        assert ok
        if work.length:
            buffer[work.at] ^= 32
            spoiled.append(work)
            return False
        return ok

    monkeypatch.setattr(_filling, "gather", gather)
    assert epoch_of(stream) == expected
    assert spoiled


def damage_everywhere(path: Path, read: Any, cuts: bool = True) -> None:
    data = path.read_bytes()
    for at in range(len(data)):
        for bit in range(8):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
            with pytest.raises(errors.CorruptDataError, match=path.name):
                read()
    if cuts:
        for length in range(len(data)):
            path.write_bytes(data[:length])
            with pytest.raises(errors.CorruptDataError, match=path.name):
                read()
    path.write_bytes(data)
    read()


def test_every_flip_and_cut_of_a_log_entry_is_noticed(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d", chunks=(2,))
    damage_everywhere(writer.root / "_stoker" / "log" / f"{1:020d}.avro", lambda: open_snapshot(writer.root))


def test_every_flip_and_cut_of_dataset_json_is_noticed(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d", chunks=(2,))
    damage_everywhere(writer.root / "_stoker" / "dataset.json", lambda: read_info(writer.root))


def test_a_damaged_chunk_table_is_left_aside(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d", chunks=(2, 3))
    writer.commit([], removed={0: [1]})
    path = writer.write_table()

    def seen() -> str:
        snapshot = open_snapshot(writer.root)
        return fingerprint(snapshot.info.id, snapshot.version, "train", snapshot.stream("train"), SPEC)

    expected = seen()
    log = writer.root / "_stoker" / "log" / f"{1:020d}.avro"
    log.rename(log.with_suffix(".away"))
    assert seen() == expected  # from the table alone
    log.with_suffix(".away").rename(log)
    data = path.read_bytes()
    for _, damaged in flips(data):
        path.write_bytes(damaged)
        with pytest.warns(RuntimeWarning, match=r"_stoker/tables/0{19}2\.arrow"):
            assert seen() == expected
    for length in range(0, len(data), 13):
        path.write_bytes(data[:length])
        with pytest.warns(RuntimeWarning, match=r"_stoker/tables/0{19}2\.arrow"):
            assert seen() == expected


def test_a_missing_log_entry_is_named(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d", chunks=(2,))
    writer.commit([], removed={0: [1]})
    (writer.root / "_stoker" / "log" / f"{1:020d}.avro").unlink()
    with pytest.raises(errors.CorruptDataError, match=r"0001\.avro is missing"):
        open_snapshot(writer.root)


def test_swapped_files_are_noticed(tmp_path: Path) -> None:
    """Sound files in the wrong place: another chunk, another dataset's entry, another version's entry."""
    writer = small_dataset(tmp_path / "a", chunks=(4,))
    other = small_dataset(tmp_path / "b", chunks=(4,), seed=2)
    log = writer.root / "_stoker" / "log" / f"{1:020d}.avro"
    kept = log.read_bytes()
    shutil.copy(other.root / "_stoker" / "log" / f"{1:020d}.avro", log)
    with pytest.raises(errors.CorruptDataError, match="of dataset"):
        open_snapshot(writer.root)
    log.write_bytes(kept)
    (log.parent / f"{2:020d}.avro").write_bytes(kept)
    with pytest.raises(errors.CorruptDataError, match="is version 1 of"):
        open_snapshot(writer.root)
    (log.parent / f"{2:020d}.avro").unlink()
    # a chunk whose length, head length and checksums all match, but which is another one
    rng = np.random.default_rng(7)
    rows = [sample(rng, i) for i in range(4)]
    twins = DatasetWriter(tmp_path / "c", IMAGES)
    twins.commit([rows, rows])
    first, second = twins.chunk_path(0), twins.chunk_path(1)
    assert first.stat().st_size == second.stat().st_size
    shutil.copy(second, first)
    with pytest.raises(errors.CorruptDataError, match=r"chunk 0 .*checksum"):
        epoch_of(PathStream(open_snapshot(twins.root), "train", SPEC))
    snapshot = open_snapshot(twins.root)
    crcs = snapshot.chunks.columns["head_crc32c"]
    crcs.setflags(write=True)
    crcs[0] = crcs[1]
    with pytest.raises(errors.CorruptDataError, match=r"belongs to chunk"):
        epoch_of(PathStream(snapshot, "train", SPEC))


def test_a_newer_format_is_named(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d", chunks=(2,))
    path = writer.root / "_stoker" / "dataset.json"
    data = re.sub(rb"stoker\.crc32c=[0-9a-f]{8}", ZERO_CRC, path.read_bytes())
    path.write_bytes(sealed(data.replace(b'"format":1', b'"format":2')))
    with pytest.raises(errors.FormatTooNewError, match="format 2, this package reads up to 1"):
        open_snapshot(writer.root)


def test_random_access_is_checked_too(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d", chunks=(4,))
    path = writer.chunk_path(0)
    data = path.read_bytes()
    image = writer.rows[0, 2]["image"]
    path.write_bytes(data.replace(image, bytes([image[0] ^ 1]) + image[1:]))
    samples = stoker.open(writer.root)
    assert samples[0, 1]["image"] == writer.rows[0, 1]["image"]
    with pytest.raises(errors.CorruptDataError, match="row 2, key"):
        samples[0, 2]

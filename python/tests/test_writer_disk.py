"""How `Writer` uses a local disk: chunks are durable before the version, and samples are taken while it writes."""

from __future__ import annotations

import errno
import fcntl
import os
import random
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import stoker
from stoker._commit import past_cache
from stoker._commit.local_store import FileCalls, LocalStore
from stoker._format.fields import Field
from stoker._packing.segments import Bytes, Segment
from stoker._packing.shuffle import Block

MIB = 1 << 20
FIELDS = {"data": "binary"}


class Disk(FileCalls):
    """Knows the files whose content may not be on the disk, and notes them when a version appears."""

    def __init__(self) -> None:
        self.paths: dict[int, Path] = {}
        self.unforced: set[Path] = set()
        self.at_commit: list[set[Path]] = []
        self.named_early: list[Path] = []
        self.lengths: list[int] = []

    def create(self, path: Path) -> int:
        fd = super().create(path)
        self.paths[fd] = path
        return fd

    def write(self, fd: int, buffers: Sequence[Bytes]) -> int:
        written = super().write(fd, buffers)
        self.unforced.add(self.paths[fd])
        self.lengths.append(written)
        return written

    def force(self, fd: int) -> None:
        super().force(fd)
        self.unforced.discard(self.paths[fd])

    def link(self, source: Path, target: Path) -> None:
        if target.parent.name == "log":
            self.at_commit.append(set(self.unforced))
        if source in self.unforced:
            self.named_early.append(target)
        super().link(source, target)


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("chunk_size", [100_000, 2 * MIB], ids=["cached", "past the cache"])
def test_the_content_of_every_chunk_is_durable_before_its_name_and_the_version(
    tmp_path: Path, shuffle: bool, chunk_size: int
) -> None:
    w = stoker.Writer(tmp_path / "x", FIELDS, chunk_size=chunk_size, shuffle=shuffle, shuffle_buffer=3 * chunk_size)
    w._store._calls = disk = Disk()
    for n in range(60):
        w.write({"data": bytes([n]) * (chunk_size // 6)})
    w.close()
    assert disk.at_commit == [set()]
    assert disk.named_early == []
    chunks = list((tmp_path / "x").glob("chunks/*/*.arrow"))
    assert len(chunks) >= 10
    assert sum(disk.lengths) > sum(chunk.stat().st_size for chunk in chunks)
    assert sorted(s["data"][0] for s in stoker.open(tmp_path / "x")) == list(range(60))


def test_samples_are_taken_while_the_chunks_before_are_written(tmp_path: Path) -> None:
    may_write, gave_up = threading.Event(), threading.Event()

    class Slow(FileCalls):
        def write(self, fd: int, buffers: Sequence[Bytes]) -> int:
            if sum(map(len, buffers)) > 100_000:
                may_write.wait()
            return super().write(fd, buffers)

    def give_up() -> None:
        gave_up.set()
        may_write.set()

    w = stoker.Writer(tmp_path / "x", FIELDS, payload=["data"], chunk_size=300_000, shuffle_buffer=3_000_000)
    w._store._calls = Slow()
    timer = threading.Timer(30, give_up)
    timer.start()
    # A block is full at 30 samples. Of the next, as many are taken as its chunks leave room for: at least 2 chunks.
    for n in range(35):
        w.write({"data": bytes([n]) * 100_000})
    assert not gave_up.is_set()
    rest = threading.Timer(0.2, may_write.set)
    rest.start()
    for n in range(35, 90):
        w.write({"data": bytes([n]) * 100_000})
        if not may_write.is_set():
            assert n < 40, "the memory is bounded"
    w.close()
    timer.cancel()
    assert sorted(s["data"][0] for s in stoker.open(tmp_path / "x")) == list(range(90))


def test_a_block_lets_go_of_rows_that_were_taken() -> None:
    values = [os.urandom(5000) for _ in range(4)]
    keys = Segment(4, lengths=np.ones(4, np.int64), parts=[b"a", b"b", b"c", b"d"])
    column = Segment(4, lengths=np.full(4, 5000), parts=list(values))
    block = Block([Field("data", "binary")], [[keys], [column]])
    del column
    before = list(map(sys.getrefcount, values))
    taken = block.take(np.array([2, 0]))
    assert [bytes(p) for p in taken[1].parts] == [values[2], values[0]]
    del taken
    assert np.subtract(list(map(sys.getrefcount, values)), before).tolist() == [-1, 0, -1, 0]
    assert block.shared == 0


def direct_file(tmp_path: Path) -> int:
    fd = os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    past_cache.begin(fd)  # in vain on a file system such as tmpfs, where all is written the ordinary way
    return fd


@pytest.mark.parametrize(
    "lengths",
    [
        [MIB],
        [4096, 1, 4095],
        [past_cache.LENGTH],
        [past_cache.LENGTH - 1, 1, 1],
        [1, past_cache.LENGTH, past_cache.LENGTH * 2 + 5, 4096],
        [0, 7, 0, 2 * MIB],
    ],
)
@pytest.mark.parametrize("fault", ["none", "refused", "short"])
def test_a_file_past_the_cache_has_the_same_bytes(tmp_path: Path, lengths: list[int], fault: str) -> None:
    rng = random.Random(7)
    buffers: list[Bytes] = [rng.randbytes(n) for n in lengths]
    buffers[-1] = memoryview(buffers[-1])
    calls = 0

    def write(fd: int, parts: Sequence[Bytes]) -> int:
        nonlocal calls
        calls += 1
        if calls == 1 and fault == "refused":
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        if calls == 1 and fault == "short":
            return os.write(fd, bytes(parts[0][:100])) if not is_direct(fd) else short(fd, parts[0])
        return os.writev(fd, parts)

    fd = direct_file(tmp_path)
    past_cache.PastCache().write(fd, buffers, write)
    assert not is_direct(fd)
    os.close(fd)
    assert (tmp_path / "file").read_bytes() == b"".join(buffers)


def is_direct(fd: int) -> bool:
    return bool(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_DIRECT)


def short(fd: int, view: Bytes) -> int:
    return os.writev(fd, [view[:4096]])


def test_an_error_past_the_cache_is_raised_and_the_buffer_is_used_again(tmp_path: Path) -> None:
    fd = direct_file(tmp_path)

    def full(fd: int, parts: Sequence[Bytes]) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    cache = past_cache.PastCache()
    with pytest.raises(OSError, match="No space"):
        cache.write(fd, [bytes(MIB)], full)
    assert len(cache._free) == 1
    os.close(fd)


def test_a_file_system_without_direct_writes_is_written_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    refuse: Callable[[int], bool] = lambda fd: bool(asked.append(fd))  # noqa: E731
    monkeypatch.setattr(past_cache, "begin", refuse)
    with LocalStore(tmp_path).unpublished(tmp_path / "chunks/a") as file:
        file.write([bytes(MIB), b"end"])
        assert file.publish()
    assert (tmp_path / "chunks/a").read_bytes() == bytes(MIB) + b"end"
    assert len(asked) == 1


def test_a_chunk_that_cannot_be_forced_ends_the_writer_without_a_version_or_files(tmp_path: Path) -> None:
    class Failing(Disk):
        def force(self, fd: int) -> None:
            if len(self.lengths) > 5:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            super().force(fd)

    w = stoker.Writer(tmp_path / "x", FIELDS, chunk_size=2 * MIB, shuffle=False)
    w._store._calls = Failing()

    def run() -> None:
        with w:
            for n in range(20):
                w.write({"data": bytes([n]) * MIB})

    with pytest.raises(OSError, match=r"cannot write .*arrow: Input/output error"):
        run()
    assert w.version is None
    assert [path for path in (tmp_path / "x").glob("chunks/*/*") if path.is_file()] == []
    assert list((tmp_path / "x/_stoker").glob("log/*.avro")) == []

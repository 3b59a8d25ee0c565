"""Rows that stay in the mapped files: the same bytes, whatever happens to the files."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stoker
from small_datasets import IMAGES, DatasetWriter, sample
from stoker import Feed, errors
from stoker._memory import copying, leases, mapping
from stoker._memory.mapping import Mapping

fcntl = leases.fcntl  # None on Windows
ROWS = 60
SIZE = 60_000
pytestmark = pytest.mark.skipif(leases._FSTATFS is None, reason="this system has no leases, or no MADV_POPULATE_READ")


@pytest.fixture
def writer(tmp_path: Path) -> DatasetWriter:
    rng = np.random.default_rng(3)
    made = DatasetWriter(tmp_path / "d", IMAGES)
    made.commit([[{**sample(rng, 20 * c + i), "image": rng.bytes(SIZE)} for i in range(20)] for c in range(3)])
    return made


def feed_of(writer: DatasetWriter, batch_size: int = 10, **given: object) -> Feed:
    return Feed(writer.root, batch_size=batch_size, lanes=1, shuffle_window=1 << 30, tail="keep", epochs=1, **given)


def images(batch: stoker.Batch) -> list[bytes]:
    return [row.tobytes() for row in batch["image"]]


def stored(writer: DatasetWriter) -> dict[str, bytes]:
    return {s["key"]: s["image"] for s in writer.live().values()}


def is_mapped(row: np.ndarray) -> bool:
    while isinstance(row, np.ndarray):
        row = row.base
    return isinstance(row, Mapping)


def open_files(writer: DatasetWriter) -> list[str]:
    names = [os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")]
    return [name for name in names if name.startswith(str(writer.root)) and name.endswith(".arrow")]


def leases_of(writer: DatasetWriter) -> set[int]:
    """The descriptors of leases on this dataset. Rows of other tests may have theirs, and lose them at any time."""
    found = set()
    for fd in list(leases._WATCH.held):
        with contextlib.suppress(FileNotFoundError):
            if os.readlink(f"/proc/self/fd/{fd}").startswith(str(writer.root)):
                found.add(fd)
    return found


@pytest.fixture(autouse=True)
def _rows_of_other_tests_are_gone() -> None:
    gc.collect()


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "nothing happened for 20 s"
        threading.Event().wait(0.01)


def test_large_rows_are_views_of_the_mapped_files(writer: DatasetWriter) -> None:
    expected = stored(writer)
    with feed_of(writer) as feed:
        for batch in feed:
            assert all(is_mapped(row) for row in batch["image"])
            assert len(batch["image"]) == len(batch)
            assert batch["image"].lengths.tolist() == [SIZE] * len(batch)
            assert images(batch) == batch["image"].tolist() == [expected[k] for k in batch.keys]
            assert batch["image"][-1].tobytes() == expected[batch.keys[-1]]
            assert batch.nbytes > len(batch) * SIZE


@pytest.mark.parametrize(
    "whole",
    [
        lambda batch: batch["image"].values.tobytes(),
        lambda batch: batch["image"][0 : len(batch)].values.tobytes(),
        lambda batch: batch["image"].padded().tobytes(),
        lambda batch: b"".join(batch.arrow["image"].to_pylist()),
        lambda batch: b"".join(images(pickle.loads(pickle.dumps(batch)))),
    ],
    ids=["values", "slice", "padded", "arrow", "pickle"],
)
def test_a_message_is_put_together_when_it_is_wanted_whole(
    writer: DatasetWriter, whole: Callable[[stoker.Batch], bytes]
) -> None:
    expected = stored(writer)
    with feed_of(writer) as feed:
        batches = list(feed)
    assert any(is_mapped(batch["image"][0]) for batch in batches)
    for batch in batches:
        assert whole(batch) == b"".join(expected[k] for k in batch.keys)
        assert images(batch) == [expected[k] for k in batch.keys]


def test_who_wants_whole_messages_gets_them_whole_from_then_on(writer: DatasetWriter) -> None:
    mapped = []
    with Feed(writer.root, batch_size=10, lanes=1, tail="keep", epochs=3) as feed:
        for _ in range(3):
            for batch in feed:
                mapped.append(is_mapped(batch["image"][0]))
                assert batch["image"].values.nbytes == len(batch) * SIZE
    assert mapped[0]
    assert not any(mapped[-ROWS // 10 :])


def test_writing_to_a_row_changes_no_file_and_no_later_epoch(writer: DatasetWriter) -> None:
    expected = stored(writer)
    before = [writer.chunk_path(i).read_bytes() for i in range(3)]
    with Feed(writer.root, batch_size=10, lanes=1, tail="keep", epochs=2) as feed:
        for _ in range(2):
            for batch in feed:
                assert images(batch) == [expected[k] for k in batch.keys]
                for row in batch["image"]:
                    row[:] = 0
    assert [writer.chunk_path(i).read_bytes() for i in range(3)] == before


def test_writing_to_a_row_does_not_reach_where_the_epoch_repeats_it(writer: DatasetWriter) -> None:
    expected = stored(writer)
    repeated = 0
    with Feed(writer.root, batch_size=8, lanes=1, shuffle_window=1 << 30, tail="pad", epochs=1) as feed:
        for batch in feed:
            repeated += batch.repeated
            assert images(batch) == [expected[k] for k in batch.keys]
            for row in batch["image"]:
                row[:] = 0
    assert repeated


@pytest.mark.parametrize("viewed", [True, False], ids=["mapped", "copied"])
def test_writing_to_a_row_does_not_reach_where_a_joined_batch_repeats_it(
    writer: DatasetWriter, viewed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not viewed:
        monkeypatch.setattr(leases, "MOST", 0)
    expected = stored(writer)
    with Feed(writer.root, batch_size=20, lanes=1, shuffle_window=1 << 30, concat=5, epochs=2) as feed:
        for batch in feed.batches():
            assert batch.repeated == 40
            assert is_mapped(batch["image"][0]) == viewed  # also in the next epoch
            for row in batch["image"]:
                row[:] = ~row
            assert [bytes(~row) for row in batch["image"]] == [expected[k] for k in batch.keys]


def test_a_shortened_file_leaves_the_rows_that_are_held_as_they_were(writer: DatasetWriter) -> None:
    expected = stored(writer)
    with feed_of(writer, batch_size=ROWS) as feed:
        batch = next(iter(feed))
    rows = list(batch["image"])
    rows[0][0] ^= 255
    assert is_mapped(rows[0])
    for i in range(3):
        program = "import os, sys; os.truncate(sys.argv[1], 10)"
        subprocess.run([sys.executable, "-c", program, str(writer.chunk_path(i))], check=True, timeout=60)
        assert writer.chunk_path(i).stat().st_size == 10
    rows[0][0] ^= 255
    assert [row.tobytes() for row in rows] == [expected[k] for k in batch.keys]


def test_rows_of_a_file_whose_lease_the_kernel_has_ended_are_not_trusted(
    writer: DatasetWriter, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases._WATCH, "lost", 0)
    with feed_of(writer) as feed:
        batches = list(feed)
    rows = list(batches[0]["image"])
    for fd in leases_of(writer):
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)  # as the kernel does it after 45 s
    for i in range(3):
        os.truncate(writer.chunk_path(i), 10)
    wait_for(lambda: not leases_of(writer))
    assert any(not row.any() for row in rows)  # and the process still lives
    with pytest.raises(errors.CorruptDataError, match=r"chunk .*could write to the file.*run: stoker verify"):
        _ = batches[1]["image"][0]
    assert sum("lease-break-time" in record.getMessage() for record in caplog.records) == 3


def test_a_lease_that_the_kernel_has_ended_does_not_end_the_others(writer: DatasetWriter) -> None:
    expected = stored(writer)
    with feed_of(writer, batch_size=ROWS) as feed:
        batch = next(iter(feed))
    rows = list(batch["image"])
    first, *_ = leases_of(writer)
    kept = [Path(name) for name in open_files(writer) if name != os.readlink(f"/proc/self/fd/{first}")]
    fcntl.fcntl(first, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    wait_for(lambda: first not in leases._WATCH.held)
    for path in kept:
        program = "import os, sys; os.truncate(sys.argv[1], 10)"
        subprocess.run([sys.executable, "-c", program, str(path)], check=True, timeout=60)
    assert [row.tobytes() for row in rows] == [expected[k] for k in batch.keys]


def test_no_lease_without_a_thread_that_watches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(9000))
    monkeypatch.setattr(leases, "_WATCH", leases._Watch())
    start = threading.Thread.start

    def fail(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    fd = os.open(path, os.O_RDONLY)
    try:
        monkeypatch.setattr(threading.Thread, "start", fail)
        assert leases.leased(fd, 9000) is None
        assert fcntl.fcntl(fd, fcntl.F_GETLEASE) == fcntl.F_UNLCK
        monkeypatch.setattr(threading.Thread, "start", start)
        made = leases.leased(os.dup(fd), 9000)
        assert made is not None
        with open(path, "r+b"):  # waits for the thread
            pass
    finally:
        os.close(fd)


def test_leases_and_descriptors_end_with_the_last_row(writer: DatasetWriter) -> None:
    with feed_of(writer, batch_size=ROWS) as feed:
        row = next(iter(feed))["image"][0]
    assert leases_of(writer)
    del feed
    wait_for(lambda: len(leases_of(writer)) == 1)
    assert row.nbytes == SIZE
    assert len(open_files(writer)) == 1
    del row
    wait_for(lambda: not leases_of(writer))
    assert not open_files(writer)


@pytest.mark.parametrize("decode", [None, {"image": len}], ids=["plain", "decoded"])
def test_leases_and_descriptors_end_with_a_feed_that_failed(writer: DatasetWriter, decode: Any) -> None:
    os.truncate(writer.chunk_path(2), 100)
    gc.disable()
    try:
        feed = feed_of(writer, decode=decode)
        iterator = iter(feed)
        for _ in range(2):
            with contextlib.suppress(stoker.StokerError):
                pytest.fail(f"batch {next(iterator).number}")
        feed.close()
        wait_for(lambda: not leases_of(writer) and not open_files(writer))
    finally:
        gc.enable()


def test_more_files_than_leases_are_copied(writer: DatasetWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "MOST", len(leases._WATCH.held) + 1)
    expected = stored(writer)
    with feed_of(writer) as feed:
        for batch in feed:
            assert images(batch) == [expected[k] for k in batch.keys]
            assert not is_mapped(batch["image"][0])


@pytest.mark.parametrize("kind", ["leased", "kept"])
def test_a_quarter_of_the_descriptors_is_left_for_others(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "kept":
        monkeypatch.setattr(leases, "MOST", 0)
        monkeypatch.setattr(copying, "LARGE", 1)
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = 60 + max(map(int, os.listdir("/proc/self/fd"))) * 4 // 3
    rng = np.random.default_rng(3)
    writer = DatasetWriter(tmp_path / "d", IMAGES)
    writer.commit([[{**sample(rng, i), "image": rng.bytes(3000)}] for i in range(limit)])
    expected, most = stored(writer), 0
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, before[1]))
        with feed_of(writer, batch_size=4) as feed:
            for batch in feed:
                most = most or len(open_files(writer))
                assert images(batch) == [expected[k] for k in batch.keys]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert 10 < most < limit - limit // 4


def test_more_files_than_mappings_are_read(writer: DatasetWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    mapped = len(mapping._MAPPED)
    monkeypatch.setattr(mapping, "_MOST", mapped + 2)
    expected = stored(writer)
    with feed_of(writer) as feed:
        for batch in feed:
            assert images(batch) == [expected[k] for k in batch.keys]
            assert len(mapping._MAPPED) <= mapped + 2
    del feed, batch
    wait_for(lambda: len(mapping._MAPPED) <= mapped)


def test_no_lease_on_file_systems_that_others_may_write_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(9000))
    fd = os.open(path, os.O_RDONLY)
    try:
        monkeypatch.setattr(leases, "_LOCAL", frozenset({0x6969}))  # NFS
        assert leases.leased(fd, 9000) is None
    finally:
        os.close(fd)


def test_no_lease_on_a_file_that_is_being_written_or_has_another_length(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(9000))
    fd = os.open(path, os.O_RDONLY)
    try:
        assert leases.leased(fd, 9001) is None
        with open(path, "r+b"):
            assert leases.leased(fd, 9000) is None
    finally:
        os.close(fd)


OTHER_USER = """
import os, sys
from stoker import Feed, errors
from stoker._memory import copying, leases, mapping
def read():
    most = total = 0
    with Feed(sys.argv[1], batch_size=10, lanes=1, tail="keep", epochs=1) as feed:
        for batch in feed:
            total += sum(row.nbytes for row in batch["image"])
            most = max(most, len(leases._WATCH.held))
    return total, most > 0
print(read())
os.setgid(65534)
os.setuid(65534)
print(read())
"""


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can become another user")
def test_another_user_reads_without_leases(writer: DatasetWriter, tmp_path_factory: pytest.TempPathFactory) -> None:
    for directory in (writer.root, *list(writer.root.rglob("*"))):
        directory.chmod(0o755)
    for parent in writer.root.parents:
        if str(parent).startswith(str(tmp_path_factory.getbasetemp().parent)):
            parent.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", OTHER_USER, str(writer.root)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.splitlines() == [str((ROWS * SIZE, leased)) for leased in (True, False)], done.stderr


@pytest.fixture
def forked(writer: DatasetWriter) -> Iterator[stoker.Batch]:
    with feed_of(writer, batch_size=ROWS) as feed:
        yield next(iter(feed))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_reads_the_rows_and_leaves_the_leases_alone(forked: stoker.Batch, writer: DatasetWriter) -> None:
    expected = [stored(writer)[k] for k in forked.keys]
    held, fds = leases_of(writer), list(leases._WATCH.held)
    assert held
    child = os.fork()
    if child == 0:
        files = [fd for fd in fds if os.path.exists(f"/proc/self/fd/{fd}")]
        same = images(forked) == expected and not leases._WATCH.held and not files
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert leases_of(writer) == held
    os.truncate(writer.chunk_path(0), 10)
    assert images(forked) == expected

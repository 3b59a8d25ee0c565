"""A forked process waits for no lock that a thread of its parent holds: that thread does not exist in it."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import stoker
from far_stores import FileServer, web
from small_datasets import DatasetWriter
from stoker._dataset.chunk import ChunkReader
from stoker._format.fork_lock import ForkLock
from stoker._format.once import once
from stoker._store.file_lock import locked
from stoker._store.other_process import OtherProcess
from stoker._store.remote_path import RemotePath

FIELDS = [{"name": "label", "type": "int64"}, {"name": "image", "type": "binary", "payload": True}]
CHUNKS, ROWS = 80, 4
pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning"),
]


def in_a_child(check: Callable[[], bool]) -> bool:
    """Whether a forked process returns True, within a limit."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if check() else 2
        finally:
            os._exit(code)
    # The child cannot keep the limit: it may hang before it has left os.fork.
    limit = threading.Timer(60, os.kill, (child, signal.SIGKILL))
    limit.start()
    try:
        return os.waitpid(child, 0)[1] == 0
    finally:
        limit.cancel()


class Pause:
    """Stops other threads than the main one where they pass."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def here(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            self.begun.set()
            self.go_on.wait(60)

    @contextmanager
    def during(self, call: Callable[[], Any]) -> Iterator[None]:
        """Runs a block while another thread is stopped in a call."""
        thread = threading.Thread(target=call)
        thread.start()
        try:
            assert self.begun.wait(60)
            yield
        finally:
            self.go_on.set()
            thread.join()


@pytest.fixture
def pause() -> Pause:
    return Pause()


@pytest.fixture
def writer(tmp_path: Path) -> DatasetWriter:
    writer = DatasetWriter(tmp_path / "data", FIELDS)
    writer.commit(
        [{"key": f"{chunk}-{row}", "image": b"%d" % chunk * 5000, "label": row} for row in range(ROWS)]
        for chunk in range(CHUNKS)
    )
    return writer


class Made:
    def __init__(self, pause: Pause) -> None:
        self.pause, self.count = pause, 0

    @once
    def value(self) -> int:
        """The docstring."""
        self.count += 1
        self.pause.here()
        return self.count


def test_a_value_is_made_once(pause: Pause) -> None:
    made, other = Made(pause), Made(pause)
    assert made.value == made.value == 1
    assert other.count == 0
    assert other.value == 1
    assert Made.value.__doc__ == "The docstring."


def test_a_value_that_another_thread_makes(pause: Pause) -> None:
    slow = Made(pause)
    with pause.during(lambda: slow.value):
        assert in_a_child(lambda: slow.value == 2 and Made(pause).value == 1)


def test_a_lock_that_another_thread_holds(pause: Pause) -> None:
    lock = ForkLock()

    def hold() -> None:
        with lock, lock:
            pause.here()

    def take() -> bool:
        with lock:
            return True

    with pause.during(hold):
        assert in_a_child(take)
        assert not lock.lock.acquire(blocking=False)
    assert take()


def held_by_another_thread(path: Path, pause: Pause) -> Callable[[], None]:
    """A call that holds the lock of a file while other threads are stopped."""

    def hold() -> None:
        with locked(os.open(path, os.O_RDWR | os.O_CREAT, 0o600)):
            pause.here()

    return hold


def test_a_child_keeps_no_file_lock_of_another_thread(tmp_path: Path, pause: Pause) -> None:
    fcntl = pytest.importorskip("fcntl")
    path = tmp_path / "lock"
    reading, writing = os.pipe()
    with pause.during(held_by_another_thread(path, pause)):
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)  # lives until the parent has tried the lock
            os._exit(0)
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(writing)
        os.close(reading)
        os.waitpid(child, 0)


def test_a_child_has_no_descriptor_of_a_file_lock(tmp_path: Path, pause: Pause) -> None:
    path = tmp_path / "lock"

    def is_open() -> bool:
        found = path.stat()
        for fd in range(4096):  # other tests may have opened many
            try:
                if os.path.samestat(os.fstat(fd), found):
                    return True
            except OSError:
                continue
        return False

    with pause.during(held_by_another_thread(path, pause)):
        assert is_open()
        assert in_a_child(lambda: not is_open())
    assert not is_open()


def test_samples_that_another_thread_looks_up(
    writer: DatasetWriter, pause: Pause, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_head = ChunkReader.open_head

    def stopped(self: ChunkReader, index: int) -> int:
        pause.here()
        return open_head(self, index)

    monkeypatch.setattr(ChunkReader, "open_head", stopped)
    samples = stoker.open(writer.root)
    with pause.during(lambda: samples["7-1"]):
        assert in_a_child(lambda: samples["7-1"]["label"] == 1)


def test_everything_that_other_threads_read(writer: DatasetWriter) -> None:
    samples, feed = stoker.open(writer.root), stoker.Feed(writer.root, batch_size=8, epochs=None, buffer_bytes=1 << 16)
    ended = threading.Event()

    def look_up() -> None:
        while not ended.is_set():
            for chunk in range(CHUNKS):
                assert samples[f"{chunk}-0"]["label"] == 0

    def read() -> bool:
        return samples["3-2"]["label"] == 2 and len(list(samples.list("4"))) == 11 * ROWS and len(next(iter(feed))) == 8

    threads = [threading.Thread(target=look_up) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in itertools.islice(feed, 25):
            assert in_a_child(read)
    finally:
        ended.set()
        for thread in threads:
            thread.join()


@pytest.fixture
def second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OtherProcess]:
    """A second process, which does not outlive the test, with an empty temporary directory."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    second = OtherProcess()
    yield second
    if second._running is not None:
        second._running.end()


def test_a_second_process_that_was_killed_is_replaced(second: OtherProcess, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    with web(FileServer, tmp_path) as (address, _):
        objects = second.objects(address)
        for _ in range(2):
            assert objects.get("a") == b"content"
            assert len(list((tmp_path / "temporary").iterdir())) == 1
            second._started()._process.kill()


def test_a_creation_by_a_killed_process_is_not_repeated(second: OtherProcess, tmp_path: Path) -> None:
    with web(FileServer, tmp_path) as (address, _):
        objects = second.objects(address)
        second._started()._process.kill()
        with pytest.raises(OSError, match=f"{address}/a: the process .* was killed"):
            objects.create("a", b"content")
        with pytest.raises(PermissionError, match="a web server cannot create"):
            objects.create("a", b"content")


def test_a_second_process_leaves_nothing_behind(second: OtherProcess, tmp_path: Path) -> None:
    process = second._started()._process
    assert list((tmp_path / "temporary").iterdir())
    process.communicate()  # closes its input, as the end of this process does
    assert not list((tmp_path / "temporary").iterdir())


def test_a_process_forked_after_its_program_has_used_obstore(tmp_path: Path) -> None:
    obstore = pytest.importorskip("obstore")
    (tmp_path / "a").write_bytes(b"content")
    with web(FileServer, tmp_path) as (address, _):
        store = obstore.store.HTTPStore(address, client_options={"allow_http": True})
        assert obstore.get(store, "a").bytes() == b"content"
        path = RemotePath.of(f"{address}/a")
        assert in_a_child(lambda: path.read_bytes() == b"content")


CLIENTS = """
import gc, os
from stoker._kafka.topic_log import TopicLog
from stoker._store import remote_path

class Client:
    def __init__(self, kind, write=os.write, getpid=os.getpid):
        self.kind, self.write, self.getpid, self.pid = kind, write, getpid, getpid()

    def __del__(self):
        where = "its own process" if self.getpid() == self.pid else "another process"
        self.write(1, f"a client of {self.kind} is freed by {where}\\n".encode())

remote_path._Process.opened.stores["s3://bucket"] = Client("stores")
topic = TopicLog.__new__(TopicLog)
topic._consumer, topic._pid = Client("topics"), os.getpid()
child = os.fork()
if child == 0:
    topic.close()
    del topic
    gc.collect()
else:
    topic._consumer.close = lambda: None
    assert os.waitpid(child, 0)[1] == 0
"""
"""Both processes end normally, so the interpreter frees all objects that are left."""


def test_a_forked_process_frees_no_client_of_its_parent() -> None:
    freed = subprocess.run([sys.executable, "-c", CLIENTS], check=True, stdout=subprocess.PIPE, text=True, timeout=60)
    assert sorted(freed.stdout.splitlines()) == [
        f"a client of {kind} is freed by its own process" for kind in ("stores", "topics")
    ]


@pytest.mark.parametrize("options", [{}, {"decode": {"image": len}}], ids=["plain", "decoded"])
def test_a_forked_process_continues_an_iterator_of_its_parent(writer: DatasetWriter, options: dict[str, Any]) -> None:
    options |= {"batch_size": 8, "lanes": 2, "shuffle_window": 1, "tail": "keep"}
    with stoker.Feed(writer.root, **options) as whole:
        expected = [batch.keys for batch in whole]
    with stoker.Feed(writer.root, buffer_bytes=1, batch_timeout=60, **options) as feed:
        iterator = iter(feed)
        assert next(iterator).keys == expected[0]
        assert in_a_child(lambda: [batch.keys for batch in iterator] == expected[1:])
        assert [batch.keys for batch in iterator] == expected[1:]

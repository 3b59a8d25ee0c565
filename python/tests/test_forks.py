"""A forked process waits for no lock that a thread of its parent holds: that thread does not exist in it."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import stoker
from small_datasets import DatasetWriter
from stoker._dataset.chunk import ChunkReader
from stoker._format.fork_lock import ForkLock
from stoker._format.once import once

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
            signal.alarm(30)
            code = 0 if check() else 2
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


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


@pytest.mark.parametrize("options", [{}, {"decode": {"image": len}}], ids=["plain", "decoded"])
def test_a_forked_process_continues_an_iterator_of_its_parent(writer: DatasetWriter, options: dict[str, Any]) -> None:
    options |= {"batch_size": 8, "lanes": 2, "shuffle_window": 1, "tail": "keep"}
    with stoker.Feed(writer.root, **options) as whole:
        expected = [batch.keys for batch in whole]
    with stoker.Feed(writer.root, buffer_bytes=1, batch_timeout=5, **options) as feed:
        iterator = iter(feed)
        assert next(iterator).keys == expected[0]
        assert in_a_child(lambda: [batch.keys for batch in iterator] == expected[1:])
        assert [batch.keys for batch in iterator] == expected[1:]

"""Packs, writes and forces chunks in the background."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from stoker._commit.keys import Hashes, hash_segments
from stoker._commit.stores import NewFile, Store
from stoker._packing.pack import ChunkFormat, ChunkIdentity, ChunkSummary, chunk_path
from stoker._packing.segments import Segment
from stoker._store.remote_path import AnyPath

_THREADS = 4
"""Writing a file takes longer than filling it, and several go together."""

Rows = Callable[[], tuple[Sequence[Segment], Sequence[Sequence[Segment]]]]


@dataclass(frozen=True)
class Written:
    """A chunk whose file is durable once `Spool.finish` has returned."""

    summary: ChunkSummary
    classes: dict[str, list[str]]
    hashes: Hashes


@dataclass(frozen=True)
class _Unpublished:
    """A file with its whole content, which may not be on the disk yet."""

    file: NewFile
    held: contextlib.ExitStack
    """Closes the file, and removes it if it was not published."""
    path: AnyPath
    written: Written
    done: Future[Written]

    def publish(self) -> None:
        """Makes the file durable and gives it its name."""
        try:
            with self.held:
                if not self.file.publish():
                    raise FileExistsError(f"{self.path} already exists, but the id of a chunk must be unique")
        except BaseException as e:
            self.done.set_exception(e)
        else:
            self.done.set_result(self.written)


class _Room:
    """Counts the bytes of chunks that are in memory."""

    def __init__(self) -> None:
        self._taken = 0
        self._changed = threading.Condition()

    def take(self, size: int) -> None:
        with self._changed:
            self._taken += size

    def release(self, size: int) -> None:
        with self._changed:
            self._taken -= size
            self._changed.notify_all()

    def wait(self, most: int) -> None:
        """Waits until `most` bytes or less are taken."""
        with self._changed:
            self._changed.wait_for(lambda: self._taken <= most)


class Spool:
    """Takes full chunks from one thread, and gives them back in the same order. Holds threads until it is finished."""

    def __init__(self, store: Store, layout: ChunkFormat) -> None:
        self._store, self._layout = store, layout
        self._packing = ThreadPoolExecutor(_THREADS, "stoker-writer")
        self._publishing = ThreadPoolExecutor(1, "stoker-writer-publish")
        """Publishes all files that were written in the meantime, so that it keeps up however long a file takes."""
        self._room = _Room()
        self._pending: list[Future[Written]] = []
        self._files: deque[_Unpublished] = deque()
        self._paths: list[AnyPath] = []

    def submit(self, rows: Rows, identity: ChunkIdentity, size: int) -> None:
        """Submits a chunk, which takes `size` bytes of memory until it is written."""
        path = self._store.path(chunk_path(str(identity.chunk)))
        self._paths.append(path)
        done: Future[Written] = Future()
        self._room.take(size)
        self._packing.submit(self._write, rows, identity, path, size, done)
        self._pending.append(done)

    def wait(self, most: int) -> list[Written]:
        """Waits until the submitted chunks take `most` bytes or less. Returns the chunks written since, in order.

        Raises the error of an earlier chunk that failed.
        """
        self._room.wait(most)
        return self._collect(wait=False)

    def finish(self) -> list[Written]:
        """Waits for all chunks, and makes them durable. Returns those that were not returned before."""
        done = self._collect(wait=True)
        self._packing.shutdown()
        self._publishing.shutdown()
        self._store.settle(self._paths)
        return done

    def discard(self) -> None:
        """Ends the threads and deletes every chunk. Does not raise."""
        self._packing.shutdown(cancel_futures=True)
        self._publishing.shutdown(cancel_futures=True)
        while self._files:
            with contextlib.suppress(OSError):
                self._files.popleft().held.close()
        for path in self._paths:
            with contextlib.suppress(OSError):
                path.unlink()

    def _collect(self, wait: bool) -> list[Written]:
        done = []
        while self._pending and (wait or self._pending[0].done()):
            done.append(self._pending[0].result())
            del self._pending[0]
        return done

    def _write(self, rows: Rows, identity: ChunkIdentity, path: AnyPath, size: int, done: Future[Written]) -> None:
        try:
            with contextlib.ExitStack() as held:
                try:
                    file = held.enter_context(self._store.unpublished(path))
                    written = self._pack(rows, identity, file)
                finally:
                    self._room.release(size)
                unpublished = _Unpublished(file, held.pop_all(), path, written, done)
        except BaseException as e:
            done.set_exception(e)
            return
        if self._store.publishes_together:
            self._files.append(unpublished)
            self._publishing.submit(self._publish)
        else:
            unpublished.publish()

    def _pack(self, rows: Rows, identity: ChunkIdentity, file: NewFile) -> Written:
        keys, columns = rows()
        packed = self._layout.pack(keys, columns, identity)
        file.write(packed.buffers)
        classes = {field: list(names) for field, names in packed.classes.items()}
        return Written(packed.summary, classes, hash_segments(keys))

    def _publish(self) -> None:
        while self._files:
            self._files.popleft().publish()

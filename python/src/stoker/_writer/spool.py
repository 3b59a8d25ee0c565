"""Packs, writes and forces chunks in the background. At most two chunks wait or are being packed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from stoker._commit.keys import Hashes, hash_segments
from stoker._commit.stores import Store
from stoker._packing.pack import ChunkFormat, ChunkIdentity, ChunkSummary, chunk_path
from stoker._packing.segments import Segment
from stoker._store.remote_path import AnyPath

_THREADS = 4
"""Forcing a file to disk takes longer than filling it, and several go together."""
_WAITING = 2

Rows = Callable[[], tuple[Sequence[Segment], Sequence[Sequence[Segment]]]]


@dataclass(frozen=True)
class Written:
    """A chunk whose file is durable once `Spool.finish` has returned."""

    summary: ChunkSummary
    classes: dict[str, list[str]]
    hashes: Hashes


class Spool:
    """Takes full chunks from one thread, and gives them back in the same order. Holds threads until it is finished."""

    def __init__(self, store: Store, layout: ChunkFormat) -> None:
        self._store, self._layout = store, layout
        self._pool = ThreadPoolExecutor(_THREADS, "stoker-writer")
        self._room = threading.Semaphore(_WAITING)
        self._pending: list[Future[Written]] = []
        self._paths: list[AnyPath] = []

    def submit(self, rows: Rows, identity: ChunkIdentity) -> list[Written]:
        """Submits a chunk; waits while too many are in progress. Returns the chunks written since, in order.

        Raises the error of an earlier chunk that failed.
        """
        done = self._collect(wait=False)
        self._room.acquire()
        try:
            path = self._store.path(chunk_path(str(identity.chunk)))
            self._paths.append(path)
            self._pending.append(self._pool.submit(self._write, rows, identity, path))
        except BaseException:
            self._room.release()
            raise
        return done

    def finish(self) -> list[Written]:
        """Waits for all chunks, and makes them durable. Returns those that were not returned before."""
        done = self._collect(wait=True)
        self._pool.shutdown()
        self._store.settle(self._paths)
        return done

    def discard(self) -> None:
        """Ends the threads and deletes every chunk. Does not raise."""
        for future in self._pending:
            future.cancel()
        self._pool.shutdown(cancel_futures=True)
        for path in self._paths:
            with contextlib.suppress(OSError):
                path.unlink()

    def _collect(self, wait: bool) -> list[Written]:
        done = []
        while self._pending and (wait or self._pending[0].done()):
            done.append(self._pending[0].result())
            del self._pending[0]
        return done

    def _write(self, rows: Rows, identity: ChunkIdentity, path: AnyPath) -> Written:
        room = True
        try:
            keys, columns = rows()
            packed = self._layout.pack(keys, columns, identity)
            hashes = hash_segments(keys)
            with self._store.unpublished(path) as file:
                file.write(packed.buffers)
                summary, classes = packed.summary, {f: list(names) for f, names in packed.classes.items()}
                del packed, keys, columns, rows
                self._room.release()
                room = False
                if not file.publish():
                    raise FileExistsError(f"{path} already exists, but the id of a chunk must be unique")
            return Written(summary, classes, hashes)
        finally:
            if room:
                self._room.release()

"""Batches straight from the chunk files of a dataset directory, without a server: the same bytes as from a feeder.

Two threads open windows, copy payload and check it. The trainer's thread plans (which rows, which places in a batch)
while it waits for batches, else one of the two. Planned work is bounded in bytes; batches come out in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stoker._format.view import View
from stoker._memory.buffers import BufferPool
from stoker._memory.workers import Workers
from stoker._order.skip import Numbers, Skip, Skipped
from stoker._order.spec import Tail
from stoker._path.filling import Filler
from stoker._path.path_stream import PathStream
from stoker._path.planning import EpochReader, Span
from stoker._source.batch_source import Consumer, DeliveredBatch, StreamInfo
from stoker._store.remote_path import RemotePath

_FAR_THREADS = 8
"""Threads for datasets in object stores: those that wait for the chunks of later windows must not stop the others."""


class PathSource:
    """A `BatchSource` over chunk files. One thread calls it."""

    def __init__(
        self,
        stream: PathStream,
        *,
        on_corrupt: str = "fail",
        skip: Skipped = (),
        ahead_bytes: int = 32 << 20,
        buffer_bytes: int = 256 << 20,
        threads: int = 2,
        timeout_s: float = 300.0,
        pool: BufferPool | None = None,
    ) -> None:
        """`ahead_bytes` are read ahead; of larger batches two that fit into `buffer_bytes`, else one.

        `skip`: the batches that the consumer leaves out, as in `Consumer`.
        """
        self._stream, self._ahead = stream, (ahead_bytes, buffer_bytes)
        if isinstance(stream.snapshot.root, RemotePath):
            threads = max(threads, _FAR_THREADS)
        self._workers = Workers(threads, timeout_s, str(stream.snapshot.root))
        pool = pool or BufferPool(max(4 * ahead_bytes, 64 << 20))
        self._on_corrupt, self._pool, self._skip = on_corrupt, pool, skip
        self._filler = Filler(stream, on_corrupt, pool, self._workers.offer)
        self._running: EpochReader | None = None
        self._run = 0

    def _reader(self, span: Span) -> EpochReader:
        epoch, first, stride, count, _ = span
        numbers = Numbers(Skip.of(self._skip, epoch, self._stream.batches), first, stride, count)
        return EpochReader(self._stream, self._filler, self._workers, self._ahead, span, numbers)

    def open(self, consumer: Consumer) -> StreamInfo:
        """See `BatchSource`."""
        self._run = consumer.run
        self.select(consumer.columns)
        return self._stream.info(self._run)

    def select(self, columns: Sequence[str] | None) -> None:
        """Limits batches to some columns, before the first epoch; None: all.

        Raises `ValueError` for names that the dataset does not have.
        """
        view = View([field.name for field in self._stream.snapshot.info.fields], columns)
        self._filler = Filler(self._stream, self._on_corrupt, self._pool, self._workers.offer, view)

    def move_to(self, epoch: int, version: int | None) -> StreamInfo:
        """See `BatchSource`; all epochs read the same version, so this changes nothing."""
        return self._stream.info(self._run)

    def epoch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> Iterator[DeliveredBatch]:
        """See `BatchSource`."""
        span = (epoch, first, stride, count, tail)
        following = self._running.following if self._running is not None else None
        if following is None or following.span != span:
            following = self._reader(span)
        elif self._running is not None:
            self._running.following = None
        self._drop()
        self._running = following
        return following

    def _drop(self) -> None:
        """Drops what is planned."""
        if self._running is not None:
            if self._running.following is not None:
                self._running.following.cancel()
            self._running.cancel()
            self._running = None

    def prefetch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> None:
        """See `BatchSource`."""
        if self._running is not None:
            if self._running.following is not None:
                self._running.following.cancel()
            self._running.following = self._reader((epoch, first, stride, count, tail))

    def finish_empty(self, epoch: int, first: int, stride: int, tail: Tail) -> None:
        """See `BatchSource`; nobody waits for that here."""

    def ack(self, epoch: int, number: int) -> None:
        """See `BatchSource`; there is nobody to tell."""

    def stats(self) -> Mapping[str, float]:
        """See `BatchSource`."""
        return dict(self._workers.waited)

    def close(self) -> None:
        """See `BatchSource`."""
        self._drop()
        self._workers.close()

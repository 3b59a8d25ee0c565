"""Batches straight from the chunk files of a dataset that grows: each epoch reads the newest version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from stoker._order.spec import Tail
from stoker._path.path_source import PathSource
from stoker._path.path_stream import PathStream
from stoker._source.batch_source import Consumer, DeliveredBatch, StreamInfo
from stoker.errors import StokerError


class FollowedPath:
    """A `BatchSource`: a `PathSource` of one version after the other. For one reader, as nobody else would know."""

    def __init__(
        self,
        stream: Callable[[int | None], PathStream],
        source: Callable[[PathStream], PathSource],
        chosen: dict[int, int],
    ) -> None:
        """`stream` opens a version, None for the newest. `chosen`: versions by epoch; the caller keeps this dict."""
        self._open_stream, self._open_source, self._chosen = stream, source, chosen
        self._stream: PathStream | None = None
        self._source: PathSource | None = None
        self._run = 0
        self._columns: tuple[str, ...] | None = None
        self._before: Counter[str] = Counter()

    def open(self, consumer: Consumer) -> StreamInfo:
        """See `BatchSource`."""
        if consumer.world_size > 1 or consumer.workers > 1:
            raise StokerError(
                "follow=True with a path works for one reader only, because several readers would not agree on "
                "versions: start `stoker feed --follow` and give the feed's name, or choose a version"
            )
        self._run, self._columns = consumer.run, consumer.columns
        if consumer.epoch is None:
            return replace(self._open_stream(None).info(self._run), follows=True)
        return self.move_to(consumer.epoch, consumer.version)

    def move_to(self, epoch: int, version: int | None) -> StreamInfo:
        """See `BatchSource`. A state's word holds, whatever was chosen before."""
        wanted = version if version is not None else self._chosen.get(epoch)
        if self._source is None or self._stream is None or self._stream.snapshot.version != wanted:
            stream = self._open_stream(wanted)
            if self._source is None or self._stream is None or self._stream.snapshot.version != stream.snapshot.version:
                self.close()
                source = self._open_source(stream)
                source.select(self._columns)
                self._stream, self._source = stream, source
        self._chosen[epoch] = self._stream.snapshot.version
        return replace(self._stream.info(self._run), follows=True, epoch=epoch)

    def epoch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> Iterator[DeliveredBatch]:
        """See `BatchSource`."""
        assert self._source is not None
        return self._source.epoch(epoch, first, stride, count, tail)

    def prefetch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> None:
        """See `BatchSource`; which version comes next is not known yet."""

    def finish_empty(self, epoch: int, first: int, stride: int, tail: Tail) -> None:
        """See `BatchSource`; nobody waits for that here."""

    def ack(self, epoch: int, number: int) -> None:
        """See `BatchSource`; there is nobody to tell."""

    def stats(self) -> Mapping[str, float]:
        """See `BatchSource`."""
        return self._before + Counter(self._source.stats()) if self._source is not None else self._before

    def close(self) -> None:
        """See `BatchSource`."""
        if self._source is not None:
            source, self._source = self._source, None
            self._before.update(source.stats())
            source.close()

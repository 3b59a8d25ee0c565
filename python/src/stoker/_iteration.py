"""One pass over (the rest of) an epoch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from stoker._batch import Batch
from stoker._position import Start, state_of, worker_of
from stoker._source import BatchSource, DeliveredBatch
from stoker.errors import StokerError

if TYPE_CHECKING:
    from stoker._feed import Feed

_DECODE_AHEAD = 2


class Iteration(Iterator[Batch]):
    """Hands out the batches of one worker of one rank; begins with the first `next`, goes on after a new position."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._serial = -1
        self._ended = False
        self.running = False
        self.steps = 0
        """Batches that the rank takes in this iteration."""
        self._batches: Iterator[DeliveredBatch] = iter(())
        self._decoded: deque[tuple[Batch, int]] = deque()
        self._source: BatchSource | None = None
        self._unacked: tuple[int, int] | None = None

    def _begin(self) -> None:
        feed = self._feed
        self._source, _ = feed._ready()
        self._serial = feed._serial
        start, self._share = feed._begin()
        self._epoch = start.epoch
        self.steps = self._share.steps
        self._worker, self._workers, _ = worker_of() or (0, 1, 0)
        self._taken = start.taken
        first, stride, count = self._share.worker(self._worker, self._workers, start.taken)
        self._decoded.clear()
        self._batches = iter(())
        self.running = True
        if count:
            tail = feed._options.tail
            self._batches = self._source.epoch(start.epoch, first, stride, count, tail)
            following = feed._share(Start(start.epoch + 1)).worker(self._worker, self._workers)
            if following[2]:
                self._source.prefetch(start.epoch + 1, *following, tail)

    def __next__(self) -> Batch:
        feed = self._feed
        if self._ended or feed._iteration is not self:
            if not self.running and self._serial >= 0:
                raise StopIteration
            raise StokerError("another iteration of this feed has begun, or the feed is closed")
        began = feed._tally.begin()
        self._ack()
        if self._serial != feed._serial:
            self._begin()
        elif not self.running:
            raise StopIteration
        try:
            batch, step = self._take()
        except StopIteration:
            self.running = False
            raise
        finally:
            feed._tally.end(began)
        self._unacked = (batch.epoch, batch.number)
        feed._last = (self._share, self._epoch, step)
        feed._tally.count(batch)
        return batch

    def _take(self) -> tuple[Batch, int]:
        decoding = self._feed._decoding
        if decoding is None:
            return self._receive()
        while len(self._decoded) <= _DECODE_AHEAD:
            try:
                batch, step = self._receive()
            except StopIteration:
                break
            batch._decoded = decoding.begin(batch)
            self._decoded.append((batch, step))
        if not self._decoded:
            raise StopIteration
        batch, step = self._decoded.popleft()
        for name in batch._decoded or ():
            batch[name]  # waits; errors belong here, and to the time waited
        return batch, step

    def _receive(self) -> tuple[Batch, int]:
        delivered = next(self._batches)
        feed, share = self._feed, self._share
        step = self._worker + self._taken * self._workers
        self._taken += 1
        assert feed._info is not None
        return Batch(feed._form, delivered, partial(_state, feed._info, share, self._epoch, step)), step

    def _ack(self) -> None:
        if self._unacked is not None and self._source is not None:
            self._source.ack(*self._unacked)
        self._unacked = None

    def end(self) -> None:
        """The trainer is done with it: what it was given is consumed."""
        self._ack()
        self._ended = True
        self._decoded.clear()


def _state(info: Any, share: Any, epoch: int, step: int) -> dict[str, Any]:
    return state_of(info, *share.after(epoch, step))
